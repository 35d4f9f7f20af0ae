model lotka_volterra "predators and prey"
parameter birth = 1.5 {1/year}, eaten = 1 {1/year}, death = 3 {1/year}, growth = 1 {1/year}
parameter prey_0 = 1, predators_0 = 1
state prey = prey_0, predators = predators_0

prey'      = birth*prey - eaten*prey*predators
predators' = -death*predators + growth*prey*predators

cost meals' = eaten*prey*predators
output invariant = growth*prey - death*log(prey) + eaten*predators - birth*log(predators)
