/* test_bad_input.c - every wrong argument is a status and a sentence that names it, and the caller's arrays stay as
   they are. */
#include "common.h"
#include <costate/linsol.h>

enum { N = 5, NP = 2, M = 2 };       /* n = 3 and nq = 2; two columns */

typedef struct {
    costate *c;
    const problem *b;
    costate_tape *tape;
    union {
        struct { double V[M * N], lambda[M * N], Vp[M * NP], mu[M * NP], y[N], p[NP]; };
        double all[M * (2 * N + 2 * NP) + N + NP];
    };
} world;

static void fill(world *w)
{
    unsigned seed = 1;
    random_fill(&seed, sizeof w->all / sizeof *w->all, w->all);
    memcpy(w->y, w->b->y0, 3 * sizeof *w->y);
    memcpy(w->p, w->b->p0, sizeof w->p);
}

static world open_world(const costate_method *m)
{
    costate_options o = {.rtol = 1e-3, .atol = 1e-3};
    world w = {.b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0)};
    fill(&w);
    w.c = new_for_test(m, &w.b->P, &o);
    w.tape = costate_tape_new();
    CHECK_OK(w.c, costate_integrate(w.c, 0.3, 1.3, w.y, w.p, w.tape));
    fill(&w);
    return w;
}

static void close_world(world *w)
{
    costate_tape_free(w->tape);
    costate_free(w->c);
}

static void expect(const costate *c, int got, int wanted, const char *name)
{
    if (got == wanted && costate_status(c) == wanted && strstr(costate_message(c), name)) return;
    fail_msg("wanted %s and the word \"%s\", got %s: %s", costate_status_name(wanted), name, costate_status_name(got),
             costate_message(c));
}

static int seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)mu, (void)ctx;
    lambda[0] = 1;
    return 0;
}
static int bad_seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    seed(t1, y, p, m, lambda, mu, ctx);
    lambda[1] = NAN;
    return 0;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

#define BAD(name, call) do { double old_[sizeof w.all / sizeof *w.all]; memcpy(old_, w.all, sizeof old_); \
    expect(w.c, call, COSTATE_BAD_ARGUMENT, name); assert_memory_equal(old_, w.all, sizeof old_); } while (0)
#define SPOILT(place, name, call) do { \
    for (int k_ = 0; k_ < 3; k_++) { place = (double[]){NAN, INFINITY, -INFINITY}[k_]; BAD(name, call); } \
    fill(&w); } while (0)

