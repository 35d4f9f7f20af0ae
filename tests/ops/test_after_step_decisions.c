/* test_after_step_decisions.c - what a map after each step does to a run: first stages, guards, dense output, on_step,
   statistics and messages; a map that says that it is the identity; bounds; hostile maps; a bound of the step size. */
#include <costate/ensemble.h>
#include <costate/pieces.h>
#include "common.h"

/* ---- y_0' = -p y_0, y_1' = y_0 y_1 sin t, with a map that a test chooses ---- */

enum { N = 2 };

typedef struct {
    long values, products, acts, f;         /* calls */
    int code;                               /* that the map returns */
    double by;
    double (*bend)(double y, double t);     /* in place of `by` */
} model;

static int f(const costate_point *x, double *out, void *ctx)
{
    ((model *)ctx)->f++;
    out[0] = -x->p[0] * x->y[0];
    out[1] = x->y[0] * x->y[1] * sin(x->t);
    return 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double d0 = dx->y ? dx->y[0] : 0, d1 = dx->y ? dx->y[1] : 0, s = sin(x->t);
    (void)ctx;
    out[0] = -x->p[0] * d0 - (dx->p ? dx->p[0] : 0) * x->y[0];
    out[1] = s * (d0 * x->y[1] + x->y[0] * d1) + dx->t * x->y[0] * x->y[1] * cos(x->t);
    return 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double s = sin(x->t);
    (void)ctx;
    if (g->y) g->y[0] += -x->p[0] * w[0] + s * x->y[1] * w[1];
    if (g->y) g->y[1] += s * x->y[0] * w[1];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    if (g->t) g->t[0] += x->y[0] * x->y[1] * cos(x->t) * w[1];
    return 0;
}

/* out = by y_0, y_1 */
static int scaled(const costate_point *x, double *out, void *ctx)
{
    model *a = ctx;
    a->values++;
    out[0] = a->bend ? a->bend(x->y[0], x->t) : a->by * x->y[0];
    out[1] = x->y[1];
    return a->code;
}
static int scaled_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    model *a = ctx;
    (void)x;
    a->products++;
    out[0] = dx->y ? a->by * dx->y[0] : 0;
    out[1] = dx->y ? dx->y[1] : 0;
    return 0;
}
static int scaled_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    model *a = ctx;
    (void)x;
    a->products++;
    if (g->y) g->y[0] += a->by * w[0];
    if (g->y) g->y[1] += w[1];
    return 0;
}
static int never(const costate_point *x, void *ctx) { return (void)x, ((model *)ctx)->acts++, 0; }
static int fails(const costate_point *x, void *ctx) { return (void)x, (void)ctx, -3; }

static const double P0[] = {0.7};

static costate_problem problem_of(model *a)
{
    return (costate_problem){.n = N, .np = 1, .ctx = a,
                             .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint},
                             .after_step.map = {.value = scaled, .tangent = scaled_tangent,
                                                .adjoint = scaled_adjoint}};
}

static costate *solver_of(const costate_problem *P, const char *method, double h)
{
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .controller = h > 0 ? COSTATE_FIXED : COSTATE_AUTO, .h0 = h,
                         .derivative_mode = 1};
    return costate_new(costate_method_find(method), P, &o);
}

static void says(costate *c, int status, int wanted, const char *word)
{
    if (status != wanted || !strstr(costate_message(c), word))
        fail_msg("%s, not %s with \"%s\": %s", costate_status_name(status), costate_status_name(wanted), word,
                 costate_message(c));
}

/* ---- decisions ---- */

