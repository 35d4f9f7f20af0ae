/* test_event_transitions.c - events that leave the state by equations T(t, (y+, y), (y'+, y'), p, m) = 0: what a jump
   says explicitly gives the same run and derivatives, y' is that of the mode after the event, and what is wrong is
   said.  Tangents, adjoints and Hessian products are among those of test_hybrid_transpose and test_hybrid_second. */
#include "alloc.h"
#include "common.h"
#include "hybrids.h"

enum { ROOM = HYBRID_LONGEST };

/* ---- T = (1 + y'0+^2) (y+ - J(t, y, y', p, m)) against J ---- */

typedef struct { double y[ROOM], V[ROOM * 2], lambda[ROOM], mu[2], t0[1], t1[1]; int N; } outcome;

static void run_one(const costate_method *m, const hybrid *h, outcome *o)
{
    costate_problem P = hybrid_problem(h);
    costate_options options = {.rtol = 1e-6, .atol = 1e-6, .mode = h->mode, .consistent = COSTATE_CONSISTENT_START,
                               .controller = method_info(m).embedded ? COSTATE_AUTO : COSTATE_FIXED, .h0 = 0.01};
    double Vp[4] = {1, 0, 0, 1};
    *o = (outcome){.N = h->n + h->nq + h->nm};
    hybrid_start(h, h->p, o->y, o->V);
    for (int i = 0; i < o->N; i++) o->lambda[i] = 1 + 0.1 * i;
    costate *c = new_for_test(m, &P, &options);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, h->t0, h->t1, o->y, h->p, tape));
    assert_true(costate_get_stats(c)->events >= 2);
    CHECK_OK(c, costate_tangent(c, tape, 2, o->V, Vp, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, o->lambda, o->mu, &(costate_times){.t0 = o->t0, .t1 = o->t1}, NULL));
    costate_tape_free(tape);
    costate_free(c);
}

static void close_to(const char *what, int n, const double *x, const double *y)
{
    if (!(relative_gap(n, x, y) <= 1e-10)) fail_msg("%s differs by %.2e", what, relative_gap(n, x, y));
}

static void as_jump(void **state)
{
    const hybrid *by_jump = hybrid_find("kept, by a jump"), *by_equations = hybrid_find("kept, by a transition");
    static outcome a, b;
    if (!hybrid_takes(*state, by_jump)) skip();
    run_one(*state, by_jump, &a);
    run_one(*state, by_equations, &b);
    close_to("y", a.N, b.y, a.y);
    close_to("the tangent", 2 * a.N, b.V, a.V);
    close_to("lambda", a.N, b.lambda, a.lambda);
    close_to("mu", 2, b.mu, a.mu);
    close_to("the gradient by t0", 1, b.t0, a.t0);
    close_to("the gradient by t1", 1, b.t1, a.t1);
}

/* ---- index 2: transposes, Taylor's formula, Hessian products ---- */

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const hybrid *h = ctx;
    int N = h->n + h->nq + h->nm;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < h->n; i++) lambda[i] = 1 + i + y[i];
    for (int j = 0; j < m; j++) for (int i = 0; i < h->n; i++) lambda2[j * N + i] = V[j * N + i];
    return 0;
}

static void of_index_2(void **state)
{
    const hybrid *h = hybrid_find("transitions, index 2");
    if (!hybrid_takes(*state, h)) skip();
    costate_problem P = hybrid_problem(h);
    double y[ROOM];
    costate_report r;
    hybrid_start(h, h->p, y, NULL);
    costate *c = new_for_test(*state, &P, &(costate_options){.rtol = 1e-5, .atol = 1e-5, .mode = h->mode,
                              .consistent = COSTATE_CONSISTENT_START});
    if (costate_check_adjoint(c, h->t0, h->t1, y, h->p, &r) != COSTATE_OK) fail_msg("%s", r.text);
    if (costate_check_hessian(c, h->t0, h->t1, y, h->p, seed, (void *)h, &r) != COSTATE_OK) fail_msg("%s", r.text);
    costate_free(c);
}

/* ---- y' = -y, after the event y' = -p y:  2 y+ + y'+ = 3 y,  y+ = 3 y/(2 - p) ---- */

static int decay_value(const costate_point *x, double *F, void *ctx)
{
    (void)ctx;
    F[0] = x->yp[0] + (x->mode ? x->p[0] : 1) * x->y[0];
    return 0;
}
static int decay_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = (dx->yp ? dx->yp[0] : 0) + (x->mode ? x->p[0] : 1) * (dx->y ? dx->y[0] : 0);
    if (x->mode && dx->p) out[0] += dx->p[0] * x->y[0];
    return 0;
}
static int leaves_value(const costate_point *x, double *T, void *ctx)
{
    (void)ctx;
    assert_int_equal(x->mode, 0);
    T[0] = 2 * x->y[0] + x->yp[0] - 3 * x->y[1];
    return 0;
}
static int leaves_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = (dx->y ? 2 * dx->y[0] - 3 * dx->y[1] : 0) + (dx->yp ? dx->yp[0] : 0);
    return 0;
}

