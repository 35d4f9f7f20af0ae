/* test_look.c - costate_accuracy never calls a value right that short steps contradict: where f depends on t and steps
   are long, the run is made again with steps of at most a fiftieth of the interval.

   A pulse that both runs of the estimate pass over is found, in each family, forward and backward in time, with fixed
   steps, in a run that was continued, and in observations; values that are right are not doubted; and how far a value
   may be, with values that the functional pretends. */
#include <costate/accuracy.h>
#include "alloc.h"
#include "common.h"

static const char *const methods[] = {"auto", "dopri5", "verner76", "rodas4", "sdirk4a", "radau2a", "rkc2"};
enum { METHODS = sizeof methods / sizeof *methods };

/* ---- y' = -y/100, and p within a pulse ---- */

typedef struct { double from, width; long f; } pulse;

static int inside(const pulse *q, double t) { return t > q->from && t < q->from + q->width; }

static int pulsed(const costate_point *x, double *f, void *ctx)
{
    pulse *q = ctx;
    q->f++;
    return f[0] = -0.01 * x->y[0] + (inside(q, x->t) ? x->p[0] : 0), 0;
}
static int pulsed_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return f[0] = (dx->y ? -0.01 * dx->y[0] : 0) + (dx->p && inside(ctx, x->t) ? dx->p[0] : 0), 0;
}
static int pulsed_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= 0.01 * w[0];
    if (g->p && inside(ctx, x->t)) g->p[0] += w[0];
    return 0;
}

static int end_value(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    return value[0] += y[0], lambda[0] += 1, 0;
}
static int at_time(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    (void)k, (void)t, (void)m, (void)ctx;
    return value[0] += y[0], w[0] += 1, 0;
}
static const costate_functional at_the_end = {.m = 1, .at_end = end_value};

typedef struct { double value, error; int steps, status; char text[512]; } found;

/* from 0 to T, or from T to 0; pieces: continued at T/3 */
static found estimated(const char *method, pulse *q, costate_options o, double t0, double t1, int pieces,
                       const costate_functional *F)
{
    const costate_problem P = {.n = 1, .np = 1, .ctx = q, .rhs = {pulsed, pulsed_tangent, .adjoint = pulsed_adjoint}};
    double y = 1, p = 1, middle = pieces ? t0 + (t1 - t0) / 3 : t1;
    found z = {0};
    costate *c = costate_new(costate_method_find(method), &P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, t0, middle, &y, &p, tape));
    if (pieces) CHECK_OK(c, costate_continue(c, tape, t1, &y));
    costate_estimate e = {.run = {.value = &z.value}, .error = {.value = &z.error}};
    z.status = costate_accuracy(c, tape, F, &e);
    z.steps = costate_tape_steps(tape);
    snprintf(z.text, sizeof z.text, "%s", costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return z;
}

static double exact(const pulse *q, double t0, double t1)
{
    double first = q->from, last = q->from + q->width, near = t1 > t0 ? last : first, far = t1 > t0 ? first : last;
    return exp(-0.01 * (t1 - t0)) + 100 * (exp(-0.01 * (t1 - near)) - exp(-0.01 * (t1 - far)));
}

/* Pulses of 1.3 in 100: wider than what steps of 2 leave between two stages of the methods. */
static void pulses(void **state)
{
    (void)state;
    for (int i = 0; i < METHODS; i++) {
        if (!costate_method_find(methods[i])) continue;
        int named = 0, blind = 0;
        for (int back = 0; back < 2; back++)
            for (int pieces = 0; pieces < 2; pieces++)
                for (double from = 3; from < 95; from += 7.7) {
                    pulse q = {from, 1.3, 0};
                    double t0 = back ? 100 : 0, t1 = back ? 0 : 100, right = exact(&q, t0, t1);
                    costate_options o = {.rtol = 1e-4, .atol = 1e-4};
                    found z = estimated(methods[i], &q, o, t0, t1, pieces, &at_the_end);
                    if (z.status && z.status != COSTATE_ACCURACY) fail_msg("%s: %s", methods[i], z.text);
                    named += z.status == COSTATE_ACCURACY && strstr(z.text, "longer steps pass over something");
                    if (i < METHODS - 1 && !z.status && fabs(right - z.value) > 10 * fabs(z.error) + 0.02 * fabs(right))
                        fail_msg("%s, pulse at %g: %g, error %g, estimated %g", methods[i], from, z.value,
                                 right - z.value, z.error);
                    o.autonomous = 1;
                    z = estimated(methods[i], &q, o, t0, t1, pieces, &at_the_end);
                    blind += !z.status && fabs(right - z.value) > 10 * fabs(z.error) + 0.02 * fabs(right);
                }
        print_message("           %s: %d named, %d without f(t)\n", methods[i], named, blind);
        assert_true(blind == 0 || named > 0);
        if (i < 2) assert_true(named >= 5 && blind >= 5);
    }
}

