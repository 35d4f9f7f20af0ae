/* test_periodic_bvp.c - the limit cycle of examples/21_orbit.c: shooting, and collocation with the period as a state,
   find the same period and the same derivatives. */
#include <costate/bvp.h>
#include "hopf.h"

/* the Brusselator: x' = A + x^2 y - (B + 1) x, y' = B x - x^2 y, p = (A, B); with a state T: T times that, T' = 0 */
enum { X, Y, T, NP = 2 };

static void rates(const double *y, const double *p, double *out)
{
    out[X] = p[0] + y[X] * y[X] * y[Y] - (p[1] + 1) * y[X];
    out[Y] = p[1] * y[X] - y[X] * y[X] * y[Y];
}
static void rates_along(const double *y, const double *p, const double *v, const double *q, double *out)
{
    double square = 2 * y[X] * y[Y] * v[X] + y[X] * y[X] * v[Y];
    out[X] = q[0] + square - (p[1] + 1) * v[X] - q[1] * y[X];
    out[Y] = q[1] * y[X] + p[1] * v[X] - square;
}
static int plain(const costate_point *x, double *out, void *ctx) { return rates(x->y, x->p, out), (void)ctx, 0; }
static int plain_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double zero[2] = {0};
    return rates_along(x->y, x->p, d->y ? d->y : zero, d->p ? d->p : zero, out), (void)ctx, 0;
}
static int scaled(const costate_point *x, double *out, void *ctx)
{
    rates(x->y, x->p, out);
    out[X] *= x->y[T];
    out[Y] *= x->y[T];
    return out[T] = 0, (void)ctx, 0;
}
static int scaled_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double zero[3] = {0}, *v = d->y ? d->y : zero;
    double f[2];
    rates(x->y, x->p, f);
    rates_along(x->y, x->p, v, d->p ? d->p : zero, out);
    for (int i = 0; i < 2; i++) out[i] = x->y[T] * out[i] + v[T] * f[i];
    return out[T] = 0, (void)ctx, 0;
}
/* x(0) = A: every orbit passes there */
static int closed(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[3 + X] - x->y[X];
    out[1] = x->y[3 + Y] - x->y[Y];
    out[2] = x->y[X] - x->p[0];
    return (void)ctx, 0;
}
static int closed_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double zero[6] = {0};
    return closed(&(costate_point){.y = d->y ? d->y : zero, .p = d->p ? d->p : zero}, out, ctx), (void)x, 0;
}

static const double p[NP] = {1, 3}, identity[NP * NP] = {1, 0, 0, 1};

static void by_shooting(double *period, double *by_p, double *start, costate_periodic **solver)
{
    static const costate_problem P = {.n = 2, .np = NP, .rhs = {.value = plain, .tangent = plain_tangent}};
    double V[3 * NP];
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri853"), &P,
        &(costate_options){.rtol = 1e-12, .atol = 1e-12}, &(costate_periodic_options){.settle = 3});
    start[X] = start[Y] = 2;
    *period = 7;
    CHECK_PERIODIC(c, costate_periodic_solve(c, start, period, p));
    CHECK_PERIODIC(c, costate_periodic_tangent(c, NP, identity, V));
    for (int i = 0; i < NP; i++) by_p[i] = V[3 * i + 2];
    *solver = c;
}

static void same(void **state)
{
    enum { POINTS = 101 };
    static const costate_problem P = {.n = 3, .np = NP, .rhs = {.value = scaled, .tangent = scaled_tangent}};
    static const costate_conditions C = {.map = {.value = closed, .tangent = closed_tangent}, .count = 3};
    double period, by_p[NP], start[2], guess[POINTS][3], at = 0, from[3], V[3 * NP];
    costate_periodic *c;
    (void)state;
    by_shooting(&period, by_p, start, &c);
    double begins = 0, near = HUGE_VAL;
    for (int k = 0; k < 1000; k++) {                        /* where x rises through A, roughly */
        double y[2], next[2];
        CHECK_PERIODIC(c, costate_periodic_eval(c, period * k / 1000, y));
        CHECK_PERIODIC(c, costate_periodic_eval(c, period * (k + 1) / 1000, next));
        if (next[X] < y[X] || fabs(y[X] - p[0]) > near) continue;
        near = fabs(y[X] - p[0]);
        begins = period * k / 1000;
    }
    for (int k = 0; k < POINTS; k++) {
        CHECK_PERIODIC(c, costate_periodic_eval(c, begins + period * k / (POINTS - 1), guess[k]));
        guess[k][T] = period;
    }
    costate_periodic_free(c);
    costate_bvp *b = costate_bvp_new(costate_method_find("gauss4"), &P, &C,
                                     &(costate_bvp_options){.rtol = 1e-10, .atol = 1e-10});
    assert_int_equal(costate_bvp_guess(b, POINTS, NULL, guess[0]), COSTATE_OK);
    if (costate_bvp_solve(b, 0, 1, p) != COSTATE_OK) fail_msg("%s", costate_bvp_message(b));
    assert_int_equal(costate_bvp_eval(b, 0, from), COSTATE_OK);
    assert_int_equal(costate_bvp_tangent(b, &(costate_bvp_tangents){.m = NP, .points = 1, .t = &at, .Vp = identity,
                                                                    .V = V}), COSTATE_OK);
    if (!(fabs(from[T] - period) < 1e-9)) fail_msg("%.15g, by collocation %.15g", period, from[T]);
    for (int i = 0; i < NP; i++)
        if (!(fabs(V[3 * i + T] - by_p[i]) < 1e-8)) fail_msg("%.15g, by collocation %.15g", by_p[i], V[3 * i + T]);
    costate_bvp_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
