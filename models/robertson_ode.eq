# Robertson (1966): three species, rates from 0.04 to 3e7; the usual first test of a stiff solver.
model robertson_ode "an autocatalytic reaction of three species"
state A = 1, B = 0, C = 0

A     -> B     : k1 = 0.04 {1/s}
B + C -> A + C : k2 = 1e4 {1/s}
2 B   -> B + C : k3 = 3e7 {1/s}

cost formed' = C "the integral of C"
