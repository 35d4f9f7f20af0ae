/* test_relations.c - values that are kept in a step: runs, first and second derivatives of closed forms, in every
   method and store, in one piece, continued and resumed; a solution that slides; relations that are refused.

       y0' = p0 t - p1 sign(y0),   y1' = y0,   y2' = floor(p2 t),   q' = |y0|

   from y0 = -1: the block comes to rest at t1 = (sqrt(p1^2 + 2 p0) - p1)/p0, sticks until t2 = p1/p0, and moves up. */
#include <unistd.h>
#include "lanes/setup.h"
#include "common.h"

enum { N = 3, NP = 3, ROWS = 4 };
static const double END = 4, MIDDLE = 1.5;
static const double p[NP] = {0.5, 1, 0.7};

static double sign_of(const costate_point *x) { return x->relation[0] == 1 ? 1 : -1; }

/* f, f' a, f'' [a, b] */
static void parts(const costate_point *x, const costate_point *a, const costate_point *b, double *f)
{
    const double none[NP] = {0}, *ay = a && a->y ? a->y : none, *ap = a && a->p ? a->p : none;
    const double *bp = b && b->p ? b->p : none;
    assert_true(x->relation[0] == 0 || x->relation[0] == 1);
    if (!a) f[0] = x->p[0] * x->t - x->p[1] * sign_of(x);
    else if (!b) f[0] = ap[0] * x->t + x->p[0] * a->t - ap[1] * sign_of(x);
    else f[0] = ap[0] * b->t + bp[0] * a->t;
    f[1] = !a ? x->y[0] : b ? 0 : ay[0];
    f[2] = a ? 0 : x->relation[1];
}

static int value(const costate_point *x, double *f, void *ctx) { return (void)ctx, parts(x, NULL, NULL, f), 0; }
static int tangent(const costate_point *x, const costate_point *a, double *f, void *ctx)
{
    return (void)ctx, parts(x, a, NULL, f), 0;
}
static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *f, void *ctx)
{
    return (void)ctx, parts(x, a, b, f), 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->t) *g->t += w[0] * x->p[0];
    if (g->y) g->y[0] += w[1];
    if (g->p) { g->p[0] += w[0] * x->t; g->p[1] -= w[0] * sign_of(x); }
    return 0;
}
static int adjoint_tangent(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)x, (void)ctx;
    if (g->t && a->p) *g->t += w[0] * a->p[0];
    if (g->p) g->p[0] += w[0] * a->t;
    return 0;
}

static int cost(const costate_point *x, double *r, void *ctx) { return (void)ctx, r[0] = sign_of(x) * x->y[0], 0; }
static int cost_tangent(const costate_point *x, const costate_point *a, double *r, void *ctx)
{
    return (void)ctx, r[0] = a->y ? sign_of(x) * a->y[0] : 0, 0;
}
static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += sign_of(x) * w[0];
    return (void)ctx, 0;
}

static int nothing2(const costate_point *x, const costate_point *a, const costate_point *b, double *r, void *ctx)
{
    return (void)x, (void)a, (void)b, (void)ctx, r[0] = 0, 0;
}
static int nothing(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g,
                   void *ctx)
{
    return (void)x, (void)a, (void)w, (void)g, (void)ctx, 0;
}
static int nothing3(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                    const costate_gradient *g, void *ctx)
{
    return (void)x, (void)a, (void)b, (void)w, (void)g, (void)ctx, 0;
}

/* guards: y0, and p2 t */
static int speed(const costate_point *x, double *g, void *ctx) { return (void)ctx, g[0] = x->y[0], 0; }
static int speed_tangent(const costate_point *x, const costate_point *a, double *g, void *ctx)
{
    return (void)x, (void)ctx, g[0] = a->y ? a->y[0] : 0, 0;
}
static int speed_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    return (void)x, (void)ctx, 0;
}
static int clock_value(const costate_point *x, double *g, void *ctx) { return (void)ctx, g[0] = x->p[2] * x->t, 0; }
static int clock_tangent(const costate_point *x, const costate_point *a, double *g, void *ctx)
{
    return (void)ctx, g[0] = x->p[2] * a->t + (a->p ? a->p[2] * x->t : 0), 0;
}
static int clock_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->t) *g->t += w[0] * x->p[2];
    if (g->p) g->p[2] += w[0] * x->t;
    return (void)ctx, 0;
}
static int clock_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *g, void *ctx)
{
    return (void)x, (void)ctx, g[0] = (a->p ? a->p[2] * b->t : 0) + (b->p ? b->p[2] * a->t : 0), 0;
}
static int clock_second(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g,
                        void *ctx)
{
    if (g->t && a->p) *g->t += w[0] * a->p[2];
    if (g->p) g->p[2] += w[0] * a->t;
    return (void)x, (void)ctx, 0;
}

