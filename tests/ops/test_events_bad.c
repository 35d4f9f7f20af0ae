/* test_events_bad.c - what goes wrong with events is said, in a sentence that names the event, and what was reached
   stays valid: the state, the time, and a tape that is swept to there. */
#include "clockwork.h"

/* the sentence holds the word */
static void says(costate *c, int status, int wanted, const char *word)
{
    const char *text = costate_message(c);
    if (status != wanted || !strstr(text, word) || strlen(text) < 20)
        fail_msg("%s, not %s with \"%s\": %s", costate_status_name(status), costate_status_name(wanted), word, text);
}

/* ---- fields that are wrong ---- */

static void refused(const costate_method *m, clockwork *w, int wanted, const char *word)
{
    costate *c = new_for_test(m, &w->P, &w->o);
    says(c, costate_status(c), wanted, word);
    costate_free(c);
}

static void fields(void **state)
{
    static const double sorted[] = {0.1, 0.2}, turned[] = {0.2, 0.1}, unknown[] = {0.1, NAN};
    clockwork good, w;
    clock_wind(&good, 1, 0.5, 0);
    good.event[0].guard = clock_hand_guard;
#define REFUSED(change, wanted, word) do { \
    clock_wind(&w, 1, 0.5, 0); \
    w.event[0] = good.event[0]; \
    change; \
    refused(*state, &w, wanted, word); } while (0)
    REFUSED(w.event[0].guard.value = NULL, COSTATE_MISSING, "event[0]");
    REFUSED((w.event[0].times = sorted, w.event[0].ntimes = 2), COSTATE_BAD_ARGUMENT, "event[0]");
    REFUSED((w.event[0].guard.value = NULL, w.event[0].times = turned, w.event[0].ntimes = 2),
            COSTATE_BAD_ARGUMENT, "event[0].times");
    REFUSED((w.event[0].guard.value = NULL, w.event[0].times = unknown, w.event[0].ntimes = 2),
            COSTATE_BAD_ARGUMENT, "event[0].times");
    REFUSED((w.event[0].guard.value = NULL, w.event[0].ntimes = 2), COSTATE_BAD_ARGUMENT, "event[0]");
    REFUSED((w.event[0].guard.value = NULL, w.event[0].ntimes = -2), COSTATE_BAD_ARGUMENT, "ntimes = -2");
    REFUSED(w.event[0].from = -2, COSTATE_BAD_ARGUMENT, "event[0].from");
    REFUSED(w.event[0].to = -1, COSTATE_BAD_ARGUMENT, "event[0].to");
    REFUSED(w.event[0].to = -3, COSTATE_BAD_ARGUMENT, "event[0].to");
    REFUSED(w.event[0].direction = 2, COSTATE_BAD_ARGUMENT, "event[0].direction");
    REFUSED(w.event[0].at_start = -1, COSTATE_BAD_ARGUMENT, "event[0].at_start = -1");
    REFUSED(w.event[0].at_start = 5, COSTATE_BAD_ARGUMENT, "event[0].at_start = 5");
    REFUSED((w.event[0].at_start = COSTATE_ZERO_FALSE, w.event[0].direction = 0), COSTATE_BAD_ARGUMENT,
            "event[0] is a condition");
    REFUSED((w.event[0].at_start = COSTATE_ZERO_TRUE, w.event[0].direction = 0), COSTATE_BAD_ARGUMENT,
            "event[0] is a condition");
    REFUSED(w.P.event = NULL, COSTATE_BAD_ARGUMENT, "problem.event is NULL");
    REFUSED(w.P.nevents = -1, COSTATE_BAD_ARGUMENT, "nevents");
    REFUSED(w.P.nm = -1, COSTATE_BAD_ARGUMENT, "nm");
    REFUSED(w.o.max_events = -1, COSTATE_BAD_ARGUMENT, "max_events");
    REFUSED(w.o.event_samples = -1, COSTATE_BAD_ARGUMENT, "event_samples");
    REFUSED(w.o.mode = -1, COSTATE_BAD_ARGUMENT, "mode");
#undef REFUSED
}

/* ---- callbacks ---- */

static double spoil_from = 0.7;
static int spoil_code;

static int spoilt_guard(const costate_point *x, double *out, void *ctx)
{
    clock_sine(x, out, ctx);
    if (x->y[0] > spoil_from) out[0] = NAN;
    return x->y[0] > spoil_from ? spoil_code : 0;
}
static int spoilt_jump(const costate_point *x, double *out, void *ctx)
{
    clock_affine(x, 1, 0, out);
    out[1] = NAN;
    return (void)ctx, spoil_code;
}

