#DEFVAR
  NO = N + O;       NO2 = N + 2O;     O3 = 3O;          O = O;            O1D = O;
  OH = O + H;       HO2 = H + 2O;     H2O2 = 2H + 2O;   CO = C + O;       HCHO = C + 2H + O;
  CH3O2 = C + 3H + 2O;                CH3OOH = C + 4H + 2O;               HNO3 = H + N + 3O;
#DEFFIX
  M = IGNORE;       O2 = 2O;          H2O = 2H + O;     CH4 = C + 4H;
