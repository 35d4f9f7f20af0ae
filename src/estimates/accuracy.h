/* accuracy.h - estimated errors of values, gradients and Hessian products, and runs that meet a bound of them. */
#ifndef COSTATE_ESTIMATES_ACCURACY_H
#define COSTATE_ESTIMATES_ACCURACY_H

#include <costate/accuracy.h>
#include "solver/solver.h"

typedef struct { double tol, value_atol, gradient_atol, product_atol; } allowed;        /* as in costate_goal */

/* The largest errors of values, of gradients with respect to y0, p and times, and of Hessian products with respect to
   y0 and p, in units of what is allowed; number: of the functional, of products the direction, with this error. */
enum item_kind { ITEM_VALUE, ITEM_Y0, ITEM_P, ITEM_TIMES, ITEM_Y0_PRODUCT, ITEM_P_PRODUCT, ITEMS };
typedef struct { double worst[ITEMS]; int number[ITEMS]; } judgement;

unsigned estimate_wants(const costate_estimate *);      /* enum wanted */
int estimate_errors(costate *, const costate_tape *, const costate_functional *, costate_estimate *, const allowed *,
                    judgement *);
int solver_accuracy(costate *, const costate_tape *, const costate_functional *, costate_estimate *);
/* goal.c */
int solver_gradient_within(costate *, double t0, double t1, double *y, const double *p, const costate_functional *,
                           costate_goal *, costate_tape *);

#endif