static const costate_relation relations[] = {
    {.guard = {.value = speed, .tangent = speed_tangent, .adjoint = speed_adjoint, .tangent2 = nothing2,
               .adjoint_tangent = nothing, .adjoint_tangent2 = nothing3}},
    {.guard = {.value = clock_value, .tangent = clock_tangent, .adjoint = clock_adjoint, .tangent2 = clock_tangent2,
               .adjoint_tangent = clock_second, .adjoint_tangent2 = nothing3}, .whole = 1}};

static costate_problem block_problem(void)
{
    return (costate_problem){
        .n = N, .np = NP, .nq = 1,
        .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                .adjoint_tangent = adjoint_tangent, .adjoint_tangent2 = nothing3},
        .cost = {.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint, .tangent2 = nothing2,
                 .adjoint_tangent = nothing, .adjoint_tangent2 = nothing3},
        .nrelations = 2, .relation = relations};
}

/* ---- closed forms: y0 + y2 at the end ---- */

static double whole_part(void) { return floor(p[2] * END); }

static double end_value(void)
{
    double n = whole_part();
    return p[0] * END * END / 2 - p[1] * END + p[1] * p[1] / (2 * p[0]) + n * END - n * (n + 1) / (2 * p[2]);
}

static void end_gradient(double *g)
{
    double n = whole_part();
    g[0] = END * END / 2 - p[1] * p[1] / (2 * p[0] * p[0]);
    g[1] = -END + p[1] / p[0];
    g[2] = n * (n + 1) / (2 * p[2] * p[2]);
}

static void end_hessian(const double *v, double *h)
{
    double n = whole_part();
    h[0] = p[1] * p[1] / (p[0] * p[0] * p[0]) * v[0] - p[1] / (p[0] * p[0]) * v[1];
    h[1] = -p[1] / (p[0] * p[0]) * v[0] + v[1] / p[0];
    h[2] = -n * (n + 1) / (p[2] * p[2] * p[2]) * v[2];
}

typedef struct { const costate_method *m; int store, file; } which;

static void are_near(const which *w, const char *what, int n, const double *found, const double *exact)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(found[i] - exact[i]) <= 1e-10 * (1 + fabs(exact[i]))))
            fail_msg("%s, store %d%s: %s %d is %.15g, not %.15g", method_name(w->m), w->store,
                     w->file ? " in a file" : "", what, i, found[i], exact[i]);
}

static int seed2(double t1, const double *y, const double *of, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)of, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, (void)ctx;
    if (lambda) lambda[0] = lambda[2] = 1;
    return 0;
}

static void hessian_is(const which *w, costate *c, const costate_tape *tape)
{
    double V[ROWS] = {0}, Vp[NP] = {1, -0.5, 0.25}, lambda[ROWS] = {0}, mu[NP] = {0}, lambda2[ROWS], mu2[NP] = {0};
    double exact[NP];
    int status = costate_hessian(c, tape, &(costate_second){.m = 1, .V = V, .Vp = Vp, .lambda = lambda, .mu = mu,
                                                            .lambda2 = lambda2, .mu2 = mu2, .seed = seed2});
    if (method_info(w->m).family == COSTATE_ROS) {
        assert_int_equal(status, COSTATE_MISSING);
        return;
    }
    CHECK_OK(c, status);
    end_hessian(Vp, exact);
    are_near(w, "Hessian", NP, mu2, exact);
}

static void derivatives_are(const which *w, costate *c, const costate_tape *tape)
{
    double lambda[ROWS] = {1, 0, 1, 0}, mu[NP] = {0}, V[ROWS] = {0}, Vp[NP] = {1, -0.5, 0.25}, exact[NP], along = 0;
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    end_gradient(exact);
    are_near(w, "gradient", NP, mu, exact);
    CHECK_OK(c, costate_tangent(c, tape, 1, V, Vp, NULL, NULL));
    for (int i = 0; i < NP; i++) along += exact[i] * Vp[i];
    V[0] += V[2];
    are_near(w, "tangent", 1, V, &along);
    hessian_is(w, c, tape);
}

