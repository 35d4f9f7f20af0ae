/* loose.h - solves A x = b inexactly for an outer iteration: to a given error, not a given residual. */
#ifndef COSTATE_LINSOL_LOOSE_H
#define COSTATE_LINSOL_LOOSE_H

#include "base/space.h"

typedef struct {
    const space *space;
    size_t n;
    int limit;                                        /* iterations */
    const double *w;                                  /* n: weights of the norm of errors */
    double tol, part;                                 /* required error in that norm: tol, or that part of |P^-1 b| */
    int (*apply)(void *, int m, const double *X, double *out);     /* m columns: one */
    int (*precondition)(void *, double *x);
    void *ctx;
    double *work;                                     /* loose_work(n, limit) */
} loose_system;

/* first, last: |P^-1 b|, |P^-1 (b - A x)|; stalled: 1 if last is too large, because the limit of iterations was reached
   or a direction added nothing */
typedef struct { int iterations, stalled; double first, last; } loose_result;

size_t loose_work(size_t n, int limit);
/* b <- x.  amplified: the factor by which the preconditioner underestimates errors, from earlier solves; initially 1.
   Returns an error of a callback, else 0. */
int loose_solve(const loose_system *, double *b, double *amplified, loose_result *);

#endif
