# A residual with modes, whose guard and jump use the derivative in time.
model relay "a relay that is kicked when its acceleration changes sign"
parameter k = 4, damping = 0.2, kick = 0.1
state x = 1, v = 0
(1 + 0.1*x^2)*x' = (1 + 0.1*x^2)*v
(1 + x^2)*v' = -k*x - damping*v

event turn when v' rises passes
    v := v + kick*x'
