model beam "one axis: fourth differences, and neighbours of another state; a splitting of one matrix"
size N
grid i: N wall
parameter E = 0.001, c[i] = 1 + 0.1*i
state u[i] = 1 + 0.1*i, v[i] = 0.2
boundary u: i low = zero
boundary v: i high = zero
let bent(f) = f[i-2] - 4*f[i-1] + 6*f - 4*f[i+1] + f[i+2]
u' = -E*c*bent(u) + (v[i+1] - v) + 2*u
v' = -E*bent(v) + c[i-1]*(u[i-1] - u[i+1]) - v*u^2 + 3*u
