model thermostat "a heater between two thresholds"
parameter low = 19 {degC}, high = 21 {degC}, k = 0.2 {1/h}, outside = 5 {degC}, power = 4 {degC/h}
mode off, on
state T = low - 1 {degC}
cost energy' = if(mode == on, power, 0)

T' = k*(outside - T) + if(mode == on, power, 0)

event warm when T - high rises in on
    mode := off
event cold when T - low falls in off
    mode := on