/* of all unknowns, with the times of changes: <lambda, V> at the end against the start */
static void transposes(const which *w, costate *c, const costate_tape *tape)
{
    unsigned seed = 7;
    double V[ROWS], V0[ROWS], Vp[NP], dt[2], dT[16], lambda[ROWS], end[ROWS], mu[NP] = {0}, g[2], gT[16], sum = 0;
    double size = 0;
    int count = costate_tape_events(tape);
    assert_in_range(count, 3, 16);
    random_fill(&seed, ROWS, V);
    random_fill(&seed, ROWS, lambda);
    random_fill(&seed, NP, Vp);
    random_fill(&seed, 2, dt);
    random_fill(&seed, 16, dT);
    memcpy(V0, V, sizeof V);
    memcpy(end, lambda, sizeof lambda);
    CHECK_OK(c, costate_tangent(c, tape, 1, V, Vp, &(costate_times){.t0 = dt, .t1 = dt + 1, .events = dT}, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, &(costate_times){.t0 = g, .t1 = g + 1, .events = gT}, NULL));
    for (int i = 0; i < ROWS; i++) sum += lambda[i] * V0[i] - end[i] * V[i];
    for (int i = 0; i < ROWS; i++) size += fabs(end[i] * V[i]) + fabs(lambda[i] * V0[i]);
    for (int i = 0; i < NP; i++) sum += mu[i] * Vp[i];
    for (int i = 0; i < 2; i++) sum += g[i] * dt[i];
    for (int i = 0; i < count; i++) sum += gT[i] * dT[i];
    if (!(fabs(sum) <= 1e-12 * size))
        fail_msg("%s, store %d: transposes differ by %.3g", method_name(w->m), w->store, sum / size);
}

static costate_options options_of(const which *w)
{
    return (costate_options){.rtol = 1e-6, .atol = 1e-6, .storage = w->store, .checkpoints = 24, .derivative_mode = 1,
                             .sliding = 1, .max_steps = 20000};
}

static const double start[ROWS] = {-1, 0, 0, 0};

/* Is y0, which is quadratic in t, integrated exactly? */
static int is_exact(const costate_method *m) { return method_info(m).order >= 2; }

static costate_tape *tape_of(const which *w, const char *path)
{
    if (!w->file) return costate_tape_new();
    return costate_tape_open(path);
}

static void ends_right(const which *w, costate *c, const costate_tape *tape, const double *y)
{
    double sum = y[0] + y[2], exact = end_value();
    transposes(w, c, tape);
    if (!is_exact(w->m)) return;
    are_near(w, "y0 + y2", 1, &sum, &exact);
    derivatives_are(w, c, tape);
}

static void runs_and_derivatives(void **state)
{
    const costate_method *m = *state;
    const costate_problem P = block_problem();
    char path[64];
    snprintf(path, sizeof path, "relations-%ld.tape", (long)getpid());
    for (int way = 0; way < 4; way++) {
        which w = {m, way % 3, way == 3};
        const costate_options o = options_of(&w);
        double y[ROWS], again[ROWS], alone[ROWS];
        costate *c = new_for_test(m, &P, &o);
        if (w.file) remove(path);
        costate_tape *tape = tape_of(&w, path);
        memcpy(y, start, sizeof y);
        memcpy(again, start, sizeof y);
        memcpy(alone, start, sizeof y);
        CHECK_OK(c, costate_integrate(c, 0, END, y, p, tape));
        ends_right(&w, c, tape, y);
        if (way == 0) {
            CHECK_OK(c, costate_replay(c, tape, again, p));
            assert_memory_equal(again, y, sizeof y);
            CHECK_OK(c, costate_integrate(c, 0, END, alone, p, NULL));
            assert_memory_equal(alone, y, sizeof y);
        }
        costate_tape_free(tape);
        costate_free(c);
        if (!w.file) continue;
        c = new_for_test(m, &P, &o);                    /* another solver reads the file */
        assert_non_null(tape = costate_tape_open(path));
        CHECK_OK(c, costate_tape_read(c, tape));
        ends_right(&w, c, tape, y);
        costate_tape_free(tape);
        costate_free(c);
        remove(path);
    }
}

