model names "a constraint, running costs, and names that C or the file use for something else"
size N, G
grid i: N wall, j: G periodic
parameter D = 0.1, load = 0.5, patch[i,j] = 1 + 0.1*j, p = 2
state value[i,j] = 1 + 0.1*i, new[i,j] = 0.2
algebraic w[i,j] = 0
boundary value: i low = load*sin(p*t)
let lap(f) = f[i-1,j] + f[i+1,j] + f[i,j-1] + f[i,j+1] - 4*f
value' = D*lap(value) + value - value^3/3 - w
new' = 0.08*(value - new*patch) + D*w
0 = w - new + 0.1*value^2
cost J' = sum((value - new)^2*load + patch*new[i+1,j])
cost K' = sum(N*value^2*t + i*G)
