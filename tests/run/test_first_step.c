/* test_first_step.c - a run begins wherever its interval lies and however long it is: far from t = 0, where f is huge,
   over spans from 1e-12 to 1e12; a start that cannot succeed ends soon, with a sentence about it. */
#include "common.h"
#include "ivp.h"
#include <float.h>

typedef struct {
    double rate, t0, omega, y0, scale;
    int calls, code;
    double write;
} world;

static int implicit(const costate_method *m) { return !is_explicit(m); }
static int damps(const costate_method *m) { return implicit(m) && fabs(method_info(m).r_infinity) < 0.9; }

/* ---- y' = -rate (y - cos omega (t - t0)), y(t0) = y0 ------------------------------------------------------------ */

static int forced(const costate_point *x, double *out, void *ctx)
{
    const world *w = ctx;
    out[0] = -w->rate * (x->y[0] - cos(w->omega * (x->t - w->t0)));
    return 0;
}
static int forced_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const world *w = ctx;
    out[0] = -w->rate * ((dx->y ? dx->y[0] : 0) + w->omega * sin(w->omega * (x->t - w->t0)) * dx->t);
    return 0;
}
static int forced_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x;
    J[0] = -((const world *)ctx)->rate;
    return 0;
}

static double forced_exact(const world *w, double s)
{
    double k = w->rate, o = w->omega, size = k * k + o * o, start = k * k / size;
    return (k * k * cos(o * s) + k * o * sin(o * s)) / size + (w->y0 - start) * exp(-k * s);
}

static costate_problem forced_problem(world *w)
{
    return (costate_problem){.n = 1, .ctx = w, .rhs = {.value = forced, .tangent = forced_tangent}, .jac = forced_jac};
}

static void run_forced(const costate_method *m, world w, double length, double tol)
{
    costate_problem P = forced_problem(&w);
    costate_options o = {.rtol = tol, .atol = tol, .max_steps = 200000};
    costate *c = costate_new(m, &P, &o);
    double y[1] = {w.y0}, order = method_info(m).order, low = fmin(order, method_info(m).embedded);
    CHECK_OK(c, costate_integrate(c, w.t0, w.t0 + length, y, NULL, NULL));
    double error = fabs(y[0] - forced_exact(&w, length)),
           last = 4 * 2.3e-16 * fabs(w.t0) * w.omega; /* and the rounding of t */
    if (!(error <= 50 * pow(tol, low / (low + 1)) + last))
        fail_msg("%s, rate %g at t0 = %g: error %.1e", method_name(m), w.rate, w.t0, error);
    costate_free(c);
}

/* milliseconds since 1970; and a fast transient at noon: a first step of 0.1/sqrt(y'') = 2.7e-11 is below the rounding
 * of t */
static void far_from_zero(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (double y0 = 0; y0 <= 2; y0++) { /* from zero; at rest; moving */
            run_forced(m, (world){.rate = 1e-3, .t0 = sign * 1.7e12, .omega = 0, .y0 = y0}, 1e4, 1e-4);
            run_forced(m, (world){.rate = 1e-3, .t0 = sign * 1.7e12, .omega = 2e-3, .y0 = y0}, 1e4, 1e-4);
            if (damps(m)) run_forced(m, (world){.rate = 1, .t0 = sign * 1.7e12, .omega = 1e-3, .y0 = y0}, 1e4, 1e-4);
        }
        if (damps(m)) run_forced(m, (world){.rate = 1e9, .t0 = sign * 43200, .omega = 1, .y0 = 1 + 2.8e-5}, 1, 1e-6);
    }
}

/* the chosen first step lies between hmin and hmax, and t0 can tell it */
static void limits(void **state)
{
    static const struct {
        double t0, hmin, hmax;
    } table[] = {{0, 0, 0}, {0, 300, 400}, {0, 0, 2}, {1.7e12, 0, 2}, {1.7e12, 20, 30}};
    NEEDS_ESTIMATE(*state);
    for (int k = 0; k < 5; k++)
        for (double y0 = 0; y0 <= 2; y0++) {
            world w = {.rate = 1e-3, .t0 = table[k].t0, .y0 = y0};
            costate_problem P = forced_problem(&w);
            costate_options o = {.rtol = 0.1, .atol = 0.1, .hmin = table[k].hmin, .hmax = table[k].hmax};
            costate *c = costate_new(*state, &P, &o);
            costate_tape *tape = costate_tape_new();
            double y[1] = {y0}, h, span = 1e3;
            CHECK_OK(c, costate_integrate(c, w.t0, w.t0 + span, y, NULL, tape));
            costate_tape_get(tape, 0, NULL, &h, NULL);
            double most = o.hmax > 0 ? o.hmax : span, least = fmax(o.hmin, 64 * DBL_EPSILON * w.t0);
            if (!(h >= least && h <= most * (1 + 1e-8)))
                fail_msg("%s at %g: h = %g outside [%g, %g]", method_name(*state), w.t0, h, least, most);
            costate_free(c);
            costate_tape_free(tape);
        }
}

