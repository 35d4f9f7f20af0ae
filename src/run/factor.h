/* factor.h - h_new/h by the step size controllers (mathematics, eq. 13.13 to 13.16).

   Without calls and branches, so that loops over members that run side by side use the same formulas with the same
   bits. */
#ifndef COSTATE_FACTOR_H
#define COSTATE_FACTOR_H

#include <math.h>
#include "base/power.h"
#include <costate/costate.h>

typedef struct {                    /* a controller of a method */
    int controller;                 /* COSTATE_ELEMENTARY, COSTATE_PI or COSTATE_GUSTAFSSON */
    double elementary;              /* exponent of err, and, of PI and Gustafsson, */
    double err, err_old;            /* those of err and err_old */
    double safety, least, most;
} law;

/* err_old, h_old: of the last accepted step; h_old = 0: there is none.  rejected: this step was, before. */
static inline double factor_of(const law *by, int rejected, double err, double err_old, double h, double h_old)
{
    const double LEAST_ERR = 1e-10;
    int known = h_old > 0 && err <= 1;
    double log_err = log2_of(err > LEAST_ERR ? err : LEAST_ERR), power = by->elementary * log_err, with_old = 0;
    if (by->controller != COSTATE_ELEMENTARY)
        with_old = by->err * log_err + by->err_old * log2_of(known ? err_old : 1);
    if (by->controller == COSTATE_PI) power = known && !rejected ? with_old : power;
    double factor = exp2_of(power);
    if (by->controller == COSTATE_GUSTAFSSON) {
        double g = h / (known ? h_old : 1) * exp2_of(with_old);
        factor = known && g < factor ? g : factor;
    }
    factor *= by->safety;
    double most = rejected || err > 1 ? 1 : by->most;
    factor = factor < most ? factor : most;
    return factor > by->least ? factor : by->least;
}

#endif
