/* left.h - the error of a sweep whose systems are solved inexactly, propagated from step to step. */
#ifndef COSTATE_LINSOL_LEFT_H
#define COSTATE_LINSOL_LEFT_H

#include "base/vec.h"
#include "linsol/shifts.h"

int left_wanted(const shifts *);                    /* options.krylov_tol is larger than round-off */
/* work space for m columns; none if the error is not requested, and then the other functions do nothing */
void left_layout(shifts *, cursor *, int m);
void left_sweep(shifts *);                          /* a sweep begins: the error is zero */
void left_step(shifts *);                           /* a step begins: its residuals are zero */
/* propagates the errors of m columns through the step from `at`; f: preconditioner, if any */
int left_follow(shifts *, const factors *f, const costate_point *at, double h, int transpose, int m);
/* the largest |error| / |x| of m columns x, ld apart */
int left_relative(shifts *, int transpose, int m, const double *X, size_t ld, double *worst);

/* r, n: the residual of one system of the step; inline because solvers are below left.c in the layering */
static inline void left_add(shifts *s, int column, double weight, const double *r)
{
    size_t n = (size_t)s->n;
    if (column < s->left.columns && weight != 0) axpy(n, weight, r, s->left.r + (size_t)column * n);
}

#endif
