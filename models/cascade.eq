# Vectors and loops: twelve tanks in a row, and what they hold together.
model cascade "twelve tanks in a row"
parameter rate[1..12] = 1 {1/h}, inflow = 1 {L/h}, period = 3 {h}
state tank[1..12] = 0.1 {L}

tank[1]' = inflow*(1 + sin(2*3.141592653589793*t/period)) - rate[1]*tank[1]^1.5
tank[k]' = rate[k - 1]*tank[k - 1]^1.5 - rate[k]*tank[k]^1.5 for k = 2..12

output content = sum(k = 1..12, tank[k]) {L}
output outflow = rate[12]*tank[12]^1.5 {L/h}
