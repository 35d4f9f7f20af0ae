/* left.h - what systems that are solved loosely leave in a sweep: its error, followed step by step. */
#ifndef COSTATE_LINSOL_LEFT_H
#define COSTATE_LINSOL_LEFT_H

#include "base/vec.h"
#include "linsol/shifts.h"

int left_wanted(const shifts *);                    /* options.krylov_tol asks for less than round-off */
/* room for m columns; nothing where it is not wanted, and then the others do nothing */
void left_layout(shifts *, cursor *, int m);
void left_sweep(shifts *);                          /* a sweep begins: no error yet */
void left_step(shifts *);                           /* a step begins: no residuals yet */
/* the errors of m columns after the step from `at`; f: preconditions, where it holds anything */
int left_follow(shifts *, const factors *f, const costate_point *at, double h, int transpose, int m);
/* the largest |error| / |x| of m columns x, ld apart */
int left_relative(shifts *, int transpose, int m, const double *X, size_t ld, double *worst);

/* r, n: the residual of one of its systems; inline, as what solves them stands below left.c */
static inline void left_add(shifts *s, int column, double weight, const double *r)
{
    size_t n = (size_t)s->n;
    if (column < s->left.columns && weight != 0) axpy(n, weight, r, s->left.r + (size_t)column * n);
}

#endif