/* Fixed steps become shorter ones, and observations are values, too. */
static void fixed_steps_and_observations(void **state)
{
    (void)state;
    const double times[] = {30, 60};
    const costate_functional seen = {.m = 1, .count = 2, .t = times, .at_time = at_time};
    pulse q = {40.9, 1.3, 0};
    const costate_options fixed = {.controller = COSTATE_FIXED, .h0 = 20}, short_ones = {.controller = COSTATE_FIXED,
                                                                                        .h0 = 2};
    found z = estimated("dopri5", &q, fixed, 0, 100, 0, &at_the_end);
    assert_int_equal(z.status, COSTATE_ACCURACY);
    z = estimated("dopri5", &q, fixed, 0, 100, 0, &seen);
    assert_int_equal(z.status, COSTATE_ACCURACY);
    long before = q.f;
    z = estimated("dopri5", &q, short_ones, 0, 100, 0, &at_the_end);
    assert_int_equal(z.status, COSTATE_OK);
    assert_int_equal(q.f - before, 50 * 6 + 1 + 100 * 6 + 1);       /* the run and its halves: steps are short */
}

/* ---- values that are right ---- */

static int both(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                double *end, void *ctx)
{
    const problem *b = ctx;
    int n = b->P.n, N = n + b->P.nq, k = b->reference->kout;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    value[0] = y[k];
    value[1] = y[n];
    lambda[k] = lambda[N + n] = 1;
    return 0;
}

static void right_values(void **state)
{
    (void)state;
    const problem *b;
    int count = 0;
    for (int k = 0; (b = problem_at(k)) != NULL; k++) {
        if (!b->reference || b->P.n + b->P.nq > 16) continue;
        for (int i = 0; i < METHODS; i++)
            for (double rtol = 1e-2; costate_method_find(methods[i]) && rtol > 0.9e-5; rtol /= 10) {
                if (b->stiff && (i == 1 || i == 2 || i == METHODS - 1)) continue;
                double y[16] = {0}, values[2], atol[16];
                for (int l = 0; l < b->P.n; l++) atol[l] = rtol * fmax(1e-3 * fabs(b->reference->y[l]), 1e-10);
                costate *c = costate_new(costate_method_find(methods[i]), &b->P,
                                         &(costate_options){.rtol = rtol, .atol_vector = atol, .cost_error = 1});
                costate_tape *tape = costate_tape_new();
                costate_estimate e = {.run = {.value = values}};
                memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
                const costate_functional F = {.m = 2, .at_end = both, .ctx = (void *)(size_t)b};
                int ran = costate_integrate(c, b->t0, b->t1, y, b->p0, tape) == COSTATE_OK;
                if (ran) CHECK_OK(c, costate_accuracy(c, tape, &F, &e));
                count += ran;
                costate_tape_free(tape);
                costate_free(c);
            }
    }
    assert_true(count >= 40);
}

/* ---- how far, with values that the functional pretends ---- */

typedef struct { double of_halves, looked[2]; int calls; } pretence;

static int pretended(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end, void *ctx)
{
    pretence *x = ctx;
    (void)t1, (void)y, (void)p, (void)m, (void)lambda, (void)mu, (void)end;
    int k = x->calls++;
    value[0] = k == 0 ? 1 + x->of_halves : k == 1 ? 1 : k < 4 ? x->looked[k - 2] : NAN;
    return 0;
}

