/* vdpol.c - van der Pol's oscillator in the scaling with eps = 1/mu^2: y1' = y2, eps y2' = (1 - y1^2) y2 - y1.
   (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.10.)  And in the original one, which
   is the same with other rates: y1' = y2, y2' = mu (1 - y1^2) y2 - y1. */
#include <stdlib.h>

#include "ivp.h"

/* y2' = k ((1 - y1^2) y2 - s y1): k = 1/eps and s = 1, or k = mu and s = 1/mu */
typedef struct { double k, s; } vdpol;

static const double start[2] = {2, -0.66}, original_start[2] = {2, 0};

static double rate(const void *ctx) { return ((const vdpol *)ctx)->k; }
static double spring(const void *ctx) { return ((const vdpol *)ctx)->s; }

static int value(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y;
    out[0] = y[1];
    out[1] = rate(ctx) * ((1 - y[0] * y[0]) * y[1] - spring(ctx) * y[0]);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *y = x->y, *v = dx->y;
    out[0] = v ? v[1] : 0;
    out[1] = v ? rate(ctx) * ((1 - y[0] * y[0]) * v[1] - (2 * y[0] * y[1] + spring(ctx)) * v[0]) : 0;
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y;
    if (!g->y) return 0;
    g->y[0] -= rate(ctx) * (2 * y[0] * y[1] + spring(ctx)) * w[1];
    g->y[1] += w[0] + rate(ctx) * (1 - y[0] * y[0]) * w[1];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const double *y = x->y, *u = dx1->y, *v = dx2->y;
    out[0] = 0;
    out[1] = u && v ? -2 * rate(ctx) * (y[1] * u[0] * v[0] + y[0] * (u[0] * v[1] + u[1] * v[0])) : 0;
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    const double *y = x->y, *v = dx->y;
    if (!g->y || !v) return 0;
    g->y[0] -= 2 * rate(ctx) * w[1] * (y[1] * v[0] + y[0] * v[1]);
    g->y[1] -= 2 * rate(ctx) * w[1] * y[0] * v[0];
    return 0;
}

static int adjoint_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                            const double *w, const costate_gradient *g, void *ctx)
{
    const double *u = dx1->y, *v = dx2->y;
    (void)x;
    if (!g->y || !u || !v) return 0;
    g->y[0] -= 2 * rate(ctx) * w[1] * (u[1] * v[0] + u[0] * v[1]);
    g->y[1] -= 2 * rate(ctx) * w[1] * u[0] * v[0];
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y;
    J[0] = 0;
    J[1] = -rate(ctx) * (2 * y[0] * y[1] + spring(ctx));
    J[2] = 1;
    J[3] = rate(ctx) * (1 - y[0] * y[0]);
    return 0;
}

int ivp_vdpol(ivp *b, int mu)
{
    vdpol *v = malloc(sizeof *v);
    if (!v) return COSTATE_NO_MEMORY;
    v->k = (double)mu * mu;
    v->s = 1;
    *b = (ivp){.P = {.n = 2, .ctx = v, .jac = jacobian, .rhs = {.value = value, .tangent = tangent,
                                                                .adjoint = adjoint, .tangent2 = tangent2,
                                                                .adjoint_tangent = adjoint_tangent,
                                                                .adjoint_tangent2 = adjoint_tangent2}},
               .y0 = start, .t1 = 2, .atol = 1, .stiff = 1, .own = v, .free_own = free};
    return COSTATE_OK;
}

int ivp_vdpol_original(ivp *b, int mu)
{
    if (mu < 1) return COSTATE_BAD_ARGUMENT;
    int status = ivp_vdpol(b, mu);
    if (status != COSTATE_OK) return status;
    *(vdpol *)b->own = (vdpol){.k = mu, .s = 1.0 / mu};
    b->y0 = original_start;
    b->t1 = 60;
    return COSTATE_OK;
}
