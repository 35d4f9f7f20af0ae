/* test_stops.c - at known times where f jumps, the step before looks to the left and the one behind to the right:
   values and all derivatives are those of the closed form, to round-off, in every method, form, store and direction.

       y0' = p0^2 u(t),   y1' = -p1 y1 + y0 + u(t) t,   q' = p1 y1 + u(t),   u constant between stops

   Every method integrates y0 exactly where no stage sees u of the other side.  As a DAE: y0' = y1, 0 = p0^2 u - y1. */
#include <unistd.h>
#include "lanes/setup.h"
#include "common.h"

enum { PIECES = 4, RUNS = 4, COLUMNS = 2, ROWS = 3 };
enum form { PLAIN, MASS, RESIDUAL, DAE, DAE_RESIDUAL, FORMS };

static const double cuts[] = {0.25, 0.5, 0.5, 0.875}, at[] = {0.25, 0.5, 0.875}, input[PIECES] = {1, -2, 5, 0.5};
static const struct { double t0, t1; } runs[RUNS] = {{0.0625, 1}, {1, 0.0625}, {0.25, 0.875}, {0.875, 0.25}};

static double weight_of(int form, int i) { return form == MASS ? i + 2 : 1; }

/* the piece of t; a time beside a stop is on its side, and no time is a stop */
static int piece(const costate_point *x)
{
    int k = 0;
    while (k < 3 && x->t > at[k]) k++;
    for (int i = 0; i < 3; i++) {
        if (x->t == at[i]) fail_msg("f is evaluated at the stop %g", x->t);
        if (nextafter(at[i], x->t) == x->t) assert_int_equal(x->side, x->t < at[i] ? -1 : 1);
    }
    return k;
}

typedef struct { int form; long calls; } context;

static int is_dae(const context *c) { return c->form == DAE || c->form == DAE_RESIDUAL; }

/* f, f' d, f'' [a, b], without the weights of M */
static void parts(const costate_point *x, const costate_point *a, const costate_point *b, int dae, double *f)
{
    const double none[2] = {0}, u = input[piece(x)], *p = x->p, *y = x->y;
    const double *ay = a && a->y ? a->y : none, *ap = a && a->p ? a->p : none;
    const double *by = b && b->y ? b->y : none, *bp = b && b->p ? b->p : none;
    double square = !a ? p[0] * p[0] * u : !b ? 2 * p[0] * ap[0] * u : 2 * ap[0] * bp[0] * u;
    const double *z = !a ? y : b ? none : ay;
    f[0] = dae ? z[1] : square;
    if (dae) f[1] = square - z[1];
    else if (!a) f[1] = -p[1] * y[1] + y[0] + u * x->t;
    else if (!b) f[1] = -p[1] * ay[1] - ap[1] * y[1] + ay[0] + u * a->t;
    else f[1] = -ap[1] * by[1] - bp[1] * ay[1];
}

/* of residuals M y' - f */
static void as_residual(const context *c, const double *yp, double *f)
{
    for (int i = 0; i < 2; i++) f[i] = (yp && !(c->form == DAE_RESIDUAL && i == 1) ? yp[i] : 0) - f[i];
}

static int value(const costate_point *x, double *out, void *ctx)
{
    context *c = ctx;
    c->calls++;
    parts(x, NULL, NULL, is_dae(c), out);
    if (x->yp) as_residual(c, x->yp, out);
    else for (int i = 0; i < 2; i++) out[i] *= weight_of(c->form, i);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    context *c = ctx;
    parts(x, d, NULL, is_dae(c), out);
    if (x->yp) as_residual(c, d->yp, out);
    else for (int i = 0; i < 2; i++) out[i] *= weight_of(c->form, i);
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    context *c = ctx;
    parts(x, a, b, is_dae(c), out);
    if (x->yp) as_residual(c, NULL, out);
    else for (int i = 0; i < 2; i++) out[i] *= weight_of(c->form, i);
    return 0;
}