/* The same bits as without a map, no call of it or its products, and the same number of f. */
static void identity(void **state)
{
    double y[2][N], g[2][N];
    long calls[2];
    for (int with = 0; with < 2; with++) {
        model a = {.by = 1};
        costate_problem P = problem_of(&a);
        P.after_step.acts = never;
        if (!with) P.after_step = (costate_after_step){.ctx = NULL};
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .differences = is_newton(*state) || !is_explicit(*state)};
        costate *c = new_for_test(*state, &P, &o);
        costate_tape *tape = costate_tape_new();
        memcpy(y[with], (double[]){1, 2}, sizeof y[with]);
        memcpy(g[with], (double[]){0.3, -1}, sizeof g[with]);
        CHECK_OK(c, costate_integrate(c, 0, 2, y[with], P0, tape));
        calls[with] = a.f;
        CHECK_OK(c, costate_adjoint(c, tape, 1, g[with], NULL, NULL, NULL));
        assert_true(a.values == 0 && a.products == 0 && with == (a.acts > 0));
        assert_int_equal(costate_get_stats(c)->corrections, 0);
        costate_tape_free(tape);
        costate_free(c);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    assert_int_equal(calls[0], calls[1]);
}

/* With a first stage that is the last of the step before, each corrected step costs one more f. */
static void first_stages(void **state)
{
    static const struct { const char *method; int more; } cases[] = {{"dopri5", 1}, {"rk4", 0}, {"rkc2", 1}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        long calls[2];
        for (int with = 0; with < 2; with++) {
            model a = {.by = 1};
            costate_problem P = problem_of(&a);
            P.after_step.acts = with ? NULL : never;
            costate *c = solver_of(&P, cases[k].method, 0.05);
            double y[] = {1, 2};
            CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, NULL));
            calls[with] = a.f;
            costate_free(c);
        }
        assert_int_equal(calls[1] - calls[0], 19 * cases[k].more);
    }
}

typedef struct { double last[N], before[N], end[N]; int steps; } seen;

static int see(const costate_step *s, void *ctx)
{
    seen *a = ctx;
    memcpy(a->last, costate_step_state(s), sizeof a->last);
    a->steps++;
    costate_step_eval(s, costate_step_end(s), a->end);
    return costate_step_eval(s, costate_step_end(s) - 1e-9, a->before);
}

/* on_step and the result are behind the map, as are times between steps; dense output inside steps is before it. */
static void where(void **state)
{
    model a = {.by = 0.5};
    costate_problem P = problem_of(&a);
    seen s = {.steps = 0};
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.25, .on_step = see, .on_step_ctx = &s};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[] = {1, 2}, eval[N];
    (void)state;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    assert_int_equal(s.steps, 4);
    assert_memory_equal(s.last, y, sizeof y);
    assert_true(fabs(s.before[0] - 2 * y[0]) < 1e-9 && s.end[0] == y[0] && fabs(y[0] - exp(-0.7) / 16) < 1e-6);
    CHECK_OK(c, costate_tape_eval(c, tape, 1, eval));
    assert_true(eval[0] == y[0]);
    CHECK_OK(c, costate_tape_eval(c, tape, 1 - 1e-9, eval));
    assert_true(fabs(eval[0] - 2 * y[0]) < 1e-9);
    CHECK_OK(c, costate_tape_eval(c, tape, 0.5, eval));
    costate_tape_get(tape, 2, NULL, NULL, y);
    assert_true(eval[0] == y[0]);
    costate_tape_free(tape);
    costate_free(c);
}

/* Observations are dense output: at t1 that before the last map; their gradients, too. */
static int observed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    (void)k, (void)t, (void)m, (void)ctx;
    w[0] = y[0];
    return 0;
}

static void observations(void **state)
{
    model a = {.by = 0.5};
    costate_problem P = problem_of(&a);
    costate *c = solver_of(&P, "dopri5", 0.25);
    costate_tape *tape = costate_tape_new();
    double y[] = {1, 2}, t1 = 1, lambda[N] = {0};
    costate_observations o = {.count = 1, .t = &t1, .seed = observed};
    (void)state;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, &o));
    double u = 2 * y[0];                    /* = u(1), proportional to y_0(0) = 1 */
    assert_true(fabs(lambda[0] - u * u) < 1e-13 && lambda[1] == 0);
    costate_tape_free(tape);
    costate_free(c);
}

static double into_zero(double y, double t) { return t > 0.9 && t < 1.1 ? -y : y; }

static int guard(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0], 0; }
static int half_guard(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - 0.5, 0; }

/* The map turns the sign of a guard: no event.  The solution passes through zero behind a map: an event, in its place.
   */
