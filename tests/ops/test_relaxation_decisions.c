/* test_relaxation_decisions.c - what relaxation does to a run: the order of methods, the invariant over many steps,
   times of steps, steps that stay as they are, runs that stop, estimates of errors, what is refused. */
#include <costate/accuracy.h>
#include <costate/ensemble.h>
#include "relaxed.h"

/* ---- y_0' = -y_1/|y|^2, y_1' = y_0/|y|^2: a turn whose speed depends on |y|, which is kept; g = |y|^2/2 ---- */

enum { N = 4 };                                 /* y, q: the time as an integral, m: g at the start */

static void turn_f(const void *of, const num_point *x, num *f)
{
    num r2 = add(square(x->y[0]), square(x->y[1]));
    (void)of;
    f[0] = times(-1, over(x->y[1], r2));
    f[1] = over(x->y[0], r2);
}
static void turn_q(const void *of, const num_point *x, num *r) { (void)of, (void)x; r[0] = number(1); }
static void turn_g(const void *of, const num_point *x, num *g)
{
    (void)of;
    g[0] = times(0.5, add(square(x->y[0]), square(x->y[1])));
}
static void off_zero(const void *of, const num_point *x, num *e) { (void)of; e[0] = plus(x->y[0], 7); }

#define CALLBACKS(name, rows) \
    static num_map name##_of(const costate_point *x) { return (num_map){2, 0, x->m ? 1 : 0, rows, name, NULL}; } \
    static int name##_value(const costate_point *x, double *out, void *ctx) \
    { num_map F = name##_of(x); (void)ctx; return num_value(&F, x, out), 0; } \
    static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
    { num_map F = name##_of(x); (void)ctx; return num_tangent(&F, x, dx, NULL, out), 0; } \
    static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
    { num_map F = name##_of(x); (void)ctx; return num_adjoint(&F, x, NULL, w, g), 0; }
CALLBACKS(turn_f, 2)
CALLBACKS(turn_q, 1)
CALLBACKS(turn_g, 1)
CALLBACKS(off_zero, 1)
#define MAP_OF(name) {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint}

static costate_problem turn(void)
{
    return (costate_problem){.n = 2, .nq = 1, .nm = 1, .rhs = MAP_OF(turn_f), .cost = MAP_OF(turn_q)};
}

static costate_projection *relaxed_turn(costate_problem *P)
{
    costate_projection *q;
    costate_report report;
    costate_invariants of = {.count = 1, .g = MAP_OF(turn_g), .keep = 1};
    if (costate_relaxation_after_step(&of, P, &q, &report)) fail_msg("%s", report.text);
    return q;
}

typedef struct { double until, error; } turning;

static int follow_turn(const costate_step *s, void *ctx)
{
    turning *x = ctx;
    double t = costate_step_end(s);
    const double *y = costate_step_state(s);
    if (t < x->until) x->error = hypot(y[0] - cos(t), y[1] - sin(t));
    return 0;
}

/* q at t = 1: the sum of the weights of m, which differs from 1 if its file has few digits. */
static double weights_of(const costate_method *m)
{
    costate_problem P = turn();
    P.nm = 0;
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.05};
    costate *c = new_for_test(m, &P, &o);
    double y[N] = {1};
    CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, NULL));
    costate_free(c);
    return y[2];
}

/* Of the last step that is relaxed.  The last one, and perhaps one before it, are not. */
static double error_of_turn(const costate_method *m, double h, double T)
{
    costate_problem P = turn();
    costate_projection *q = relaxed_turn(&P);
    turning x = {.until = T - 2 * h};
    costate_options o = {.controller = COSTATE_FIXED, .h0 = h, .derivative_mode = 1, .on_step = follow_turn,
                         .on_step_ctx = &x};
    costate *c = new_for_test(m, &P, &o);
    double y[N] = {1}, time = T * weights_of(m);
    CHECK_OK(c, costate_integrate(c, 0, T, y, NULL, NULL));
    double end = hypot(y[0] - cos(T), y[1] - sin(T));
    if (!(end < 5 * x.error + 1e-12) || !(fabs(y[2] - time) < 1e-13 * T))
        fail_msg("%s: error %.1e of the end beside %.1e, q - T = %.1e", method_name(m), end, x.error, y[2] - time);
    costate_free(c);
    costate_projection_free(q);
    return x.error;
}

