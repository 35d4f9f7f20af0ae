# A battery of two RC elements that feeds a constant power: the current satisfies an algebraic equation.  It stops when
# the voltage falls to its limit.
model battery "a battery that feeds a constant power until it is empty"
parameter capacity = 2 {Ah}, R0 = 0.05 {Ohm}, R1 = 0.02 {Ohm}, C1 = 0.5 {Ah/V}, power = 5 {W}, limit = 3 {V}
state charge = 1, u1 = 0 {V}
algebraic current = 1.25 {A}
let open = 3 + 1.2*charge - 0.1*exp(-20*charge)
let voltage = open - u1 - R0*current

charge' = -current/capacity
u1'     = (current - u1/R1)/C1
0       = voltage*current - power

event empty when voltage - limit falls terminal

cost delivered' = power {Wh}
output terminal_voltage = voltage {V}
