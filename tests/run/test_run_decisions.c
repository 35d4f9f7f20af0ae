/* test_run_decisions.c - what a run decides: whether a step is accepted, how long the next one is, which event comes
   first, whether others come with it, whether the run ends there; and when Newton's iteration for its start ends.  Each
   decision has a small problem in which it follows from a formula. */
#include <float.h>
#include "common.h"

enum { MOST = 200 };
typedef struct { int count, stop; double t[MOST], h[MOST]; } steps;
typedef struct { int count, event[MOST]; double t[MOST], y[MOST]; } happened;

/* stops the run after `stop` steps, if that is not 0 */
static int note_step(const costate_step *s, void *ctx)
{
    steps *a = ctx;
    assert_true(a->count < MOST);
    a->t[a->count] = costate_step_start(s);
    a->h[a->count++] = costate_step_end(s) - costate_step_start(s);
    return a->count == a->stop;
}
static int note_event(int event, double t, const double *before, const double *after, void *ctx)
{
    happened *a = ctx;
    assert_true(a->count < MOST);
    a->event[a->count] = event;
    a->t[a->count] = t;
    a->y[a->count++] = before[0];
    return (void)after, 0;
}

static void near(const char *what, double x, double expected, double tol)
{
    if (!(fabs(x - expected) <= tol)) fail_msg("%s: %.17g instead of %.17g", what, x, expected);
}

/* y' = v of the mode; ctx: v */
static int speed(const costate_point *x, double *out, void *ctx)
{
    return out[0] = ((const double *)ctx)[x->mode], 0;
}
/* the guard y - level; ctx: level */
static int level(const costate_point *x, double *e, void *ctx) { return e[0] = x->y[0] - *(const double *)ctx, 0; }

static void *constant(const double *x) { return (void *)(uintptr_t)x; }

static const double UP[] = {1, 1, 1, 1}, REST[] = {0}, HALF = 0.5, ONE = 1, NINE = 0.9;

