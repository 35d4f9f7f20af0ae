# Robertson's reaction with the conservation of mass in place of the third equation: a DAE of index 1.
model robertson_dae "an autocatalytic reaction with a constraint"
parameter k1 = 0.04 {1/s}, k2 = 1e4 {1/s}, k3 = 3e7 {1/s}, total = 1
state A = total, B = 0
algebraic C = 0

A' = -k1*A + k2*B*C
B' = k1*A - k2*B*C - k3*B^2
0  = A + B + C - total