static void arguments(void **state)
{
    world w = open_world(*state);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    costate_times times = {.t0 = (double *)bad, .t1 = NULL}, times1 = {.t0 = NULL, .t1 = (double *)bad};
    for (int k = 0; k < 3; k++) {
        BAD("t0", costate_integrate(w.c, bad[k], 1.3, w.y, w.p, NULL));
        BAD("t1", costate_integrate(w.c, 0.3, bad[k], w.y, w.p, NULL));
        BAD("t0", costate_integrate_tlm(w.c, bad[k], 1.3, w.y, w.p, 1, w.V, w.Vp, NULL, NULL));
    }
    BAD("y", costate_integrate(w.c, 0.3, 1.3, NULL, w.p, NULL));
    BAD("p is", costate_integrate(w.c, 0.3, 1.3, w.y, NULL, NULL));
    BAD("V is", costate_integrate_tlm(w.c, 0.3, 1.3, w.y, w.p, 1, NULL, NULL, NULL, NULL));
    BAD("m = 0", costate_integrate_tlm(w.c, 0.3, 1.3, w.y, w.p, 0, w.V, NULL, NULL, NULL));
    BAD("tape", costate_tangent(w.c, NULL, 1, w.V, NULL, NULL, NULL));
    BAD("V is", costate_tangent(w.c, w.tape, 1, NULL, NULL, NULL, NULL));
    BAD("m = -1", costate_tangent(w.c, w.tape, -1, w.V, NULL, NULL, NULL));
    BAD("times.t0", costate_tangent(w.c, w.tape, 1, w.V, NULL, &times, NULL));
    BAD("times.t1", costate_integrate_tlm(w.c, 0.3, 1.3, w.y, w.p, 1, w.V, NULL, &times1, NULL));
    BAD("tape", costate_adjoint(w.c, NULL, 1, w.lambda, w.mu, NULL, NULL));
    BAD("lambda", costate_adjoint(w.c, w.tape, 1, NULL, w.mu, NULL, NULL));
    BAD("m = 0", costate_adjoint(w.c, w.tape, 0, w.lambda, w.mu, NULL, NULL));
    BAD("tape", costate_replay(w.c, NULL, w.y, w.p));
    BAD("y is", costate_replay(w.c, w.tape, NULL, w.p));
    BAD("p is", costate_replay(w.c, w.tape, w.y, NULL));
    BAD("tape", costate_tape_eval(w.c, NULL, 0.5, w.y));
    BAD("y is", costate_tape_eval(w.c, w.tape, 0.5, NULL));
    BAD("y is", costate_check_adjoint(w.c, 0.3, 1.3, NULL, w.p, &(costate_report){0}));
    BAD("p is", costate_check_adjoint(w.c, 0.3, 1.3, w.y, NULL, &(costate_report){0}));
    BAD("report", costate_check_adjoint(w.c, 0.3, 1.3, w.y, w.p, NULL));
    expect(w.c, costate_integrate_adj(w.c, 0.3, 1.3, w.y, w.p, 1, w.lambda, w.mu, NULL, NULL, NULL), COSTATE_MISSING,
           "seed");
    BAD("lambda", costate_integrate_adj(w.c, 0.3, 1.3, w.y, w.p, 1, NULL, w.mu, NULL, seed, NULL));
    BAD("m = 0", costate_integrate_adj(w.c, 0.3, 1.3, w.y, w.p, 0, w.lambda, w.mu, NULL, seed, NULL));
    expect(w.c, costate_integrate_adj(w.c, 0.3, 1.3, w.y, w.p, 1, w.lambda, w.mu, NULL, bad_seed, NULL),
           COSTATE_BAD_ARGUMENT, "seed");
    close_world(&w);
}

static void spoilt(void **state)
{
    world w = open_world(*state);
    SPOILT(w.y[4], "y holds", costate_integrate(w.c, 0.3, 1.3, w.y, w.p, NULL));
    SPOILT(w.p[1], "p holds", costate_integrate(w.c, 0.3, 1.3, w.y, w.p, NULL));
    SPOILT(w.y[0], "y holds", costate_replay(w.c, w.tape, w.y, w.p));
    SPOILT(w.p[0], "p holds", costate_replay(w.c, w.tape, w.y, w.p));
    SPOILT(w.V[9], "V holds", costate_integrate_tlm(w.c, 0.3, 1.3, w.y, w.p, 2, w.V, w.Vp, NULL, NULL));
    SPOILT(w.Vp[3], "Vp holds", costate_integrate_tlm(w.c, 0.3, 1.3, w.y, w.p, 2, w.V, w.Vp, NULL, NULL));
    SPOILT(w.V[0], "V holds", costate_tangent(w.c, w.tape, 2, w.V, w.Vp, NULL, NULL));
    SPOILT(w.Vp[0], "Vp holds", costate_tangent(w.c, w.tape, 2, w.V, w.Vp, NULL, NULL));
    SPOILT(w.lambda[9], "lambda holds", costate_adjoint(w.c, w.tape, 2, w.lambda, w.mu, NULL, NULL));
    SPOILT(w.mu[3], "mu holds", costate_adjoint(w.c, w.tape, 2, w.lambda, w.mu, NULL, NULL));
    SPOILT(w.y[1], "y holds", costate_check_adjoint(w.c, 0.3, 1.3, w.y, w.p, &(costate_report){0}));
    SPOILT(w.p[1], "p holds", costate_check_adjoint(w.c, 0.3, 1.3, w.y, w.p, &(costate_report){0}));
    CHECK_OK(w.c, costate_integrate(w.c, 0.3, 1.3, w.y, w.p, NULL));       /* and none the worse for it */
    close_world(&w);
}

