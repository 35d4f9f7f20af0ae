/* bratu.h - Bratu's problem: y'' = -k e^y, y(0) = y(L) = 0.  For L = 1 it has two solutions if k < 3.513830719, and
   none if k is larger. */
#ifndef TESTS_BRATU_H
#define TESTS_BRATU_H

#include <math.h>
#include <costate/bvp.h>

static inline int bratu(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[1], out[1] = -x->p[0] * exp(x->y[0]);
    return 0;
}
static inline int bratu_jac(const costate_point *x, double *J, void *ctx)
{
    (void)ctx, J[0] = J[3] = 0, J[1] = -x->p[0] * exp(x->y[0]), J[2] = 1;
    return 0;
}
static inline int zero_ends(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[0], out[1] = x->y[2];
    return 0;
}

#endif
