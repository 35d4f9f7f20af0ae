/* test_events_between.c - excursions beyond zero between the points where a guard is looked at: the relay H1 of the
   shared oracles, whose guard x^3 - 5 x^2 + 7 x - p comes to 3 - p beyond zero at x = 1 while steps of high order go
   from 0 to 2: all three events, and the cost, from tolerances of 1e-3 to 1e-10, down to 3 - p = 1e-5; with and without
   guard.tangent.  And a guard that is far from zero is asked for once a step. */
#include "common.h"

static int value(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->mode ? 10 - 2 * x->y[0] : 4 - x->y[0], 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)ctx, out[0] = dx->y ? (x->mode ? -2 : -1) * dx->y[0] : 0, 0;
}
static int jac(const costate_point *x, double *J, void *ctx) { return (void)ctx, J[0] = x->mode ? -2 : -1, 0; }
static int cost(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0], 0; }
static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = dx->y ? dx->y[0] : 0, 0;
}

static double cubic(double x) { return ((x - 5) * x + 7) * x; }
static int guard(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = cubic(x->y[0]) - x->p[0], 0; }
static int guard_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    double y = x->y[0];
    e[0] = (dx->y ? ((3 * y - 10) * y + 7) * dx->y[0] : 0) - (dx->p ? dx->p[0] : 0);
    return (void)ctx, 0;
}

/* where the cubic is p between a and b */
static double root(double p, double a, double b)
{
    double up = cubic(b) > cubic(a) ? 1 : -1;
    for (int k = 0; k < 200; k++) {
        double m = a + (b - a) / 2;
        if (up * (cubic(m) - p) < 0) a = m;
        else b = m;
    }
    return a;
}

/* the integral of x up to 5: x' = a - b x, exponentials between the events */
static double exact(double p)
{
    const double A[] = {4, 10, 4, 10}, B[] = {1, 2, 1, 2}, ends[] = {root(p, 0, 1), root(p, 1, 2), root(p, 2.5, 4)};
    double t = 0, x = 0, sum = 0;
    for (int k = 0; k < 4; k++) {
        double rest = A[k] / B[k], after = k < 3 ? log((x - rest) / (ends[k] - rest)) / B[k] : 5 - t;
        sum += rest * after + (x - rest) * (1 - exp(-B[k] * after)) / B[k];
        x = rest + (x - rest) * exp(-B[k] * after);
        t += after;
    }
    return sum;
}

static void excursions(void **state)
{
    static const double beyond[] = {0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-5};
    costate_method_info info = method_info(*state);
    NEEDS_ESTIMATE(*state);
    for (double digits = 3; digits <= (info.order < 3 ? 4 : info.order < 5 ? 6 : 10); digits += 0.5)
        for (int k = 0; k < 12; k++) {
            double tol = pow(10, -digits), p = 3 - beyond[k / 2], y[] = {0, 0};
            costate_map g = {.value = guard, .tangent = k % 2 ? guard_tangent : NULL};
            const costate_event event[] = {{.guard = g, .direction = 1, .from = 0, .to = 1},
                                           {.guard = g, .direction = -1, .from = 1, .to = 0}};
            const costate_problem P = {.n = 1, .np = 1, .nq = 1, .rhs = {.value = value, .tangent = tangent},
                                       .jac = jac, .cost = {.value = cost, .tangent = cost_tangent}, .nevents = 2,
                                       .event = event};
            costate_options o = {.rtol = tol, .atol = tol, .autonomous = 1, .differences = 1};
            costate *c = costate_new(*state, &P, &o);
            CHECK_OK(c, costate_integrate(c, 0, 5, y, &p, NULL));
            if (costate_get_stats(c)->events != 3 || fabs(y[1] - exact(p)) > 0.05 + 300 * tol)
                fail_msg("%s, p = %.7g, rtol %.1e: %ld events, G = %.6f for %.6f", info.name, p, tol,
                         costate_get_stats(c)->events, y[1], exact(p));
            costate_free(c);
        }
}

/* x + 100 along the same run: once a step, and closely in the first one alone */
static int far_guard(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->y[0] + 100, 0; }

static void far_away(void **state)
{
    const costate_event event = {.guard = {.value = far_guard}};
    const costate_problem P = {.n = 1, .rhs = {.value = value, .tangent = tangent}, .jac = jac, .nevents = 1,
                               .event = &event};
    costate_options o = {.autonomous = 1, .differences = 1, .rtol = 1e-5, .atol = 1e-5};
    costate *c = new_for_test(*state, &P, &o);
    double y = 0;
    CHECK_OK(c, costate_integrate(c, 0, 5, &y, NULL, NULL));
    const costate_stats *count = costate_get_stats(c);
    assert_true(count->guards <= count->accepted + 80);
    costate_free(c);
}

/* (t - 0.41)^2 - d: beyond zero for 2 sqrt(d) in the middle of a step from 0.09 to 0.73, eight times as long as the one
   before, over which the guard changes by little more than half of what it has at the ends */
static int parabola(const costate_point *x, double *e, void *ctx)
{
    double s = x->t - 0.41;
    return (void)ctx, e[0] = s * s - 1e-4, 0;
}
static int rest(const costate_point *x, double *out, void *ctx) { return (void)x, (void)ctx, out[0] = 0, 0; }
static int no_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)dx, rest(x, out, ctx);
}

static void behind_a_short_step(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_event event = {.guard = {.value = parabola}};
    const costate_problem P = {.n = 1, .rhs = {.value = rest, .tangent = no_tangent}, .nevents = 1, .event = &event};
    costate_options o = {.h0 = 0.01, .fac_max = 8, .safety = 1, .q_max = 1, .spectral_bound = 1, .differences = 1};
    costate *c = costate_new(*state, &P, &o);
    double y = 1;
    CHECK_OK(c, costate_integrate(c, 0, 100, &y, NULL, NULL));
    assert_int_equal(costate_get_stats(c)->events, 2);
    costate_free(c);
}

int main(void)
{
    return run_by_kind("excursions", excursions) + run_by_kind("a guard that is far", far_away) +
           run_by_kind("an excursion behind a short step", behind_a_short_step);
}