static void order(void **state)
{
    costate_method_info info = method_info(*state);
    if (info.order < 2 || info.order > 6) skip();
    double h = info.order > 4 ? 0.2 : info.order > 2 ? 0.1 : 0.05, T = 10;
    double error[] = {error_of_turn(*state, h, T), error_of_turn(*state, h / 2, T)}, seen = log2(error[0] / error[1]);
    if (error[1] > 1e-12 && !(seen > info.order - 0.4))
        fail_msg("%s: order %.2f, errors %.1e, %.1e", info.name, seen, error[0], error[1]);
}

typedef struct { double worst, part_least, part_most; long seen; } watching;

static int see(const costate_step *s, void *ctx)
{
    watching *w = ctx;
    const double *y = costate_step_state(s);
    double took = (costate_step_end(s) - costate_step_start(s)) / 0.1;
    if (costate_step_end(s) > 9999.8) return 0;
    w->worst = larger_of(w->worst, fabs(y[0] * y[0] + y[1] * y[1] - 1));
    if (w->seen++ == 0) w->part_least = w->part_most = took;
    w->part_least = fmin(w->part_least, took);
    w->part_most = fmax(w->part_most, took);
    return 0;
}

/* over 1e5 steps; without relaxation the error of one step, at first 1e-7, accumulates */
static void kept(void **state)
{
    double end[2][N] = {{1}, {1}};
    watching w[2] = {{.worst = 0}, {.worst = 0}};
    (void)state;
    for (int with = 0; with < 2; with++) {
        costate_problem P = turn();
        costate_projection *q = relaxed_turn(&P);
        if (!with) P.after_step = (costate_after_step){.ctx = NULL}, P.nm = 0;
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.1, .max_steps = 200000, .on_step = see,
                             .on_step_ctx = &w[with]};
        costate *c = costate_new(costate_method_find("rk4"), &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, 10000, end[with], NULL, NULL));
        assert_true((costate_get_stats(c)->corrections >= 99000) == with);
        costate_free(c);
        costate_projection_free(q);
    }
    double errors[2];
    for (int k = 0; k < 2; k++) errors[k] = hypot(end[k][0] - cos(10000), end[k][1] - sin(10000));
    print_message("           |y|^2 off by %.1e without, %.1e with; y by %.1e, %.1e; steps take %.9f to %.9f of h\n",
                  w[0].worst, w[1].worst, errors[0], errors[1], w[1].part_least, w[1].part_most);
    assert_true(w[1].seen >= 99990 && w[1].worst < 1e-14 && w[0].worst > 1e-5);
    assert_true(errors[1] < errors[0] / 10);
}