static costate_event at_level(const double *of)
{
    return (costate_event){.guard.value = level, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE,
                           .ctx = constant(of)};
}
static costate_event at_times(const double *times, int count)
{
    return (costate_event){.times = times, .ntimes = count, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
}

static costate *solver(const double *v, const costate_event *event, int count, costate_options o, happened *a)
{
    const costate_problem P = {.n = 1, .rhs.value = speed, .event = event, .nevents = count, .ctx = constant(v)};
    *a = (happened){0};
    o.on_event = note_event;
    o.on_event_ctx = a;
    return costate_new(costate_method_find("dopri5"), &P, &o);
}

/* ---- the step loop: y' = t^4, whose error estimate is proportional to h^5 ---- */

static int power(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = pow(x->t, 4), 0; }

static costate_stats powers(costate_options o, steps *a, int count)
{
    const costate_problem P = {.n = 1, .rhs.value = power};
    double y = 0;
    *a = (steps){.stop = count};
    o.controller = COSTATE_ELEMENTARY;
    o.safety = 0.9;
    o.h0 = 1;
    o.rtol = 1e-300;
    o.fac_max = 1e6;
    o.on_step = note_step;
    o.on_step_ctx = a;
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    int status = costate_integrate(c, 0, 1e4, &y, NULL, NULL);
    if (status != COSTATE_STOPPED) fail_msg("%s", costate_message(c));
    costate_stats s = *costate_get_stats(c);
    costate_free(c);
    return s;
}

/* The error of the step h = 1 with atol = 1, from the step after it: h_new = 0.9 h err^(-1/5). */
static double error_of_one(void)
{
    const double atol = 10;
    steps a;
    powers((costate_options){.atol = atol}, &a, 2);
    return atol * pow(0.9 * a.h[0] / a.h[1], 5);
}

/* A step is accepted if its error is at most 1; a rejection by the error is not one by Newton's iteration. */
static void accepted(void **state)
{
    static const double errors[] = {0.5, 0.99, 1.01, 1.25, 1.45, 30};
    double one = error_of_one();
    (void)state;
    for (int i = 0; i < 6; i++) {
        steps a;
        costate_stats s = powers((costate_options){.atol = one / errors[i]}, &a, 1);
        assert_int_equal(s.rejected, errors[i] > 1);
        assert_int_equal(s.newton_failures, 0);
    }
}

/* After a rejected first step h_new/h is halved, but not below fac_reject. */
static void first_rejected(void **state)
{
    double err = 20, atol = error_of_one() / err, factor = 0.9 * pow(err, -0.2);
    const double least[] = {0.01, 0.75 * factor, 0.9}, expected[] = {factor / 2, 0.75 * factor, factor};
    (void)state;
    for (int i = 0; i < 3; i++) {
        steps a;
        powers((costate_options){.atol = atol, .fac_reject = least[i]}, &a, 1);
        near("h after a rejection", a.h[0], expected[i], 1e-12);
    }
}

/* Rest, and from t = 1 on a power: after a step without an error the PI controller takes the next as if it had followed
   one of 1/100, h_new = 0.9 h err^(-0.17) (1/100)^0.04. */
static int rest_then_power(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->t > 1 ? pow(x->t - 1, 4) : 0, 0;
}

static void after_none(void **state)
{
    const double err = 0.9;
    const costate_problem P = {.n = 1, .rhs.value = rest_then_power};
    steps a = {.stop = 3};
    double y = 0;
    (void)state;
    costate_options o = {.controller = COSTATE_PI, .safety = 0.9, .h0 = 1, .hmax = 1, .rtol = 1e-300,
                         .atol = error_of_one() / err, .on_step = note_step, .on_step_ctx = &a};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    assert_int_equal(costate_integrate(c, 0, 1e4, &y, NULL, NULL), COSTATE_STOPPED);
    costate_free(c);
    near("the step at rest", a.h[0], 1, 0);
    near("the step with an error", a.h[1], 1, 0);
    near("the step after it", a.h[2], 0.9 * pow(err, -0.17) * pow(0.01, 0.04), 1e-10);
}

/* A step that was shortened to meet a given time does not reduce the proposal before it. */
static void cut(void **state)
{
    static const double early = 0.01;
    const costate_event event = at_times(&early, 1);
    happened e;
    steps a = {0};
    double y = 1;
    (void)state;
    costate *c = solver(REST, &event, 1, (costate_options){.h0 = 0.4, .fac_max = 2, .on_step = note_step,
                                                           .on_step_ctx = &a}, &e);
    CHECK_OK(c, costate_integrate(c, 0, 10, &y, NULL, NULL));
    near("the step to the event", a.h[0], early, 0);
    near("the step after it", a.h[1], 0.4, 1e-15);
    costate_free(c);
}

/* Where less than two steps are left, they are halves: no step is followed by a tiny one. */
static void last_two(void **state)
{
    static const double proposed[] = {0.6, 0.7, 0.99, 0.4, 0.35}, last[] = {0.5, 0.5, 0.5, 0.3, 0.325};
    (void)state;
    for (int i = 0; i < 5; i++) {
        happened e;
        steps a = {0};
        double y = 1;
        costate *c = solver(REST, NULL, 0, (costate_options){.h0 = proposed[i], .hmax = proposed[i],
                                                             .on_step = note_step, .on_step_ctx = &a}, &e);
        CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, NULL));
        assert_true(a.count >= 2);
        near("the last but one", a.h[a.count - 2], last[i], 1e-15);
        near("the last", a.h[a.count - 1], last[i], 1e-15);
        costate_free(c);
    }
}

/* After an event the controller starts afresh: the steps are those of a run that starts there with that h, but for the
   round-off of h. */
static int wave(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[0] * (1 + 0.5 * sin(x->t)), 0;
}