/* the transpose of tangent, or of tangent2 with a direction held, by unit directions */
static int back(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g, void *ctx)
{
    double unit[2] = {0}, out[2];
    const costate_point along[] = {{.y = unit}, {.p = unit}, {.yp = unit}};
    double *to[] = {g->y, g->p, g->yp};
    const costate_point time = {.t = 1};
    for (int k = 0; k < 3; k++)
        for (int i = 0; to[k] && i < 2; i++) {
            unit[i] = 1;
            if (d) tangent2(x, d, &along[k], out, ctx);
            else tangent(x, &along[k], out, ctx);
            unit[i] = 0;
            to[k][i] += w[0] * out[0] + w[1] * out[1];
        }
    if (d) tangent2(x, d, &time, out, ctx);
    else tangent(x, &time, out, ctx);
    if (g->t) *g->t += w[0] * out[0] + w[1] * out[1];
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return back(x, NULL, w, g, ctx);
}

static int nothing3(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                    const costate_gradient *g, void *ctx)
{
    (void)x, (void)a, (void)b, (void)w, (void)g, (void)ctx;
    return 0;
}

static int cost(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->p[1] * x->y[1] + input[piece(x)];
    return 0;
}

static int cost_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)ctx;
    out[0] = (d->p ? d->p[1] * x->y[1] : 0) + (d->y ? x->p[1] * d->y[1] : 0);
    return 0;
}

static int cost_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = (a->p && b->y ? a->p[1] * b->y[1] : 0) + (a->y && b->p ? a->y[1] * b->p[1] : 0);
    return 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[1] += w[0] * x->p[1];
    if (g->p) g->p[1] += w[0] * x->y[1];
    return 0;
}

static int cost_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                                const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y && d->p) g->y[1] += w[0] * d->p[1];
    if (g->p && d->y) g->p[1] += w[0] * d->y[1];
    return 0;
}

static const costate_map equation = {.value = value, .tangent = tangent, .tangent2 = tangent2, .adjoint = adjoint,
                                     .adjoint_tangent = back, .adjoint_tangent2 = nothing3};
static const costate_map running = {.value = cost, .tangent = cost_tangent, .tangent2 = cost_tangent2,
                                    .adjoint = cost_adjoint, .adjoint_tangent = cost_adjoint_tangent,
                                    .adjoint_tangent2 = nothing3};

static int regular(double *M, void *ctx) { (void)ctx; M[0] = 2; M[1] = M[2] = 0; M[3] = 3; return 0; }
static int singular(double *M, void *ctx) { (void)ctx; M[0] = 1; M[1] = M[2] = M[3] = 0; return 0; }