/* The run ends with the status; what it left is swept, and replayed to the same values.  Memory counts the events. */
static void ends(clockwork *w, const costate_method *m, double t1, const int *wanted, const char *word, double *reached)
{
    costate *c = new_for_test(m, &w->P, &w->o);
    costate_tape *tape = costate_tape_new();
    double y[CLOCK_ROWS], z[CLOCK_ROWS], lambda[CLOCK_ROWS] = {1, 1, 1, 1, 1}, mu[2] = {0};
    memcpy(y, w->y0, sizeof y);
    memcpy(z, w->y0, sizeof z);
    int status = costate_integrate(c, 0, t1, y, w->p, tape);
    for (; *wanted != status && wanted[1]; wanted++) ;
    says(c, status, *wanted, word);
    *reached = costate_time(c);
    for (int i = 0; i < CLOCK_ROWS; i++) assert_true(isfinite(y[i]));
    assert_int_equal(costate_tape_events(tape), w->count);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    w->count = 0;
    CHECK_OK(c, costate_replay(c, tape, z, w->p));
    assert_memory_equal(y, z, sizeof y);
    costate_free(c);
    costate_tape_free(tape);
}

static void callbacks(void **state)
{
    clockwork w;
    double t;
    for (int code = 0; code >= -1; code--) {
        const int wanted[] = {code ? COSTATE_CALLBACK : COSTATE_NOT_FINITE, 0};
        spoil_code = code;
        clock_wind(&w, 1, 0, 0.3);
        w.event[0].guard = clock_sine_guard;
        w.event[0].guard.value = spoilt_guard;
        w.event[0].jump = clock_tick;
        ends(&w, *state, 3, wanted, "event[0].guard", &t);
        assert_true(w.count == 0 && t > 0.3 && t <= 0.7 + 1e-12);
        clock_wind(&w, 2, 0.5, 0.3);
        w.event[0].guard = clock_sine_guard;
        w.event[0].jump = clock_tick;
        w.event[1].guard = clock_hand_guard;
        w.event[1].jump.value = spoilt_jump;
        w.event[1].jump.adjoint = clock_tick_adjoint;
        ends(&w, *state, 3, wanted, "event[1].jump", &t);
        assert_true(t <= 0.5 + 1e-12);
    }
}

/* ---- what cannot be located, or never ends ---- */

/* (y0 - 0.5)^3 */
static int flat(const costate_point *x, double *out, void *ctx)
{
    double d = x->y[0] - 0.5;
    return (void)ctx, out[0] = d * d * d, 0;
}
static int flat_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double d = x->y[0] - 0.5;
    return (void)ctx, out[0] = 3 * d * d * (dx->y ? dx->y[0] : 0), 0;
}
static void grazing(void **state)
{
    static const int wanted[] = {COSTATE_GRAZING, 0};
    for (int given = 0; given < 2; given++) {
        clockwork w;
        double t;
        clock_wind(&w, 1, 0, 0);
        w.event[0].guard = (costate_map){.value = flat, .tangent = given ? flat_tangent : NULL,
                                         .adjoint = clock_hand_adjoint};
        ends(&w, *state, 3, wanted, "event[0]", &t);
        assert_true(t > 0 && t <= 0.5 + 1e-12);
    }
}

/* No jump turns it: max_events is reached.  The sentence has the last times. */
static void too_many(void **state)
{
    static const int wanted[] = {COSTATE_TOO_MANY_EVENTS, 0};
    clockwork w;
    double t;
    clock_wind(&w, 1, 0, 0.3);
    w.event[0].guard = clock_sine_guard;
    w.event[0].jump = clock_tick;
    w.o.max_events = 5;
    w.o.rtol = w.o.atol = 1e-3;
    ends(&w, *state, 100, wanted, "last were at t = 0.3", &t);
    assert_true(t > 12 && t < 16);
}

/* A ball with restitution 1/2, dropped from 1 with g = 2: impacts at 1, 2, 2.5, 2.75, ..., whose limit is 3.  A dense
   output of order 1 sees no flight that is shorter than its step: what is said then is of another kind. */
