/* test_accuracy_decisions.c - costate_accuracy: which steps the run with halved steps takes, with which options it is
   made, and what its parts are: counted, or compared with formulas. */
#include <costate/accuracy.h>
#include "common.h"

/* ---- y' = p y, with what a test does to f ---- */

typedef struct {
    double apart;               /* f is not defined farther than this from y = t^2/2; 0: everywhere */
    int steps, backs, events;   /* calls of on_step, on_back, on_event */
} watched;

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->p[0] * x->y[0], 0; }
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = (dx->y ? x->p[0] * dx->y[0] : 0) + (dx->p ? dx->p[0] * x->y[0] : 0);
    return 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += x->p[0] * w[0];
    if (g->p) g->p[0] += x->y[0] * w[0];
    return 0;
}

static int last(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    return value[0] = y[0], lambda[0] = 1, 0;
}
static const costate_functional at_the_end = {.m = 1, .at_end = last};

static int here(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    (void)k, (void)t, (void)m, (void)ctx;
    return value[0] = y[0], w[0] = 1, 0;
}

static int f_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                    void *ctx)
{
    (void)x, (void)ctx;
    if (g->y && dx->p) g->y[0] += dx->p[0] * w[0];
    if (g->p && dx->y) g->p[0] += dx->y[0] * w[0];
    return 0;
}

typedef struct { costate_problem P; costate *c; costate_tape *tape; double y[2], t1; int steps; } ran;

static int begin(ran *r, const char *method, costate_problem P, costate_options o, double y0, double t1, double p)
{
    *r = (ran){.P = P, .tape = costate_tape_new(), .y = {y0}, .t1 = t1};
    r->c = costate_new(costate_method_find(method), &r->P, &o);
    int status = costate_integrate(r->c, 0, t1, r->y, &p, r->tape);
    r->steps = costate_tape_steps(r->tape);
    return status;
}

static void end(ran *r)
{
    costate_tape_free(r->tape);
    costate_free(r->c);
}

static const costate_problem growth = {.n = 1, .np = 1, .rhs = {f, f_tangent, f_adjoint, .adjoint_tangent = f_second}};
static costate_options fixed(double h) { return (costate_options){.controller = COSTATE_FIXED, .h0 = h}; }

/* ---- which steps are taken ---- */

/* A time of observation inside a half ends a step; one at its ends or next to them does not, nor do more times than
   there are steps. */
static void times_of_observation(void **state)
{
    (void)state;
    const struct { int count; double t[3]; int more; } cases[] = {
        {1, {0}, 0}, {1, {0.05}, 0}, {1, {0.05 + 2e-5}, 0}, {1, {0.05 - 2e-5}, 0}, {1, {0.06}, 1}, {1, {0.0497}, 1},
        {1, {1}, 0}, {2, {0.06, 0.062}, 2}, {3, {0, 0.5, 0.97}, 1}, {3, {0.31, 0.31, 0.33}, 2}};
    ran r;
    CHECK_OK(r.c, begin(&r, "dopri5", growth, fixed(0.1), 1, 1, -1));
    assert_int_equal(r.steps, 10);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const costate_functional F = {.m = 1, .count = cases[k].count, .t = cases[k].t, .at_time = here};
        double value;
        costate_estimate e = {.run = {.value = &value}};
        CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &F, &e));
        if (e.steps_refined != 20 + cases[k].more)
            fail_msg("case %d: %d steps, not %d", (int)k, e.steps_refined, 20 + cases[k].more);
    }
    double many[11], value;
    for (int k = 0; k < 11; k++) many[k] = 0.03 + k * 0.09;
    costate_estimate e = {.run = {.value = &value}};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &(costate_functional){.m = 1, .count = 11, .t = many, .at_time = here},
                                   &e));
    assert_int_equal(e.steps_refined, 20);
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &(costate_functional){.m = 1, .count = 10, .t = many, .at_time = here},
                                   &e));
    assert_int_equal(e.steps_refined, 28);          /* two of them lie at ends of halves */
    end(&r);
}

/* far from 0, where times are rounded to 1e-4 of the step */
static void far_from_zero(void **state)
{
    (void)state;
    const double p = -1e-10;
    ran r;
    CHECK_OK(r.c, begin(&r, "dopri5", growth, fixed(0.1), 1, 0.1, p));
    double y = 1, value;
    costate_estimate e = {.run = {.value = &value}};
    CHECK_OK(r.c, costate_integrate(r.c, 1e12, 1e12 + 100, &y, &p, r.tape));
    assert_int_equal(costate_tape_steps(r.tape), 1000);
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
    assert_int_equal(e.steps_refined, 2000);
    end(&r);
}

