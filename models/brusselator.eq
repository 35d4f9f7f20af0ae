# E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.10, without the forcing.
model brusselator "Brusselator with diffusion on the unit square, periodic in both directions"
size N = 128
grid i: N periodic, j: N periodic
parameter alpha = 0.1
state u[i,j] = 22*(i/N)*(1 - i/N)^1.5, v[i,j] = 27*(j/N)*(1 - j/N)^1.5
layout cells

let lap(f) = N^2*(f[i-1,j] + f[i+1,j] + f[i,j-1] + f[i,j+1] - 4*f)
let r = u^2*v

u' = 1 + r - 4.4*u + alpha*lap(u)
v' = 3.4*u - r + alpha*lap(v)