static int fall(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -2;
    out[2] = 0;
    return (void)ctx, 0;
}
static int fall_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    out[0] = dx->y ? dx->y[1] : 0;
    out[1] = out[2] = 0;
    return (void)x, (void)ctx, 0;
}
static int fall_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[1] += w[0];
    return (void)x, (void)ctx, 0;
}
static int fall_jac(const costate_point *x, double *J, void *ctx)
{
    for (int k = 0; k < 9; k++) J[k] = k == 3;
    return (void)x, (void)ctx, 0;
}
CLOCK_JUMP(half_back, -0.5, 0)

static void wind_ball(clockwork *w)
{
    clock_wind(w, 1, 0, 0);
    w->P.rhs.value = fall;
    w->P.rhs.tangent = fall_tangent;
    w->P.rhs.adjoint = fall_adjoint;
    w->P.jac = fall_jac;
    w->event[0].guard = clock_hand_guard;
    w->event[0].direction = -1;
    w->event[0].jump = half_back;
    w->y0[0] = 1;
    w->y0[2] = 0;
    w->o.on_event = NULL;
}

static void zeno(void **state)
{
    static const int counted[] = {COSTATE_TOO_MANY_EVENTS, 0},
                     any[] = {COSTATE_TOO_MANY_EVENTS, COSTATE_BAD_EVENT, COSTATE_STEP_TOO_SMALL, 0};
    /* Euler's steps are straight lines along f(t,y): what leaves upwards is not back in the same step */
    if (is_explicit(*state) && method_info(*state).dense == 1) skip();
    for (int limited = 0; limited < (method_info(*state).dense > 1 ? 2 : 1); limited++) {
        clockwork w;
        double t;
        wind_ball(&w);
        w.o.max_events = limited ? 12 : 0;
        costate *c = new_for_test(*state, &w.P, &w.o);
        double y[CLOCK_ROWS];
        costate_tape *tape = costate_tape_new();
        memcpy(y, w.y0, sizeof y);
        int status = costate_integrate(c, 0, 5, y, w.p, tape), known = 0;
        for (const int *s = limited || method_info(*state).dense > 1 ? counted : any; *s; s++) known |= status == *s;
        if (!known) fail_msg("%s: %s: %s", method_name(*state), costate_status_name(status), costate_message(c));
        t = costate_time(c);
        assert_true(fabs(y[0]) <= 0.01 && t > 2 && t < 3.1);
        double lambda[CLOCK_ROWS] = {1, 1, 0, 0, 0};
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
        for (int i = 0; i < CLOCK_ROWS; i++) assert_true(isfinite(lambda[i]));
        costate_free(c);
        costate_tape_free(tape);
    }
}

/* Any ball, p = {g, restitution}, dropped from h: what it is called does not depend on how round-off ends it. */
static int falls_by(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[1], out[1] = -x->p[0], 0;
}
static int height(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->y[0], 0; }
static int lands(const costate_point *x, double *y, void *ctx)
{
    return (void)ctx, y[0] = 0, y[1] = -x->p[1] * x->y[1], 0;
}
static int turns(const costate_point *x, double *y, void *ctx)
{
    return (void)ctx, y[0] = x->y[0], y[1] = -x->p[1] * x->y[1], 0;
}

static void bounces(void **state)
{
    static const char *const methods[] = {"auto", "dopri5", "bs32", "radau2a5", "rodas5p"};
    static const double restitution[] = {0.01, 0.1, 0.5, 0.9};
    (void)state;
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 2; j++)
                for (double h = 1e-6; h < 1e7; h *= 1e6) {
                    const costate_event floor = {.guard.value = height, .direction = -1,
                                                 .jump.value = j ? lands : turns, .from = COSTATE_ANY_MODE,
                                                 .to = COSTATE_SAME_MODE};
                    const costate_problem P = {.n = 2, .np = 2, .rhs.value = falls_by, .nevents = 1, .event = &floor};
                    const costate_options o = {.differences = 1};
                    costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
                    double e = restitution[i], y[] = {h, 0}, p[] = {9.81, e};
                    double end = sqrt(2 * h / 9.81) * (1 + e) / (1 - e);
                    int status = costate_integrate(c, 0, 1.3 * end, y, p, NULL);
                    if (status != COSTATE_TOO_MANY_EVENTS || !strstr(costate_message(c), "they accumulate at t = ") ||
                        !(fabs(costate_time(c) / end - 1) < 1e-5))
                        fail_msg("%s, e = %g, h = %g: %s at %.9g of the limit: %s", methods[k], e, h,
                                 costate_status_name(status), costate_time(c) / end, costate_message(c));
                    costate_free(c);
                }
}

/* At t0 = 1.7e12 the hops are soon as short as the round-off of t.  Shorter steps are not to be had: the sentence says
   what helps. */
