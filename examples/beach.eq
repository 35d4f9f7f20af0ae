# E. Audusse, F. Bouchut, M.-O. Bristeau, R. Klein, B. Perthame, A fast and stable well-balanced scheme with hydrostatic
# reconstruction for shallow water flows, SIAM J. Sci. Comput. 25 (2004) 2050-2065; minmod slopes, Rusanov's flux.
model beach "shallow water along one axis over a bathymetry, with cells that fall dry"
size N = 200
grid i: N wall
let g = 9.81
let dx = 100/N
let x = (i + 0.5)*dx

# a steep shore on the left, a beach on the right
parameter depth = 1 {m} "of still water", height = 0.3 {m} "of the wave", sharp = 6 {1/m} "of the run-up"
parameter bed[i] = max(-1, (x - 60)/20, (10 - x)/5) {m} "bathymetry"

# a solitary wave that moves to the right
let wave = height/cosh(sqrt(0.75*height/depth)*(x - 25)/depth)^2
state h[i] = max(0, wave - bed) {m} "water height"
state q[i] = wave*sqrt(g*depth)*if(bed < -0.5, 1, 0) {m^2/s} "height times velocity"

let minmod(a, b) = if(a*b > 0, if(abs(a) < abs(b), a, b), 0)
let surface = h + bed
let u = if(h > 1e-6, 2*h*q/(h^2 + max(h, 1e-3)^2), 0)
let sh = minmod(h - h[i-1], h[i+1] - h)/2
let ss = minmod(surface - surface[i-1], surface[i+1] - surface)/2
let su = minmod(u - u[i-1], u[i+1] - u)/2

# inside the cell, at its right and at its left face
let hr = h + sh
let hl = h - sh
let br = surface + ss - hr
let bl = surface - ss - hl
let ur = u + su
let ul = u - su

# at the face between this cell and the next: water above the higher bed
let top = max(br, bl[i+1])
let a = max(0, hr + br - top)
let b = max(0, hl[i+1] + bl[i+1] - top)
let speed = max(abs(ur) + sqrt(g*a + 1e-12), abs(ul[i+1]) + sqrt(g*b + 1e-12))
let volume = (a*ur + b*ul[i+1])/2 - speed*(b - a)/2
let momentum = (a*ur^2 + b*ul[i+1]^2 + g*(a^2 + b^2)/2)/2 - speed*(b*ul[i+1] - a*ur)/2
let leaves = momentum + g*(hr^2 - a^2)/2
let enters = momentum + g*(hl[i+1]^2 - b^2)/2

h' = -(volume - volume[i-1])/dx
q' = -(leaves - enters[i-1])/dx - g*(hr + hl)/2*(br - bl)/dx

# log(reached)/sharp: a smooth measure of the highest bed that was wet
cost reached' = sum(exp(sharp*bed)*h/(h + 0.01))
