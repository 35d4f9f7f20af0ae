/* test_event_slopes.c - events of residuals that see y': it is that of F at the state, runs are those of events in
   which y' was replaced by what the equations say it is, and a root of F that the run does not follow is not taken.
   Their tangents, adjoints and Hessian products are among those of test_hybrid_transpose and test_hybrid_second. */
#include "alloc.h"
#include "common.h"
#include "hybrids.h"

enum { ROOM = HYBRID_LONGEST };

static double tolerance(const costate_method *m)
{
    int order = method_info(m).order;
    return order > 3 ? 1e-9 : order > 1 ? 1e-6 : 1e-5;
}

/* ---- the same as with rates ---- */

typedef struct { double y[ROOM], V[ROOM * 2], t[16]; int events; } outcome;

static int keep_time(int event, double t, const double *before, const double *after, void *ctx)
{
    outcome *o = ctx;
    (void)event, (void)before, (void)after;
    if (o->events < 16) o->t[o->events] = t;
    o->events++;
    return 0;
}

static void run_one(const costate_method *m, const hybrid *h, double tol, outcome *o)
{
    costate_problem P = hybrid_problem(h);
    costate_options options = {.rtol = tol, .atol = tol, .mode = h->mode, .on_event = keep_time, .on_event_ctx = o,
                               .consistent = COSTATE_CONSISTENT_START | COSTATE_CONSISTENT_END};
    double Vp[4] = {1, 0, 0, 1};
    *o = (outcome){.events = 0};
    hybrid_start(h, h->p, o->y, o->V);
    costate *c = new_for_test(m, &P, &options);
    CHECK_OK(c, costate_integrate_tlm(c, h->t0, h->t1, o->y, h->p, 2, o->V, Vp, NULL, NULL));
    costate_free(c);
}

static void by_rates(void **state)
{
    static const char *const pairs[][2] = {{"slopes, residual", "slopes, M singular"},
                                           {"slopes, residual backwards", "slopes, M singular backwards"}};
    NEEDS_ESTIMATE(*state);
    for (int k = 0; k < 2; k++) {
        const hybrid *seen = hybrid_find(pairs[k][0]), *known = hybrid_find(pairs[k][1]);
        static outcome a, b;
        double tol = tolerance(*state);
        int N = seen->n + seen->nq + seen->nm;
        if (!hybrid_takes(*state, seen)) skip();
        run_one(*state, seen, tol, &a);
        run_one(costate_method_find("radau2a5"), known, 1e-11, &b);
        assert_int_equal(a.events, b.events);
        for (int i = 0; i < a.events; i++)
            if (fabs(a.t[i] - b.t[i]) > 300 * tol)
                fail_msg("%s: event %d at %.12g, not %.12g", seen->name, i, a.t[i], b.t[i]);
        if (largest_gap(N, a.y, b.y) > 3000 * tol)
            fail_msg("%s: y differs by %.2e", seen->name, largest_gap(N, a.y, b.y));
        if (largest_gap(2 * N, a.V, b.V) > 1e5 * tol)
            fail_msg("%s: y' differs by %.2e", seen->name, largest_gap(2 * N, a.V, b.V));
    }
}

/* ---- x->yp is y' of F at x->y, or NULL ---- */

/* y0' + y0'^3/10 = y1 cos t,  0 = y1 - 1 - y0/2 */
static int bent_value(const costate_point *x, double *F, void *ctx)
{
    (void)ctx;
    F[0] = x->yp[0] + 0.1 * pow(x->yp[0], 3) - x->y[1] * cos(x->t);
    F[1] = x->y[1] - 1 - 0.5 * x->y[0];
    return 0;
}

typedef struct { int with, calls; double worst; } witness;

static void look(witness *w, const costate_point *x)
{
    w->calls++;
    if (!w->with) { assert_null(x->yp); return; }
    double F[2];
    assert_non_null(x->yp);
    bent_value(x, F, NULL);
    w->worst = fmax(w->worst, fmax(fabs(F[0]), fabs(F[1])));
    assert_true(x->yp[1] == 0);
}
static int seen_guard(const costate_point *x, double *e, void *ctx)
{
    look(ctx, x);
    e[0] = x->y[0] - 0.4;
    return 0;
}
static int seen_jump(const costate_point *x, double *after, void *ctx)
{
    look(ctx, x);
    memcpy(after, x->y, 2 * sizeof *after);
    return 0;
}
static int seen_cost(const costate_point *x, double *r, void *ctx)
{
    look(ctx, x);
    r[0] = x->y[0];
    return 0;
}

