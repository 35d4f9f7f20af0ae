/* test_time.c - time adds up: N fixed steps of (t1 - t0)/N are N steps, many steps do not drift, nothing is left at the
   end that is shorter than the rounding of t. */
#include "common.h"
#include <float.h>

enum { MANY = 4000000 };

typedef struct {
    double t0, t1;
} interval;

static const interval intervals[] = {
    {0, 1},      {0, 6}, {0, 10}, {0.3, 1.3}, {1, -2}, {-5, 7}, {1e6, 1e6 + 1}, {0, 1e-9}, {1.7e12, 1.7e12 + 1e4},
    {-0.1, -0.7}};
enum { INTERVALS = sizeof intervals / sizeof *intervals };

/* y' = -y/(t1 - t0): the same for every interval; autonomous, like the tests */
static int decay(const costate_point *x, double *out, void *ctx)
{
    out[0] = -x->y[0] / *(const double *)ctx;
    return 0;
}
static int decay_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x;
    out[0] = dx->y ? -dx->y[0] / *(const double *)ctx : 0;
    return 0;
}
static int decay_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x;
    J[0] = -1 / *(const double *)ctx;
    return 0;
}

static costate_problem problem_over(double *span)
{
    return (costate_problem){.n = 1, .ctx = span, .rhs = {.value = decay, .tangent = decay_tangent}, .jac = decay_jac};
}

/* t1 - t0 - sum h, in twice the precision: the part of each sum that is lost is kept (Knuth's two-sum) */
static double not_covered(const costate_tape *tape, const interval *i)
{
    double sum = i->t0, low = 0;
    for (int k = 0; k < costate_tape_steps(tape); k++) {
        double h;
        costate_tape_get(tape, k, NULL, &h, NULL);
        double s = sum + h, part = s - sum;
        low += (sum - (s - part)) + (h - part);
        sum = s;
    }
    return (i->t1 - sum) - low;
}

/* recorded times are the sums of the steps before, to a rounding; states are those of dense output there */
static void check_tape(const costate_method *m, costate *c, const costate_tape *tape, const interval *i)
{
    double largest = fmax(fabs(i->t0), fabs(i->t1)), sum = i->t0, low = 0, last = i->t0;
    for (int k = 0; k < costate_tape_steps(tape); k++) {
        double t, h, y, u;
        costate_tape_get(tape, k, &t, &h, &y);
        if (!(fabs((t - sum) - low) <= DBL_EPSILON * largest))
            fail_msg("%s: step %d begins at %.17g, off by %.1e", method_name(m), k, t, (t - sum) - low);
        double s = sum + h, part = s - sum;
        low += (sum - (s - part)) + (h - part);
        sum = s;
        CHECK_OK(c, costate_tape_eval(c, tape, t, &u));
        if (u != y || (k > 0 && t == last))
            fail_msg("%s: step %d: dense output %.17g, state %.17g", method_name(m), k, u, y);
        last = t;
    }
}

static void fixed(void **state)
{
    const costate_method *m = *state;
    for (int k = 0; k < INTERVALS; k++)
        for (int N = 1; N < 400; N += 1 + N / 4) {
            const interval *i = &intervals[k];
            double span = i->t1 - i->t0, y[1] = {1};
            costate_problem P = problem_over(&span);
            costate *c = costate_new(
                m, &P,
                &(costate_options){.controller = COSTATE_FIXED, .h0 = fabs(span) / N, .max_steps = N, .autonomous = 1});
            costate_tape *tape = costate_tape_new();
            int status = costate_integrate(c, i->t0, i->t1, y, NULL, tape);
            if (status != COSTATE_OK || costate_tape_steps(tape) != N)
                fail_msg("%s over [%g, %g]: %d steps, not %d: %s", method_name(m), i->t0, i->t1,
                         costate_tape_steps(tape), N, costate_message(c));
            if (!(fabs(not_covered(tape, i)) <= DBL_EPSILON * fabs(span) / N))
                fail_msg("%s over [%g, %g] in %d: %.1e is left", method_name(m), i->t0, i->t1, N, not_covered(tape, i));
            check_tape(m, c, tape, i);
            assert_true(costate_time(c) == i->t1);
            costate_free(c);
            costate_tape_free(tape);
        }
}

/* hmax everywhere, and at the end no crumb: the last two steps share what is left */
static void adaptive(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    for (int k = 0; k < INTERVALS; k++)
        for (int N = 1; N < 400; N += 1 + N / 4) {
            const interval *i = &intervals[k];
            double span = i->t1 - i->t0, y[1] = {1}, h, most = fabs(span) / N;
            costate_problem P = problem_over(&span);
            costate *c =
                costate_new(m, &P, &(costate_options){.h0 = most, .hmax = most, .rtol = 1, .atol = 1, .autonomous = 1});
            costate_tape *tape = costate_tape_new();
            CHECK_OK(c, costate_integrate(c, i->t0, i->t1, y, NULL, tape));
            for (int s = 0; s < costate_tape_steps(tape); s++) {
                costate_tape_get(tape, s, NULL, &h, NULL);
                if (!(fabs(h) >= 0.49 * most && fabs(h) <= most * (1 + 1e-7)))
                    fail_msg("%s over [%g, %g] in %d: step %d is %g", method_name(m), i->t0, i->t1, N, s, h);
            }
            check_tape(m, c, tape, i);
            assert_true(costate_tape_steps(tape) <= N + 1);
            costate_free(c);
            costate_tape_free(tape);
        }
}

typedef struct {
    long k;
    double h, worst;
} drift;

static int look(const costate_step *s, void *ctx)
{
    drift *d = ctx;
    double exact = (double)d->k * d->h, rest = fma((double)d->k, d->h, -exact), t = costate_step_start(s);
    d->k++;
    if (t > 0) d->worst = larger_of(d->worst, fabs((t - exact) - rest) / t);
    return 0;
}

static void many(void **state)
{
    (void)state;
    double span = 1, y[1] = {1};
    drift d = {0, 2.5e-7, 0};
    costate_problem P = problem_over(&span);
    costate *c =
        costate_new(costate_method_find("rk23"), &P,
                    &(costate_options){
                        .controller = COSTATE_FIXED, .h0 = d.h, .max_steps = MANY, .on_step = look, .on_step_ctx = &d});
    CHECK_OK(c, costate_integrate(c, 0, MANY * d.h, y, NULL, NULL));
    assert_int_equal(costate_get_stats(c)->accepted, MANY);
    if (!(d.worst <= DBL_EPSILON)) fail_msg("after 4e6 steps t is off by %.1e", d.worst);
    costate_free(c);
    /* steps whose plain sum drifts by more than a part of one */
    for (int k = 0; k < INTERVALS; k++) {
        const interval *i = &intervals[k];
        const int N = 99991;
        span = i->t1 - i->t0;
        c = costate_new(costate_method_find("rk23"), &P,
                        &(costate_options){.controller = COSTATE_FIXED, .h0 = fabs(span) / N, .max_steps = N});
        CHECK_OK(c, costate_integrate(c, i->t0, i->t1, y, NULL, NULL));
        assert_int_equal(costate_get_stats(c)->accepted, N);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(many)};
    return run_by_method("N fixed steps", fixed) + run_by_method("no crumbs", adaptive) +
           cmocka_run_group_tests(once, NULL, NULL);
}
