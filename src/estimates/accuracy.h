/* accuracy.h - estimated errors of values and gradients, and runs that meet a bound of them. */
#ifndef COSTATE_ESTIMATES_ACCURACY_H
#define COSTATE_ESTIMATES_ACCURACY_H

#include <costate/accuracy.h>
#include "solver/solver.h"

typedef struct { double tol, value_atol, gradient_atol; } allowed;      /* as in costate_goal */
/* solver_accuracy; worst: the largest error, in units of what is allowed */
int estimate_errors(costate *, const costate_tape *, const costate_functional *, costate_estimate *, const allowed *,
                    double *worst);
int solver_accuracy(costate *, const costate_tape *, const costate_functional *, costate_estimate *);
/* goal.c */
int solver_gradient_within(costate *, double t0, double t1, double *y, const double *p, const costate_functional *,
                           costate_goal *, costate_tape *);

#endif