static void is_there(void **state)
{
    if (!hybrid_takes(*state, hybrid_find("slopes, residual"))) skip();
    for (int with = 0; with <= 1; with++)
        for (int at_time = 0; at_time <= 1; at_time++) {
            static const double half[] = {0, 0.5};
            witness w = {.with = with};
            costate_event e = {.jump = {.value = seen_jump}, .cost = {.value = seen_cost}, .from = COSTATE_ANY_MODE,
                               .to = COSTATE_SAME_MODE, .slopes = with, .ctx = &w};
            if (at_time) { e.ntimes = 2; e.times = half; }
            else e.guard.value = seen_guard;
            costate_problem P = {.n = 2, .nq = 1, .residual = {.value = bent_value}, .nevents = 1, .event = &e,
                                 .index = (const int[]){0, 1}};
            double y[3] = {0, 1, 0};
            costate *c = new_for_test(*state, &P, &(costate_options){.rtol = 1e-5, .atol = 1e-5});
            CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, NULL));
            assert_int_equal(costate_get_stats(c)->events, at_time ? 2 : 1);
            assert_true(w.calls >= 2);
            if (w.worst > 1e-12) fail_msg("at y' the residual is %.2e", w.worst);
            costate_free(c);
        }
}

/* ---- (y' - a)(y' - a - 3) = 0, a = -1 - 2 t: Newton's iteration from y' = 0 finds a + 3 from t = 1/4 on, the run goes
   on with y' = a: it is -5/2 at t = 3/4, and y' + 5/2 never zero along the other one.  y+ = y + y'^2 p there. ---- */

static double rate(double t) { return -1 - 2 * t; }

static int two_value(const costate_point *x, double *F, void *ctx)
{
    (void)ctx;
    F[0] = (x->yp[0] - rate(x->t)) * (x->yp[0] - rate(x->t) - 3);
    return 0;
}
static int two_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double u = x->yp[0] - rate(x->t), du = (dx->yp ? dx->yp[0] : 0) + 2 * dx->t;
    (void)ctx;
    out[0] = (2 * u - 3) * du;
    return 0;
}
static int two_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double u = x->yp[0] - rate(x->t), by = (2 * u - 3) * w[0];
    (void)ctx;
    if (g->yp) g->yp[0] += by;
    if (g->t) *g->t += 2 * by;
    return 0;
}
static int root_guard(const costate_point *x, double *e, void *ctx) { (void)ctx; e[0] = x->yp[0] + 2.5; return 0; }
static int root_guard_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = dx->yp ? dx->yp[0] : 0;
    return 0;
}
static int root_guard_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->yp) g->yp[0] += w[0];
    return 0;
}
static int root_jump(const costate_point *x, double *after, void *ctx)
{
    (void)ctx;
    after[0] = x->y[0] + x->yp[0] * x->yp[0] * x->p[0];
    return 0;
}
static int root_jump_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double k = x->yp[0];
    (void)ctx;
    out[0] = (dx->y ? dx->y[0] : 0) + 2 * k * (dx->yp ? dx->yp[0] : 0) * x->p[0] + k * k * (dx->p ? dx->p[0] : 0);
    return 0;
}
static int root_jump_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double k = x->yp[0];
    (void)ctx;
    if (g->y) g->y[0] += w[0];
    if (g->yp) g->yp[0] += 2 * k * x->p[0] * w[0];
    if (g->p) g->p[0] += k * k * w[0];
    return 0;
}

