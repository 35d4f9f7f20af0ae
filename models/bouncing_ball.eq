model bouncing_ball "a ball with drag that bounces and counts how often"
parameter g = 9.81 {m/s^2}, restitution = 0.8, drag = 0.05 {1/m}, height = 1 {m}
state x = height {m}, v = 0 {m/s}
memory bounces = 0
cost lost' = drag*abs(v)^3 {J/kg} "energy that drag and bounces took"

x' = v
v' = -g - drag*v*abs(v)

event bounce when x falls
    lost += (1 - restitution^2)*v^2/2
    v := -restitution*v
    bounces += 1

output energy = g*x + v^2/2 {J/kg}