/* Where g keeps its value to round-off, the step stays as it is: a method that keeps it, and a state at rest. */
static void left_alone(void **state)
{
    (void)state;
    costate_problem P = turn();
    costate_projection *q = relaxed_turn(&P);
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.1, .derivative_mode = 1};
    costate *c = costate_new(costate_method_find("gauss2"), &P, &o);
    double y[N] = {1};
    CHECK_OK(c, costate_integrate(c, 0, 5, y, NULL, NULL));
    assert_true(costate_get_stats(c)->corrections <= 2);
    costate_free(c);
    costate_projection_free(q);
    double z[N_MOST] = {0};                                 /* the pendulum at rest: g_y d is 0, too */
    P = hybrid_problem(&SWINGS[0]);
    q = relax(&P, 1);
    c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.h0 = 0.1});
    costate_tape *tape = costate_tape_new();
    double g[N_MOST] = {1, 1, 1}, still[] = {1.3, 0};
    CHECK_OK(c, costate_integrate(c, 0, 5, z, still, tape));
    assert_true(z[0] == 0 && z[1] == 0 && costate_get_stats(c)->corrections == 0);
    CHECK_OK(c, costate_adjoint(c, tape, 1, g, NULL, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(q);
}

/* ---- times ---- */

typedef struct { double last; long steps, wrong; } reading;

/* steps follow each other; dense output begins and ends with them, there to the accuracy of a step */
static int read_step(const costate_step *s, void *ctx)
{
    reading *r = ctx;
    double a = costate_step_start(s), b = costate_step_end(s), y[N], middle[N], end[N];
    r->wrong += r->steps++ > 0 && a != r->last;
    r->last = b;
    r->wrong += costate_step_eval(s, a, y) || costate_step_eval(s, (a + b) / 2, middle) || costate_step_eval(s, b, end);
    r->wrong += memcmp(end, costate_step_state(s), 2 * sizeof *end) != 0;
    r->wrong += !(fabs(middle[0] - cos((a + b) / 2)) < 1e-4);
    return r->steps == 30;
}

static double stopped_run(costate *c, costate_tape *tape, double *y)
{
    assert_int_equal(costate_integrate(c, 0, 50, y, NULL, tape), COSTATE_STOPPED);
    return costate_time(c);
}

/* A run that is stopped ends where its last step does, whose length is not prescribed; it can be continued. */
static void stopped(void **state)
{
    (void)state;
    costate_problem P = turn();
    costate_projection *q = relaxed_turn(&P);
    reading r = {.steps = 0};
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .on_step = read_step, .on_step_ctx = &r};
    costate *c = costate_new(costate_method_find("bs32"), &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[N] = {1}, again[N] = {1}, T = stopped_run(c, tape, y);
    assert_true(r.steps == 30 && r.wrong == 0 && r.last == T && T < 50);
    CHECK_OK(c, costate_replay(c, tape, again, NULL));
    assert_memory_equal(again, y, sizeof y);
    double V[N] = {0.3, -0.2, 0, 0}, lambda[N] = {0.7, 1.1, 0.2, 0}, w[N], end, dt0 = 0.4;
    double by_t0, by_t1 = 7, by_end = 0.6;
    double start[N] = {0.3, -0.2, 0, 0};
    memcpy(w, lambda, sizeof w);
    CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, &(costate_times){.t0 = &dt0, .end = &end}, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, &(costate_times){.t0 = &by_t0, .t1 = &by_t1, .end = &by_end},
                                NULL));
    double left = by_end * end, right = by_t0 * dt0, size = fabs(left);
    for (int i = 0; i < 3; i++) {
        left += w[i] * V[i];
        right += lambda[i] * start[i];
        size += fabs(w[i] * V[i]);
    }
    assert_true(fabs(left - right) < 1e-13 * size && by_t1 == 0);
    r.steps = 100;
    CHECK_OK(c, costate_continue(c, tape, 50, y));
    assert_true(r.wrong == 0 && fabs(y[0] - cos(50)) < 0.05 && fabs(y[2] - 50) < 1e-12);
    memcpy(again, (double[N]){1}, sizeof again);
    CHECK_OK(c, costate_replay(c, tape, again, NULL));
    assert_memory_equal(again, y, sizeof y);
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(q);
}

/* starts of the steps of a run to T with steps of 1/2; NULL: only how many */
static int starts_of(const char *method, double T, double *starts)
{
    costate_problem P = turn();
    costate_projection *q = relaxed_turn(&P);
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.5};
    costate *c = costate_new(costate_method_find(method), &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[N] = {1}, at;
    CHECK_OK(c, costate_integrate(c, 0, T, y, NULL, tape));
    assert_true(costate_time(c) == T && fabs(y[2] - T) < 1e-14);
    int count = costate_tape_steps(tape);
    for (int k = 0; k < count; k++) costate_tape_get(tape, k, starts ? &starts[k] : &at, NULL, NULL);
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(q);
    return count;
}