static int ramp(const costate_point *x, double *out, void *ctx)
{
    watched *w = ctx;
    out[0] = x->t;
    return w->apart > 0 && fabs(x->y[0] - x->t * x->t / 2) > w->apart;
}

/* The second stage of dopri5 is Euler's step to h/5, off by (h/5)^2/2: f is defined in steps shorter than 0.026.  From
   halves of 0.1 these are quarters; each is tried at twice its length first.  (It is called autonomous: no other run
   follows.) */
static void undefined_in_long_steps(void **state)
{
    (void)state;
    watched w = {0};
    ran r;
    costate_options o = {.h0 = 0.2, .hmax = 0.2, .rtol = 1e-3, .autonomous = 1};
    CHECK_OK(r.c, begin(&r, "dopri5", (costate_problem){.n = 1, .np = 1, .rhs = {.value = ramp}, .ctx = &w}, o, 0, 2,
                        0));
    assert_int_equal(r.steps, 10);
    w.apart = 0.026 * 0.026 / 50;
    double value, error;
    costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
    costate_reset_stats(r.c);
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
    assert_int_equal(e.steps_refined, 10 * 2 * 4);
    assert_int_equal(costate_get_stats(r.c)->accepted, 80);
    assert_int_equal(costate_get_stats(r.c)->rejected, 10 * 2 * 4);
    assert_true(fabs(error) < 1e-13 && fabs(value - 2) < 1e-13);
    end(&r);
}

/* ---- events that are located at other times ---- */

static int above(const costate_point *x, double *e, void *ctx) { return e[0] = x->y[0] - *(double *)ctx, 0; }
static int above_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    return (void)x, (void)ctx, e[0] = dx->y ? dx->y[0] : 0, 0;
}
static int above_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    return (void)x, (void)ctx, 0;
}
static int later(const costate_point *x, double *e, void *ctx) { return e[0] = x->t - *(double *)ctx, 0; }
static int no_derivative(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    return (void)x, (void)ctx, e[0] = dx->t, 0;
}
static int to_time(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->t) *g->t += w[0];
    return (void)x, (void)ctx, 0;
}
static int doubled(const costate_point *x, double *y, void *ctx) { return (void)ctx, y[0] = 2 * x->y[0], 0; }
static int doubled_tangent(const costate_point *x, const costate_point *dx, double *y, void *ctx)
{
    return (void)x, (void)ctx, y[0] = dx->y ? 2 * dx->y[0] : 0, 0;
}
static int doubled_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += 2 * w[0];
    return (void)x, (void)ctx, 0;
}

static costate_event reaches(double *level)
{
    return (costate_event){.guard = {above, above_tangent, .adjoint = above_adjoint}, .ctx = level,
                           .from = COSTATE_ANY_MODE,
                           .to = COSTATE_SAME_MODE};
}

typedef struct { double te, value, error, by_p, by_p_error, parts[200]; int refined, steps, status; } outcome;

/* Euler's method with steps of 0.1 to a level of y' = p y, and on to t1; NULL: no times */
static outcome euler(double p, double level, double t1, const double *times, int ntimes)
{
    const costate_event events[] = {reaches(&level), {.times = times, .ntimes = ntimes, .from = COSTATE_ANY_MODE,
                                                      .jump = {doubled, doubled_tangent, .adjoint = doubled_adjoint},
                                                      .to = COSTATE_SAME_MODE}};
    costate_problem P = growth;
    P.event = events;
    P.nevents = times ? 2 : 1;
    ran r;
    outcome o = {.te = 0};
    CHECK_OK(r.c, begin(&r, "euler", P, fixed(0.1), 1, t1, p));
    o.steps = r.steps;
    costate_tape_event(r.tape, 0, &o.te, NULL, NULL, NULL);
    costate_estimate e = {.run = {.value = &o.value, .p = &o.by_p}, .error = {.value = &o.error, .p = &o.by_p_error},
                          .steps = o.parts};
    o.status = costate_accuracy(r.c, r.tape, &at_the_end, &e);
    o.refined = e.steps_refined;
    if (o.status && o.status != COSTATE_ACCURACY) fail_msg("%s", costate_message(r.c));
    end(&r);
    return o;
}

static void is_split(const char *which, const outcome *o, int expected)
{
    if (o->status || o->refined != expected)
        fail_msg("%s: status %d, %d steps, %d with halved steps instead of %d", which, o->status, o->steps, o->refined,
                 expected);
}

/* Growing y reaches 2 earlier in the halved run (Euler's y is too small), decaying y reaches 1/2 later.  Steps end at
   the event and go on from it; the last one ends at t1 if it is at most half as long again. */
