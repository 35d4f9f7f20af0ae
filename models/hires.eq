# HIRES (E. Schaefer, J. Math. Biol. 2 (1975) 41-56): high irradiance responses of photomorphogenesis; as in Hairer and
# Wanner, Solving Ordinary Differential Equations II, section IV.10.
model hires "high irradiance responses of a plant"
parameter k1 = 1.71, k2 = 0.43, k3 = 8.32, k4 = 0.69, k5 = 0.035, k6 = 8.32, k7 = 280, k8 = 0.69, k9 = 0.69, o = 0.0007
state y1 = 1, y2, y3, y4, y5, y6, y7, y8 = 0.0057
let bind = k7*y6*y8

y1' = -k1*y1 + k2*y2 + k6*y3 + o
y2' = k1*y1 - (k2 + k3)*y2
y3' = -(k1 + k6)*y3 + k2*y4 + k5*y5
y4' = k3*y2 + k1*y3 - (k2 + k4)*y4
y5' = -(k1 + k5)*y5 + k2*(y6 + y7)
y6' = -bind + k4*y4 + k1*y5 - k2*y6 + k8*y7
y7' = bind - (k2 + k8 + k9)*y7
y8' = -bind + (k2 + k8 + k9)*y7
