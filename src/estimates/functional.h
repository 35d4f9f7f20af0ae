/* functional.h - functionals of a run: their values and gradients over a tape. */
#ifndef COSTATE_ESTIMATES_FUNCTIONAL_H
#define COSTATE_ESTIMATES_FUNCTIONAL_H

#include <costate/accuracy.h>
#include "sweeps/sweep.h"

typedef struct {                /* functionals of one run; last: m: terms at its end */
    double *value, *last, *lambda, *mu, *t0, *t1, *events;     /* m; N, np by m; m, m; events by m */
    double *end, *terms;        /* m: direct derivatives with respect to the end; count by m: terms of observations */
} outcome;

enum wanted { GRADIENT = 1, OF_Y0 = 2, OF_P = 4, OF_TIMES = 8 };      /* besides values; GRADIENT: any of these */

int functional_sound(costate *, const costate_functional *);
void outcome_layout(const costate *, const costate_functional *, const costate_tape *, cursor *, outcome *);
/* Values and what is wanted of them, by one sweep; `after`: called for each operation, or NULL */
int functional_sweep(costate *, const costate_tape *, const costate_functional *, unsigned wanted, outcome *,
                     const visit *after);

#endif