/* ---- y' = scale f(y): steps scale with time ------------------------------------------------------------------------
 */

static int pair(const costate_point *x, double *out, void *ctx)
{
    double s = ((const world *)ctx)->scale, y = x->y[0], v = x->y[1];
    out[0] = s * v;
    out[1] = s * (5 * (1 - y * y) * v - y);
    out[2] = s * (1 - x->y[2]);
    return 0;
}
static int pair_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    static const double zero[3] = {0};
    double s = ((const world *)ctx)->scale, y = x->y[0], v = x->y[1];
    const double *d = dx->y ? dx->y : zero;
    out[0] = s * d[1];
    out[1] = s * ((-10 * y * v - 1) * d[0] + 5 * (1 - y * y) * d[1]);
    out[2] = s * -d[2];
    return 0;
}
static int pair_jac(const costate_point *x, double *J, void *ctx)
{
    double s = ((const world *)ctx)->scale, y = x->y[0], v = x->y[1];
    memset(J, 0, 9 * sizeof *J);
    J[3] = s;
    J[1] = s * (-10 * y * v - 1);
    J[4] = s * 5 * (1 - y * y);
    J[8] = -s;
    return 0;
}

static void any_span(void **state)
{
    static const double start[3][3] = {{2, 0, 0}, {0, 0, 1}, {0, 0, 0}}; /* moving; at rest; from zero */
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    for (int begin = 0; begin < 3; begin++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double first[3] = {0};
            long steps = 0;
            for (int k = -40; k <= 40; k += 8) { /* powers of two: the same bits */
                world w = {.scale = sign * ldexp(1, k)};
                double y[3] = {start[begin][0], start[begin][1], start[begin][2]};
                costate_problem P = {
                    .n = 3, .ctx = &w, .rhs = {.value = pair, .tangent = pair_tangent}, .jac = pair_jac};
                costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
                CHECK_OK(c, costate_integrate(c, 0, 6 / w.scale, y, NULL, NULL));
                long now = costate_get_stats(c)->steps;
                if (k == -40) {
                    steps = now;
                    memcpy(first, y, sizeof y);
                }
                if (now != steps || memcmp(first, y, sizeof y) != 0)
                    fail_msg("%s, start %d, time scaled by 2^%d: %ld steps and y = %.17g, not %ld and %.17g",
                             method_name(m), begin, -k, now, y[0], steps, first[0]);
                costate_free(c);
            }
        }
}

/* ---- Robertson over 11 decades: the floor relative to the span is far below its first transient ----------------- */

static void long_span(void **state)
{
    static const double h0[] = {0, 1e-6, 1e-10, 1e-20};
    const costate_method *m = *state;
    NEEDS_ESTIMATE(m);
    if (!implicit(m) || !(method_info(m).properties & COSTATE_L_STABLE)) return;
    ivp b;
    assert_int_equal(ivp_robertson(&b, 0), COSTATE_OK);
    for (int k = 0; k < 4; k++) {
        const costate_options o = {.rtol = 1e-4, .atol = 1e-10, .h0 = h0[k], .autonomous = 1};
        costate *c = costate_new(m, &b.P, &o);
        double y[3] = {1, 0, 0};
        CHECK_OK(c, costate_integrate(c, 0, 1e11, y, NULL, NULL));
        /* 2.0833e-8 at 1e11 (Hairer & Wanner II, IV.10) */
        double order = method_info(m).order;
        if (!(fabs(y[0] - 2.0833e-8) < 50 * pow(1e-4, order / (order + 1)) * 2.0833e-8))
            fail_msg("%s, h0 = %g: y1 = %.4e", method_name(m), h0[k], y[0]);
        costate_free(c);
    }
    ivp_free(&b);
}

/* ---- a start that cannot succeed ------------------------------------------------------------------------------------
 */

static int only_at_start(const costate_point *x, double *out, void *ctx)
{
    world *w = ctx;
    w->calls++;
    out[0] = 1;
    if (x->t == w->t0 && x->y[0] == w->y0) return 0;
    out[0] = w->write;
    return w->code;
}
static int zero_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    J[0] = 0;
    return 0;
}

static void expect(const costate *c, int status, int wanted, const char *words)
{
    const char *message = costate_message(c);
    if (status != wanted || !strstr(message, words))
        fail_msg("wanted %s and \"%s\": %s: %s", costate_status_name(wanted), words, costate_status_name(status),
                 message);
}