/* Forward, and over tapes whose events are read from memory, or whose steps are made again. */
static void same_root(void **state)
{
    if (!hybrid_takes(*state, hybrid_find("slopes, residual"))) skip();
    costate_event e = {.guard = {.value = root_guard, .tangent = root_guard_tangent, .adjoint = root_guard_adjoint},
                       .jump = {.value = root_jump, .tangent = root_jump_tangent, .adjoint = root_jump_adjoint},
                       .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE, .direction = -1, .passes = 1, .slopes = 1};
    costate_problem P = {.n = 1, .np = 1, .nevents = 1, .event = &e,
                         .residual = {.value = two_value, .tangent = two_tangent, .adjoint = two_adjoint}};
    for (int storage = 0; storage <= COSTATE_CHECKPOINTS; storage++) {
        double y[1] = {0}, p[1] = {0.1}, V[1] = {1}, Vp[1] = {1}, lambda[1] = {1}, mu[1] = {0};
        costate *c = new_for_test(*state, &P, &(costate_options){.rtol = 1e-6, .atol = 1e-6, .hmax = 0.05,
                                  .storage = storage, .checkpoints = storage == COSTATE_CHECKPOINTS ? 20 : 0});
        costate_tape *tape = costate_tape_new();
        CHECK_OK(c, costate_integrate(c, 0, 0.95, y, p, tape));
        assert_int_equal(costate_get_stats(c)->events, 1);
        double exact = -0.95 - 0.95 * 0.95 + 0.1 * 6.25;
        double most = method_info(*state).order > 1 ? 1e-4 : 1e-2;
        if (fabs(y[0] - exact) > most) fail_msg("y = %.10g, not %.10g", y[0], exact);
        CHECK_OK(c, costate_tangent(c, tape, 1, V, Vp, NULL, NULL));
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
        assert_true(fabs(V[0] - 7.25) < 5 * most);
        assert_true(fabs(lambda[0] + mu[0] - V[0]) < 1e-12);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- what is wrong is said ---- */

static int one_value(const costate_point *x, double *f, void *ctx) { (void)ctx; f[0] = x->y[0]; return 0; }
static int line_value(const costate_point *x, double *F, void *ctx) { (void)ctx; F[0] = x->yp[0] - 1; return 0; }

static void refused(const costate_problem *P, const char *words)
{
    costate *c = costate_new(costate_method_find("radau2a"), P, NULL);
    assert_int_equal(costate_status(c), COSTATE_BAD_ARGUMENT);
    if (!strstr(costate_message(c), words)) fail_msg("\"%s\"", costate_message(c));
    costate_free(c);
}

/* a guard whose derivative by y' is wrong by a factor */
static int wrong_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    root_guard_tangent(x, dx, out, ctx);
    out[0] *= 1.01;
    return 0;
}

static void said(void **state)
{
    (void)state;
    costate_event e = {.guard = {.value = one_value}, .slopes = 1};
    costate_problem P = {.n = 1, .rhs = {.value = one_value}, .nevents = 1, .event = &e};
    refused(&P, "event[0].slopes: x->yp is of residuals");
    P.rhs.value = NULL;
    P.residual.value = line_value;
    e.slopes = 2;
    refused(&P, "event[0].slopes = 2");
    double y[1] = {1}, yp[1] = {1};
    costate_point x = {.y = y, .yp = yp};
    costate_report r, q;
    e = (costate_event){.guard = {.value = root_guard, .tangent = root_guard_tangent}, .slopes = 1};
    assert_int_equal(costate_check_problem(&P, &x, &r, &q), COSTATE_OK);
    e.guard.tangent = wrong_tangent;
    assert_int_equal(costate_check_problem(&P, &x, &r, &q), COSTATE_CHECK_FAILED);
    assert_non_null(strstr(r.text, "event[0].guard"));
}

/* memory runs out at each call of costate_new and of the run in turn */
static void no_memory(void **state)
{
    (void)state;
    const hybrid *h = hybrid_find("slopes, residual");
    costate_problem P = hybrid_problem(h);
    long before = alloc_live(), failures = 1;
    for (long k = 1; failures > 0; k++) {
        double y[ROOM];
        hybrid_start(h, h->p, y, NULL);
        alloc_fail_at(k);
        costate *c = costate_new(costate_method_find("radau2a"), &P, &(costate_options){.mode = h->mode,
                                 .consistent = COSTATE_CONSISTENT_START});
        int status = c ? costate_integrate(c, h->t0, h->t1, y, h->p, NULL) : COSTATE_NO_MEMORY;
        failures = alloc_failures();
        alloc_fail_at(0);
        assert_int_equal(status, failures ? COSTATE_NO_MEMORY : COSTATE_OK);
        costate_free(c);
        assert_int_equal(alloc_live(), before);
        assert_true(k < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(said), cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests_name("refused, checked", tests, NULL, NULL) +
           run_by_kind("as with rates", by_rates) + run_by_kind("y' of F", is_there) +
           run_by_kind("the root of the run", same_root);
}
