# The model of examples/35_hares.c: the equations of Lotka and Volterra.  The constants are a first guess, for a period
# of ten years, about 2 pi/sqrt(birth*death), and means of death/growth and birth/eaten.
model hares "snowshoe hares and the lynxes that eat them"
parameter birth = 0.6 {1/year}, eaten = 0.03, death = 0.6 {1/year}, growth = 0.02
state hares = 30 {1000 pelts}, lynxes = 4 {1000 pelts}

hares'  = birth*hares - eaten*hares*lynxes
lynxes' = growth*hares*lynxes - death*lynxes

output log_hares  = log(hares)
output log_lynxes = log(lynxes)
