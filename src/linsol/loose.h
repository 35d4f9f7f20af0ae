/* loose.h - A x = b as well as an outer iteration needs it: to an error, not to a residual. */
#ifndef COSTATE_LINSOL_LOOSE_H
#define COSTATE_LINSOL_LOOSE_H

#include "base/space.h"

typedef struct {
    const space *space;
    size_t n;
    int limit;                                        /* iterations */
    const double *w;                                  /* n: of the norm of errors */
    double tol;                                       /* of the error, in that norm */
    int (*apply)(void *, int m, const double *X, double *out);     /* m columns: one */
    int (*precondition)(void *, double *x);
    void *ctx;
    double *work;                                     /* loose_work(n, limit) */
} loose_system;

size_t loose_work(size_t n, int limit);
/* b <- x.  amplified: by how much the preconditioner undervalues errors, of the solves before; 1 at first.  stalled: 1
   where the limit came first.  What the callbacks return, else 0. */
int loose_solve(const loose_system *, double *b, double *amplified, int *iterations, int *stalled);

#endif
