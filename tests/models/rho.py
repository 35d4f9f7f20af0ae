"""rho(T, x) = 1 + e^-T sin x, in C with its derivatives and in the language of equation files."""
RHO = r"""#include <math.h>
#ifndef WRONG
#define WRONG 0
#endif
static inline void rho(const double *x, double *value, double *gradient, double *hessian, double *third)
{
    const double e = exp(-x[0]), s = sin(x[1]), c = cos(x[1]);
    if (value) *value = 1 + e*s;
    if (gradient) {
        gradient[0] = -e*s;
        gradient[1] = e*c*(1 + (WRONG == 1)*1e-4);
    }
    if (hessian) {
        hessian[0] = e*s;
        hessian[1] = hessian[2] = -e*c;
        hessian[3] = -e*s*(1 + (WRONG == 2)*1e-4);
    }
    if (third) {
        third[0] = -e*s;
        third[1] = third[2] = third[4] = e*c;
        third[3] = third[5] = third[6] = e*s;
        third[7] = -e*c*(1 + (WRONG == 3)*1e-4);
    }
}
"""
IN_LANGUAGE = "let rho(T, x) = 1 + exp(-T)*sin(x)\n"
IN_C = 'function rho(T, x) from "rho.h" derivatives {}\n'