static void located_elsewhere(void **state)
{
    (void)state;
    const double times[] = {0.95, 1.2};
    outcome o = euler(1, 2.08, 0.86, NULL, 0);
    assert_true(o.te > 0.76 && o.te < 0.77);
    is_split("growing, one step behind", &o, 2 * o.steps);
    o = euler(1, 2.08, 0.95, NULL, 0);
    is_split("growing, two steps behind", &o, 2 * o.steps);
    o = euler(1, 2, 0.9, NULL, 0);
    is_split("growing, located in the first half", &o, 2 * o.steps - 1);
    o = euler(1, 2.08, 0.9, NULL, 0);
    is_split("growing, the last step much longer", &o, 2 * o.steps + 1);
    o = euler(-1, 0.5, 0.85, NULL, 0);
    is_split("decaying", &o, 2 * o.steps);
    o = euler(-1, 0.53038, 0.85, NULL, 0);               /* behind the end of a short step: its halves are repeated */
    assert_true(o.te > 0.6 && o.te < 0.606);
    is_split("decaying, much later", &o, 2 * o.steps + 7);
    o = euler(1, 2.08, 1.4, times, 2);
    is_split("growing, with given times", &o, 2 * o.steps);
    o = euler(-1, 0.5, 1.4, times, 2);
    is_split("decaying, with given times", &o, 2 * o.steps);
}

static void parts_of_events(void **state)
{
    (void)state;
    const double times[] = {0.9, 1.2};
    for (double t1 = 0.67; t1 < 1.5; t1 += 0.013)
        for (int k = 0; k < 4; k++) {
            outcome o = euler(k % 2 ? 1 : -1, k % 2 ? 2 : 0.5, t1, k < 2 ? NULL : times, 2);
            if (o.status || (k % 2 && t1 < 0.75)) continue;
            double sum = 0, size = 0, exact = exp((k % 2 ? 1 : -1) * t1);
            if (k >= 2) exact *= (t1 > 0.9 ? 2 : 1) * (t1 > 1.2 ? 2 : 1);
            for (int i = 0; i < o.steps; i++) {
                sum += o.parts[i];
                size = fmax(size, fabs(o.parts[i]));
            }
            double ratio = o.error / (exact - o.value);
            if (fabs(sum - o.error) > 0.1 * fabs(o.error) || size > 0.5 * fabs(o.error) || ratio < 0.7 || ratio > 1.4)
                fail_msg("t1 %g, %d: parts %.3e, at most %.3e; error %.3e, %.3e", t1, k, sum, size, o.error,
                         exact - o.value);
        }
}

/* f depends on t: behind an event the parts need derivatives with respect to times, requested or not. */
static int driven(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->p[0] * x->y[0] + 3 * sin(9 * x->t), 0;
}
static int driven_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    f_tangent(x, dx, out, ctx);
    return out[0] += 27 * cos(9 * x->t) * dx->t, 0;
}
static int driven_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->t) *g->t += 27 * cos(9 * x->t) * w[0];
    return f_adjoint(x, w, g, ctx);
}
static void parts_with_times(void **state)
{
    (void)state;
    double level = 1.6, alone[20], with[20], t0;
    const costate_event event = reaches(&level);
    const costate_problem P = {.n = 1, .np = 1, .rhs = {driven, driven_tangent, .adjoint = driven_adjoint},
                               .nevents = 1,
                               .event = &event};
    ran r;
    CHECK_OK(r.c, begin(&r, "euler", P, fixed(0.05), 1, 0.6, 1));
    assert_true(costate_tape_events(r.tape) == 1 && r.steps < 20);
    costate_estimate e = {.steps = alone};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
    e = (costate_estimate){.steps = with, .run = {.t0 = &t0}};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
    for (int k = 0; k < r.steps; k++)
        if (fabs(alone[k] - with[k]) > 1e-12) fail_msg("step %d: %.3e, %.3e", k, alone[k], with[k]);
    end(&r);
}

/* Two events in the other order in the halved run, or one that only the first run has: no estimate. */
static void order_of_events(void **state)
{
    (void)state;
    double level = 0.5, middle;
    outcome o = euler(-1, level, 0.85, NULL, 0);
    middle = o.te + 0.01;                       /* the halved run reaches the level at about te + 0.017 */
    const costate_event events[] = {reaches(&level),
                                    {.guard = {later, no_derivative, .adjoint = to_time}, .ctx = &middle,
                                                      .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE}};
    costate_problem P = growth;
    P.event = events;
    for (int n = 1; n <= 2; n++) {
        P.nevents = n;
        ran r;
        CHECK_OK(r.c, begin(&r, "euler", P, fixed(0.1), 1, n == 1 ? middle : 0.85, -1));
        assert_int_equal(costate_tape_events(r.tape), n);
        double value = 5;
        costate_estimate e = {.run = {.value = &value}};
        assert_int_equal(costate_accuracy(r.c, r.tape, &at_the_end, &e), COSTATE_ACCURACY);
        assert_non_null(strstr(costate_message(r.c), "With halved steps other events occur near t = "));
        assert_true(value == 5);
        end(&r);
    }
}