static costate_problem problem_of(context *c, int by_events)
{
    static const costate_event timed = {.ntimes = 4, .times = cuts, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    costate_problem P = {.n = 2, .np = 2, .nq = 1, .ctx = c, .cost = running};
    if (c->form == RESIDUAL || c->form == DAE_RESIDUAL) P.residual = equation;
    else P.rhs = equation;
    P.mass = c->form == MASS ? regular : c->form == DAE ? singular : NULL;
    if (by_events) { P.event = &timed; P.nevents = 1; }
    else { P.stops = cuts; P.nstops = 4; }
    return P;
}

static int has_form(const costate_method *m, int form)
{
    costate_method_info info = method_info(m);
    if (form == PLAIN || form == MASS) return 1;
    if (form != DAE && info.family != COSTATE_FIRK) return 0;
    return form == RESIDUAL || (info.properties & COSTATE_DAE && info.family != COSTATE_COMPOSITE);
}

/* a few implicit methods have stages outside of their steps, and are refused */
static int is_outside(const costate_method *m)
{
    context own = {PLAIN, 0};
    const costate_problem P = problem_of(&own, 0);
    costate *c = new_for_test(m, &P, NULL);
    int outside = costate_status(c) == COSTATE_BAD_ARGUMENT;
    if (outside) assert_non_null(strstr(costate_message(c), "evaluates f outside of its steps"));
    assert_false(outside && is_explicit(m));
    costate_free(c);
    return outside;
}

/* ---- what is exact ---- */

typedef struct { double sum, first, last, jump[3]; int jumps; } truth;     /* of u along a run, and its jumps */

static truth truth_of(double t0, double t1)
{
    truth e = {.sum = 0};
    double low = fmin(t0, t1), high = fmax(t0, t1), dir = t1 > t0 ? 1 : -1;
    for (int k = 0; k < PIECES; k++) {
        double a = fmax(low, k ? at[k - 1] : low), b = fmin(high, k < 3 ? at[k] : high);
        if (b > a) e.sum += dir * input[k] * (b - a);
        if (a == low && b > a) *(dir > 0 ? &e.first : &e.last) = input[k];
        if (b == high && b > a) *(dir > 0 ? &e.last : &e.first) = input[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = dir > 0 ? k : 2 - k;
        if (at[i] > low && at[i] < high) e.jump[e.jumps++] = dir * (input[i] - input[i + 1]);
    }
    return e;
}

typedef struct { const costate_method *m; int form, run, store, file; } which;

static void is_near(const which *w, const char *what, double found, double exact)
{
    if (!(fabs(found - exact) <= 1e-12 * (5 + fabs(exact))))
        fail_msg("%s, form %d, run %d, store %d%s: %s is %.15g, not %.15g", method_name(w->m), w->form, w->run,
                 w->store, w->file ? " in a file" : "", what, found, exact);
}

static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, (void)ctx;
    if (lambda) lambda[0] = 1;
    return 0;
}

static const double p[2] = {1.5, 0.75}, q[2] = {-0.5, 0.75};

/* first and second derivatives of y0 at the end */
static void derivatives_are(const which *w, costate *c, const costate_tape *tape, const truth *e)
{
    double lambda[ROWS] = {1}, mu[2] = {0}, t0, t1, events[3];
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, &(costate_times){.t0 = &t0, .t1 = &t1, .events = events},
                                NULL));
    double square = p[0] * p[0];
    is_near(w, "dy0/dp0", mu[0], 2 * p[0] * e->sum);
    is_near(w, "dy0/dt0", t0, -square * e->first);
    is_near(w, "dy0/dt1", t1, square * e->last);
    for (int k = 0; k < e->jumps; k++) is_near(w, "dy0/dT", events[k], square * e->jump[k]);
    double V[ROWS] = {0}, Vp[2] = {1, 0.5}, d0 = 0.25, d1 = -0.5, dT[3] = {0.75, -1, 0.5}, change = 0;
    double lambda2[ROWS], mu2[2] = {0}, t02, t12, events2[3];
    const costate_times along = {.t0 = &d0, .t1 = &d1, .events = dT}, back_to = {.t0 = &t0, .t1 = &t1,
        .events = events}, back2 = {.t0 = &t02, .t1 = &t12, .events = events2};
    memset(mu, 0, sizeof mu);
    CHECK_OK(c, costate_hessian(c, tape, &(costate_second){.m = 1, .V = V, .Vp = Vp, .along = &along,
        .lambda = lambda, .mu = mu, .times = &back_to, .lambda2 = lambda2, .mu2 = mu2,
        .times2 = &back2, .seed = seed2}));
    for (int k = 0; k < e->jumps; k++) change += e->jump[k] * dT[k];
    change += e->last * d1 - e->first * d0;
    is_near(w, "the Hessian's p0", mu2[0], 2 * e->sum + 2 * p[0] * change);
    is_near(w, "the Hessian's t0", t02, -2 * p[0] * e->first);
    is_near(w, "the Hessian's t1", t12, 2 * p[0] * e->last);
    for (int k = 0; k < e->jumps; k++) is_near(w, "the Hessian's T", events2[k], 2 * p[0] * e->jump[k]);
}

