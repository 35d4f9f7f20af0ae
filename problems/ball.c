/* ball.c - a ball on a table that vibrates, once a second: an impact a second, as long as one likes.

       y' = v,  v' = -g - c v,  table a sin(2 pi t);  where the ball meets it:  v := -e v + (1 + e) 2 pi a cos(2 pi t)

   p = (g, c, e, a).  The motion with one impact a period attracts those that start near it.  The gradient is that of
   y(t1). */
#include <math.h>

#include "ivp.h"

enum { G, C, E, TABLE, PARAMETERS };

static const double start[] = {0.05, 5};
static const double parameters[PARAMETERS] = {9.81, 0.05, 0.8, 0.12};
static const double turn = 6.28318530717958647693;

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[1];
    out[1] = -x->p[G] - x->p[C] * x->y[1];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = dx->y ? dx->y[1] : 0;
    out[1] = (dx->y ? -x->p[C] * dx->y[1] : 0) - (dx->p ? dx->p[G] + dx->p[C] * x->y[1] : 0);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[1] += w[0] - x->p[C] * w[1];
    if (g->p) g->p[G] -= w[1];
    if (g->p) g->p[C] -= x->y[1] * w[1];
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    J[0] = J[1] = 0;
    J[2] = 1;
    J[3] = -x->p[C];
    return 0;
}

static int guard_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    return *out = x->y[0] - x->p[TABLE] * sin(turn * x->t), 0;
}

static int guard_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    *out = (dx->y ? dx->y[0] : 0) - (dx->p ? dx->p[TABLE] * sin(turn * x->t) : 0);
    *out -= x->p[TABLE] * turn * cos(turn * x->t) * dx->t;
    return 0;
}

static int guard_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += *w;
    if (g->p) g->p[TABLE] -= sin(turn * x->t) * *w;
    if (g->t) *g->t -= x->p[TABLE] * turn * cos(turn * x->t) * *w;
    return 0;
}

static int jump_value(const costate_point *x, double *out, void *ctx)
{
    const double *p = x->p;
    (void)ctx;
    out[0] = x->y[0];
    out[1] = -p[E] * x->y[1] + (1 + p[E]) * turn * p[TABLE] * cos(turn * x->t);
    return 0;
}

static int jump_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *p = x->p, *dp = dx->p, c = turn * cos(turn * x->t), s = turn * turn * sin(turn * x->t);
    (void)ctx;
    out[0] = dx->y ? dx->y[0] : 0;
    out[1] = (dx->y ? -p[E] * dx->y[1] : 0) - (1 + p[E]) * p[TABLE] * s * dx->t;
    if (dp) out[1] += dp[E] * (p[TABLE] * c - x->y[1]) + (1 + p[E]) * dp[TABLE] * c;
    return 0;
}

static int jump_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *p = x->p, c = turn * cos(turn * x->t), s = turn * turn * sin(turn * x->t);
    (void)ctx;
    if (g->y) g->y[0] += w[0];
    if (g->y) g->y[1] -= p[E] * w[1];
    if (g->t) *g->t -= (1 + p[E]) * p[TABLE] * s * w[1];
    if (g->p) g->p[E] += (p[TABLE] * c - x->y[1]) * w[1];
    if (g->p) g->p[TABLE] += (1 + p[E]) * c * w[1];
    return 0;
}

int ivp_ball(ivp *b, int unused)
{
    static const costate_event impact = {
        .guard = {.value = guard_value, .tangent = guard_tangent, .adjoint = guard_adjoint},
        .jump = {.value = jump_value, .tangent = jump_tangent, .adjoint = jump_adjoint},
        .direction = -1, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    (void)unused;
    *b = (ivp){.P = {.n = 2, .np = PARAMETERS, .jac = jacobian,
                     .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint}, .nevents = 1, .event = &impact},
               .y0 = start, .p = parameters, .t1 = 100, .atol = 1, .by_p = 1, .timed = 1};
    return COSTATE_OK;
}
