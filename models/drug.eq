# The model of examples/33_first_fit.c and 34_bounds.c.  The enzyme that breaks the drug down saturates (Michaelis and
# Menten).
model drug "a drug that is swallowed and injected"
parameter ka = 2 {1/h} "absorption", F = 0.5 "absorbed part of a swallowed dose", V = 150 {L} "volume of distribution"
parameter vmax = 5 {mg/h} "fastest elimination", km = 300 {ug/L} "concentration at which it is half as fast"
state gut {mg}, blood {mg}
let c = 1000*blood/V

gut'   = -ka*gut
blood' = ka*gut - vmax*c/(km + c)

event swallow at 0 every 12 until 24
    gut += 100*F
event inject at 36
    blood += 100

output concentration = c {ug/L}
