/* loose.h - solves A x = b inexactly for an outer iteration: to a given error, not a given residual. */
#ifndef COSTATE_LINSOL_LOOSE_H
#define COSTATE_LINSOL_LOOSE_H

#include "base/space.h"

typedef struct {
    const space *space;
    size_t n;
    int limit;                                        /* iterations */
    const double *w;                                  /* n: weights of the norm of errors */
    double tol;                                       /* required error in that norm */
    int (*apply)(void *, int m, const double *X, double *out);     /* m columns: one */
    int (*precondition)(void *, double *x);
    void *ctx;
    double *work;                                     /* loose_work(n, limit) */
} loose_system;

size_t loose_work(size_t n, int limit);
/* b <- x.  amplified: the factor by which the preconditioner underestimates errors, from earlier solves; initially 1.
   stalled: 1 if the limit of iterations was reached.  Returns an error of a callback, else 0. */
int loose_solve(const loose_system *, double *b, double *amplified, int *iterations, int *stalled);

#endif
