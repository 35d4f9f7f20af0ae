model plane "all kinds of boundaries on a plane; a neighbour across a corner"
size N, M
grid i: N periodic, j: M wall
parameter alpha = 0.2, k[i,j] = 0.5 + 0.1*j, beta = 0.4
state u[i,j] = 1 + 0.1*i, v[i,j] = 0.3*j, w[i,j] = 2
boundary u: j low = beta*cos(alpha*t), j high = zero
boundary v: j high = beta*alpha
let lap(f) = f[i-1,j] + f[i+1,j] + f[i,j-1] + f[i,j+1] - 4*f
u' = alpha*lap(u) + v*w
v' = k*lap(v) - u*v*w*beta
w' = alpha*lap(w) + u^2 - w*u[i-1,j-1]