static int tried, late;     /* runs, and those that end so */

static void zeno_late(void **state)
{
    NEEDS_ESTIMATE(*state);
    if (is_explicit(*state) && method_info(*state).dense == 1) skip();
    clockwork w;
    wind_ball(&w);
    costate *c = new_for_test(*state, &w.P, &w.o);
    double y[CLOCK_ROWS];
    memcpy(y, w.y0, sizeof y);
    int status = costate_integrate(c, 1.7e12, 1.7e12 + 5, y, w.p, NULL);
    int shifts = strstr(costate_message(c), "shift the time") != NULL;
    if (status == COSTATE_OK || (status == COSTATE_STEP_TOO_SMALL) != shifts ||
        strstr(costate_message(c), "take shorter steps"))
        fail_msg("%s: %s: %s", method_name(*state), costate_status_name(status), costate_message(c));
    tried++;
    late += shifts;
    costate_free(c);
}

/* a few methods alone need not meet it */
static void late_runs(void **state) { (void)state; assert_true(late > 0 || tried < 20); }

/* A ball on the floor is kicked at a given time, so gently that it is back within a small part of a fixed step: shorter
   ones are to be had, and find it. */
static int ball(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -9.81;
    return (void)ctx, 0;
}
static int ball_guard(const costate_point *x, double *out, void *ctx) { out[0] = x->y[0]; return (void)ctx, 0; }
static int kick(const costate_point *x, double *out, void *ctx)
{
    out[0] = 0;
    out[1] = 1e-6;
    return (void)x, (void)ctx, 0;
}

static void kicked(void **state)
{
    static const char *const names[] = {"radau2a1", "gauss1"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double at = 10;
        costate_event e[2] = {{.ntimes = 1, .times = &at, .jump.value = kick, .from = COSTATE_ANY_MODE,
                               .to = COSTATE_SAME_MODE},
                              {.guard.value = ball_guard, .direction = -1, .terminal = 1, .from = COSTATE_ANY_MODE,
                               .to = COSTATE_SAME_MODE}};
        costate_problem P = {.n = 2, .rhs.value = ball, .nevents = 2, .event = e};
        int fixed = k < 2;
        costate_options o = {.rtol = 1e-6, .atol = 1e-12, .differences = 1, .h0 = fixed ? 0.1 : 0,
                             .controller = fixed ? COSTATE_FIXED : 0};
        costate *c = costate_new(costate_method_find(names[k % 2]), &P, &o);
        double y[2] = {1000, 0};
        int status = costate_integrate(c, 0, 20, y, NULL, NULL);
        if (fixed ? status != COSTATE_BAD_EVENT || !strstr(costate_message(c), "take shorter steps (options.h0)")
                  : status != COSTATE_OK || !(fabs(costate_time(c) - 10 - 2e-6 / 9.81) <= 1e-7))
            fail_msg("%s: %s at %.15g: %s", names[k % 2], costate_status_name(status), costate_time(c),
                     costate_message(c));
        costate_free(c);
    }
}

/* ---- a jump that goes on where the guard came from ---- */

static void wrong_side(void **state)
{
    static const int wanted[] = {COSTATE_BAD_EVENT, 0};
    clockwork w;
    double t;
    clock_wind(&w, 1, 0.5, 0);
    w.event[0].guard = clock_hand_guard;
    w.event[0].direction = 1;
    w.event[0].jump = clock_tick;
    ends(&w, *state, 1, wanted, "event[0].passes", &t);
    assert_true(fabs(t - 0.5) <= 1e-9);                 /* a table may have ten digits: its clock goes wrong by that */
    clock_wind(&w, 1, 0.5, 0);
    w.event[0].guard = clock_hand_guard;
    w.event[0].direction = w.event[0].passes = 1;
    w.event[0].jump = clock_tick;
    double y[CLOCK_ROWS];
    costate_free(clock_run(&w, *state, 0, 1, y, NULL));
    assert_int_equal(w.count, 1);
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(late_runs), cmocka_unit_test(kicked),
                                      cmocka_unit_test(bounces)};
    int failed = run_by_method("fields", fields) + run_by_method("callbacks", callbacks) +
                 run_by_method("grazing", grazing) + run_by_method("too many", too_many) + run_by_method("zeno", zeno) +
                 run_by_method("zeno, late", zeno_late) + run_by_method("wrong side", wrong_side);
    return failed + cmocka_run_group_tests(once, NULL, NULL);
}