/* the part of a step is lambda times its local error: of y' = p y (R(ph) - e^ph) y, with later steps exact */
static void parts_are_local_errors(void **state)
{
    const costate_method *m = *state;
    ran r;
    double p = -1, parts[40], error, h = method_info(m).order < 3 ? 0.05 : 0.2;
    begin(&r, method_name(m), growth, fixed(h), 1, 40 * h, p);
    CHECK_OK(r.c, costate_status(r.c));
    assert_int_equal(r.steps, 40);
    costate_estimate e = {.steps = parts, .error = {.value = &error}};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
    int too_small = fabs(error) < 1e-10 * fabs(r.y[0]);
    for (int k = 0; k < 40; k++)                /* all the same in a linear problem with equal steps */
        if (!too_small && fabs(parts[k] / (error / 40) - 1) > 0.15)
            fail_msg("%s: part %d of %.3e is %.3e", method_name(m), k, error, parts[k]);
    end(&r);
    if (too_small) skip();
}

/* ---- options of the halved run ---- */

static int count_step(const costate_step *s, void *ctx) { return (void)s, ((watched *)ctx)->steps++, 0; }
static int count_event(int k, double t, const double *y, const double *y1, void *ctx)
{
    return (void)k, (void)t, (void)y, (void)y1, ((watched *)ctx)->events++, 0;
}

static int count_back(int step, double t, double h, const double *y, int m, const double *lambda, const double *mu,
                      void *ctx)
{
    (void)step, (void)t, (void)h, (void)y, (void)m, (void)lambda, (void)mu;
    return ((watched *)ctx)->backs++, 0;
}

/* on_back sees the sweep over the tape alone */
static void calls_no_monitor(void **state)
{
    (void)state;
    watched w = {0};
    double level = 0.5, value, y0;
    const costate_event e = reaches(&level);
    costate_problem P = growth;
    P.event = &e;
    P.nevents = 1;
    ran r;
    costate_options o = {.on_step = count_step, .on_step_ctx = &w, .on_event = count_event, .on_event_ctx = &w,
                         .on_back = count_back, .on_back_ctx = &w};
    CHECK_OK(r.c, begin(&r, "dopri5", P, o, 1, 2, -1));
    assert_int_equal(w.steps, r.steps);
    assert_int_equal(w.events, 1);
    costate_estimate x = {.run = {.value = &value, .y0 = &y0}};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &x));
    assert_int_equal(w.steps, r.steps);
    assert_int_equal(w.events, 1);
    assert_int_equal(w.backs, r.steps);
    end(&r);
}

/* hmin and max_steps that the first run just keeps */
static void limits_of_the_run(void **state)
{
    (void)state;
    ran r;
    costate_options o = {.h0 = 0.1, .hmin = 0.1, .hmax = 0.1, .rtol = 1e-3, .max_steps = 10};
    double value;
    costate_estimate e = {.run = {.value = &value}};
    CHECK_OK(r.c, begin(&r, "dopri5", growth, o, 1, 1, -1));
    assert_int_equal(r.steps, 10);
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
    assert_int_equal(e.steps_refined, 20);
    end(&r);
}

/* tangents and the spectral radius serve the choice of steps, which the halved run does not make */
static void chooses_nothing(void **state)
{
    (void)state;
    const double tight = 1e-5;
    double value;
    costate_estimate e = {.run = {.value = &value}};
    costate_options options[] = {
        {.gradient_control = 1, .autonomous = 1}, {.rtol = 1e-3, .autonomous = 1},
        {.tangent_error = 1, .tangent_rtol = &tight, .tangent_atol = &tight, .tangent_count = 1, .autonomous = 1}};
    for (int k = 0; k < 3; k++) {
        ran r;
        CHECK_OK(r.c, begin(&r, "dopri5", growth, options[k], 1, 2, k == 1 ? -500 : -1));
        costate_stats before = *costate_get_stats(r.c);
        CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
        assert_int_equal(costate_get_stats(r.c)->tangents - before.tangents,
                         costate_get_stats(r.c)->power - before.power);
        assert_true(costate_get_stats(r.c)->power <= before.power + before.power / 4 + 3);  /* for messages */
        assert_int_equal(e.steps_refined, 2 * r.steps);
        end(&r);
    }
}

