model exchange "linear: diffusion in a varying medium, drift, exchange between two states; a splitting in three parts"
size N, M
grid i: N wall, j: M periodic
parameter D = 0.02, k[i,j] = 1 + 0.2*i + 0.1*j, rate = 30, wind = 0.3, inflow = 2
state a[i,j] = 1 + 0.1*i, b[i,j] = 0.3*j
boundary a: i low = inflow*(1 + t), i high = zero
layout fields
let flux(f) = D*N^2*(k + k[i+1,j])/2*(f[i+1,j] - f)
let back(f) = D*N^2*(k + k[i-1,j])/2*(f - f[i-1,j])
let along(f) = D*M^2*(f[i,j-1] - 2*f + f[i,j+1]) - wind*M*(f - f[i,j-1])
a' = flux(a) - back(a) + along(a) - rate*(a - b) - 0.1*a
b' = flux(b) - back(b) + (1 + j/M)*along(b) + rate*(a - b) + inflow
cost J' = sum(a*b)
