# interval.eq - a drug that is swallowed once a day, until the days are alike.
#
# Amounts in mg, times in hours.

parameter ka = 0.8 {1/h} "absorption", CL = 3 {L/h} "clearance", V = 40 {L} "volume of the blood"
parameter k12 = 0.15 {1/h}, k21 = 0.05 {1/h}       # into the tissue, and back
parameter dose = 250 {mg}, lag = 0.5 {h}

state gut = 0 {mg}, blood = 0 {mg}, tissue = 0 {mg}
cost exposure' = blood/V                           # area under the concentration, mg h/L

event swallowed at lag
    gut += dose

start periodic 24

gut' = -ka*gut
blood' = ka*gut - (CL/V + k12)*blood + k21*tissue
tissue' = k12*blood - k21*tissue
