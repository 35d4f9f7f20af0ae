model source "gradients that are gathered, with respect to t and a field as well; a cost without neighbours; stops"
size N
grid i: N zero, j: N periodic
parameter D[i,j] = 1, q = 0.3
state u[i,j] = 1 + i/N
boundary u: i high = q*if(t < 0.0125, t, 1)
stop at 0.005
u' = (1 + t)*q*(u[i-1,j] + u[i+1,j] - 2*u + u[i,j-1] + u[i,j+1]) + D*min(t, 0.0075)
cost J' = sum(u)
