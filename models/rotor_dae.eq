# Two components whose logarithms turn by the angle p0 (t + p1 sin t), as a DAE of index 1: x2 is the logarithm of x1,
# y0 = x0 - x2/2 the other component, and the equations are mixed so that the mass matrix is not diagonal.
model rotor_dae "a rotor in logarithms"
parameter p0 = 3, p1 = 0.8
state x0 = 1.6 + 0.5*log(1.2), x1 = 1.2, x2 = log(1.2)

let w = p0*(1 + p1*cos(t))
let y0 = x0 - 0.5*x2
let turn0 = -w*y0*x2
let turn1 = w*x1*log(y0)
let gap = x1 - exp(x2)

x0' - 0.5*x2' = turn0 + gap
0.5*x0' + x1' - 0.25*x2' = 0.5*turn0 + turn1
x0' - x1' - 0.5*x2' = turn0 - turn1 + gap
