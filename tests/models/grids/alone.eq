model alone "no neighbours, no parameters, a fixed size"
grid i: 3 wall
state u[i] = 1
u' = -u
