model kepler "a planet around a fixed star"
parameter mass = 1, eccentricity = 0.6
state x = 1 - eccentricity, y = 0, u = 0, v = sqrt(mass*(1 + eccentricity)/(1 - eccentricity))
let pull = mass/hypot(x, y)^3

x' = u
y' = v
u' = -pull*x
v' = -pull*y

output energy = (u^2 + v^2)/2 - mass/hypot(x, y)
output momentum = x*v - y*u