static void hopeless(void **state)
{
    static const double t0[] = {0, 0, 1, -1e6, 1}, span[] = {1, -1e-9, 1e3, 1, 3 * DBL_EPSILON};
    NEEDS_ESTIMATE(*state);
    for (int k = 0; k < 5; k++)
        for (int kind = 0; kind < 2; kind++) {
            world w = {.t0 = t0[k], .y0 = 1, .code = kind, .write = kind ? 1 : NAN};
            costate_problem P = {.n = 1, .ctx = &w, .rhs = {.value = only_at_start}, .jac = zero_jac};
            costate *c = costate_new(*state, &P, &(costate_options){.autonomous = 1});
            double y[1] = {1};
            int status = costate_integrate(c, t0[k], t0[k] + span[k], y, NULL, NULL);
            expect(c, status, kind ? COSTATE_CALLBACK : COSTATE_NOT_FINITE, t0[k] == 0 ? "t1 - t0" : "round-off of t");
            /* from the span to eps^(3/2) of it by halves are 78 */
            assert_in_range(costate_get_stats(c)->steps, 1, 80);
            assert_true(costate_get_stats(c)->accepted == 0 && y[0] == 1);
            costate_free(c);
        }
}

/* no step is tried: the sentence speaks of the first step, and of no error test.  Of composite methods with stiff
   members alone, which would take the step of an explicit one. */
static void no_room(void **state)
{
    const costate_method *m = *state;
    const char *members = newton_members(m);
    const costate_options small[] = {{.h0 = 1e-6, .members = members}, {.hmax = 1e-6, .members = members},
                                     {.h0 = 1e-6, .controller = COSTATE_FIXED, .members = members}};
    world w = {.rate = 1e-3, .t0 = 1.7e12, .y0 = 2};
    costate_problem P = forced_problem(&w);
    for (int k = method_info(m).embedded ? 0 : 2; k < 3; k++) {
        costate *c = costate_new(m, &P, &small[k]);
        double y[1] = {2};
        int status = costate_integrate(c, 1.7e12, 1.7e12 + 1e4, y, NULL, NULL);
        expect(c, status, COSTATE_STEP_TOO_SMALL, "first step");
        assert_true(!strstr(costate_message(c), "error test") && strstr(costate_message(c), "round-off of t"));
        assert_true(costate_get_stats(c)->steps == 0);
        costate_free(c);
    }
    /* an interval of one rounding of t is one step */
    costate *c = new_for_test(m, &P, &(costate_options){.rtol = 1e-4});
    costate_tape *tape = costate_tape_new();
    double y[1] = {2};
    CHECK_OK(c, costate_integrate(c, 1.7e12, nextafter(1.7e12, HUGE_VAL), y, NULL, tape));
    assert_int_equal(costate_tape_steps(tape), 1);
    costate_free(c);
    costate_tape_free(tape);
}

/* ---- y' = -(5 k(t) + slow) y, y(0) = 1, over a day: k is 0 at both ends, y and f tell nothing of it ------------- */

typedef struct { int kind; double day, slow; } sun;

static double light(const sun *s, double t)
{
    const double PI = acos(-1);
    double x = t / s->day, u = sin(PI * x), v = fmax(0, -cos(2 * PI * x));
    return s->kind == 0 ? u * u : v * v;
}
static int sunlit(const costate_point *x, double *out, void *ctx)
{
    const sun *s = ctx;
    out[0] = -(5 * light(s, x->t) + s->slow) / s->day * x->y[0];
    return 0;
}

static void later_input(void **state)
{
    const costate_method *m = *state;
    NEEDS_ESTIMATE(m);
    if (method_info(m).order < 2) skip();
    for (int k = 0; k < 2 * 4 * 2; k++) {
        sun s = {k & 1, k >> 3 ? 86400 : 1, k >> 1 & 3 ? pow(10, -6 + 2 * (k >> 1 & 3)) : 0};
        double truth = exp(-5 * (s.kind ? 0.25 : 0.5) - s.slow), y = 1;
        const costate_problem P = {.n = 1, .ctx = &s, .rhs = {.value = sunlit}};
        const costate_options o = {.rtol = 1e-4, .atol = 1e-4, .differences = 1, .max_steps = 100000};
        costate *c = costate_new(m, &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, s.day, &y, NULL, NULL));
        if (!(fabs(y - truth) <= 5e-3))
            fail_msg("%s, kind %d, slow %g: %g, not %g", method_name(m), s.kind, s.slow, y, truth);
        costate_free(c);
    }
}

int main(void)
{
    return run_by_method("far from t = 0", far_from_zero) + run_by_method("between hmin and hmax", limits) +
           run_by_method("any span", any_span) + run_by_method("Robertson", long_span) +
           run_by_method("a start that fails", hopeless) + run_by_method("no room for a step", no_room) +
           run_by_method("an input that begins later", later_input);
}
