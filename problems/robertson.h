/* robertson.h - Robertson's problem by its rates k, for programs that make it often:

       A -> B  k[0],   B + B -> B + C  k[1],   B + C -> A + C  k[2]

   (H. H. Robertson (1966), in J. Walsh (ed.), Numerical Analysis: an Introduction, 178-182.)  With second derivatives
   it is in network.c, and with an integral in problems.c. */
#ifndef PROBLEMS_ROBERTSON_H
#define PROBLEMS_ROBERTSON_H

#include <costate/costate.h>

static const double robertson_start[3] = {1, 0, 0}, robertson_rates[3] = {0.04, 3e7, 1e4};

static inline int robertson_value(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *k = x->p, a = k[0] * y[0], b = k[1] * y[1] * y[1], c = k[2] * y[1] * y[2];
    (void)ctx;
    out[0] = c - a;
    out[1] = a - b - c;
    out[2] = b;
    return 0;
}

static inline int robertson_jac(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, *k = x->p, b = 2 * k[1] * y[1], c1 = k[2] * y[2], c2 = k[2] * y[1];
    (void)ctx;
    J[0] = -k[0]; J[3] = c1;      J[6] = c2;
    J[1] = k[0];  J[4] = -b - c1; J[7] = -c2;
    J[2] = 0;     J[5] = b;       J[8] = 0;
    return 0;
}

static inline int robertson_adjoint(const costate_point *x, const double *w, const costate_gradient *g,
                                    void *ctx)
{
    const double *y = x->y, *k = x->p, wa = w[1] - w[0], wb = w[2] - w[1], wc = w[0] - w[1];
    (void)ctx;
    if (g->y) {
        g->y[0] += k[0] * wa;
        g->y[1] += 2 * k[1] * y[1] * wb + k[2] * y[2] * wc;
        g->y[2] += k[2] * y[1] * wc;
    }
    if (g->p) {
        g->p[0] += y[0] * wa;
        g->p[1] += y[1] * y[1] * wb;
        g->p[2] += y[1] * y[2] * wc;
    }
    return 0;
}

static const costate_problem robertson_problem = {
    .n = 3, .np = 3, .rhs = {.value = robertson_value, .adjoint = robertson_adjoint}, .jac = robertson_jac};

#endif
