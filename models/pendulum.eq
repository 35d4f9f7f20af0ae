# A pendulum in Cartesian coordinates, as a residual F(t, y, y', p) = 0: the velocities satisfy the derivative of the
# constraint x^2 + y^2 = 1, so that the tension has index 2.
model pendulum "a pendulum on a rod, whose bob grows heavier as it moves out"
parameter g = 9.81 {m/s^2}, swelling = 0.1
state x = 0.6, y = -0.8, u = 0, v = 0
algebraic tension index 2 = 7.848
let inertia = 1 + swelling*x^2

x' = u
y' = v
inertia*u' = -x*tension
inertia*v' = -y*tension - g
0 = x*u + y*v
