model torus "three periodic axes, one of a fixed size"
size N
grid i: N periodic, j: 4 periodic, k: N periodic
parameter alpha = 0.2, beta = 2
state u[i,j,k] = 1 + 0.1*sin(i), v[i,j,k] = 1 - 0.1*k
let lap(f) = f[i-1,j,k] + f[i+1,j,k] + f[i,j-1,k] + f[i,j+1,k] + f[i,j,k-1] + f[i,j,k+1] - 6*f
u' = alpha*lap(u) - u*v^2 + v[i+1,j-1,k] + t
v' = beta*lap(v) + u*v^2