/* ---- of index 2: x' = -x + z, 0 = x - p cos t; z at the end is not made consistent if the user said so ---- */

static int rail(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->y[0] + x->y[1];
    out[1] = x->y[0] - x->p[0] * cos(x->t);
    return 0;
}
static int rail_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    double dp = dx->p ? dx->p[0] : 0;
    out[0] = dx->y ? -dx->y[0] + dx->y[1] : 0;
    out[1] = (dx->y ? dx->y[0] : 0) - dp * cos(x->t) + x->p[0] * sin(x->t) * dx->t;
    return 0;
}
static int rail_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += w[1] - w[0], g->y[1] += w[0];
    if (g->p) g->p[0] -= cos(x->t) * w[1];
    if (g->t) *g->t += x->p[0] * sin(x->t) * w[1];
    return 0;
}
static int rail_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    double pa = a->p ? a->p[0] : 0, pb = b->p ? b->p[0] : 0;
    (void)ctx;
    out[0] = 0;
    out[1] = sin(x->t) * (pa * b->t + pb * a->t) + x->p[0] * cos(x->t) * a->t * b->t;
    return 0;
}
static int rail_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                       void *ctx)
{
    double dp = dx->p ? dx->p[0] : 0;
    (void)ctx;
    if (g->p) g->p[0] += sin(x->t) * dx->t * w[1];
    if (g->t) *g->t += (sin(x->t) * dp + x->p[0] * cos(x->t) * dx->t) * w[1];
    return 0;
}
static int rail_jac(const costate_point *x, double *J, void *ctx)
{
    return (void)x, (void)ctx, J[0] = -1, J[1] = 1, J[2] = 1, J[3] = 0, 0;
}
static int rail_mass(double *M, void *ctx) { return (void)ctx, M[0] = 1, 0; }
static int force(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                 double *end_, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end_, (void)ctx;
    return value[0] = y[1], lambda[1] = 1, 0;
}

static void of_index_2(void **state)
{
    (void)state;
    const int index[] = {0, 2};
    const costate_problem P = {.n = 2, .np = 1, .jac = rail_jac, .mass = rail_mass, .index = index,
                               .rhs = {rail, rail_tangent, rail_adjoint, rail_tangent2,
                                       .adjoint_tangent = rail_second}};
    for (int how = -1; how <= 0; how++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.05, .consistent = how};
        costate *c = costate_new(costate_method_find("radau2a"), &P, &o);
        costate_tape *tape = costate_tape_new();
        double y[] = {1, 1}, p = 1, value, error, exact = cos(1) - sin(1);
        CHECK_OK(c, costate_integrate(c, 0, 1, y, &p, tape));
        costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
        CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = force}, &e));
        double ratio = error / (exact - value);
        if (!(fabs(exact - value) < 1e-11 || (ratio > 0.8 && ratio < 1.25)))
            fail_msg("consistent %d: error %.3e, estimated %.3e", how, exact - value, error);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- modes ---- */

static int in_a_mode(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = -(1 + x->mode) * x->y[0], 0;
}

/* The tape says in which mode the run began, not the solver that asks. */
static void mode_of_the_tape(void **state)
{
    (void)state;
    const double time = 0.5;
    const costate_event e = {.times = &time, .ntimes = 1, .from = COSTATE_ANY_MODE, .to = 0};
    for (int nevents = 0; nevents < 2; nevents++) {
        costate_problem P = {.n = 1, .np = 1, .rhs = {.value = in_a_mode}, .nevents = nevents, .event = &e};
        ran r, other;
        costate_options o = {.rtol = 1e-4, .mode = 3};
        double value, error, exact = nevents ? exp(-2.5) : exp(-4);
        CHECK_OK(r.c, begin(&r, "dopri5", P, o, 1, 1, 0));
        CHECK_OK(other.c, begin(&other, "dopri5", P, (costate_options){.rtol = 1e-4}, 1, 1, 0));
        costate_estimate x = {.run = {.value = &value}, .error = {.value = &error}};
        CHECK_OK(other.c, costate_accuracy(other.c, r.tape, &at_the_end, &x));
        double ratio = error / (exact - value);
        if (!(ratio > 0.5 && ratio < 2)) fail_msg("error %.3e, estimated %.3e", exact - value, error);
        end(&r);
        end(&other);
    }
}

/* ---- Newton's iteration ---- */

