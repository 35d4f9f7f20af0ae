/* test_long.c - long runs: 10^7 steps meet each time to its rounding and the end exactly; memory does not grow, beside
   that of a tape; counters do not overflow, and solvers go on beyond 2^31 steps. */
#define _DEFAULT_SOURCE
#include <float.h>
#include <limits.h>
#include <sys/resource.h>
#include "solver/solver.h"
#include "alloc.h"
#include "common.h"

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SLOW 10
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SLOW 10
#endif
#ifndef SLOW
#define SLOW 1
#endif

/* y' = -p y/span, q' = y: one decay an interval, however long */
typedef struct { double span; long calls; } decay;

static int value(const costate_point *x, double *out, void *ctx)
{
    decay *d = ctx;
    d->calls++;
    out[0] = -x->p[0] * x->y[0] / d->span;
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double span = ((decay *)ctx)->span;
    out[0] = -((dx->y ? x->p[0] * dx->y[0] : 0) + (dx->p ? dx->p[0] * x->y[0] : 0)) / span;
    return 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double span = ((decay *)ctx)->span;
    if (g->y) g->y[0] -= x->p[0] * w[0] / span;
    if (g->p) g->p[0] -= x->y[0] * w[0] / span;
    return 0;
}
static int second(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    double span = ((decay *)ctx)->span;
    (void)x;
    out[0] = -((a->p && b->y ? a->p[0] * b->y[0] : 0) + (b->p && a->y ? b->p[0] * a->y[0] : 0)) / span;
    return 0;
}
static int adjoint_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                          void *ctx)
{
    double span = ((decay *)ctx)->span;
    (void)x;
    if (g->y && dx->p) g->y[0] -= dx->p[0] * w[0] / span;
    if (g->p && dx->y) g->p[0] -= dx->y[0] * w[0] / span;
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    J[0] = -x->p[0] / ((decay *)ctx)->span;
    return 0;
}

static costate_problem problem_of(decay *d)
{
    return (costate_problem){.n = 1, .np = 1, .ctx = d, .jac = jac,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = second,
                                     .adjoint_tangent = adjoint_second}};
}

static const double P_ONE[] = {1};

/* ---- time ---- */

typedef struct { double t0, h; long steps, wrong; } clock_of_run;

/* the end of step k is t0 + k h, to a rounding: both operations with what they lose (fma; Knuth's two-sum) */
static int on_time(const costate_step *s, void *ctx)
{
    clock_of_run *c = ctx;
    double k = (double)++c->steps, p = k * c->h, rest = fma(k, c->h, -p), t = costate_step_end(s);
    double sum = c->t0 + p, part = sum - c->t0, lost = (c->t0 - (sum - part)) + (p - part);
    c->wrong += !(fabs((t - sum) - (lost + rest)) <= DBL_EPSILON * fabs(t));
    return 0;
}

/* lengths of a step that are a power of two, and that are not */
static void ten_million(void **state)
{
    static const double t0[] = {0, 1.7e12, -3}, h[] = {0.1, 0.015625, 1e-3};
    const long steps = 10000000 / SLOW;
    (void)state;
    for (int k = 0; k < 3; k++) {
        double t1 = t0[k] + (double)steps * h[k], y = 1;
        decay d = {t1 - t0[k], 0};
        costate_problem P = problem_of(&d);
        clock_of_run clock = {.t0 = t0[k], .h = (t1 - t0[k]) / (double)steps};
        costate_options o = {.controller = COSTATE_FIXED, .h0 = clock.h, .max_steps = INT_MAX, .autonomous = 1,
                             .on_step = on_time, .on_step_ctx = &clock};
        costate *c = costate_new(costate_method_find("rk32"), &P, &o);
        CHECK_OK(c, costate_integrate(c, t0[k], t1, &y, P_ONE, NULL));
        const costate_stats *s = costate_get_stats(c);
        assert_true(costate_time(c) == t1 && clock.wrong == 0);
        assert_true(clock.steps == steps && s->steps == steps && s->accepted == steps && s->rejected == 0);
        assert_true(s->f == d.calls);
        if (!(fabs(y - exp(-1)) <= 2 * (double)steps * DBL_EPSILON)) fail_msg("y(t1) is off by %.1e", y - exp(-1));
        costate_free(c);
    }
}

