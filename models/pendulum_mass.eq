# The same pendulum with a constant mass, so that the equations have the form M y' = f(y).
model pendulum_mass "a pendulum on a rod"
parameter g = 9.81 {m/s^2}
state x = 0.6, y = -0.8, u = 0, v = 0
algebraic tension index 2 = 7.848

x' = u
y' = v
2*u' = -x*tension
2*v' = -y*tension - 2*g
0 = x*u + y*v
