/* test_event_scales.c - events where numbers are hard: t0 = 1.7e12, states of 1e-160 and 1e150, a sensor that follows
   in 1e-9 of the time.  All of it is as it is at scale 1: located, transposed, replayed to the bit, checked. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"

/* A room, its sensor z and a heater: T' = 5 s - T + p2 (on), z' = K (T - z); on below z = p0, off above z = p1. */
typedef struct { double s, K, t0; } scale;

static int value(const costate_point *x, double *out, void *ctx)
{
    const scale *q = ctx;
    out[0] = 5 * q->s - x->y[0] + (x->mode ? x->p[2] : 0);
    out[1] = q->K * (x->y[0] - x->y[1]);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const scale *q = ctx;
    double T = dx->y ? dx->y[0] : 0, z = dx->y ? dx->y[1] : 0;
    out[0] = -T + (x->mode && dx->p ? dx->p[2] : 0);
    out[1] = q->K * (T - z);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const scale *q = ctx;
    if (g->y) g->y[0] += q->K * w[1] - w[0];
    if (g->y) g->y[1] -= q->K * w[1];
    if (g->p && x->mode) g->p[2] += w[0];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x; (void)a; (void)b; (void)ctx;
    out[0] = out[1] = 0;
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)x; (void)dx; (void)w; (void)g; (void)ctx;
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    const scale *q = ctx;
    (void)x;
    J[0] = -1;
    J[1] = q->K;
    J[2] = 0;
    J[3] = -q->K;
    return 0;
}

/* of events; ctx: which threshold */
static int past(const costate_point *x, double *e, void *ctx)
{
    e[0] = x->y[1] - x->p[*(const int *)ctx];
    return 0;
}

static int past_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    (void)x;
    e[0] = (dx->y ? dx->y[1] : 0) - (dx->p ? dx->p[*(const int *)ctx] : 0);
    return 0;
}

static int past_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x;
    if (g->y) g->y[1] += w[0];
    if (g->p) g->p[*(const int *)ctx] -= w[0];
    return 0;
}

static const int low = 0, high = 1;
static const costate_map threshold = {.value = past, .tangent = past_tangent, .adjoint = past_adjoint};

static void one_scale(const costate_method *m, const scale *q)
{
    const costate_event events[] = {{.guard = threshold, .direction = -1, .from = 0, .to = 1, .ctx = (void *)&low},
                                    {.guard = threshold, .direction = 1, .from = 1, .to = 0, .ctx = (void *)&high}};
    const costate_problem P = {.n = 2, .np = 3, .ctx = (void *)q, .jac = jac, .nevents = 2, .event = events,
                               .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                       .adjoint_tangent = adjoint_tangent}};
    /* steps that the clock of t0 = 1.7e12, which ticks in 2e-4, can tell from none */
    double rtol = pow(10, -1.5 * method_info(m).order);
    costate_options o = {.rtol = fmax(rtol, 1e-6), .atol = fmax(rtol, 1e-8) * q->s};
    double s = q->s, t1 = q->t0 + 4, y0[] = {20 * s, 20 * s}, y[2], z[2], p[] = {18 * s, 22 * s, 40 * s};
    costate *c = new_for_test(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, y0, sizeof y);
    memcpy(z, y0, sizeof z);
    CHECK_OK(c, costate_integrate(c, q->t0, t1, y, p, tape));
    int more = costate_tape_events(tape) - (q->K > 1e3 ? 18 : 6);
    assert_true(abs(more) <= (method_info(m).order < 4 ? 1 : 0));
    for (int k = 0; k < costate_tape_events(tape); k++) {
        double before[2];
        int which;
        costate_tape_event(tape, k, NULL, &which, before, NULL);
        assert_true(fabs(before[1] - p[which]) <= 1e-14 * p[which]);
    }
    double lambda[] = {1, 0.5}, mu[3] = {0}, V[] = {0.3 * s, -0.2 * s}, Vp[] = {0.4 * s, -0.3 * s, 0.7 * s};
    double dt[] = {0.01, -0.02}, g[2], right = 0, W[] = {V[0], V[1]};
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, &(costate_times){.t0 = g, .t1 = g + 1}, NULL));
    CHECK_OK(c, costate_tangent(c, tape, 1, W, Vp, &(costate_times){.t0 = dt, .t1 = dt + 1}, NULL));
    for (int i = 0; i < 2; i++) right += lambda[i] * V[i] + g[i] * dt[i];
    for (int i = 0; i < 3; i++) right += mu[i] * Vp[i];
    assert_true(fabs(W[0] + 0.5 * W[1] - right) <= 1e-12 * (fabs(W[0]) + fabs(0.5 * W[1])));
    CHECK_OK(c, costate_replay(c, tape, z, p));
    assert_memory_equal(z, y, sizeof y);
    costate_report report;
    CHECK_OK(c, costate_check_adjoint(c, q->t0, t1, y0, p, &report));
    costate_tape_free(tape);
    costate_free(c);
}

static void scales(void **state)
{
    static const double sizes[] = {1, 1e-160, 1e150}, rates[] = {3, 1e9}, starts[] = {0, 1.7e12, -3e5};
    int implicit = !is_explicit(*state);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 1 + implicit; j++)
            for (int k = 0; k < 3; k++) one_scale(*state, &(scale){sizes[i], rates[j], starts[k]});
}

int main(void) { return run_by_kind("scales", scales); }
