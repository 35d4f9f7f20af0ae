# The model of examples/39_population.c, one subject; doses are added to gut from outside.  Elimination saturates
# (Michaelis and Menten).  The constants are in the range of phenytoin's, but those of no drug.
model population "a drug in gut, blood and tissue"
parameter ka = 0.8 {1/h} "absorption", vmax = 18 {mg/h} "fastest elimination"
parameter km = 5 {mg/L} "concentration at which it is half as fast", V = 40 {L} "volume of the blood compartment"
parameter Q = 6 {L/h} "flow between blood and tissue", V2 = 30 {L} "volume of the tissue compartment"
state gut = 300 {mg}, blood = 200 {mg}, tissue = 100 {mg}          # the example begins without any
let c = blood/V
let exchange = Q*(c - tissue/V2)

gut'    = -ka*gut
blood'  = ka*gut - vmax*c/(km + c) - exchange
tissue' = exchange

output concentration = c {mg/L}