/* An error that a loose Newton iteration leaves is seen, even where it is larger than that of the steps. */
static void loose_newton(void **state)
{
    (void)state;
    const char *methods[] = {"radau2a", "gauss3", "radau2a5", "sdirk4a"};
    const problem *b = problem_find("lv");
    for (int k = 0; k < 4; k++)
        for (double h = 0.02; h > 0.004; h /= 2) {
            costate_options o = {.controller = COSTATE_FIXED, .h0 = h, .newton_tol = 1, .rtol = 1e-4, .atol = 1e-4};
            costate *c = costate_new(costate_method_find(methods[k]), &b->P, &o);
            costate_tape *tape = costate_tape_new();
            double y[16] = {0}, value, error;
            memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
            CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
            costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
            CHECK_OK(c, costate_accuracy(c, tape, &at_the_end, &e));
            double exact = b->reference->y[0], ratio = error / (exact - value);
            if (!(ratio > 0.8 && ratio < 1.25))
                fail_msg("%s, h = %g: error %.3e, estimated %.3e", methods[k], h, exact - value, error);
            costate_tape_free(tape);
            costate_free(c);
        }
}

/* a tenth of newton_tol may be below round-off, where the iteration would not end */
static void newton_at_round_off(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    const char *methods[] = {"radau2a5", "sdirk4a"};
    for (int k = 0; k < 2; k++) {
        costate_options o = {.rtol = 1e-13, .atol = 1e-13, .max_steps = 1000000};
        if (k) o = (costate_options){.rtol = 1e-13, .atol = 1e-13, .controller = COSTATE_FIXED, .h0 = 0.01};
        costate *c = costate_new(costate_method_find(methods[k]), &b->P, &o);
        costate_tape *tape = costate_tape_new();
        double y[16] = {0}, value;
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
        long failed = costate_get_stats(c)->newton_failures;
        costate_estimate e = {.run = {.value = &value}};
        CHECK_OK(c, costate_accuracy(c, tape, &at_the_end, &e));
        assert_int_equal(costate_get_stats(c)->newton_failures, failed);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- storage ---- */

/* A tape in a file, or one that takes more than a third of its limit, is not stored twice more in memory: the halved
   run repeats its steps from checkpoints. */
static void little_room(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 1e-3};
        ran r;
        CHECK_OK(r.c, begin(&r, "dopri5", growth, o, 1, 1, -1));
        o.tape_limit = how == 1 ? costate_tape_bytes(r.tape) * 2 : 0;
        end(&r);
        CHECK_OK(r.c, begin(&r, "dopri5", growth, o, 1, 1, -1));
        if (how == 2) {
            double y = 1, p = -1;
            costate_tape_free(r.tape);
            r.tape = costate_tape_open("test_accuracy_decisions.tape");
            CHECK_OK(r.c, costate_integrate(r.c, 0, 1, &y, &p, r.tape));
        }
        double value, by_y0, error;
        costate_estimate e = {.run = {.value = &value, .y0 = &by_y0}, .error = {.y0 = &error}};
        costate_reset_stats(r.c);
        CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &e));
        assert_int_equal(e.steps_refined, 2 * r.steps);
        assert_true((costate_get_stats(r.c)->remade > 0) == (how > 0));
        assert_true(fabs(by_y0 - exp(-1)) < 1e-12 && fabs(error) < 1e-12);
        end(&r);
    }
    remove("test_accuracy_decisions.tape");
}

/* ---- order: error/(J_halved - J) = r/(r - 1), r = 2^q, where J_halved is from a run with fixed steps of h/2 ---- */

enum { SEEN = 40 };

static double seen_by(const char *method, const char *members, double h, const costate_functional *F,
                      costate_estimate *e)
{
    ran r;
    double sum = 0, y;
    costate_options o = fixed(h);
    o.members = members;
    CHECK_OK(r.c, begin(&r, method, growth, o, 1, 2, -1));
    for (int k = 0; k < F->count; k++) {
        CHECK_OK(r.c, costate_tape_eval(r.c, r.tape, F->t[k], &y));
        sum += y;
    }
    if (F->at_end) sum += r.y[0];
    if (e) CHECK_OK(r.c, costate_accuracy(r.c, r.tape, F, e));
    end(&r);
    return sum;
}

static double seen_in(const char *method, double h, const costate_functional *F, costate_estimate *e)
{
    return seen_by(method, NULL, h, F, e);
}

/* of bs54, 5: members of auto that took no step, such as rock4 with order 4, do not count */
static void order_of_members(void **state)
{
    (void)state;
    double value, error;
    const costate_functional F = {.m = 1, .at_end = last};
    costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
    double run = seen_by("auto", "bs54", 0.25, &F, &e), half = seen_by("auto", "bs54", 0.125, &F, NULL);
    if (fabs(error / (half - run) - 32.0 / 31) > 1e-4) fail_msg("%g", error / (half - run));
}