/* The last step is not relaxed, nor one before it that might go beyond t1: with rk4 steps become shorter, with rk43
   longer, so that the sixth of these would end behind t1. */
static void ends_in_time(void **state)
{
    static const char *const methods[] = {"rk4", "rk43"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double starts[20], again[20];
        assert_int_equal(starts_of(methods[k], 5, starts), k ? 10 : 11);
        double took = starts[5] - starts[4], T = starts[5] + 0.5 * (1 + 0.1 * (took / 0.5 - 1));
        assert_true(k ? took > 0.5001 : took < 0.4999);
        int count = starts_of(methods[k], T, again);
        assert_int_equal(count, k ? 7 : 6);
        assert_memory_equal(starts, again, 6 * sizeof *starts);
        for (int i = 0; i < count; i++) assert_true(again[i] < T);
        if (k) assert_true(fabs(again[6] - again[5] - 0.5) < 1e-15);
    }
}

/* ---- the calls around runs ---- */

static int first(double t1, const double *y, const double *p, int m, double *v, double *lambda, double *mu, double *end,
                 void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    v[0] = y[0];
    if (lambda) lambda[0] = 1;
    return 0;
}

/* the value and the gradient of a run, their estimated errors, and the truth */
static void accuracy(void **state)
{
    (void)state;
    const hybrid *h = &SWINGS[0];
    costate_problem P = hybrid_problem(h);
    costate_projection *q = relax(&P, 1);
    double value[2], p[2][2], error, by_p[2];
    const costate_functional F = {.m = 1, .at_end = first};
    for (int k = 0; k < 2; k++) {
        costate_options o = {.rtol = k ? 1e-12 : 1e-5, .atol = k ? 1e-12 : 1e-5};
        costate *c = costate_new(costate_method_find("bs32"), &P, &o);
        if (k) { costate_free(c); c = costate_new(costate_method_find("dopri853"), &P, &o); }
        costate_tape *tape = costate_tape_new();
        costate_estimate e = {.run = {.value = &value[k], .p = p[k]}, .error = {.value = &error, .p = by_p}};
        double y[N_MOST], lambda[N_MOST] = {1};
        hybrid_start(h, h->p, y, NULL);
        CHECK_OK(c, costate_integrate(c, h->t0, h->t1, y, h->p, tape));
        if (k == 0) CHECK_OK(c, costate_accuracy(c, tape, &F, &e));
        assert_true(costate_get_stats(c)->correction == 0 && !strstr(costate_message(c), "after_step"));
        value[1] = y[0];
        if (k) memset(p[1], 0, sizeof p[1]);
        if (k) CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, p[1], NULL, NULL));
        costate_tape_free(tape);
        costate_free(c);
    }
    double of_value = value[1] - value[0], of_p = p[1][0] - p[0][0];
    print_message("           errors: value %.2e, estimate %.2e; gradient %.2e, estimate %.2e\n", of_value, error, of_p,
                  by_p[0]);
    assert_true(fabs(error / of_value - 1) < 0.2 && fabs(by_p[0] / of_p - 1) < 0.2);
    costate_projection_free(q);
}

enum { MEMBERS = 12 };