/* 10 times the larger of the estimated error and rtol; made again with tighter tolerances up to 100 times. */
static void how_far(void **state)
{
    (void)state;
    const double r = 32.0 / 31, rtol = 1e-5;
    const struct { double of_halves, off[2]; int status, calls; } cases[] = {   /* off: in units of the larger one */
        {1e-3, {9.9, 0}, COSTATE_OK, 3},    {1e-3, {10.1, 9.9}, COSTATE_OK, 4}, {1e-3, {-9.9, 0}, COSTATE_OK, 3},
        {1e-3, {-10.1, 10.1}, COSTATE_ACCURACY, 4}, {1e-3, {99, 1}, COSTATE_OK, 4},
        {1e-3, {101, 1}, COSTATE_ACCURACY, 3},
        {0, {9.9, 0}, COSTATE_OK, 3},       {0, {10.1, 10.1}, COSTATE_ACCURACY, 4}, {0, {101, 0}, COSTATE_ACCURACY, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pulse q = {200, 1, 0};
        double unit = fmax(cases[k].of_halves * r, rtol);
        pretence x = {cases[k].of_halves, {1 + cases[k].off[0] * unit, 1 + cases[k].off[1] * unit}, 0};
        found z = estimated("dopri5", &q, (costate_options){.rtol = rtol, .atol = rtol}, 0, 100, 0,
                            &(costate_functional){.m = 1, .at_end = pretended, .ctx = &x});
        if (z.status != cases[k].status || x.calls != cases[k].calls)
            fail_msg("%zu: %d after %d calls: %s", k, z.status, x.calls, z.text);
        if (z.status) assert_non_null(strstr(z.text, "Functional 0 is 1, and "));
        assert_true(z.value == 1 && fabs(z.error - cases[k].of_halves * r) < 1e-12);
    }
}

/* Where the run with short steps fails, nothing is known: not COSTATE_OK.  Where there is none, nothing happens. */
static void fails(void **state)
{
    (void)state;
    pulse q = {200, 1, 0};
    for (int autonomous = 0; autonomous < 2; autonomous++) {
        found z = estimated("dopri5", &q, (costate_options){.rtol = 1e-4, .max_steps = 40, .autonomous = autonomous}, 0,
                            100, 0, &at_the_end);
        assert_int_equal(z.status, autonomous ? COSTATE_OK : COSTATE_MAX_STEPS);
        if (!autonomous) assert_non_null(strstr(z.text, "A run with steps of at most 2, which looks for"));
        if (!autonomous) assert_non_null(strstr(z.text, "max_steps"));
    }
}

/* malloc fails at call k, for every k: a status, and all works when memory is back. */
static void no_memory(void **state)
{
    (void)state;
    pulse q = {200, 1, 0};
    const costate_problem P = {.n = 1, .np = 1, .ctx = &q, .rhs = {pulsed, pulsed_tangent, .adjoint = pulsed_adjoint}};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.rtol = 1e-4});
    costate_tape *tape = costate_tape_new();
    double y = 1, p = 1, value;
    costate_estimate e = {.run = {.value = &value}};
    CHECK_OK(c, costate_integrate(c, 0, 100, &y, &p, tape));
    long k = 1;
    for (int failed = 1; failed; k++) {
        alloc_fail_at(k);
        int status = costate_accuracy(c, tape, &at_the_end, &e);
        failed = alloc_failures() > 0;
        alloc_fail_at(0);
        assert_int_equal(status, failed ? COSTATE_NO_MEMORY : COSTATE_OK);
        if (failed) assert_null(strstr(costate_message(c), "A run with steps"));        /* it was not the run's fault */
    }
    assert_true(k > 30);
    costate_tape_free(tape);
    costate_free(c);
}

/* The time of the solver is that of the run afterwards, however the tape is read. */
static void time_stays(void **state)
{
    (void)state;
    static const int storages[] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS};
    for (int k = 0; k < 3; k++) {
        pulse q = {200, 1, 0};
        const costate_problem P = {.n = 1, .np = 1, .ctx = &q,
                                   .rhs = {pulsed, pulsed_tangent, .adjoint = pulsed_adjoint}};
        costate *c = costate_new(costate_method_find("dopri5"), &P,
                                 &(costate_options){.rtol = 1e-4, .storage = storages[k], .checkpoints = 11});
        costate_tape *tape = costate_tape_new();
        double y = 1, p = 1, value;
        costate_estimate e = {.run = {.value = &value}};
        CHECK_OK(c, costate_integrate(c, 0, 100, &y, &p, tape));
        CHECK_OK(c, costate_accuracy(c, tape, &at_the_end, &e));
        assert_true(costate_time(c) == 100);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* A callback that ends the call is heard at once. */
static int gives_up(const costate_point *x, double *f, void *ctx)
{
    int *left = ctx;
    if (*left == 0) fail_msg("called again");
    return f[0] = -x->y[0], --*left ? 0 : -1;
}

static void given_up(void **state)
{
    (void)state;
    int count = 1000000, before = 0;
    const costate_problem P = {.n = 1, .ctx = &count, .rhs = {.value = gives_up}};
    for (int k = 0; k < 2; k++) {
        double y = 1, value;
        costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
        costate_tape *tape = costate_tape_new();
        costate_estimate e = {.run = {.value = &value}};
        CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, tape));
        if (k == 1) count = before - 20;                        /* in the last run */
        before = count;
        int status = costate_accuracy(c, tape, &at_the_end, &e);
        assert_int_equal(status, k ? COSTATE_CALLBACK : COSTATE_OK);
        before -= count;
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* costate_check_adjoint says so, and does not call the gradient accurate. */
static void in_the_check(void **state)
{
    (void)state;
    pulse q = {40.9, 1.3, 0};
    const costate_problem P = {.n = 1, .np = 1, .ctx = &q, .rhs = {pulsed, pulsed_tangent, .adjoint = pulsed_adjoint}};
    for (int autonomous = 0; autonomous < 2; autonomous++) {
        costate *c = costate_new(costate_method_find("dopri5"), &P,
                                 &(costate_options){.rtol = 1e-4, .atol = 1e-4, .autonomous = autonomous});
        double y = 1, p = 1;
        costate_report r;
        CHECK_OK(c, costate_check_adjoint(c, 0, 100, &y, &p, &r));
        assert_int_equal(isnan(r.accuracy), !autonomous);
        const char *words = autonomous ? "it is right to about"
                                       : "How accurate these steps are is not known: Functional";
        if (!strstr(r.text, words)) fail_msg("%s", r.text);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulses), cmocka_unit_test(fixed_steps_and_observations), cmocka_unit_test(right_values),
        cmocka_unit_test(how_far), cmocka_unit_test(fails), cmocka_unit_test(given_up),
        cmocka_unit_test(time_stays), cmocka_unit_test(no_memory),
        cmocka_unit_test(in_the_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
