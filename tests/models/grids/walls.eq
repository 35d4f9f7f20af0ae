model walls "no parameters; reach 2 to one side"
size N, M
grid i: N zero, j: M wall
state u[i,j] = 1 + 0.1*i
u' = u[i-1,j] + u[i+2,j] + u[i,j-1] + u[i,j+2] - 4*u + u^3