static void guards(void **state)
{
    costate_event e = {.guard.value = guard, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    (void)state;
    for (int crosses = 0; crosses < 2; crosses++) {
        model a = {.by = 1, .bend = crosses ? NULL : into_zero};
        costate_problem P = problem_of(&a);
        P.event = &e;
        P.nevents = 1;
        e.guard.value = crosses ? half_guard : guard;
        costate *c = solver_of(&P, "dopri5", 0.1);
        costate_tape *tape = costate_tape_new();
        double y[] = {1, 2}, t;
        CHECK_OK(c, costate_integrate(c, 0, 2, y, P0, tape));
        assert_int_equal(costate_tape_events(tape), crosses);
        if (crosses) costate_tape_event(tape, 0, &t, NULL, NULL, NULL);
        assert_true(crosses ? fabs(t - log(2) / 0.7) < 1e-7 : y[0] < 0);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* The map of the start is applied once, and is no event; its gradient is that of the halved start. */
static void starts(void **state)
{
    model a = {.by = 0.5};
    costate_problem P = problem_of(&a);
    P.after_step.start = P.after_step.map;
    P.after_step.acts = never;
    costate *c = solver_of(&P, "dopri5", 0);
    costate_tape *tape = costate_tape_new();
    double y[] = {1, 2}, lambda[] = {1, 0};
    (void)state;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    assert_int_equal(costate_tape_events(tape), 0);
    CHECK_OK(c, costate_continue(c, tape, 2, y));
    assert_int_equal(a.values, 1);
    assert_true(fabs(y[0] - 0.5 * exp(-1.4)) < 1e-4);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    assert_true(fabs(lambda[0] - y[0]) < 1e-13);
    costate_tape_free(tape);
    costate_free(c);
}

/* ---- statistics and messages ---- */

static void told(void **state)
{
    model a = {.by = 1 - 1e-9};
    costate_problem P = problem_of(&a);
    costate *c = solver_of(&P, "dopri5", 0);
    double y[] = {1, 2};
    (void)state;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, NULL));
    const costate_stats *s = costate_get_stats(c);
    assert_true(s->corrections == s->accepted && s->correction > 0 && s->correction < 1e-3);
    assert_string_equal(costate_message(c), "No error.");
    a.by = 1 - 1e-4;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, NULL));
    assert_true(s->correction > 1 && s->correction < 20);
    assert_non_null(strstr(costate_message(c), "after_step changed the state"));
    costate_free(c);
}

/* ---- bounds ---- */

static int rate(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -1;
    out[1] = x->y[0];
    return 0;
}

/* y_0 = max(1 - t, 0), with Euler's steps of 1/8 */
static void bounds(void **state)
{
    const double low[] = {0, -HUGE_VAL}, start[] = {1, 0};
    costate_bounds b = {.low = low, .at_start = 1};
    costate_problem P = {.n = N, .rhs.value = rate};
    costate_report report;
    double y[N] = {-3, 0};
    (void)state;
    assert_int_equal(costate_bounds_after_step(&b, &P, &report), COSTATE_OK);
    costate *c = solver_of(&P, "euler", 0.125);
    memcpy(y, start, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, 2, y, NULL, NULL));
    assert_true(y[0] == 0);
    assert_int_equal(costate_get_stats(c)->corrections, 8);
    y[0] = -3;
    CHECK_OK(c, costate_integrate(c, 0, 0, y, NULL, NULL));
    assert_true(y[0] == 0);
    costate_free(c);
    /* what is wrong */
    const double nan[] = {NAN, 0}, above[] = {1, 2}, below[] = {1, 1};
    static const double infinite[] = {HUGE_VAL, HUGE_VAL};
    const costate_bounds wrong[] = {{.low = NULL}, {.low = nan}, {.low = above, .high = below}, {.low = infinite},
                                    {.low = low, .at_start = 2}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        costate_bounds w = wrong[k];
        costate_problem Q = {.n = N, .rhs.value = rate};
        assert_int_equal(costate_bounds_after_step(&w, &Q, &report), COSTATE_BAD_ARGUMENT);
        assert_true(strlen(report.text) > 10 && !Q.after_step.map.value);
    }
    assert_int_equal(costate_bounds_after_step(&b, &P, &report), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(report.text, "already"));
}