static void afresh(void **state)
{
    static const int controllers[] = {COSTATE_PI, COSTATE_GUSTAFSSON};
    static const double when = 0.75;
    const costate_event event = at_times(&when, 1);
    (void)state;
    for (int i = 0; i < 2; i++) {
        happened e = {0};
        steps a[2] = {{0}, {0}};
        costate_problem P = {.n = 1, .rhs.value = wave, .event = &event, .nevents = 1};
        costate_options o = {.controller = controllers[i], .rtol = 1e-6, .safety = 0.5, .h0 = 0.05,
                             .on_event = note_event, .on_event_ctx = &e, .on_step = note_step, .on_step_ctx = &a[0]};
        double y = 1;
        costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, 2, &y, NULL, NULL));
        assert_int_equal(costate_get_stats(c)->rejected, 0);
        assert_int_equal(e.count, 1);
        costate_free(c);
        int k = 0;
        while (a[0].t[k] != when) k++;
        P.nevents = 0;
        o.h0 = a[0].h[k];
        o.on_step_ctx = &a[1];
        c = costate_new(costate_method_find("dopri5"), &P, &o);
        CHECK_OK(c, costate_integrate(c, when, 2, &e.y[0], NULL, NULL));
        costate_free(c);
        assert_int_equal(a[0].count - k, a[1].count);
        for (int j = 0; j < a[1].count; j++) near("a step", a[0].h[k + j], a[1].h[j], 1e-8);
    }
}

/* ---- events at given times, and the end of the run ---- */

/* The next one in the direction of the run, in this order whatever the order of the list. */
static void given_times(void **state)
{
    static const double middle[] = {0.5}, others[] = {-1, 0.25, 0.75, 2};
    (void)state;
    for (int k = 0; k < 4; k++) {
        int back = k & 1, first = k >> 1;
        costate_event event[2];
        happened e;
        double y = 1;
        event[first] = at_times(middle, 1);
        event[!first] = at_times(others, 4);
        costate *c = solver(REST, event, 2, (costate_options){0}, &e);
        CHECK_OK(c, costate_integrate(c, back, !back, &y, NULL, NULL));
        near("the end", costate_time(c), !back, 0);
        assert_int_equal(e.count, 3);
        for (int i = 0; i < 3; i++) {
            near("a given time", e.t[i], back ? 0.75 - 0.25 * i : 0.25 + 0.25 * i, 0);
            assert_int_equal(e.event[i], i == 1 ? first : !first);
        }
        costate_free(c);
    }
}

/* A terminal event without a jump ends the run, also if it is not the last of those at its time. */
static void terminal(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        costate_event event[2] = {at_level(&ONE), k & 2 ? at_times(&ONE, 1) : at_level(&ONE)};
        happened e;
        double y = 0;
        event[k & 1].terminal = 1;
        costate *c = solver(UP, event, 2, (costate_options){0}, &e);
        CHECK_OK(c, costate_integrate(c, 0, 3, &y, NULL, NULL));
        near("the end of the run", costate_time(c), 1, 1e-14);
        near("y there", y, 1, 1e-14);
        assert_int_equal(e.count, 2);
        costate_free(c);
    }
}

/* ---- which event is first ---- */

/* The last step passes one guard and ends at the zero of another, which is left to a run that starts there. */
static void earliest(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        costate_event event[2];
        happened e;
        double y = 0;
        event[first] = at_level(&NINE);
        event[!first] = at_level(&ONE);
        costate *c = solver(UP, event, 2, (costate_options){.h0 = 1}, &e);
        CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, NULL));
        assert_int_equal(e.count, 1);
        assert_int_equal(e.event[0], first);
        near("its time", e.t[0], 0.9, 1e-15);
        costate_free(c);
    }
}

/* Two guards of a long step: in its dense output one is the first, in the step that ends there the other, which must
   not be lost.  y' = r y with the step 1; y at 1/2 by dense output and by a step of 1/2 are `dense` and `half`. */