/* <lambda1, V1> against <lambda0, V0> + <mu, Vp> + times, of all unknowns */
static void transposes(const which *w, costate *c, const costate_tape *tape)
{
    unsigned seed = 3;
    double V[ROWS], V0[ROWS], Vp[2], dt[2], dT[3], lambda[ROWS], end[ROWS], mu[2] = {0}, g[2], gT[3], sum = 0, size = 0;
    random_fill(&seed, ROWS, V);
    random_fill(&seed, ROWS, lambda);
    random_fill(&seed, 2, Vp);
    random_fill(&seed, 2, dt);
    random_fill(&seed, 3, dT);
    memcpy(V0, V, sizeof V);
    memcpy(end, lambda, sizeof lambda);
    CHECK_OK(c, costate_tangent(c, tape, 1, V, Vp, &(costate_times){.t0 = dt, .t1 = dt + 1, .events = dT}, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, &(costate_times){.t0 = g, .t1 = g + 1, .events = gT}, NULL));
    for (int i = 0; i < ROWS; i++) sum += lambda[i] * V0[i] - end[i] * V[i];
    for (int i = 0; i < ROWS; i++) size += fabs(end[i] * V[i]) + fabs(lambda[i] * V0[i]);
    for (int i = 0; i < 2; i++) sum += mu[i] * Vp[i] + g[i] * dt[i];
    for (int i = 0; i < costate_tape_events(tape); i++) sum += gT[i] * dT[i];
    if (!(fabs(sum) <= 1e-12 * size)) fail_msg("%s, form %d, run %d, store %d: transposes differ by %.3g",
                                               method_name(w->m), w->form, w->run, w->store, sum / size);
}

static void stops_are_on_tape(const costate_tape *tape, const truth *e, int by_events)
{
    assert_int_equal(costate_tape_events(tape), e->jumps);
    for (int k = 0, event; k < e->jumps; k++) {
        double t, left[ROWS], right[ROWS];
        assert_int_equal(costate_tape_event(tape, k, &t, &event, left, right), COSTATE_OK);
        assert_int_equal(event, by_events ? 0 : -1);
        assert_memory_equal(left, right, sizeof left);
    }
}

static costate_options options_of(const which *w)
{
    return (costate_options){.rtol = 1e-5, .atol = 1e-5, .storage = w->store, .checkpoints = 24, .derivative_mode = 1,
                             .max_steps = 20000};
}

/* where y is consistent */
static void start_at(const which *w, double *y)
{
    truth e = truth_of(runs[w->run].t0, runs[w->run].t1);
    y[0] = y[2] = 0;
    y[1] = w->form == DAE || w->form == DAE_RESIDUAL ? p[0] * p[0] * e.first : 0.5;
}

static void one_run(const which *w, int by_events)
{
    context own = {w->form, 0};
    const costate_problem P = problem_of(&own, by_events);
    const costate_options o = options_of(w);
    char path[64];
    double t0 = runs[w->run].t0, t1 = runs[w->run].t1, y[ROWS], again[ROWS], alone[ROWS];
    truth e = truth_of(t0, t1);
    costate *c = new_for_test(w->m, &P, &o);
    snprintf(path, sizeof path, "stops-%ld.tape", (long)getpid());
    if (w->file) remove(path);
    costate_tape *tape = w->file ? costate_tape_open(path) : costate_tape_new();
    start_at(w, y);
    memcpy(again, y, sizeof y);
    memcpy(alone, y, sizeof y);
    CHECK_OK(c, costate_integrate(c, t0, t1, y, p, tape));
    is_near(w, "y0", y[0], p[0] * p[0] * e.sum);
    if (is_dae(&own)) is_near(w, "z", y[1], p[0] * p[0] * e.last);
    stops_are_on_tape(tape, &e, by_events);
    derivatives_are(w, c, tape, &e);
    transposes(w, c, tape);
    if (w->store == COSTATE_ALL_STAGES) {
        CHECK_OK(c, costate_replay(c, tape, again, p));
        assert_memory_equal(again, y, sizeof y);
    }
    start_at(w, again);
    if (!is_dae(&own)) {
        CHECK_OK(c, costate_replay(c, tape, again, q));
        is_near(w, "y0 of a replay", again[0], q[0] * q[0] * e.sum);
    }
    CHECK_OK(c, costate_integrate(c, t0, t1, alone, p, NULL));
    if (w->store == COSTATE_ALL_STAGES && !w->file) assert_memory_equal(alone, y, sizeof y);
    costate_tape_free(tape);
    costate_free(c);
    if (w->file) remove(path);
}