/* the derivative is 1 inside and on the bounds, 0 where a component was outside */
static void bounded_derivatives(void **state)
{
    const double low[] = {0, 0, 0}, high[] = {1, 1, 1};
    costate_bounds b = {.low = low, .high = high};
    costate_problem P = {.n = 3, .rhs.value = rate};
    double y[] = {0.5, 1, 1 + 1e-9}, out[3], g[3] = {0};
    costate_point x = {.y = y}, d = {.y = (double[]){1, 1, 1}};
    (void)state;
    assert_int_equal(costate_bounds_after_step(&b, &P, NULL), COSTATE_OK);
    const costate_map *map = &P.after_step.map;
    map->value(&x, out, &b);
    assert_true(out[0] == 0.5 && out[1] == 1 && out[2] == 1);
    map->tangent(&x, &d, out, &b);
    assert_true(out[0] == 1 && out[1] == 1 && out[2] == 0);
    map->adjoint(&x, d.y, &(costate_gradient){.y = g}, &b);
    assert_memory_equal(g, out, sizeof g);
    assert_int_equal(P.after_step.acts(&x, &b), 1);
    y[2] = 1;
    assert_int_equal(P.after_step.acts(&x, &b), 0);
}

/* ---- hostile maps ---- */

static double not_a_number(double y, double t) { return t > 0.5 ? NAN : y; }
static double huge(double y, double t) { return t > 0.5 && y < 2 ? 1e10 : y; }
static double grows(double y, double t)
{
    static int calls;                       /* a map that depends on history */
    return t > 0 ? y * (1 + 1e-7 * calls++) : y;
}

static void hostile(void **state)
{
    model a = {.by = 1};
    costate_problem P = problem_of(&a);
    double y[] = {1, 2};
    (void)state;
    costate *c = solver_of(&P, "dopri5", 0);
    a.bend = not_a_number;
    says(c, costate_integrate(c, 0, 1, y, P0, NULL), COSTATE_NOT_FINITE, "NaN or Inf");
    assert_true(costate_time(c) <= 0.5 && costate_time(c) > 0.49 && fabs(y[0] - exp(-0.7 * costate_time(c))) < 1e-4);
    a.bend = NULL;
    a.code = -7;
    y[0] = 1;
    says(c, costate_integrate(c, 0, 1, y, P0, NULL), COSTATE_CALLBACK, "after_step.map.value returned -7");
    a.code = 5;
    int status = costate_integrate(c, 0, 1, y, P0, NULL);
    assert_true(status == COSTATE_STEP_TOO_SMALL || status == COSTATE_CALLBACK);
    assert_true(y[0] == 1 && costate_time(c) == 0);
    a.code = 0;
    a.bend = huge;
    y[1] = 0;                               /* which 1e10 y_1 would make infinite */
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, NULL));
    assert_true(y[0] > 1e9 && strstr(costate_message(c), "after_step changed"));
    costate_free(c);
    P.after_step.acts = fails;
    c = solver_of(&P, "dopri5", 0);
    says(c, costate_integrate(c, 0, 1, y, P0, NULL), COSTATE_CALLBACK, "after_step.acts returned -3");
    costate_free(c);
}

/* Steps that are made again differ from those of the run: refused, not a wrong gradient. */
static void history(void **state)
{
    model a = {.by = 1, .bend = grows};
    costate_problem P = problem_of(&a);
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .hmax = 0.02, .storage = COSTATE_CHECKPOINTS, .checkpoints = 60};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[] = {1, 2}, lambda[] = {1, 0};
    (void)state;
    CHECK_OK(c, costate_integrate(c, 0, 2, y, P0, tape));
    says(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL), COSTATE_BAD_TAPE, "is not that of the run");
    costate_tape_free(tape);
    costate_free(c);
}