/* gauss3 is of order 6, its dense output of order 3: of more observations than steps, errors are O(h^4). */
static void order_of_observations(void **state)
{
    (void)state;
    double t[SEEN], value, error;
    for (int k = 0; k < SEEN; k++) t[k] = 0.01 + 0.049 * k;
    assert_true(method_info(costate_method_find("gauss3")).dense == 3);
    const costate_functional few = {.m = 1, .at_end = last}, many = {.m = 1, .count = SEEN, .t = t, .at_time = here};
    costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
    double run = seen_in("gauss3", 0.25, &many, &e), half = seen_in("gauss3", 0.125, &many, NULL);
    assert_true(fabs(value - run) < 1e-14 * SEEN && fabs(half - run) > 1e-8);
    if (fabs(error / (half - run) - 16.0 / 15) > 1e-4) fail_msg("%g", error / (half - run));
    run = seen_in("gauss3", 0.25, &few, &e), half = seen_in("gauss3", 0.125, &few, NULL);
    if (fabs(error / (half - run) - 64.0 / 63) > 1e-4) fail_msg("%g", error / (half - run));
}

/* of index 2: q is the number of stages, 3 */
static void order_of_index_2(void **state)
{
    (void)state;
    const int index[] = {0, 2};
    const costate_problem P = {.n = 2, .np = 1, .rhs = {rail, rail_tangent, .adjoint = rail_adjoint}, .jac = rail_jac,
                               .mass = rail_mass, .index = index};
    double z[2], value, error;
    for (int k = 0; k < 2; k++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = k ? 0.05 : 0.1, .consistent = COSTATE_CONSISTENT_NONE};
        costate *c = costate_new(costate_method_find("radau2a"), &P, &o);
        costate_tape *tape = costate_tape_new();
        double y[] = {1, 1}, p = 1;
        CHECK_OK(c, costate_integrate(c, 0, 1, y, &p, tape));
        z[k] = y[1];
        costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
        if (k == 0) CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = force}, &e));
        costate_tape_free(tape);
        costate_free(c);
    }
    assert_true(fabs(z[1] - z[0]) > 1e-7);
    if (fabs(error / (z[1] - z[0]) - 8.0 / 7) > 1e-4) fail_msg("%g", error / (z[1] - z[0]));
}

/* ---- what is asked for ---- */

/* Relative errors alone are computed without the arrays of which they are; so are the parts of the steps. */
static void relative_errors_alone(void **state)
{
    (void)state;
    ran r;
    CHECK_OK(r.c, begin(&r, "bs32", growth, fixed(0.1), 1, 1, -1));
    double value, y0, p, ev, ey, ep, rv = 9, ry = 9, rp = 9, parts[10], t0, t1, sum = 0;
    costate_estimate all = {.run = {.value = &value, .y0 = &y0, .p = &p, .t0 = &t0, .t1 = &t1},
                            .error = {.value = &ev, .y0 = &ey, .p = &ep}};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &all));
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &(costate_estimate){.value_error = &rv}));
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &(costate_estimate){.y0_error = &ry}));
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &(costate_estimate){.p_error = &rp}));
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &(costate_estimate){.steps = parts}));
    assert_true(fabs(rv / fabs(ev / value) - 1) < 1e-12);
    assert_true(fabs(ry / fabs(ey / y0) - 1) < 1e-12 && fabs(rp / fabs(ep / p) - 1) < 1e-12);
    for (int k = 0; k < 10; k++) sum += parts[k];
    assert_true(fabs(sum / ev - 1) < 1e-3);
    assert_true(fabs(t1 / (-r.y[0]) - 1) < 1e-3 && fabs(t0 / r.y[0] - 1) < 1e-3);
    costate_derivatives only_p = {.p = &p};
    p = 0;
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &at_the_end, &(costate_estimate){.run = only_p}));
    assert_true(fabs(p / r.y[0] - 1) < 1e-3);
    assert_true(costate_time(r.c) == 1);
    end(&r);
}

static int nothing(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                   double *end_, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)value, (void)lambda, (void)mu, (void)end_, (void)ctx;
    return 0;
}

/* 0 without an error has no relative error */
static void of_nothing(void **state)
{
    (void)state;
    ran r;
    CHECK_OK(r.c, begin(&r, "bs32", growth, fixed(0.1), 1, 1, -1));
    double rv = 9, ry = 9, rp = 9;
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &(costate_functional){.m = 1, .at_end = nothing},
                                   &(costate_estimate){.value_error = &rv, .y0_error = &ry, .p_error = &rp}));
    assert_true(rv == 0 && ry == 0 && rp == 0);
    end(&r);
}

