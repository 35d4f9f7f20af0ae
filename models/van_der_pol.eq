model van_der_pol "relaxation oscillations"
parameter mu = 1000
state x = 2, v = -0.6666654321121172 * 1e-3

x' = v
v' = mu*(1 - x^2)*v - x
