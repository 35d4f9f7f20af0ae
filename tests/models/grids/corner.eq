model corner "linear, with values that are linear and constant"
size N, M
grid i: N wall, j: M periodic
parameter alpha = 0.2, beta = 0.4
state u[i,j] = 1 + 0.1*i
boundary u: i low = beta*t, i high = 3
u' = alpha*(u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1] - 4*u)