/* which of value, lambda, mu, end at_end sets to NaN */
static int one_is_nan(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                      double *end_, void *ctx)
{
    double *all[] = {value, lambda, mu, end_};
    (void)t1, (void)y, (void)p, (void)m;
    return all[*(int *)ctx][0] = NAN, 0;
}
static void negative_count(void **state)
{
    (void)state;
    ran r;
    CHECK_OK(r.c, begin(&r, "bs32", growth, fixed(0.1), 1, 1, -1));
    double value = 3;
    costate_estimate e = {.run = {.value = &value}};
    assert_int_equal(costate_accuracy(r.c, r.tape, &(costate_functional){.m = 1, .at_end = last, .count = -1}, &e),
                     COSTATE_BAD_ARGUMENT);
    assert_true(value == 3);
    end(&r);
}
static void not_finite(void **state)
{
    (void)state;
    ran r;
    CHECK_OK(r.c, begin(&r, "bs32", growth, fixed(0.1), 1, 1, -1));
    double value = 3;
    for (int k = 0; k < 4; k++) {
        costate_estimate e = {.run = {.value = &value}};
        int status = costate_accuracy(r.c, r.tape, &(costate_functional){.m = 1, .at_end = one_is_nan, .ctx = &k}, &e);
        assert_int_equal(status, k == 0 ? COSTATE_NOT_FINITE : COSTATE_BAD_ARGUMENT);
        assert_true(value == 3);
    }
    end(&r);
}

/* A value that depends on the time of its terminal event directly has a gradient with respect to y0 through it: of
   t1 = log(2/y0), -1/y0. */
static int its_end(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                   double *end_, void *ctx)
{
    (void)y, (void)p, (void)m, (void)lambda, (void)mu, (void)ctx;
    return value[0] = t1, end_[0] = 1, 0;
}
static void ends_at_an_event(void **state)
{
    (void)state;
    double level = 2, value, y0, error, e_y0;
    costate_event e = reaches(&level);
    e.terminal = 1;
    costate_problem P = growth;
    P.event = &e;
    P.nevents = 1;
    ran r;
    CHECK_OK(r.c, begin(&r, "bs32", P, (costate_options){.rtol = 1e-4}, 1, 5, 1));
    costate_estimate x = {.run = {.value = &value, .y0 = &y0}, .error = {.value = &error, .y0 = &e_y0}};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &(costate_functional){.m = 1, .at_end = its_end}, &x));
    double off = error / (log(2) - value), off_y0 = e_y0 / (-1 - y0);
    if (!(off > 0.7 && off < 1.4 && off_y0 > 0.7 && off_y0 < 1.4))
        fail_msg("%g %g: %.3e estimated %.3e, %.3e %.3e", value, y0, log(2) - value, error, -1 - y0, e_y0);
    end(&r);
}

/* at_time gets zeros in w also where no gradient is wanted */
static int adds(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    (void)k, (void)t, (void)m, (void)ctx;
    assert_true(value[0] == 0 && w[0] == 0);
    return value[0] += y[0], w[0] += 1, 0;
}
static void zeros_on_entry(void **state)
{
    (void)state;
    const double t[] = {0.2, 0.3, 0.7};
    ran r;
    CHECK_OK(r.c, begin(&r, "bs32", growth, fixed(0.1), 1, 1, -1));
    double value, y0;
    const costate_functional F = {.m = 1, .count = 3, .t = t, .at_time = adds};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &F, &(costate_estimate){.run = {.value = &value}}));
    assert_true(fabs(value - exp(-0.2) - exp(-0.3) - exp(-0.7)) < 1e-3);
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &F, &(costate_estimate){.run = {.y0 = &y0}}));
    assert_true(fabs(y0 - value) < 1e-13);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_observation), cmocka_unit_test(far_from_zero),
        cmocka_unit_test(undefined_in_long_steps), cmocka_unit_test(located_elsewhere),
        cmocka_unit_test(parts_of_events), cmocka_unit_test(parts_with_times), cmocka_unit_test(order_of_events),
        cmocka_unit_test(calls_no_monitor),
        cmocka_unit_test(limits_of_the_run), cmocka_unit_test(chooses_nothing), cmocka_unit_test(of_index_2),
        cmocka_unit_test(mode_of_the_tape), cmocka_unit_test(loose_newton), cmocka_unit_test(newton_at_round_off),
        cmocka_unit_test(little_room), cmocka_unit_test(order_of_observations), cmocka_unit_test(order_of_members),
        cmocka_unit_test(order_of_index_2),
        cmocka_unit_test(relative_errors_alone), cmocka_unit_test(of_nothing), cmocka_unit_test(negative_count),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(ends_at_an_event), cmocka_unit_test(zeros_on_entry)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_method("parts_are_local_errors", parts_are_local_errors);
}
