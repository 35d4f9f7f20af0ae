/* departing.h - y_i' = b_i - a_i y_i with a preconditioner P for which P^-1 (sigma M - f_y) is a number x_i of each
   unknown, which may depend on sigma; M = m I. */
#ifndef TESTS_DEPARTING_H
#define TESTS_DEPARTING_H

#include "common.h"

enum { DEPARTING = 3 };

typedef struct {
    double a[DEPARTING], b[DEPARTING], x[DEPARTING];
    double reach;               /* > 0: x is 1/(1 + (reach/sigma)^2) instead */
    double m, sigma;
    int solves;                 /* so far */
} departing;

static inline int departing_value(const costate_point *x, double *out, void *ctx)
{
    const departing *d = ctx;
    for (int i = 0; i < DEPARTING; i++) out[i] = d->b[i] - d->a[i] * x->y[i];
    return 0;
}
static inline int departing_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const departing *d = ctx;
    (void)x;
    for (int i = 0; i < DEPARTING; i++) out[i] = dx->y ? -d->a[i] * dx->y[i] : 0;
    return 0;
}
static inline int departing_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const departing *d = ctx;
    (void)x;
    for (int i = 0; g->y && i < DEPARTING; i++) g->y[i] -= d->a[i] * w[i];
    return 0;
}
static inline int departing_mass(double *M, void *ctx)
{
    const departing *d = ctx;
    for (int i = 0; i < DEPARTING; i++) M[i * DEPARTING + i] = d->m;
    return 0;
}
static inline int departing_setup(double sigma, const costate_point *x, void *ctx)
{
    departing *d = ctx;
    (void)x;
    d->sigma = sigma;
    return 0;
}
static inline int departing_solve(int transpose, double *v, void *ctx)
{
    departing *d = ctx;
    double reach = d->reach / d->sigma;
    (void)transpose;
    d->solves++;
    for (int i = 0; i < DEPARTING; i++)
        v[i] *= (d->reach > 0 ? 1 / (1 + reach * reach) : d->x[i]) / (d->sigma * d->m + d->a[i]);
    return 0;
}

static inline costate_problem departing_problem(departing *d)
{
    costate_problem P = {.n = DEPARTING, .ctx = d, .rhs = {.value = departing_value, .tangent = departing_tangent,
                                                           .adjoint = departing_adjoint}};
    if (d->m != 1) P.mass = departing_mass;
    return P;
}
static inline costate_preconditioner departing_preconditioner(departing *d)
{
    return (costate_preconditioner){.setup = departing_setup, .solve = departing_solve, .ctx = d};
}

#endif