/* t0 = t1: success, nothing done, and a complete tape of no steps. */
static void nothing_to_do(void **state)
{
    world w = open_world(*state), old = w;
    costate_reset_stats(w.c);
    CHECK_OK(w.c, costate_integrate(w.c, 0.7, 0.7, w.y, w.p, w.tape));
    assert_int_equal(costate_tape_steps(w.tape), 0);
    assert_int_equal(costate_get_stats(w.c)->steps + costate_get_stats(w.c)->f, 0);
    CHECK_OK(w.c, costate_integrate_tlm(w.c, 0.7, 0.7, w.y, w.p, 2, w.V, w.Vp, NULL, NULL));
    CHECK_OK(w.c, costate_tangent(w.c, w.tape, 2, w.V, w.Vp, NULL, NULL));
    CHECK_OK(w.c, costate_adjoint(w.c, w.tape, 2, w.lambda, w.mu, NULL, NULL));
    CHECK_OK(w.c, costate_replay(w.c, w.tape, w.y, w.p));
    assert_memory_equal(w.all, old.all, sizeof w.all);
    CHECK_OK(w.c, costate_tape_eval(w.c, w.tape, 0.7, w.V));
    assert_memory_equal(w.V, w.y, 3 * sizeof *w.y);
    memcpy(w.V, old.V, sizeof w.V);
    CHECK_OK(w.c, costate_integrate_adj(w.c, 0.7, 0.7, w.y, w.p, 1, w.lambda, w.mu, NULL, seed, NULL));
    assert_true(w.lambda[0] == 1 && w.lambda[1] == 0);
    assert_true(costate_time(w.c) == 0.7);
    close_world(&w);
}

/* ---- no handles ---------------------------------------------------------------------------------------- */

static void no_handles(void **state)
{
    double x[N] = {0};
    const costate_method *m = *state;
    world w = open_world(m);
    costate_free(NULL), costate_tape_free(NULL), costate_reset_stats(NULL);
    assert_int_equal(costate_status(NULL), COSTATE_BAD_ARGUMENT);
    assert_true(strlen(costate_message(NULL)) > 10);
    assert_true(costate_time(NULL) == 0 && costate_get_stats(NULL) == NULL &&
                strcmp(costate_solver_name(NULL), "none") == 0);
    const int calls[] = {
        costate_integrate(NULL, 0, 1, x, x, NULL), costate_integrate_tlm(NULL, 0, 1, x, x, 1, x, x, NULL, NULL),
        costate_integrate_adj(NULL, 0, 1, x, x, 1, x, x, NULL, seed, NULL),
        costate_adjoint(NULL, w.tape, 1, x, x, NULL, NULL), costate_tangent(NULL, w.tape, 1, x, x, NULL, NULL),
        costate_replay(NULL, w.tape, x, x), costate_tape_eval(NULL, w.tape, 0.5, x),
        costate_tape_get(NULL, 0, x, x, x), costate_check_adjoint(NULL, 0, 1, x, x, NULL),
        costate_method_describe(NULL, NULL), costate_method_describe(m, NULL),
        costate_check_map(NULL, 1, 0, 1, NULL, NULL, NULL), costate_check_problem(NULL, NULL, NULL, NULL),
        costate_step_eval(NULL, 0, x)};
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) assert_int_equal(calls[k], COSTATE_BAD_ARGUMENT);
    assert_true(costate_step_start(NULL) == 0 && costate_step_end(NULL) == 0 && costate_step_state(NULL) == NULL);
    assert_true(costate_tape_steps(NULL) == 0 && costate_tape_bytes(NULL) == 0);
    assert_int_equal(costate_tape_get(w.tape, -1, x, x, x), COSTATE_OUT_OF_RANGE);
    assert_int_equal(costate_tape_get(w.tape, costate_tape_steps(w.tape), x, x, x), COSTATE_OUT_OF_RANGE);
    assert_int_equal(costate_tape_get(w.tape, 0, NULL, NULL, NULL), COSTATE_OK);
    assert_true(!costate_backend_find(NULL) && !costate_backend_find("abacus") && !costate_method_find(NULL));
    close_world(&w);
}

int main(void)
{
    return run_by_method("wrong arguments", arguments) + run_by_method("NaN and Inf", spoilt) +
           run_by_method("nothing to do", nothing_to_do) + run_by_method("no handles", no_handles);
}