static void is_exact(void **state)
{
    const costate_method *m = *state;
    if (is_outside(m)) skip();
    for (int form = PLAIN; form < FORMS; form++) {
        if (!has_form(m, form)) continue;
        for (int way = 0; way < RUNS; way++) {
            int turn = turn_of(m) + form + way, store = turn % 3, by_events = turn / 3 % 2 && way < 2 && form < DAE;
            one_run(&(which){m, form, way, store, turn / 2 % 4 == 0}, by_events);
        }
    }
}

/* ---- runs in parts ---- */

static int stop_after(const costate_step *s, void *ctx)
{
    return costate_step_start(s) >= *(const double *)ctx;
}

/* a run that ends at a stop and is continued, warm or by its tape, is the run in one piece */
static void is_continued(void **state)
{
    const costate_method *m = *state;
    if (is_outside(m)) skip();
    for (int k = 0; k < 3; k++) {
        which w = {m, k == 2 ? DAE : PLAIN, 0, 0, 0};
        if (!has_form(m, w.form)) continue;
        context own = {w.form, 0};
        const costate_problem P = problem_of(&own, 0);
        costate_options o = options_of(&w);
        o.warm = k == 1;
        truth e = truth_of(runs[0].t0, runs[0].t1);
        double y[ROWS];
        costate *c = new_for_test(m, &P, &o);
        costate_tape *tape = k == 1 ? NULL : costate_tape_new();
        start_at(&w, y);
        CHECK_OK(c, costate_integrate(c, runs[0].t0, 0.5, y, p, tape));
        if (tape) CHECK_OK(c, costate_continue(c, tape, runs[0].t1, y));
        else CHECK_OK(c, costate_integrate(c, 0.5, runs[0].t1, y, p, NULL));
        is_near(&w, "y0", y[0], p[0] * p[0] * e.sum);
        if (k == 2) is_near(&w, "z", y[1], p[0] * p[0] * e.last);
        if (tape) {
            stops_are_on_tape(tape, &e, 0);
            derivatives_are(&w, c, tape, &e);
            transposes(&w, c, tape);
        }
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* stopped in a step behind a stop, and resumed from the file */
static void is_resumed(void **state)
{
    const costate_method *m = *state;
    char path[64];
    double whole[ROWS], y[ROWS], until = 0.5;
    if (is_outside(m)) skip();
    snprintf(path, sizeof path, "resumed-%ld.tape", (long)getpid());
    for (int part = 0; part < 3; part++) {
        which w = {m, PLAIN, 0, part == 2 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES, 1};
        context own = {PLAIN, 0};
        const costate_problem P = problem_of(&own, 0);
        costate_options o = options_of(&w);
        o.on_step = part > 0 ? stop_after : NULL;
        o.on_step_ctx = &until;
        remove(path);
        costate *c = new_for_test(m, &P, &o);
        costate_tape *tape = costate_tape_open(path);
        start_at(&w, y);
        int status = costate_integrate(c, runs[0].t0, runs[0].t1, y, p, tape);
        assert_int_equal(status, part > 0 ? COSTATE_STOPPED : COSTATE_OK);
        costate_tape_free(tape);
        costate_free(c);
        o.on_step = NULL;
        c = new_for_test(m, &P, &o);
        tape = costate_tape_open(path);
        CHECK_OK(c, costate_resume(c, tape, y));
        if (part == 1) assert_memory_equal(y, whole, sizeof y);
        if (part == 0) memcpy(whole, y, sizeof y);
        truth e = truth_of(runs[0].t0, runs[0].t1);
        stops_are_on_tape(tape, &e, 0);
        derivatives_are(&w, c, tape, &e);
        costate_tape_free(tape);
        costate_free(c);
    }
    remove(path);
}

/* Differences of f stay on the side of the step, in t too.  Those of Rosenbrock methods are second differences, and y0
   passes zero in the second run. */
static void by_differences(void **state)
{
    const costate_method *m = *state;
    context own = {PLAIN, 0};
    costate_problem P = problem_of(&own, 0);
    costate_options o = {.rtol = 1e-7, .atol = 1e-7, .differences = 1, .max_steps = 100000};
    P.rhs = (costate_map){.value = value};
    P.cost = (costate_map){.value = cost};
    if (method_info(m).order < 3 || is_outside(m)) skip();
    int ros = method_info(m).family == COSTATE_ROS;
    double gap = ros ? 1e-4 : 1e-7;
    for (int way = 0; way < 2 - ros; way++) {
        double y[2][ROWS], lambda[2][ROWS], mu[2][2] = {{0}}, t0[2], t1[2], events[2][3];
        truth e = truth_of(runs[way].t0, runs[way].t1);
        for (int exact = 0; exact < 2; exact++) {
            const costate_problem both = problem_of(&own, 0);
            o.differences = !exact;
            costate *c = new_for_test(m, exact ? &both : &P, &o);
            costate_tape *tape = costate_tape_new();
            y[exact][0] = y[exact][2] = 0;
            y[exact][1] = 0.5;
            for (int i = 0; i < ROWS; i++) lambda[exact][i] = 1 - i;
            CHECK_OK(c, costate_integrate(c, runs[way].t0, runs[way].t1, y[exact], p, tape));
            assert_true(fabs(y[exact][0] - p[0] * p[0] * e.sum) <= 1e-12);
            CHECK_OK(c, costate_adjoint(c, tape, 1, lambda[exact], mu[exact],
                &(costate_times){.t0 = &t0[exact], .t1 = &t1[exact], .events = events[exact]}, NULL));
            costate_tape_free(tape);
            costate_free(c);
        }
        assert_true(largest_gap(ROWS, lambda[0], lambda[1]) <= gap && largest_gap(2, mu[0], mu[1]) <= gap);
        assert_true(fabs(t0[0] - t0[1]) <= gap && fabs(t1[0] - t1[1]) <= gap);
        assert_true(largest_gap(3, events[0], events[1]) <= gap);
    }
}

/* ---- what is refused; what it costs ---- */

static void is_refused(void **state)
{
    static const double wrong[3][2] = {{1, 0}, {0, HUGE_VAL}, {0, NAN}};
    (void)state;
    assert_true(is_outside(costate_method_find("ros34pw3")) && !is_outside(costate_method_find("rodas5p")));
    for (int k = 0; k < 6; k++) {
        context own = {PLAIN, 0};
        costate_problem P = problem_of(&own, 0);
        P.nstops = k == 3 ? -1 : k == 4 ? 0 : 2;
        P.stops = k == 5 ? NULL : wrong[k % 3];
        costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
        assert_int_equal(costate_status(c), COSTATE_BAD_ARGUMENT);
        assert_non_null(strstr(costate_message(c), k == 0 ? "problem.stops[1] = 0 is not finite, or less than the one "
                               "before: sort the times." : k < 3 ? "problem.stops[1]" : "problem.nstops"));
        costate_free(c);
    }
}

/* y' = p; an event where y = 0.2, which moves with p and shifts all steps behind it */
static int ramp(const costate_point *x, double *out, void *ctx) { (void)ctx; out[0] = x->p[0]; return 0; }
static int level(const costate_point *x, double *out, void *ctx) { (void)ctx; out[0] = x->y[0] - 0.2; return 0; }

static void steps_do_not_pass_stops(void **state)
{
    static const double stop[] = {0.5}, p0 = 1, little = 0.999, much = 0.5;
    const costate_event event = {.guard = {.value = level}, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    const costate_problem P = {.n = 1, .np = 1, .rhs = {.value = ramp}, .nevents = 1, .event = &event, .nstops = 1,
                               .stops = stop};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.controller = COSTATE_FIXED,
                                                                                 .h0 = 0.0625});
    costate_tape *tape = costate_tape_new();
    double y = 0;
    (void)state;
    CHECK_OK(c, costate_integrate(c, 0, 1, &y, &p0, tape));
    assert_int_equal(costate_tape_events(tape), 2);
    y = 0;
    CHECK_OK(c, costate_replay(c, tape, &y, &little));
    assert_true(fabs(y - little) <= 1e-14);
    y = 0;
    assert_int_equal(costate_replay(c, tape, &y, &much), COSTATE_OUT_OF_RANGE);
    assert_non_null(strstr(costate_message(c), "beyond the stop at 0.5"));
    costate_tape_free(tape);
    costate_free(c);
}

/* Two units that move at a rate of 2 before the stop and of 3 behind it, and pass zero where a run begins, at the stop:
   each remembers when.  Steps of length zero before these events have the f of the side on which the run is. */
static int rate_beside(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    assert_true(x->t != 0.5);
    for (int i = 0; i < 2; i++) out[i] = x->t < 0.5 ? 2 : 3;
    return 0;
}
static int no_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)x, (void)d, (void)ctx;
    memset(out, 0, 2 * sizeof *out);
    return 0;
}
static int no_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return (void)x, (void)w, (void)g, (void)ctx, 0;
}
static int no_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    return (void)b, no_tangent(x, a, out, ctx);
}
static int no_second(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g,
                     void *ctx)
{
    return (void)d, no_adjoint(x, w, g, ctx);
}
static int unit_of(const void *ctx) { return *(const int *)ctx; }
static int unit(const costate_point *x, double *e, void *ctx) { *e = x->y[unit_of(ctx)]; return 0; }
static int unit_tangent(const costate_point *x, const costate_point *d, double *e, void *ctx)
{
    (void)x;
    *e = d->y ? d->y[unit_of(ctx)] : 0;
    return 0;
}
static int unit_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x;
    if (g->y) g->y[unit_of(ctx)] += w[0];
    return 0;
}
static int when(const costate_point *x, double *out, void *ctx)
{
    memcpy(out, x->y, 2 * sizeof *out);
    memcpy(out + 2, x->m, 2 * sizeof *out);
    out[2 + unit_of(ctx)] = x->t;
    return 0;
}
static int when_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)x;
    for (int i = 0; i < 2; i++) { out[i] = d->y ? d->y[i] : 0; out[2 + i] = d->m ? d->m[i] : 0; }
    out[2 + unit_of(ctx)] = d->t;
    return 0;
}
static int when_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x;
    for (int i = 0; i < 2 && g->y; i++) g->y[i] += w[i];
    for (int i = 0; i < 2 && g->m; i++) g->m[i] += i != unit_of(ctx) ? w[2 + i] : 0;
    if (g->t) *g->t += w[2 + unit_of(ctx)];
    return 0;
}

