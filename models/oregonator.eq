# Oregonator (R. J. Field, R. M. Noyes, J. Chem. Phys. 60 (1974) 1877-1884): relaxation oscillations of the
# Belousov-Zhabotinskii reaction.
model oregonator "an oscillating chemical reaction"
parameter s = 77.27, q = 8.375e-6, w = 0.161
state x = 1, y = 2, z = 3

x' = s*(y + x*(1 - q*x - y))
y' = (z - (1 + x)*y)/s
z' = w*(x - z)
