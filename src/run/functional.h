/* functional.h - functionals of a run: their values and gradients over a tape, and over one with halved steps. */
#ifndef COSTATE_RUN_FUNCTIONAL_H
#define COSTATE_RUN_FUNCTIONAL_H

#include <costate/accuracy.h>
#include "run/run.h"

typedef struct {                /* functionals of one run; last: m: terms at its end */
    double *value, *last, *lambda, *mu, *t0, *t1, *events;     /* m; N, np by m; m, m; events by m */
    double *end, *terms;        /* m: direct derivatives with respect to the end; count by m: terms of observations */
} outcome;

enum wanted { GRADIENT = 1, OF_Y0 = 2, OF_P = 4, OF_TIMES = 8 };      /* besides values; GRADIENT: any of these */

/* functional.c */
int functional_sound(costate *, const costate_functional *);
void outcome_layout(const costate *, const costate_functional *, const costate_tape *, cursor *, outcome *);
/* Values and what is wanted of them, by one sweep; `after`: called for each operation, or NULL */
int functional_sweep(costate *, const costate_tape *, const costate_functional *, unsigned wanted, outcome *,
                     const visit *after);

/* finer.c: the run on the tape again, with halved steps that also end at these times, onto another tape. *finer: its
   solver, to be freed by the caller also after a failure; first: costate_tape_steps numbers of steps, or NULL */
int finer_run(costate *, const costate_tape *, int count, const double *times, int *first, costate_tape *onto,
              costate **finer);

/* accuracy.c */
typedef struct { double tol, value_atol, gradient_atol; } allowed;      /* as in costate_goal */
/* solver_accuracy; worst: the largest error, in units of what is allowed */
int estimate_errors(costate *, const costate_tape *, const costate_functional *, costate_estimate *, const allowed *,
                    double *worst);
int solver_accuracy(costate *, const costate_tape *, const costate_functional *, costate_estimate *);
/* goal.c */
int solver_gradient_within(costate *, double t0, double t1, double *y, const double *p, const costate_functional *,
                           costate_goal *, costate_tape *);

#endif
