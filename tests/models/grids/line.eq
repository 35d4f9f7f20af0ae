model line "nonlinear diffusion and reaction on a line: zero, wall, values in time; reach 2 to one side"
size N = 10
grid i: N zero
parameter D = 0.3, a = 1.2, b = 0.7, c[i] = 1 + 0.1*i
state u[i] = sin(i + 1) + 2, v[i] = 0.5*c + a
boundary u: i low = a*exp(-b*t) + 1, i high = a^2*b
boundary v: i high = wall
layout fields
let q(f) = (f[i+1] - f[i-1])/2
u' = D*(u[i-1] - 2*u + u[i+2])*u - c*v*q(v) + sin(t)*b
v' = c[i+1]*(v[i-1] - 2*v + v[i+1]) + u*q(u)/(1 + v^2) - v[i+1]*u[i-1]*a + 0.01*i