/* the bits of runs alone, from several threads that share the invariant */
static void ensemble(void **state)
{
    (void)state;
    costate_problem P = turn();
    costate_projection *q = relaxed_turn(&P);
    costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    double y[MEMBERS * N] = {0}, lambda[MEMBERS * N] = {0};
    for (int k = 0; k < MEMBERS; k++) lambda[k * N] = y[k * N] = 1 + 0.1 * k;
    costate_members all = {.count = MEMBERS, .threads = 3, .t1 = 5, .y = y, .m = 1, .lambda = lambda};
    costate_ensemble_report report;
    if (costate_ensemble(costate_method_find("tsit5"), &P, &o, &all, &report)) fail_msg("%s", report.text);
    costate *c = costate_new(costate_method_find("tsit5"), &P, &o);
    costate_tape *tape = costate_tape_new();
    for (int k = 0; k < MEMBERS; k++) {
        double alone[N] = {1 + 0.1 * k}, back[N] = {1 + 0.1 * k};
        CHECK_OK(c, costate_integrate(c, 0, 5, alone, NULL, tape));
        CHECK_OK(c, costate_adjoint(c, tape, 1, back, NULL, NULL, NULL));
        assert_memory_equal(alone, y + k * N, sizeof alone);
        assert_memory_equal(back, lambda + k * N, sizeof back);
    }
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(q);
}

/* ---- what is refused, and what fails ---- */

static void says(costate *c, int status, int wanted, const char *word)
{
    if (status != wanted || !strstr(costate_message(c), word))
        fail_msg("%s, not %s with \"%s\": %s", costate_status_name(status), costate_status_name(wanted), word,
                 costate_message(c));
}

static int singular(double *mass, void *ctx)
{
    (void)ctx;
    memcpy(mass, (double[]){1, 0, 0, 0}, 4 * sizeof *mass);
    return 0;
}
static int acts(const costate_point *x, void *ctx) { (void)x, (void)ctx; return 1; }
static int unknown(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->t > 0.5 ? NAN : 0;
    return 0;
}
static int nothing(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)dx, (void)ctx;
    out[0] = 0;
    return 0;
}

static void refused_by_solver(void **state)
{
    (void)state;
    costate_problem P = turn();
    costate_projection *q = relaxed_turn(&P);
    const costate_after_step good = P.after_step;
    const struct { const char *method, *word; int status, what; } cases[] = {
        {"euler", "order 1", COSTATE_BAD_ARGUMENT, 0}, {"radau2a", "M is singular", COSTATE_BAD_ARGUMENT, 1},
        {"dopri5", "both given", COSTATE_BAD_ARGUMENT, 2}, {"dopri5", "acts", COSTATE_MISSING, 3},
        {"sdirk4a", "problem.residual", COSTATE_BAD_ARGUMENT, 4}, {"dopri5", "guards", COSTATE_BAD_ARGUMENT, 5}};
    static const costate_event never = {.guard = MAP_OF(off_zero), .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    for (int k = 0; k < 6; k++) {
        costate_problem Q = P;
        double y[N] = {1};
        if (cases[k].what == 1) Q.mass = singular;
        if (cases[k].what == 2) Q.after_step.map = Q.after_step.start;
        if (cases[k].what == 3) Q.after_step.acts = acts;
        if (cases[k].what == 4) { Q.residual = Q.rhs; Q.rhs = (costate_map){.value = NULL}; }
        if (cases[k].what == 5) { Q.event = &never; Q.nevents = 1; }
        costate_options o = {.controller = k == 0 ? COSTATE_FIXED : COSTATE_AUTO, .h0 = k == 0 ? 0.1 : 0};
        costate *c = costate_new(costate_method_find(cases[k].method), &Q, &o);
        says(c, costate_integrate(c, 0, 1, y, NULL, NULL), cases[k].status, cases[k].word);
        costate_free(c);
    }
    P.after_step = good;
    P.after_step.invariant.tangent = NULL;
    double y[N] = {1};
    costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
    says(c, costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_MISSING, "after_step.invariant.tangent");
    costate_free(c);
    costate_projection_free(q);
}

/* y' = (-y_1, y_0), and the rule of the midpoint, which takes the part 1/(1 + h^2/4) of its steps */
static int wheel(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->y[1];
    out[1] = x->y[0];
    return 0;
}
typedef struct { long calls; } counted;
/* with round-off that no change of y removes */
static int rough(const costate_point *x, double *out, void *ctx)
{
    uint64_t bits;
    memcpy(&bits, x->y, sizeof bits);
    ((counted *)ctx)->calls++;
    out[0] = (x->y[0] * x->y[0] + x->y[1] * x->y[1] - 1) / 2;
    out[0] += 1e-14 * (1 + (double)(bits * 0x9e3779b97f4a7c15u >> 60) / 16);
    return 0;
}

static void parts(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        counted g = {0};
        costate_problem P = {.n = 2, .ctx = &g, .rhs.value = wheel};
        P.after_step.invariant = (costate_map){.value = rough, .tangent = turn_g_tangent};
        double h = k ? 2.2 : 1.9, y[] = {1, 0};
        costate_options o = {.controller = COSTATE_FIXED, .h0 = h};
        costate *c = costate_new(costate_method_find("midpoint"), &P, &o);
        if (k) says(c, costate_integrate(c, 0, 20, y, NULL, NULL), COSTATE_NEWTON, "kept after_step.invariant");
        else CHECK_OK(c, costate_integrate(c, 0, 20, y, NULL, NULL));
        long steps = costate_get_stats(c)->accepted;
        if (!k && !(steps > 15 && g.calls <= 12 * steps)) fail_msg("%ld calls in %ld steps", g.calls, steps);
        costate_free(c);
    }
}

