# The force of friction changes its sign with the velocity of a shaken block, and a stop is met with a kink.  `kinks as
# events` makes steps end where a condition changes.
model friction "a block on a spring with friction, shaken, with a soft stop"
parameter k = 2, mu = 0.3, amplitude = 2, frequency = 1.3, stop = 0.8, stiffness = 20
state x = 0.5, v = 0
kinks as events

x' = v
v' = -k*x - if(v > 0, mu, -mu) - stiffness*max(x - stop, 0) + amplitude*sin(frequency*t)

cost heat' = mu*abs(v)
