# The shallow-water test of FATODE: H. Zhang, A. Sandu, SIAM J. Sci. Comput. 36 (2014) C504-C523.
model shallow_water "Shallow-water equations in characteristic form: third-order upwind differences, periodic"
size nx = 40, ny = 40
grid i: nx periodic, j: ny periodic
state h[i,j] = 100 + 30*exp(-x^2 - y^2) {m} "depth"
state hu[i,j] = 2 {m^2/s} "depth times velocity along x", hv[i,j] = 2 {m^2/s} "depth times velocity along y"
layout fields

let x = -3 + (i + 1)*6/(nx - 1)
let y = -3 + (j + 1)*6/(ny - 1)

# central part and upwind part of the difference, times 6 dx
let cx(U) = 4*(U[i+1,j] - U[i-1,j]) - 0.5*(U[i+2,j] - U[i-2,j])
let ex(U) = 2*(U[i+1,j] + U[i-1,j]) - 0.5*(U[i+2,j] + U[i-2,j]) - 3*U
let cy(U) = 4*(U[i,j+1] - U[i,j-1]) - 0.5*(U[i,j+2] - U[i,j-2])
let ey(U) = 2*(U[i,j+1] + U[i,j-1]) - 0.5*(U[i,j+2] + U[i,j-2]) - 3*U
let X(U, s) = cx(U) + s*ex(U)
let Y(U, s) = cy(U) + s*ey(U)

let rx = (nx - 1)/36
let ry = (ny - 1)/36
let u = hu/h
let v = hv/h
let c = sqrt(9.80616*h)

# -1: from behind, 1: from ahead, for waves of the speeds u, u - c, u + c; v, v - c, v + c
let sx1 = if(u >= 0, -1, 1)
let sx2 = if(u >= c, -1, 1)
let sx3 = if(u >= -c, -1, 1)
let sy1 = if(v >= 0, -1, 1)
let sy2 = if(v >= c, -1, 1)
let sy3 = if(v >= -c, -1, 1)

let Fx = u/c
let Ax = c*(Fx^2 - 1)/2
let x2 = Ax*X(h, sx2) + (0.5 - Fx/2)*X(hu, sx2)
let x3 = -Ax*X(h, sx3) + (0.5 + Fx/2)*X(hu, sx3)
let x1 = u*(X(hv, sx1) - v*X(h, sx1))
let Fy = v/c
let Ay = c*(Fy^2 - 1)/2
let y2 = Ay*Y(h, sy2) + (0.5 - Fy/2)*Y(hv, sy2)
let y3 = -Ay*Y(h, sy3) + (0.5 + Fy/2)*Y(hv, sy3)
let y1 = v*(Y(hu, sy1) - u*Y(h, sy1))

h' = -rx*(x2 + x3) - ry*(y2 + y3)
hu' = -rx*((u - c)*x2 + (u + c)*x3) - ry*(u*(y2 + y3) + y1)
hv' = -rx*(v*(x2 + x3) + x1) - ry*((v - c)*y2 + (v + c)*y3)