/* g that is not 0 at the start, and one that becomes NaN */
static void hostile(void **state)
{
    (void)state;
    costate_problem P = turn();
    P.nm = 0;
    P.after_step = (costate_after_step){.invariant = MAP_OF(turn_g)};
    double y[N] = {1};
    costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
    says(c, costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_NEWTON, "kept after_step.invariant");
    assert_true(y[0] == 1 && y[1] == 0);
    costate_free(c);
    P.after_step.invariant = (costate_map){.value = unknown, .tangent = nothing};
    c = costate_new(costate_method_find("dopri5"), &P, NULL);
    says(c, costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_NOT_FINITE, "NaN");
    costate_free(c);
}

static void refused_by_call(void **state)
{
    (void)state;
    static const double move[] = {1, 1};
    const costate_invariants good = {.count = 1, .g = MAP_OF(turn_g), .keep = 1};
    costate_invariants wrong[5] = {good, good, good, good, good};
    static const char *const words[] = {"count", "linear", "move", "at_start", "memory"};
    wrong[0].count = 2;
    wrong[1].linear = 1;
    wrong[2].move = move;
    wrong[3].keep = 0;
    wrong[3].at_start = 1;
    wrong[4].memory = 3;
    for (int k = 0; k < 5; k++) {
        costate_problem P = turn();
        costate_projection *q;
        costate_report report;
        assert_int_equal(costate_relaxation_after_step(&wrong[k], &P, &q, &report), COSTATE_BAD_ARGUMENT);
        if (q || !strstr(report.text, words[k]) || P.after_step.invariant.value) fail_msg("%d: %s", k, report.text);
    }
    costate_problem P = turn();
    costate_projection *q = relaxed_turn(&P), *other;
    costate_report report;
    assert_int_equal(costate_relaxation_after_step(&good, &P, &other, &report), COSTATE_BAD_ARGUMENT);
    assert_true(!other && strstr(report.text, "set already"));
    assert_int_equal(costate_relaxation_after_step(&good, &P, NULL, NULL), COSTATE_BAD_ARGUMENT);
    costate_projection_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept), cmocka_unit_test(left_alone), cmocka_unit_test(stopped), cmocka_unit_test(ends_in_time),
        cmocka_unit_test(accuracy), cmocka_unit_test(ensemble), cmocka_unit_test(refused_by_solver),
        cmocka_unit_test(hostile), cmocka_unit_test(parts), cmocka_unit_test(refused_by_call)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("relaxation keeps the order", order);
}
