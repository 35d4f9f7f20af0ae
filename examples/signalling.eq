# signalling.eq - a receptor R binds a ligand; the complex C activates a kinase, K to A.
#
# Before the run the cell is at rest without ligand, with some of the kinase active.  Time in minutes.

parameter ligand = 2          # from outside; 0 before the stimulus
parameter synthesis = 0.05, decay = 0.02
parameter on = 0.3, off = 0.1
parameter basal = 0.01, active = 0.5, inactive = 0.2

state R = 1, C = 0, K = 0.7, A = 0.3
cost dose' = A                # exposure to the active kinase

start steady with ligand = 0

R' = synthesis - decay*R - on*ligand*R + off*C
C' = on*ligand*R - off*C - 2*decay*C
K' = inactive*A - (basal + active*C)*K
A' = (basal + active*C)*K - inactive*A