/* in two pieces, where the block sticks: the values are determined there; onto another tape */
static void is_continued(void **state)
{
    const costate_method *m = *state;
    const costate_problem P = block_problem();
    which w = {m, 0, 0};
    const costate_options o = options_of(&w);
    double y[ROWS], again[ROWS];
    costate *c = new_for_test(m, &P, &o);
    costate_tape *tape = costate_tape_new(), *onto = costate_tape_new();
    memcpy(y, start, sizeof y);
    memcpy(again, start, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, MIDDLE, y, p, tape));
    CHECK_OK(c, costate_continue(c, tape, END, y));
    ends_right(&w, c, tape, y);
    CHECK_OK(c, costate_replay_onto(c, tape, again, p, onto));
    assert_memory_equal(again, y, sizeof y);
    ends_right(&w, c, onto, again);
    costate_tape_free(tape);
    costate_tape_free(onto);
    costate_free(c);
}

static int stop_after(const costate_step *s, void *ctx) { return (void)ctx, costate_step_start(s) >= MIDDLE; }

/* stopped while the block sticks, and resumed from the file */
static void is_resumed(void **state)
{
    const costate_method *m = *state;
    const costate_problem P = block_problem();
    char path[64];
    double y[ROWS];
    snprintf(path, sizeof path, "resumed-relations-%ld.tape", (long)getpid());
    for (int store = 0; store < 3; store += 2) {
        which w = {m, store, 1};
        costate_options o = options_of(&w);
        o.on_step = stop_after;
        remove(path);
        costate *c = new_for_test(m, &P, &o);
        costate_tape *tape = costate_tape_open(path);
        memcpy(y, start, sizeof y);
        assert_int_equal(costate_integrate(c, 0, END, y, p, tape), COSTATE_STOPPED);
        costate_tape_free(tape);
        costate_free(c);
        o.on_step = NULL;
        c = new_for_test(m, &P, &o);
        assert_non_null(tape = costate_tape_open(path));
        CHECK_OK(c, costate_resume(c, tape, y));
        ends_right(&w, c, tape, y);
        costate_tape_free(tape);
        costate_free(c);
    }
    remove(path);
}

/* ---- what a solution that slides is not ---- */

static void refuses_to_slide(void **state)
{
    (void)state;
    const costate_problem P = block_problem();
    double y[ROWS];
    memcpy(y, start, sizeof y);
    costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
    assert_int_equal(costate_integrate(c, 0, END, y, p, NULL), COSTATE_TOO_MANY_EVENTS);
    assert_non_null(strstr(costate_message(c), "both values of relation[0] drive its guard back to zero"));
    assert_true(fabs(costate_time(c) - (sqrt(p[1] * p[1] + 2 * p[0]) - p[1]) / p[0]) <= 1e-12);
    costate_free(c);
}

/* x' = -sign(x), z' = -sign(z), both at zero */
static int two_relays(const costate_point *x, double *f, void *ctx)
{
    for (int i = 0; i < 2; i++) f[i] = x->relation[i] ? -1 : 1;
    return (void)ctx, 0;
}
static int second_speed(const costate_point *x, double *g, void *ctx) { return (void)ctx, g[0] = x->y[1], 0; }
static int second_tangent(const costate_point *x, const costate_point *a, double *g, void *ctx)
{
    return (void)x, (void)ctx, g[0] = a->y ? a->y[1] : 0, 0;
}

static void two_surfaces(void **state)
{
    (void)state;
    const costate_relation both[] = {{.guard = {.value = speed, .tangent = speed_tangent}},
                                     {.guard = {.value = second_speed, .tangent = second_tangent}}};
    const costate_problem P = {.n = 2, .rhs.value = two_relays, .nrelations = 2, .relation = both};
    double y[2] = {1, 2};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.sliding = 1});
    assert_int_equal(costate_integrate(c, 0, END, y, NULL, NULL), COSTATE_TOO_MANY_EVENTS);
    assert_non_null(strstr(costate_message(c), "along the guards of relation[0] and relation[1]"));
    assert_true(fabs(costate_time(c) - 2) <= 1e-12);
    costate_free(c);
}

/* ---- what is refused ---- */

static int some_mass(double *M, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < N * N; i++) M[i] = i % (N + 1) == 0;
    return 0;
}

