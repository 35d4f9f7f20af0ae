model heat "Heat in a bar: conductivity of each cell, no flux at the low end, a given temperature at the high end"
size N = 100
grid i: N wall
parameter amplitude = 1, frequency = 2, k[i] = 1 + 0.5*(i + 0.5)/N {m^2/s} "diffusivity"
state u[i] = 0 {K} "temperature"
boundary u: i high = amplitude*sin(frequency*t)

# fluxes between cells, with the diffusivity in the middle
let flux = N*(k + k[i+1])/2*(u[i+1] - u)
u' = N*(flux - flux[i-1])
