model space "three axes: wall, periodic, zero; values in time"
size N, M, L
grid i: N wall, j: M periodic, k: L zero
parameter alpha = 0.2, D[i,j,k] = 1 + 0.1*i + 0.01*k
state u[i,j,k] = 1 + 0.1*i, v[i,j,k] = 1 - 0.1*k
boundary u: k low = alpha*t^2, i high = exp(alpha*t)
let lap(f) = f[i-1,j,k] + f[i+1,j,k] + f[i,j-1,k] + f[i,j+1,k] + f[i,j,k-1] + f[i,j,k+1] - 6*f
u' = alpha*lap(u) - u*v^2 + v[i+1,j-1,k]
v' = D*lap(v) + u*v^2
