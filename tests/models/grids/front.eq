model front "running costs of states alone, of parameters alone; a given value of zero"
size N
grid i: N zero
parameter eps = 0.5
state u[i] = 1 + i/N
boundary u: i low = 0
u' = eps*(u[i-1] + u[i+1] - 2*u) + u - u^3
cost J' = sum(u[i+1]*u)
cost K' = sum(eps^2)
cost L' = sum(2*u + N)