static int grows(const costate_point *x, double *out, void *ctx)
{
    return out[0] = *(const double *)ctx * x->y[0], 0;
}
static int moment(const costate_point *x, double *e, void *ctx) { return e[0] = x->t - *(const double *)ctx, 0; }
static int eval_half(const costate_step *s, void *ctx) { return costate_step_eval(s, 0.5, ctx); }

static double grown(double rate, double h, double *dense)
{
    const costate_problem P = {.n = 1, .rhs.value = grows, .ctx = &rate};
    const costate_options o = {.controller = COSTATE_FIXED, .h0 = h, .on_step = dense ? eval_half : NULL,
                               .on_step_ctx = dense};
    double y = 1;
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    CHECK_OK(c, costate_integrate(c, 0, h, &y, NULL, NULL));
    costate_free(c);
    return y;
}

static void passed_before(void **state)
{
    int tested = 0;
    (void)state;
    for (double rate = -3; rate <= 3; rate += 1) {
        double dense, half = grown(rate, 0.5, NULL);
        grown(rate, 1, &dense);
        if (rate == 0 || !((half - dense) * rate > 0)) continue;            /* the dense output is behind the step */
        for (int first = 0; first < 2; first++) {
            double between = (half + dense) / 2;
            happened e = {0};
            costate_event event[2];
            event[first] = at_level(&between);
            event[!first] = at_level(&HALF);
            event[!first].guard.value = moment;
            const costate_problem P = {.n = 1, .rhs.value = grows, .event = event, .nevents = 2, .ctx = &rate};
            const costate_options o = {.controller = COSTATE_FIXED, .h0 = 1, .on_event = note_event,
                                       .on_event_ctx = &e};
            double y = 1;
            costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
            CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, NULL));
            assert_int_equal(e.count, 2);
            assert_int_equal(e.event[0], first);
            near("the guard of the first event", e.y[0], between, 1e-14 * between);
            near("the time of the second event", e.t[1], 0.5, 1e-15);
            costate_free(c);
            tested++;
        }
    }
    assert_true(tested > 0);
}

/* ---- guards that are zero at the start ---- */

/* 0 up to 0.35, then (t - 0.35)(0.7 - t): leaves zero without passing it, passes it at 0.7 */
static int hill(const costate_point *x, double *e, void *ctx)
{
    return (void)ctx, e[0] = x->t < 0.35 ? 0 : (x->t - 0.35) * (0.7 - x->t), 0;
}

static void leaves_zero(void **state)
{
    costate_event event = at_level(&ONE);
    happened e;
    double y = 1;
    (void)state;
    event.guard.value = hill;
    costate *c = solver(REST, &event, 1, (costate_options){.h0 = 0.1, .hmax = 0.1}, &e);
    CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, NULL));
    assert_int_equal(e.count, 1);
    near("its time", e.t[0], 0.7, 1e-14);
    costate_free(c);
}

/* ---- events at once ---- */

/* One threshold: a counter in all modes, and 0 -> 1 -> 2 there: passed once, it counts once. */
static void counted_once(void **state)
{
    (void)state;
    for (int directed = 0; directed < 2; directed++) {
        costate_event event[3] = {at_level(&ONE), at_level(&ONE), at_level(&ONE)};
        happened e;
        double y = 0;
        for (int k = 0; k < 3; k++) event[k].direction = k == 2 ? 1 : directed;
        event[1].from = 0;
        event[1].to = event[2].from = 1;
        event[2].to = 2;
        costate *c = solver(UP, event, 3, (costate_options){0}, &e);
        CHECK_OK(c, costate_integrate(c, 0, 3, &y, NULL, NULL));
        assert_int_equal(e.count, 3);
        for (int k = 0; k < 3; k++) assert_int_equal(e.event[k], k);
        assert_int_equal(costate_mode(c), 2);
        costate_free(c);
    }
}

/* Two guards that pass zero within some units in the last place of the time: both events occur, each once, whether or
   not the first changes the mode.  Steps are shorter than the time, so that its unit in the last place is that of all
   comparisons. */
