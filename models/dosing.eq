# Two compartments and a gut: doses are swallowed at given times, and an infusion is switched on and off.
model dosing "pharmacokinetics with oral doses and infusions"
parameter ka = 1.1 {1/h} "absorption", CL = 5 {L/h} "clearance", V = 30 {L} "volume of the blood compartment"
parameter k12 = 0.4 {1/h} "blood to tissue", k21 = 0.25 {1/h} "tissue to blood"
state gut {mg}, blood {mg}, tissue {mg}
memory infusion {mg/h}
let absorbed = ka*gut
let exchange = k12*blood - k21*tissue

gut'    = -absorbed
blood'  = absorbed - CL/V*blood - exchange + infusion
tissue' = exchange

event swallow at 0, 8, 24
    gut += 100
event on at 12, 27
    infusion := 25
event off at 14.5, 28
    infusion := 0

output concentration = blood/V {mg/L}
