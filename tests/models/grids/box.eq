model box "three axes, of which two have couplings; a reaction, and growth that is linear"
size N, M
grid i: N periodic, j: 3 zero, k: M wall
parameter D = 0.3
state u[i,j,k] = 1 + 0.1*i, v[i,j,k] = 0.5
boundary v: k low = 1
u' = D*(u[i-1,j,k] - 2*u + u[i+1,j,k]) - u*v^2
v' = D*(v[i,j,k-1] - 2*v + v[i,j,k+1]) + 0.7*v