static void missing(void **state)
{
    model a = {.by = 1};
    costate_problem P = problem_of(&a);
    costate_tape *tape = costate_tape_new();
    double y[] = {1, 2}, V[] = {1, 0}, lambda[] = {1, 0};
    (void)state;
    P.after_step.map.tangent = NULL;
    P.after_step.map.adjoint = NULL;
    costate *c = solver_of(&P, "dopri5", 0);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    says(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL), COSTATE_MISSING, "after_step.map.tangent");
    says(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL), COSTATE_MISSING, "after_step.map.adjoint");
    costate_free(c);
    P.after_step.map.value = NULL;
    P.after_step.acts = never;
    c = solver_of(&P, "dopri5", 0);
    says(c, costate_status(c), COSTATE_MISSING, "after_step.map.value");
    costate_free(c);
    costate_tape_free(tape);
    /* another problem: its tape is refused */
    P = problem_of(&a);
    c = solver_of(&P, "dopri5", 0);
    tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    costate_free(c);
    P.after_step = (costate_after_step){.ctx = NULL};
    c = solver_of(&P, "dopri5", 0);
    says(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL), COSTATE_BAD_TAPE, "another problem");
    costate_free(c);
    costate_tape_free(tape);
}

/* ---- options.step_bound ---- */

typedef struct { model a; long calls; double bound; int code; } bounded_model;

static int at_most(const costate_point *x, double *h, void *ctx)
{
    bounded_model *b = ctx;
    b->calls++;
    *h = b->bound * (1 + x->t);
    return b->code;
}

static void step_bound(void **state)
{
    bounded_model b = {.a = {.by = 1}, .bound = 0.01};
    costate_problem P = problem_of(&b.a);
    P.after_step = (costate_after_step){.ctx = NULL};
    costate_options o = {.rtol = 1e-3, .atol = 1e-3, .step_bound = at_most};
    costate *c = costate_new(costate_method_find("ssp33"), &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[] = {1, 2}, t, h;
    (void)state;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    int steps = costate_tape_steps(tape), full = 0;
    for (int k = 0; k < steps; k++) {
        costate_tape_get(tape, k, &t, &h, NULL);
        assert_true(h <= 0.01 * (1 + t) * (1 + 1e-12));
        full += h > 0.0099 * (1 + t);
    }
    assert_true(full > steps / 2 && b.calls == steps);
    costate_free(c);
    /* once a step, also where tries are rejected */
    o.h0 = 0.5;
    o.rtol = o.atol = 1e-8;
    b.calls = 0;
    b.bound = 1;
    c = costate_new(costate_method_find("ssp33"), &P, &o);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    assert_true(costate_get_stats(c)->rejected > 1 && b.calls == costate_tape_steps(tape));
    costate_free(c);
    o.h0 = 0;
    o.rtol = o.atol = 1e-3;
    b.bound = 0.01;
    o.stability = COSTATE_STABILITY_OFF;
    c = costate_new(costate_method_find("ssp33"), &P, &o);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    assert_true(costate_tape_steps(tape) < steps / 2);
    assert_non_null(strstr(costate_message(c), "as long as options.step_bound"));
    costate_free(c);
    o.stability = COSTATE_STABILITY_ON;
    c = costate_new(costate_method_find("ssp33"), &P, &o);
    for (int k = 0; k < 3; k++) {
        b.bound = (double[]){0, -1, NAN}[k];
        says(c, costate_integrate(c, 0, 1, y, P0, tape), COSTATE_BAD_ARGUMENT, "options.step_bound gave");
    }
    b.bound = HUGE_VAL;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    b.code = -2;
    says(c, costate_integrate(c, 0, 1, y, P0, tape), COSTATE_CALLBACK, "step_bound returned -2");
    b.code = 2;
    int status = costate_integrate(c, 0, 1, y, P0, tape);
    assert_true(status < 0 && strstr(costate_message(c), "longest step"));
    costate_tape_free(tape);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_stages), cmocka_unit_test(where), cmocka_unit_test(observations),
        cmocka_unit_test(guards), cmocka_unit_test(starts), cmocka_unit_test(told), cmocka_unit_test(bounds),
        cmocka_unit_test(bounded_derivatives), cmocka_unit_test(hostile), cmocka_unit_test(history),
        cmocka_unit_test(missing), cmocka_unit_test(step_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("a map that is the identity", identity);
}
