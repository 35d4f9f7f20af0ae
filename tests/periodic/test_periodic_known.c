/* test_periodic_known.c - van der Pol's oscillator: its period is that of the literature; the product of multipliers is
   the exponential of the integral of the trace; a bad guess serves after following the flow; conserved totals can be
   given. */
#include "hopf.h"

/* ---- x'' = mu (1 - x^2) x' - x; q: the integral of the trace mu (1 - x^2) ---- */

static int vdpol(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y;
    out[0] = y[1];
    out[1] = x->p[0] * (1 - y[0] * y[0]) * y[1] - y[0];
    return (void)ctx, 0;
}
static int vdpol_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double *y = x->y, *v = d->y ? d->y : (double[2]){0}, m = d->p ? d->p[0] : 0;
    out[0] = v[1];
    out[1] = x->p[0] * ((1 - y[0] * y[0]) * v[1] - 2 * y[0] * y[1] * v[0]) - v[0] + m * (1 - y[0] * y[0]) * y[1];
    return (void)ctx, 0;
}
static int vdpol_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y;
    if (g->y) {
        g->y[0] -= (2 * x->p[0] * y[0] * y[1] + 1) * w[1];
        g->y[1] += w[0] + x->p[0] * (1 - y[0] * y[0]) * w[1];
    }
    if (g->p) g->p[0] += (1 - y[0] * y[0]) * y[1] * w[1];
    return (void)ctx, 0;
}
static int trace(const costate_point *x, double *out, void *ctx)
{
    return *out = x->p[0] * (1 - x->y[0] * x->y[0]), (void)ctx, 0;
}
static int trace_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    *out = (d->p ? d->p[0] * (1 - x->y[0] * x->y[0]) : 0) - (d->y ? 2 * x->p[0] * x->y[0] * d->y[0] : 0);
    return (void)ctx, 0;
}
static int trace_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= 2 * x->p[0] * x->y[0] * *w;
    if (g->p) g->p[0] += (1 - x->y[0] * x->y[0]) * *w;
    return (void)ctx, 0;
}
static const costate_problem oscillator = {
    .n = 2, .np = 1, .nq = 1, .rhs = {.value = vdpol, .tangent = vdpol_tangent, .adjoint = vdpol_adjoint},
    .cost = {.value = trace, .tangent = trace_tangent, .adjoint = trace_adjoint}};

/* P. Amore, arXiv:2111.12198 (2021); Hairer and Wanner's test problem with eps = 1 in gosl (ProbVanDerPol) has the same
   digits */
static const double PERIOD = 6.663286859323130, AMPLITUDE = 2.008619860874843;

static costate_periodic *solver(const costate_problem *P, const costate_periodic_options *o)
{
    return costate_periodic_new(costate_method_find("dopri853"), P,
                                &(costate_options){.rtol = 1e-12, .atol = 1e-12}, o);
}

static double highest(costate_periodic *c, double T)
{
    double most = 0, y[2], best = 0;
    for (double width = T, from = 0; width > 1e-9; from = best - width, width *= 2) {
        for (int k = 0; k <= 64; k++) {
            CHECK_PERIODIC(c, costate_periodic_eval(c, from + width * k / 64, y));
            if (y[0] > most) { most = y[0]; best = from + width * k / 64; }
        }
        width /= 64;
    }
    return most;
}

static void literature(void **state)
{
    const double mu = 1;
    double y[2] = {2, 0}, T = 6, X[4], re[2], im[2];
    (void)state;
    costate_periodic *c = solver(&oscillator, NULL);
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, &mu));
    CHECK_PERIODIC(c, costate_periodic_get(c, X));
    CHECK_PERIODIC(c, costate_periodic_multipliers(c, re, im));
    assert_true(fabs(T - PERIOD) < 1e-10);
    assert_true(fabs(highest(c, T) - AMPLITUDE) < 1e-8);
    assert_true(fabs(re[0] * re[1] - exp(X[3])) < 1e-8 * exp(X[3]));
    costate_periodic_free(c);
}

/* stiffer, mu = 5: methods of two families find the same period and derivative */
static void two_methods(void **state)
{
    const char *const names[] = {"radau2a7", "rodas5p"};
    const double mu = 5, tol[] = {1e-12, 1e-10};
    double T[2], by[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        double y[2] = {2, 0}, one = 1, V[4];
        costate_problem P = oscillator;
        P.nq = 0;
        costate_periodic *c = costate_periodic_new(costate_method_find(names[k]), &P,
            &(costate_options){.rtol = tol[k], .atol = tol[k], .differences = 1},
            &(costate_periodic_options){.settle = 1});
        T[k] = 11;
        CHECK_PERIODIC(c, costate_periodic_solve(c, y, T + k, &mu));
        CHECK_PERIODIC(c, costate_periodic_tangent(c, 1, &one, V));
        by[k] = V[2];
        costate_periodic_free(c);
    }
    assert_true(fabs(T[0] - T[1]) < 1e-8 * T[0]);
    assert_true(fabs(by[0] - by[1]) < 1e-6 * by[0]);
}

