# POLLU (J. G. Verwer, SIAM J. Sci. Comput. 15 (1994) 1243-1259): 20 species, 25 reactions; t in minutes.
model pollution "the chemistry of an air pollution model"
state NO2, NO = 0.2, O3P, O3 = 0.04, HO2, OH, HCHO = 0.1, CO = 0.3, ALD = 0.01, MEO2, C2O3, CO2, PAN, CH3O, HNO3, O1D,
    SO2 = 0.007, SO4, NO3, N2O5

NO2         -> NO + O3P             : k1 = 0.35
NO + O3     -> NO2                  : k2 = 26.6
HO2 + NO    -> NO2 + OH             : k3 = 1.23e4
HCHO        -> 2 HO2 + CO           : k4 = 8.6e-4
HCHO        -> CO                   : k5 = 8.2e-4
HCHO + OH   -> HO2 + CO             : k6 = 1.5e4
ALD         -> MEO2 + HO2 + CO      : k7 = 1.3e-4
ALD + OH    -> C2O3                 : k8 = 2.4e4
C2O3 + NO   -> NO2 + MEO2 + CO2     : k9 = 1.65e4
C2O3 + NO2  -> PAN                  : k10 = 9e3
PAN         -> C2O3 + NO2           : k11 = 0.022
MEO2 + NO   -> CH3O + NO2           : k12 = 1.2e4
CH3O        -> HCHO + HO2           : k13 = 1.88
NO2 + OH    -> HNO3                 : k14 = 1.63e4
O3P         -> O3                   : k15 = 4.8e6
O3          -> O1D                  : k16 = 3.5e-4
O3          -> O3P                  : k17 = 0.0175
O1D         -> 2 OH                 : k18 = 1e8
O1D         -> O3P                  : k19 = 4.44e11
SO2 + OH    -> SO4 + HO2            : k20 = 1240
NO3         -> NO                   : k21 = 2.1
NO3         -> NO2 + O3P            : k22 = 5.78
NO2 + O3    -> NO3                  : k23 = 0.0474
NO3 + NO2   -> N2O5                 : k24 = 1780
N2O5        -> NO3 + NO2            : k25 = 3.12