static const double half[] = {0.5};

static costate_event leaves(void)
{
    return (costate_event){.ntimes = 1, .times = half, .from = 0, .to = 1,
                           .transition = {.value = leaves_value, .tangent = leaves_tangent}};
}

static costate_problem decays(const costate_event *e)
{
    return (costate_problem){.n = 1, .np = 1, .residual = {.value = decay_value, .tangent = decay_tangent},
                             .nevents = 1, .event = e};
}

static void mode_after(void **state)
{
    if (!hybrid_takes(*state, hybrid_find("kept, by a jump"))) skip();
    costate_event e = leaves();
    costate_problem P = decays(&e);
    double y[1] = {1}, p[1] = {0.5}, V[1] = {0}, Vp[1] = {1}, tol = method_info(*state).order > 1 ? 1e-6 : 1e-4;
    costate *c = new_for_test(*state, &P, &(costate_options){.rtol = tol, .atol = tol});
    CHECK_OK(c, costate_integrate_tlm(c, 0, 1, y, p, 1, V, Vp, NULL, NULL));
    double exact = 2 * exp(-0.75), by_p = exact * (1 / 1.5 - 0.5);
    if (!(fabs(y[0] - exact) < 300 * tol)) fail_msg("y = %.10g, not %.10g", y[0], exact);
    if (!(fabs(V[0] - by_p) < 300 * tol)) fail_msg("dy/dp = %.10g, not %.10g", V[0], by_p);
    costate_free(c);
}

/* ---- what is wrong is said ---- */

static void ends_with(const costate_event *e, double p0, int status, const char *words)
{
    costate_problem P = decays(e);
    double y[1] = {1}, p[1] = {p0};
    costate *c = costate_new(costate_method_find("radau2a"), &P, NULL);
    int found = costate_status(c) ? costate_status(c) : costate_integrate(c, 0, 1, y, p, NULL);
    if (found != status) fail_msg("%s: %s", costate_status_name(found), costate_message(c));
    if (!strstr(costate_message(c), words)) fail_msg("\"%s\"", costate_message(c));
    costate_free(c);
}

static int keep(const costate_point *x, double *after, void *ctx) { (void)ctx; after[0] = x->y[0]; return 0; }
static int refuses(const costate_point *x, double *T, void *ctx) { (void)x, (void)T, (void)ctx; return -3; }
static int wrong_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    leaves_tangent(x, dx, out, ctx);
    out[0] += 0.01 * (dx->yp ? dx->yp[1] : 0);
    return 0;
}

static void said(void **state)
{
    (void)state;
    costate_event e = leaves();
    ends_with(&e, 2, COSTATE_SINGULAR, "event[0].transition");              /* y'+ = -2 y+: nothing determines y+ */
    e.transition.value = refuses;
    ends_with(&e, 1, COSTATE_CALLBACK, "event[0].transition.value returned -3");
    e = leaves();
    e.transition.tangent = NULL;
    ends_with(&e, 1, COSTATE_MISSING, "event[0].transition.tangent is missing");
    e = leaves();
    e.jump.value = keep;
    ends_with(&e, 1, COSTATE_BAD_ARGUMENT, "has a jump and a transition");
    e = leaves();
    costate_problem P = {.n = 1, .rhs = {.value = keep}, .nevents = 1, .event = &e};
    costate *c = costate_new(costate_method_find("radau2a"), &P, NULL);
    assert_int_equal(costate_status(c), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_message(c), "event[0].transition is available for residuals only"));
    costate_free(c);
}

static void checked(void **state)
{
    (void)state;
    costate_event e = leaves();
    costate_problem P = decays(&e);
    double y[1] = {1}, yp[1] = {-1}, p[1] = {0.5};
    costate_point x = {.y = y, .yp = yp, .p = p};
    costate_report r, q;
    assert_int_equal(costate_check_problem(&P, &x, &r, &q), COSTATE_OK);
    e.transition.tangent = wrong_tangent;
    assert_int_equal(costate_check_problem(&P, &x, &r, &q), COSTATE_CHECK_FAILED);
    assert_non_null(strstr(r.text, "event[0].transition"));
}

static void no_memory(void **state)
{
    (void)state;
    costate_event e = leaves();
    costate_problem P = decays(&e);
    long before = alloc_live(), failures = 1;
    for (long k = 1; failures > 0; k++) {
        double y[1] = {1}, p[1] = {0.5};
        alloc_fail_at(k);
        costate *c = costate_new(costate_method_find("radau2a"), &P, NULL);
        int status = c ? costate_integrate(c, 0, 1, y, p, NULL) : COSTATE_NO_MEMORY;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(said), cmocka_unit_test(checked),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests_name("refused, checked, memory", tests, NULL, NULL) +
           run_by_kind("as a jump", as_jump) + run_by_kind("index 2", of_index_2) +
           run_by_kind("the mode after", mode_after);
}