/* far from the orbit, and with a period that is too long */
static void settled(void **state)
{
    const double mu = 1;
    double y[2] = {0.01, 0.02}, T = 7.5;
    (void)state;
    costate_periodic *c = solver(&oscillator, &(costate_periodic_options){.settle = 3.5});
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, &mu));
    assert_true(fabs(T - PERIOD) < 1e-10);
    costate_periodic_free(c);
}

/* ---- the normal form with a third state z such that x + z does not change ---- */

static int conserved(const costate_point *x, double *out, void *ctx)
{
    hopf(x, out, ctx);
    return out[2] = -out[0], 0;
}
static int conserved_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    hopf_tangent(x, d, out, ctx);
    return out[2] = -out[0], 0;
}
static int conserved_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double u[2] = {w[0] - w[2], w[1]};
    return hopf_adjoint(x, u, g, ctx);
}
static const costate_problem total = {
    .n = 3, .np = HOPF_NP, .rhs = {.value = conserved, .tangent = conserved_tangent, .adjoint = conserved_adjoint}};

static void invariants(void **state)
{
    const double p[HOPF_NP] = {0.7, 1.3, 0.4}, W[3] = {1, 0, 1}, along[HOPF_NP] = {1, 0, 0};
    const double want = 2 * acos(-1) / (p[1] + p[2] * p[0]);
    double y[3] = {1, 0.2, 4}, T = 3, V[4], mu[HOPF_NP] = {0}, lambda[4] = {1, 1, 0.5, 2};
    costate_orbit o;
    (void)state;
    costate_periodic *c = solver(&total, NULL);
    assert_int_equal(costate_periodic_solve(c, y, &T, p), COSTATE_SINGULAR);
    assert_non_null(strstr(costate_periodic_message(c), "invariants"));
    costate_periodic_free(c);
    c = solver(&total, &(costate_periodic_options){.invariants = W, .ninvariants = 1});
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, p));
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
    assert_true(fabs(T - want) < 1e-10 && fabs(y[0] + y[2] - 5) < 1e-13);
    assert_true(fabs(o.multiplier - exp(-2 * p[0] * want)) < 1e-9 && o.stable);
    CHECK_PERIODIC(c, costate_periodic_tangent(c, 1, along, V));
    CHECK_PERIODIC(c, costate_periodic_adjoint(c, 1, lambda, mu));
    assert_true(fabs(V[0] + V[2]) < 1e-12);
    assert_true(fabs(V[3] + want * p[2] / (p[1] + p[2] * p[0])) < 1e-9);
    assert_true(fabs(V[0] + V[1] + 0.5 * V[2] + 2 * V[3] - mu[0]) < 1e-11);
    costate_periodic_free(c);
}

/* an unstable orbit: time reversed, which no run would find */
static int backwards(const costate_point *x, double *out, void *ctx)
{
    vdpol(x, out, ctx);
    out[0] = -out[0];
    return out[1] = -out[1], 0;
}
static int backwards_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    vdpol_tangent(x, d, out, ctx);
    out[0] = -out[0];
    return out[1] = -out[1], 0;
}

static void unstable(void **state)
{
    const costate_problem P = {.n = 2, .np = 1, .rhs = {.value = backwards, .tangent = backwards_tangent}};
    const double mu = 0.2;
    double y[2] = {2, 0}, T = 6.2, there[2] = {2, 0}, same = 6.2;
    costate_orbit o, other;
    (void)state;
    costate_periodic *c = solver(&P, NULL), *d = solver(&oscillator, NULL);
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, &mu));
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
    CHECK_PERIODIC(d, costate_periodic_solve(d, there, &same, &mu));
    CHECK_PERIODIC(d, costate_periodic_orbit(d, &other));
    assert_true(!o.stable && other.stable && fabs(o.multiplier * other.multiplier - 1) < 1e-9);
    assert_true(fabs(T - same) < 1e-10);
    costate_periodic_free(c);
    costate_periodic_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literature), cmocka_unit_test(two_methods), cmocka_unit_test(settled),
        cmocka_unit_test(invariants), cmocka_unit_test(unstable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