static void nearly_at_once(void **state)
{
    (void)state;
    for (int k = -200; k <= 200; k += 10)
        for (int changes = 0; changes < 2; changes++) {
            double later = 1 + k * DBL_EPSILON;
            costate_event event[2] = {at_level(&ONE), at_level(&later)};
            happened e;
            double y = 0;
            event[0].guard.value = moment;
            if (changes) event[0].to = 1;
            costate *c = solver(UP, event, 2, (costate_options){.hmax = 0.25}, &e);
            CHECK_OK(c, costate_integrate(c, 0, 3, &y, NULL, NULL));
            if (e.count != 2 || e.event[0] == e.event[1])
                fail_msg("%d units later: %d events, the first is event[%d]", k, e.count, e.event[0]);
            costate_free(c);
        }
}

/* After y has risen to 1 it follows 1 + s - s^2/(2 tau), s = t - 1: above 1 for 2 tau, far less than a step.  The
   event that waits for it to fall occurs then, not at once. */
static int parabola(const costate_point *x, double *out, void *ctx)
{
    return out[0] = x->mode == 1 ? 1 - (x->t - 1) / *(const double *)ctx : x->mode ? 0 : 1, 0;
}

static void short_excursion(void **state)
{
    (void)state;
    for (double tau = 1e-4; tau >= 1e-8; tau /= 10) {
        costate_event event[2] = {at_level(&ONE), at_level(&ONE)};
        const costate_problem P = {.n = 1, .rhs.value = parabola, .event = event, .nevents = 2, .ctx = &tau};
        happened e = {0};
        const costate_options o = {.h0 = 0.5, .hmax = 0.5, .on_event = note_event, .on_event_ctx = &e};
        double y = 0;
        event[0].from = 0;
        event[0].to = event[0].direction = 1;
        event[1].from = 1;
        event[1].to = 2;
        event[1].direction = -1;
        costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, 3, &y, NULL, NULL));
        assert_int_equal(e.count, 2);
        near("the time of the first", e.t[0], 1, 1e-14);
        near("the time of the second", e.t[1], 1 + 2 * tau, 1e-3 * tau + 1e-13);
        costate_free(c);
    }
}

/* ---- the step that ends at an event ---- */

/* rkc2 takes the lowest degree that is stable for h, and with it the more values of f the longer h is.  Where the
   degree changes, the end of the step jumps.  A level in that gap is met nevertheless: the step that ends there keeps
   the degree of the whole one. */
static int radius(const costate_point *x, double *rho, void *ctx) { return (void)x, (void)ctx, *rho = 20, 0; }

/* one step of y' = r y, or two with an event between them; *f: values of f that it took */
static double stabilised(double rate, double h, const costate_event *event, happened *e, long *f)
{
    const costate_problem P = {.n = 1, .rhs.value = grows, .event = event, .nevents = event != NULL, .ctx = &rate};
    const costate_options o = {.controller = COSTATE_FIXED, .h0 = h, .spectral_radius = radius,
                               .on_event = e ? note_event : NULL, .on_event_ctx = e};
    double y = 1;
    costate *c = costate_new(costate_method_find("rkc2"), &P, &o);
    CHECK_OK(c, costate_integrate(c, 0, h, &y, NULL, NULL));
    if (f) *f = costate_get_stats(c)->f;
    costate_free(c);
    return y;
}

static void same_degree(void **state)
{
    int tested = 0;
    (void)state;
    for (double from = 0.3; from < 1.2; from *= 1.3)
        for (double rate = -1; rate <= 1; rate += 2) {
            double low = from, high = 1.3 * from;
            long fewer, more, f;
            stabilised(rate, low, NULL, NULL, &fewer);
            stabilised(rate, high, NULL, NULL, &more);
            while (high - low > 1e-12) {
                double h = low + (high - low) / 2;
                stabilised(rate, h, NULL, NULL, &f);
                if (f == fewer) low = h;
                else high = h;
            }
            double y0 = stabilised(rate, low, NULL, NULL, NULL), y1 = stabilised(rate, high, NULL, NULL, NULL);
            double between = (y0 + y1) / 2;
            if (fewer == more || !((y1 - y0) * rate > 1e-6)) continue;
            happened e = {0};
            costate_event event = at_level(&between);
            stabilised(rate, 1.5 * high, &event, &e, NULL);
            assert_int_equal(e.count, 1);
            near("y at the event", e.y[0], between, 1e-14 * between);
            tested++;
        }
    assert_true(tested > 0);
}