static void is_refused(void **state)
{
    static const char *const says[] = {"problem.nrelations = -1", "problem.relation is NULL", "guard.value is missing",
                                       "whole = 2", "options.sliding is for", "relation[0].guard.tangent is missing"};
    static const int is[] = {COSTATE_BAD_ARGUMENT, COSTATE_BAD_ARGUMENT, COSTATE_MISSING, COSTATE_BAD_ARGUMENT,
                             COSTATE_BAD_ARGUMENT, COSTATE_MISSING};
    const costate_lane_maps two = {.lanes = 2};
    (void)state;
    for (int k = 0; k < 6; k++) {
        costate_problem P = block_problem();
        costate_relation other[2] = {relations[0], relations[1]};
        if (k == 0) P.nrelations = -1;
        if (k == 1) P.relation = NULL;
        if (k > 1) P.relation = other;
        if (k == 2) other[1].guard.value = NULL;
        if (k == 3) other[1].whole = 2;
        if (k == 4) P.mass = some_mass;
        if (k == 5) other[0].guard.tangent = NULL;
        costate *c = costate_new(costate_method_find("radau2a5"), &P, &(costate_options){.sliding = 1});
        assert_int_equal(costate_status(c), is[k]);
        assert_non_null(strstr(costate_message(c), says[k]));
        costate_free(c);
    }
    costate_problem P = block_problem();
    const lane_task task = {.P = &P, .maps = &two};
    assert_string_equal(lanes_refuse_task(&task), "the problem has relations");
}

/* y' = 1, and -1 at t = 1, where the guard is not defined: the tape holds the run up to there */
static int rises(const costate_point *x, double *f, void *ctx) { return (void)x, (void)ctx, f[0] = 1, 0; }
static int back_to(const costate_point *x, double *y, void *ctx) { return (void)x, (void)ctx, y[0] = -1, 0; }
static int above(const costate_point *x, double *g, void *ctx)
{
    return (void)ctx, g[0] = x->y[0] < 0 ? NAN : x->y[0] + 1, 0;
}

static void guard_that_fails(void **state)
{
    (void)state;
    static const double at = 1;
    const costate_event event = {.ntimes = 1, .times = &at, .jump.value = back_to, .from = COSTATE_ANY_MODE,
                                 .to = COSTATE_SAME_MODE};
    const costate_relation relation = {.guard.value = above};
    const costate_problem P = {.n = 1, .rhs.value = rises, .nevents = 1, .event = &event, .nrelations = 1,
                               .relation = &relation};
    double y = 0, end;
    costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
    costate_tape *tape = costate_tape_new();
    assert_int_equal(costate_integrate(c, 0, 2, &y, NULL, tape), COSTATE_NOT_FINITE);
    assert_non_null(strstr(costate_message(c), "relation[0].guard is NaN"));
    CHECK_OK(c, costate_tape_eval(c, tape, 0.5, &end));
    assert_true(fabs(end - 0.5) <= 1e-14);
    assert_int_equal(costate_continue(c, tape, 2, &y), COSTATE_NOT_FINITE);
    costate_tape_free(tape);
    costate_free(c);
}

/* x' = 4 below x = t^2, and -1 above: x' = 2t along it, which depends on t, though f does not.  One step of a method
   of order 2 has it. */
static int jumps(const costate_point *x, double *f, void *ctx) { return (void)ctx, f[0] = x->relation[0] ? -1 : 4, 0; }
static int still(const costate_point *x, const costate_point *a, double *f, void *ctx)
{
    return (void)x, (void)a, (void)ctx, f[0] = 0, 0;
}
static int parabola(const costate_point *x, double *g, void *ctx) { return (void)ctx, g[0] = x->y[0] - x->t * x->t, 0; }
static int parabola_tangent(const costate_point *x, const costate_point *a, double *g, void *ctx)
{
    return (void)ctx, g[0] = (a->y ? a->y[0] : 0) - 2 * x->t * a->t, 0;
}
static int parabola_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *g,
                             void *ctx)
{
    return (void)x, (void)ctx, g[0] = -2 * a->t * b->t, 0;
}

