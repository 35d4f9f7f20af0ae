/* test_missed.c - what stable steps do not see, and who sees it: a mode that becomes fast between two measurements,
   errors inside the region of stability, unstable solutions that stay where they are. gradient_control mends each, and
   costate_accuracy says how wrong a gradient is. */
#include <costate/accuracy.h>
#include "common.h"

enum { WAVES = 40, MOST = 2 * WAVES };

typedef struct { double value, y0[MOST], relative; int steps; } outcome;

static int component(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end, void *ctx)
{
    int k = *(int *)ctx;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    value[0] = y[k];
    lambda[k] = 1;
    return 0;
}

static outcome run(const costate_problem *P, const char *method, double t1, const double *y0, int k, costate_options o)
{
    outcome x = {.value = 0};
    double y[MOST];
    costate *c = costate_new(costate_method_find(method), P, &o);
    costate_tape *tape = costate_tape_new();
    const costate_functional F = {.m = 1, .at_end = component, .ctx = &k};
    costate_estimate e = {.run = {.value = &x.value, .y0 = x.y0}, .y0_error = &x.relative};
    memcpy(y, y0, (size_t)P->n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, 0, t1, y, NULL, tape));
    CHECK_OK(c, costate_accuracy(c, tape, &F, &e));
    x.steps = costate_tape_steps(tape);
    costate_tape_free(tape);
    costate_free(c);
    return x;
}

/* ---- y0' = cos t, y1' = -k(t) y1 with y1 = 0: y shows nothing of k, which grows by 1e4 within a step ---- */

static double rate(double t) { return 1 + 1e4 / (1 + exp(-2000 * (t - 0.5))); }
static int late(const costate_point *x, double *f, void *ctx)
{
    return (void)ctx, f[0] = cos(x->t), f[1] = -rate(x->t) * x->y[1], 0;
}
static int late_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return (void)ctx, f[0] = 0, f[1] = dx->y ? -rate(x->t) * dx->y[1] : 0, 0;
}
static int late_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[1] -= rate(x->t) * w[1];
    return (void)ctx, 0;
}

static void a_late_mode(void **state)
{
    const costate_problem P = {.n = 2, .rhs = {.value = late, .tangent = late_tangent, .adjoint = late_adjoint}};
    const double y0[] = {0, 0};
    costate_options o = {.rtol = 1e-5, .atol = 1e-8};
    (void)state;
    outcome stable = run(&P, "dopri5", 0.6, y0, 1, o);              /* exactly exp(-1000) */
    assert_true(fabs(stable.y0[1]) < 1e-2 || stable.relative > 0.5);
    o.stability = COSTATE_STABILITY_OFF;
    outcome plain = run(&P, "dopri5", 0.6, y0, 1, o);
    if (!(fabs(plain.y0[1]) > 1e3 && plain.relative > 0.5)) fail_msg("plain: %.1e, %.1e", plain.y0[1], plain.relative);
    o.gradient_control = 1;
    outcome controlled = run(&P, "dopri5", 0.6, y0, 1, o);
    if (!(fabs(controlled.y0[1]) < 1e-4)) fail_msg("controlled: %.1e in %d steps", controlled.y0[1], controlled.steps);
}

/* ---- waves u'' = u_xx on a line, a smooth start, the value of one point: all steps are stable, phases are not right
   ---- */

static int waves(const costate_point *x, double *f, void *ctx)
{
    const double *u = x->y, s = (WAVES + 1) * (WAVES + 1);
    for (int i = 0; i < WAVES; i++) {
        f[i] = u[WAVES + i];
        f[WAVES + i] = s * ((i > 0 ? u[i - 1] : 0) - 2 * u[i] + (i < WAVES - 1 ? u[i + 1] : 0));
    }
    return (void)ctx, 0;
}
static int waves_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    const costate_point at = {.y = dx->y};
    memset(f, 0, MOST * sizeof *f);
    return (void)x, dx->y ? waves(&at, f, ctx) : 0;
}
static int waves_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double s = (WAVES + 1) * (WAVES + 1), *v = w + WAVES;
    for (int i = 0; g->y && i < WAVES; i++) {
        g->y[WAVES + i] += w[i];
        g->y[i] += s * ((i > 0 ? v[i - 1] : 0) - 2 * v[i] + (i < WAVES - 1 ? v[i + 1] : 0));
    }
    return (void)x, (void)ctx, 0;
}

static void phases(void **state)
{
    const costate_problem P = {.n = MOST, .rhs = {.value = waves, .tangent = waves_tangent, .adjoint = waves_adjoint}};
    double y0[MOST] = {0};
    costate_options tight = {.rtol = 1e-10, .atol = 1e-10, .gradient_control = 1}, o = {.rtol = 1e-4, .atol = 1e-4};
    (void)state;
    for (int i = 0; i < WAVES; i++) y0[i] = sin(acos(-1.0) * (i + 1) / (WAVES + 1));
    outcome exact = run(&P, "verner98", 2, y0, 7, tight), stable = run(&P, "dopri5", 2, y0, 7, o);
    double error = relative_error(MOST, stable.y0, exact.y0);
    assert_true(fabs(stable.value - exact.value) < 1e-4);
    if (!(error > 0.01 && error < 1)) fail_msg("stable: %.1e", error);      /* stable is not accurate */
    if (!(stable.relative > 0.3 * error && stable.relative < 3 * error)) fail_msg("%.1e, %.1e", error, stable.relative);
    o.gradient_control = 1;
    outcome controlled = run(&P, "dopri5", 2, y0, 7, o);
    error = relative_error(MOST, controlled.y0, exact.y0);
    if (!(error < 30 * o.rtol)) fail_msg("controlled: %.1e in %d steps", error, controlled.steps);
}

/* ---- y' = sin y at y = 0, an unstable point of rest: the gradient is e^t, but y asks for no short steps ---- */

static int rest(const costate_point *x, double *f, void *ctx) { return (void)ctx, f[0] = sin(x->y[0]), 0; }
static int rest_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return (void)ctx, f[0] = dx->y ? cos(x->y[0]) * dx->y[0] : 0, 0;
}
static int rest_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += cos(x->y[0]) * w[0];
    return (void)ctx, 0;
}

static void unstable_rest(void **state)
{
    static const char *const names[] = {"dopri5", "rodas4", "radau2a", "sdirk4a"};
    const costate_problem P = {.n = 1, .rhs = {.value = rest, .tangent = rest_tangent, .adjoint = rest_adjoint}};
    const double y0 = 0, exact = exp(12);
    (void)state;
    for (int k = 0; k < 4; k++) {
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .differences = k == 1};
        outcome plain = run(&P, names[k], 12, &y0, 0, o);
        double error = fabs(plain.y0[0] / exact - 1);
        if (!(error > 100 * o.rtol)) fail_msg("%s: %.1e", names[k], error);         /* y = 0 is right, the gradient is
                                                                                       not */
        if (!(plain.relative > 0.3 * error)) fail_msg("%s: error %.1e, estimated %.1e", names[k], error,
                                                      plain.relative);
        o.gradient_control = 1;
        outcome controlled = run(&P, names[k], 12, &y0, 0, o);
        error = fabs(controlled.y0[0] / exact - 1);
        if (!(error < 100 * o.rtol)) fail_msg("%s, controlled: %.1e in %d steps", names[k], error, controlled.steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_late_mode), cmocka_unit_test(phases),
                                       cmocka_unit_test(unstable_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
