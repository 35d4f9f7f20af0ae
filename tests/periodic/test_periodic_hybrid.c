/* test_periodic_hybrid.c - a thermostat, one state and two modes: its period has a closed form, whose first and second
   derivatives pass through both events. */
#include "hopf.h"

/* x' = -x + u in mode 1 until x rises to H; x' = -x in mode 0 until x falls to L: T = ln(H/L) + ln((u - L)/(u - H)),
   and the integral of x over a period is u times the time in mode 1, since that of x' is 0.  p = (H, L, u) */
enum { H, L, U, NP };

static int heat(const costate_point *x, double *out, void *ctx)
{
    return *out = -x->y[0] + (x->mode == 1 ? x->p[U] : 0), (void)ctx, 0;
}
static int heat_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return *out = -(d->y ? d->y[0] : 0) + (x->mode == 1 && d->p ? d->p[U] : 0), (void)ctx, 0;
}
static int heat_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= *w;
    if (g->p && x->mode == 1) g->p[U] += *w;
    return (void)ctx, 0;
}
static int nothing(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g,
                   void *ctx)
{
    return (void)x, (void)d, (void)w, (void)g, (void)ctx, 0;
}
static int level(const costate_point *x, double *out, void *ctx)
{
    return *out = x->y[0] - x->p[*(const int *)ctx], 0;
}
static int level_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return *out = (d->y ? d->y[0] : 0) - (d->p ? d->p[*(const int *)ctx] : 0), (void)x, 0;
}
static int level_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += *w;
    if (g->p) g->p[*(const int *)ctx] -= *w;
    return (void)x, 0;
}
static int itself(const costate_point *x, double *out, void *ctx) { return *out = x->y[0], (void)ctx, 0; }
static int itself_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return *out = d->y ? d->y[0] : 0, (void)x, (void)ctx, 0;
}
static int itself_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += *w;
    return (void)x, (void)ctx, 0;
}
static int which[] = {H, L};
#define LEVEL {.value = level, .tangent = level_tangent, .adjoint = level_adjoint, .adjoint_tangent = nothing}
static const costate_event switches[] = {
    {.guard = LEVEL, .direction = 1, .from = 1, .to = 0, .ctx = which},
    {.guard = LEVEL, .direction = -1, .from = 0, .to = 1, .ctx = which + 1}};
static const costate_problem thermostat = {
    .n = 1, .np = NP, .nq = 1, .nevents = 2, .event = switches,
    .rhs = {.value = heat, .tangent = heat_tangent, .adjoint = heat_adjoint, .adjoint_tangent = nothing},
    .cost = {.value = itself, .tangent = itself_tangent, .adjoint = itself_adjoint, .adjoint_tangent = nothing}};

static int period_of(const double *X, const double *p, int m, const double *V, const double *Vp, double *lambda,
                     double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)X, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, (void)ctx;
    lambda[1] = 1;
    return 0;
}

static void near(double got, double want, double tol)
{
    if (fabs(got - want) > tol * fmax(1, fabs(want))) fail_msg("%.15g, not %.15g: off by %.2g", got, want, got - want);
}

static costate_periodic *solver(const costate_problem *P)
{
    return costate_periodic_new(costate_method_find("dopri853"), P,
                                &(costate_options){.rtol = 1e-12, .atol = 1e-12}, NULL);
}

static void closed_form(void **state)
{
    const double p[NP] = {0.7, 0.3, 1}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, a = p[U] - p[L], b = p[U] - p[H];
    const double first[NP] = {1 / p[H] + 1 / b, -1 / p[L] - 1 / a, 1 / a - 1 / b};
    const double second[NP][NP] = {{-1 / (p[H] * p[H]) + 1 / (b * b), 0, -1 / (b * b)},
                                   {0, 1 / (p[L] * p[L]) - 1 / (a * a), 1 / (a * a)},
                                   {-1 / (b * b), 1 / (a * a), 1 / (b * b) - 1 / (a * a)}};
    double y = 0.5, T = 1.5, V[9], mu[NP] = {0}, mu2[9] = {0}, re, im;
    costate_orbit o;
    (void)state;
    costate_periodic *c = solver(&thermostat);
    CHECK_PERIODIC(c, costate_periodic_solve(c, &y, &T, p));
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
    CHECK_PERIODIC(c, costate_periodic_multipliers(c, &re, &im));
    near(y, 0.5, 1e-12);
    near(T, log(p[H] / p[L]) + log(a / b), 1e-11);
    near(re, 1, 1e-10);
    assert_true(o.multiplier == 0 && o.stable);             /* there is no other multiplier than that of the flow */
    CHECK_PERIODIC(c, costate_periodic_tangent(c, NP, identity, V));
    CHECK_PERIODIC(c, costate_periodic_hessian(c, NP, identity, period_of, NULL, mu, mu2));
    for (int i = 0; i < NP; i++) {
        double on = (i == U) * log(a / b) + p[U] * (i == H ? 1 / b : i == L ? -1 / a : 1 / a - 1 / b);
        near(V[3 * i], 0, 1e-10);
        near(V[3 * i + 1], first[i], 1e-10);
        near(V[3 * i + 2], on, 1e-10);
        near(mu[i], first[i], 1e-10);
        for (int j = 0; j < NP; j++) near(mu2[NP * j + i], second[i][j], 1e-9);
    }
    costate_periodic_free(c);
}

/* a period that ends in the other mode, or at a terminal event */
static void refused(void **state)
{
    const double p[NP] = {0.7, 0.3, 1};
    costate_event ends[2] = {switches[0], switches[1]};
    costate_problem P = thermostat;
    double y = 0.5, T = 0.9;
    (void)state;
    costate_periodic *c = solver(&thermostat);
    assert_int_equal(costate_periodic_solve(c, &y, &T, p), COSTATE_BAD_EVENT);
    assert_non_null(strstr(costate_periodic_message(c), "mode"));
    costate_periodic_free(c);
    c = costate_periodic_new(NULL, &thermostat, NULL, &(costate_periodic_options){.settle = 0.6});
    T = 1.5;
    assert_int_equal(costate_periodic_solve(c, &y, &T, p), COSTATE_BAD_EVENT);
    costate_periodic_free(c);
    ends[1].terminal = 1;
    P.event = ends;
    c = solver(&P);
    T = 1.5;
    assert_int_equal(costate_periodic_solve(c, &y, &T, p), COSTATE_BAD_EVENT);
    assert_non_null(strstr(costate_periodic_message(c), "terminal"));
    assert_true(y == 0.5 && T == 1.5);
    costate_periodic_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_form), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
