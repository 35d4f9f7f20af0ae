# A cooled stirred tank with an exothermic reaction: the rate grows with exp(-E/T) (Arrhenius).
model reactor "a stirred tank with an exothermic reaction"
parameter flow = 100 {L/min}, volume = 100 {L}, feed = 1 {mol/L}, feed_T = 350 {K}, coolant_T = 305 {K}
parameter k0 = 7.2e10 {1/min}, E = 8750 {K}, heat = 209.2 {K L/mol}, transfer = 2.09 {1/min}
state c = 0.5 {mol/L}, T = 350 {K}
let rate = k0*exp(-E/T)*c

c' = flow/volume*(feed - c) - rate
T' = flow/volume*(feed_T - T) + heat*rate + transfer*(coolant_T - T)