/* ---- memory ---- */

static long resident(void)                          /* the most there has been, in the system's units: kB on Linux */
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_maxrss : 0;
}

static void run(costate *c, int with_tangents, double t1, costate_tape *tape)
{
    double y = 1, V = 1, Vp = 1;
    if (with_tangents) CHECK_OK(c, costate_integrate_tlm(c, 0, t1, &y, P_ONE, 1, &V, &Vp, NULL, tape));
    else CHECK_OK(c, costate_integrate(c, 0, t1, &y, P_ONE, tape));
}

/* After a few steps nothing is allocated, however many more there are. */
static void no_growth(void **state)
{
    const costate_method *m = *state;
    const long steps = 50000 / SLOW;
    decay d = {1, 0};
    costate_problem P = problem_of(&d);
    for (int how = 0; how < 4; how++) {
        costate_options o = {.h0 = 1.0 / (double)steps, .hmax = 1.0 / (double)steps, .max_steps = INT_MAX,
                             .solver = how > 1 ? COSTATE_LS_GMRES : COSTATE_LS_AUTO};
        if (!method_info(m).embedded || how % 2) o.controller = COSTATE_FIXED;
        if (how > 1 && is_explicit(m)) continue;
        costate *c = costate_new(m, &P, &o);
        run(c, how % 2, 20 * o.h0, NULL);
        long before = resident();
        alloc_fail_at(0);
        run(c, how % 2, 1, NULL);
        assert_int_equal(alloc_calls(), 0);
        assert_true(resident() - before < 256);
        assert_true(costate_get_stats(c)->accepted >= steps + 20);
        costate_free(c);
    }
}

/* a guard that fires at regular times, and given times: as many events as there are steps, or more */
static int guard(const costate_point *x, double *out, void *ctx)
{
    out[0] = sin(6.283185307179586 * x->t * (double)((decay *)ctx)->calls);
    return 0;
}
static int one(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = 1;
    return (void)x, 0;
}
static int constant(const costate_point *x, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = 0;
    return 0;
}

static void events(void **state)
{
    enum { GIVEN = 20000 / SLOW };
    static double times[GIVEN];
    double y[2] = {1, 0}, p = 1;
    decay often = {1, GIVEN / 2};
    (void)state;
    for (int k = 0; k < GIVEN; k++) times[k] = (k + 0.25) / GIVEN;
    costate_event e[] = {{.guard = {.value = guard}, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE},
                         {.ntimes = GIVEN, .times = times, .cost = {.value = one}, .from = COSTATE_ANY_MODE,
                          .to = COSTATE_SAME_MODE}};
    costate_problem P = {.n = 1, .np = 1, .nq = 1, .ctx = &often, .rhs = {.value = constant}, .event = e, .nevents = 2};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.hmax = 0.3 / GIVEN});
    CHECK_OK(c, costate_integrate(c, 0, 0.01, y, &p, NULL));
    costate_reset_stats(c);
    y[1] = 0;
    alloc_fail_at(0);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, &p, NULL));
    assert_int_equal(alloc_calls(), 0);
    assert_true(y[1] == GIVEN);
    assert_true(labs(costate_get_stats(c)->events - (2 * GIVEN - 1)) <= 1);      /* sin is zero at both ends, too */
    costate_free(c);
}

/* ---- with a tape ---- */

