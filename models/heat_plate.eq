model heat_plate "heat in the unit square, 0 around it"
size N = 128
grid j: N zero, i: N zero
state u[j,i] = 16*x*(1 - x)*y*(1 - y)
let x = (i + 1)/(N + 1)
let y = (j + 1)/(N + 1)

u' = (N + 1)^2*(u[j,i-1] + u[j,i+1] + u[j-1,i] + u[j+1,i] - 4*u)
