/* nonlinear.h - a system of three states and two integrals in which nothing is linear or autonomous, by its formulas;
   with third derivatives, since ros differentiates its Jacobians. */
#ifndef TESTS_NONLINEAR_H
#define TESTS_NONLINEAR_H

#include "formula.h"
#include "nums.h"

enum { N = 3, NQ = 2, NP = 2, ALL = N + NQ };

static const double MASS[N * N] = {2, 0, 0, 0, 0.5, 0, 0, 0, 1.25};

static inline void f_of(const formula *F, num t, const num *y, const num *p, num *out)
{
    (void)F;
    out[0] = sub(mul(sine(mul(t, y[1])), p[0]), mul(y[0], square(y[2])));
    out[1] = sub(mul3(p[1], y[0], exponential(times(-0.4, y[2]))), mul(y[1], plus(square(t), 1)));
    out[2] = add(cosine(mul(p[0], y[1])), times(-2, mul(y[2], plus(mul(t, p[1]), 1))));
}
static inline void r_of(const formula *F, num t, const num *y, const num *p, num *out)
{
    (void)F;
    out[0] = mul(square(y[0]), add(t, p[1]));
    out[1] = sine(mul3(y[1], y[2], add(t, p[0])));
}
static inline void f_num(const void *of, const num_point *x, num *out) { f_of(of, x->t, x->y, x->p, out); }
static inline void r_num(const void *of, const num_point *x, num *out) { r_of(of, x->t, x->y, x->p, out); }
static inline int f_third(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                          const costate_gradient *g, void *ctx)
{
    num_adjoint2(&(num_map){.n = N, .np = NP, .rows = N, .f = f_num, .of = ctx}, x, a, b, w, g);
    return 0;
}
static inline int r_third(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                          const costate_gradient *g, void *ctx)
{
    num_adjoint2(&(num_map){.n = N, .np = NP, .rows = NQ, .f = r_num, .of = ctx}, x, a, b, w, g);
    return 0;
}

#endif
