/* functional.h - functionals of a run: their values, gradients and Hessian products over a tape. */
#ifndef COSTATE_ESTIMATES_FUNCTIONAL_H
#define COSTATE_ESTIMATES_FUNCTIONAL_H

#include <costate/accuracy.h>
#include "sweeps/sweep.h"

typedef struct {                /* functionals of one run; last: m: terms at its end */
    double *value, *last, *lambda, *mu, *t0, *t1, *events;     /* m; N, np by m; m, m; events by m */
    double *end, *terms;        /* m: direct derivatives with respect to the end; count by m: terms of observations */
    double *direct, *of_term;   /* np by m: direct derivatives of all terms at times with respect to p; of one time */
    double *lambda2, *mu2;      /* N, np by the directions of F->second: Hessian products */
    double *again_y0, *again_p; /* N, np: the gradient, as their sweep computes it once more */
} outcome;

/* besides values; GRADIENT: any of the three that follow */
enum wanted { GRADIENT = 1, OF_Y0 = 2, OF_P = 4, OF_TIMES = 8, PRODUCT_Y0 = 16, PRODUCT_P = 32,
              PRODUCTS = PRODUCT_Y0 | PRODUCT_P };

/* wanted: PRODUCTS require F->second */
int functional_sound(costate *, const costate_functional *, unsigned wanted);
void outcome_layout(const costate *, const costate_functional *, const costate_tape *, unsigned wanted, cursor *,
                    outcome *);
/* Values and what is wanted of them, by one sweep, and another one for products; `after`: called for each operation of
   the first, or NULL */
int functional_sweep(costate *, const costate_tape *, const costate_functional *, unsigned wanted, outcome *,
                     const visit *after);
/* The values alone; what else the callbacks fill is of no use afterwards. */
int functional_values(costate *, const costate_tape *, const costate_functional *, outcome *);

#endif