/* A guard that is far from straight is located with fewer evaluations than it takes to halve its part of the step, 1/5,
   down to the 1e-10 of a first guess: 31. */
static int bent(const costate_point *x, double *e, void *ctx)
{
    return e[0] = expm1(*(const double *)ctx * (x->y[0] - 0.55)), 0;
}
static int bent_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    double k = *(const double *)ctx;
    return e[0] = dx->y ? k * exp(k * (x->y[0] - 0.55)) * dx->y[0] : 0, 0;
}

static void quickly(void **state)
{
    (void)state;
    for (double steep = -20; steep <= 20; steep += 5) {
        if (steep == 0) continue;
        costate_event event = at_level(&steep);
        happened e;
        double y = 0;
        event.guard = (costate_map){.value = bent, .tangent = bent_tangent};
        costate *c = solver(UP, &event, 1, (costate_options){.controller = COSTATE_FIXED, .h0 = 1}, &e);
        CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, NULL));
        assert_int_equal(e.count, 1);
        assert_true(costate_get_stats(c)->guards <= 31);
        near("its time", e.t[0], 0.55, 1e-15);
        costate_free(c);
    }
}

/* ---- Newton's iteration for consistent values ---- */

/* M y' = A y with M = diag(1, 0, ..., 0): linear in the algebraic unknowns, so that Newton's iteration takes one matrix
   to round-off, where it ends. */
enum { LINEAR = 6 };
static int linear_value(const costate_point *x, double *out, void *ctx)
{
    const double *A = ctx;
    for (int i = 0; i < LINEAR; i++) {
        out[i] = 0;
        for (int j = 0; j < LINEAR; j++) out[i] += A[i + LINEAR * j] * x->y[j];
    }
    return 0;
}
static int linear_jac(const costate_point *x, double *J, void *ctx)
{
    memcpy(J, ctx, LINEAR * LINEAR * sizeof *J);
    return (void)x, 0;
}
static int linear_mass(double *M, void *ctx)
{
    memset(M, 0, LINEAR * LINEAR * sizeof *M);
    return (void)ctx, M[0] = 1, 0;
}

static void one_matrix(void **state)
{
    unsigned seed = 7;
    (void)state;
    for (int k = 0; k < 20; k++) {
        double A[LINEAR * LINEAR], y[LINEAR];
        const costate_problem P = {.n = LINEAR, .rhs.value = linear_value, .jac = linear_jac, .mass = linear_mass,
                                   .ctx = A};
        random_fill(&seed, LINEAR * LINEAR, A);
        random_fill(&seed, LINEAR, y);
        costate *c = costate_new(costate_method_find("radau2a5"), &P, NULL);
        CHECK_OK(c, costate_consistent(c, 0, y, NULL, NULL));
        assert_int_equal(costate_get_stats(c)->jac, 1);
        assert_int_equal(costate_get_stats(c)->decompositions, 1);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted), cmocka_unit_test(first_rejected), cmocka_unit_test(after_none),
        cmocka_unit_test(cut), cmocka_unit_test(last_two),
        cmocka_unit_test(afresh), cmocka_unit_test(given_times), cmocka_unit_test(terminal), cmocka_unit_test(earliest),
        cmocka_unit_test(passed_before), cmocka_unit_test(leaves_zero), cmocka_unit_test(counted_once),
        cmocka_unit_test(nearly_at_once), cmocka_unit_test(short_excursion),
        cmocka_unit_test(same_degree), cmocka_unit_test(quickly), cmocka_unit_test(one_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
