model modes "a mode, a branch, indices in expressions, an axis of a fixed size"
size N
mode warm, cold
grid i: N wall, j: 3 zero
parameter a = 2
state u[i,j] = i + 2*j
u' = if(mode == warm, -u*i, a*u[i+1,j]*j) - u^2*i*j
cost c' = sum(if(u > a + 0.6, u, 1/u)*i)