static void events_at_a_stop(void **state)
{
    static const double stop[] = {0.5};
    int of[2] = {0, 1};
    if (is_outside(*state)) skip();
    for (int way = -1; way <= 1; way += 2) {
        costate_event event[2];
        for (int i = 0; i < 2; i++)
            event[i] = (costate_event){.guard = {.value = unit, .tangent = unit_tangent, .adjoint = unit_adjoint},
                                       .jump = {.value = when, .tangent = when_tangent, .adjoint = when_adjoint},
                                       .direction = way, .ctx = &of[i], .passes = 1};
        const costate_problem P = {.n = 2, .nm = 2, .nevents = 2, .event = event, .nstops = 1, .stops = stop,
                                   .rhs = {.value = rate_beside, .tangent = no_tangent, .adjoint = no_adjoint,
                                           .tangent2 = no_tangent2, .adjoint_tangent = no_second}};
        costate *c = costate_new(*state, &P, &(costate_options){.controller = COSTATE_FIXED, .h0 = 0.0625});
        costate_tape *tape = costate_tape_new();
        double y[4] = {0}, V[8] = {1, 0, 0, 0, 0, 1}, lambda[8] = {0, 0, 1, 0, 0, 0, 0, 1}, rate = way > 0 ? 3 : 2;
        CHECK_OK(c, costate_integrate(c, 0.5, 0.5 + 0.25 * way, y, NULL, tape));
        assert_true(costate_tape_events(tape) == 2 && y[2] == 0.5 && y[3] == 0.5);
        CHECK_OK(c, costate_tangent(c, tape, 2, V, NULL, NULL, NULL));
        CHECK_OK(c, costate_adjoint(c, tape, 2, lambda, NULL, NULL, NULL));
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                double exact = i == j ? -1 / rate : 0;
                assert_true(fabs(V[4 * j + 2 + i] - exact) <= 1e-13 && fabs(lambda[4 * i + j] - exact) <= 1e-13);
            }
        double later[4] = {-0.01 * way, -0.02 * way};
        CHECK_OK(c, costate_replay(c, tape, later, NULL));
        for (int i = 0; i < 2; i++) assert_true(fabs(later[2 + i] - 0.5 - way * 0.01 * (i + 1) / rate) <= 1e-14);
        /* one event before the stop: the search for it may fail where f jumps */
        for (int i = 0; i < 2; i++) {
            double sooner[4] = {(i ? 0.01 : -0.01) * way, (i ? -0.01 : 0.01) * way};
            int status = costate_replay(c, tape, sooner, NULL);
            assert_true(status == COSTATE_BAD_EVENT || status == COSTATE_OUT_OF_RANGE);
            if (status == COSTATE_OUT_OF_RANGE) assert_non_null(strstr(costate_message(c), "beyond the stop at 0.5"));
        }
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* members run one by one */
static void not_in_lanes(void **state)
{
    context own = {PLAIN, 0};
    costate_problem P = problem_of(&own, 0);
    const costate_lane_maps two = {.lanes = 2};
    const lane_task task = {.P = &P, .maps = &two};
    (void)state;
    assert_string_equal(lanes_refuse_task(&task), "the problem has stops");
}

/* 1000 pieces: y' = u(t) - y with a new u at each, 12 evaluations of f a piece at most */
enum { MANY = 1000 };

static int sampled(const costate_point *x, double *out, void *ctx)
{
    long *calls = ctx;
    (*calls)++;
    out[0] = ((int)floor(x->t) * 7 % 5) - x->y[0];
    return 0;
}

static void many_are_fast(void **state)
{
    static double stops[MANY];
    long calls = 0;
    double y = 0, exact = 0;
    (void)state;
    for (int k = 0; k < MANY; k++) stops[k] = k + 1;
    for (int k = 0; k <= MANY; k++) exact = (k * 7 % 5) + (exact - (k * 7 % 5)) * exp(-(k < MANY ? 1 : 0.5));
    const costate_problem P = {.n = 1, .ctx = &calls, .rhs = {.value = sampled}, .nstops = MANY, .stops = stops};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
    CHECK_OK(c, costate_integrate(c, 0, MANY + 0.5, &y, NULL, NULL));
    assert_true(fabs(y - exact) <= 1e-3);
    assert_in_range(calls, 0, 30 * MANY);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest alone[] = {cmocka_unit_test(is_refused), cmocka_unit_test(not_in_lanes),
        cmocka_unit_test(steps_do_not_pass_stops), cmocka_unit_test(many_are_fast)};
    return run_by_method("stops", is_exact) + run_by_method("continued at stops", is_continued) +
           run_by_kind("resumed behind stops", is_resumed) + run_by_method("stops and differences", by_differences) +
           run_by_kind("events at a stop", events_at_a_stop) + cmocka_run_group_tests(alone, NULL, NULL);
}