/* 8 (N + s n) bytes a step and a little; a second run takes no more, and a sweep nothing that depends on the steps */
static void tapes(void **state)
{
    const costate_method *m = *state;
    const long steps = 50000 / SLOW;
    decay d = {1, 0};
    costate_problem P = problem_of(&d);
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 1.0 / (double)steps, .max_steps = INT_MAX,
                             .storage = storage};
        costate *c = costate_new(m, &P, &o);
        costate_tape *tape = costate_tape_new();
        int s = method_info(m).family == COSTATE_RKC ? 4 : method_info(m).stages;
        run(c, 0, 1, tape);
        size_t bytes = costate_tape_bytes(tape);
        double one_step = (double)bytes / (double)steps, least = 8.0 * (storage == COSTATE_ALL_STAGES ? 1 + s : 1);
        assert_int_equal(costate_tape_steps(tape), steps);
        if (!(one_step >= least && one_step <= least + 300)) fail_msg("%s: %g bytes a step", method_name(m), one_step);
        run(c, 0, 1, tape);
        assert_true(costate_tape_bytes(tape) == bytes && costate_get_stats(c)->tape_bytes == bytes);
        double lambda = 1, mu = 0;
        CHECK_OK(c, costate_adjoint(c, tape, 1, &lambda, &mu, NULL, NULL));
        alloc_fail_at(0);
        lambda = 1;
        CHECK_OK(c, costate_adjoint(c, tape, 1, &lambda, &mu, NULL, NULL));
        assert_int_equal(alloc_calls(), 0);
        if (!(fabs(lambda - exp(-1)) <= 1e-4)) fail_msg("%s: lambda is off by %.1e", method_name(m), lambda - exp(-1));
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- counters ---- */

/* A solver that goes on warm, and had taken nearly 2^31 steps (of even number, as the index chooses between two
   places), has the bits of one that had not. */
static void beyond_an_int(void **state)
{
    const costate_method *m = *state;
    NEEDS_ESTIMATE(m);
    double y[2][1] = {{1}, {1}};
    for (int far = 0; far < 2; far++) {
        decay d = {1, 0};
        costate_problem P = problem_of(&d);
        costate_options o = {.warm = 1, .hmax = 0.01};
        costate *c = costate_new(m, &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, 0.25, y[far], P_ONE, NULL));
        if (far) {
            c->at += 2 * ((INT_MAX - c->at) / 2);
            c->count.steps = c->count.accepted = INT_MAX - 3L;
        }
        CHECK_OK(c, costate_integrate(c, 0.25, 1, y[far], P_ONE, NULL));
        if (far) assert_true(c->at > INT_MAX && c->count.steps > INT_MAX && c->count.accepted > INT_MAX);
        costate_free(c);
    }
    assert_true(y[0][0] == y[1][0]);
}

/* options.max_steps counts the steps of one call */
static void limit_of_a_call(void **state)
{
    decay d = {1, 0};
    costate_problem P = problem_of(&d);
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 1e-3, .max_steps = 400};
    costate *c = costate_new(costate_method_find("rk32"), &P, &o);
    double y = 1, t = 0;
    int calls = 0;
    (void)state;
    c->count.steps = 3L * INT_MAX;
    for (int status = COSTATE_MAX_STEPS; status == COSTATE_MAX_STEPS; calls++) {
        status = costate_integrate(c, t, 1, &y, P_ONE, NULL);
        t = costate_time(c);
    }
    assert_int_equal(calls, 3);
    assert_true(t == 1 && c->count.steps == 3L * INT_MAX + 1000);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(ten_million), cmocka_unit_test(events),
                                      cmocka_unit_test(limit_of_a_call)};
    const char *const names[] = {"dopri5", "rkc2", "rodas4", "sdirk4a", "radau2a", "gauss2"};
    enum { METHODS = sizeof names / sizeof *names };
    const CMUnitTestFunction each[] = {no_growth, tapes, beyond_an_int};
    struct CMUnitTest tests[3 * METHODS];
    for (int k = 0; k < 3 * METHODS; k++)
        tests[k] = (struct CMUnitTest){names[k % METHODS], each[k / METHODS], NULL, NULL,
                                       (void *)(uintptr_t)costate_method_find(names[k % METHODS])};
    return cmocka_run_group_tests(once, NULL, NULL) + cmocka_run_group_tests(tests, NULL, NULL);
}