static void slides_along_what_moves(void **state)
{
    (void)state;
    const costate_relation relation = {.guard = {.value = parabola, .tangent = parabola_tangent,
                                                 .tangent2 = parabola_tangent2}};
    const costate_problem P = {.n = 1, .rhs = {.value = jumps, .tangent = still}, .nrelations = 1,
                               .relation = &relation};
    const costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.5, .autonomous = 1, .sliding = 1};
    double y = 0;
    costate *c = costate_new(costate_method_find("rodas4"), &P, &o);
    CHECK_OK(c, costate_integrate(c, 0, 1.5, &y, NULL, NULL));
    assert_true(fabs(y - 2.25) <= 1e-13);
    costate_free(c);
}

/* costate_check_problem asks the guards for the values where x has none, and checks their products */
static void is_checked(void **state)
{
    (void)state;
    const costate_problem P = block_problem();
    const double y[N] = {0.3, 0.1, 2};
    costate_report r, of_cost;
    assert_int_equal(costate_check_problem(&P, &(costate_point){.t = 0.9, .y = y, .p = p}, &r, &of_cost), COSTATE_OK);
    costate_relation wrong[2] = {relations[0], relations[1]};
    costate_problem Q = P;
    Q.relation = wrong;
    wrong[1].guard.adjoint = speed_adjoint;
    assert_int_equal(costate_check_problem(&Q, &(costate_point){.t = 0.9, .y = y, .p = p}, &r, &of_cost),
                     COSTATE_CHECK_FAILED);
    assert_non_null(strstr(r.text, "relation[1].guard"));
}

/* the checks of whole runs locate changes again, and say what they see */
static void runs_are_checked(void **state)
{
    static const char *const names[] = {"dopri5", "radau2a5", "esdirk54i8"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        which w = {costate_method_find(names[k]), 0, 0};
        const costate_problem P = block_problem();
        const costate_options o = options_of(&w);
        costate_report r;
        costate *c = new_for_test(w.m, &P, &o);
        int status = costate_check_adjoint(c, 0, END, start, p, &r);
        if (status) fail_msg("%s: %s %s", names[k], costate_message(c), r.text);
        status = costate_check_hessian(c, 0, END, start, p, seed2, NULL, &r);
        if (status) fail_msg("%s: %s %s", names[k], costate_message(c), r.text);
        costate_free(c);
    }
}

/* Where an event meets a stop, values are those behind it, also of a guard that jumps there: y' = 1 before t = 1, 3
   behind it, and y jumps by 10 there. */
static int behind(const costate_point *x, double *g, void *ctx) { return (void)ctx, g[0] = x->t > 1 ? 2 : -2, 0; }
static int slow_or_fast(const costate_point *x, double *f, void *ctx)
{
    return (void)ctx, f[0] = x->relation[0] ? 3 : 1, 0;
}
static int by_ten(const costate_point *x, double *y, void *ctx) { return (void)ctx, y[0] = x->y[0] + 10, 0; }

static void event_at_a_stop(void **state)
{
    static const char *const names[] = {"dopri5", "radau2a5", "esdirk54i8", "rodas4"};
    static const double times[] = {1};
    const costate_relation r = {.guard = {.value = behind}};
    const costate_event e = {.times = times, .ntimes = 1, .jump = {.value = by_ten}};
    const costate_problem P = {.n = 1, .rhs = {.value = slow_or_fast}, .relation = &r, .nrelations = 1, .event = &e,
                               .nevents = 1, .stops = times, .nstops = 1};
    (void)state;
    for (int k = 0; k < 4; k++) {
        costate *c = costate_new(costate_method_find(names[k]), &P, &(costate_options){.autonomous = 1});
        double y = 0;
        CHECK_OK(c, costate_integrate(c, 0, 2, &y, NULL, NULL));
        if (!(fabs(y - 14) < 1e-12)) fail_msg("%s: %.17g", names[k], y);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest alone[] = {cmocka_unit_test(refuses_to_slide), cmocka_unit_test(two_surfaces),
        cmocka_unit_test(is_refused), cmocka_unit_test(guard_that_fails), cmocka_unit_test(slides_along_what_moves),
        cmocka_unit_test(is_checked), cmocka_unit_test(event_at_a_stop),
        cmocka_unit_test(runs_are_checked)};
    return run_by_method("relations", runs_and_derivatives) + run_by_method("continued", is_continued) +
           run_by_kind("resumed", is_resumed) + cmocka_run_group_tests(alone, NULL, NULL);
}
