/* test_callbacks.c - a callback that fails, or answers NaN or Inf, at its call k: a status in time, or the run
   recovers; never a silent NaN, and the same solver works afterwards. */
#include "everything.h"
#include "meddle.h"

typedef struct { meddler m; problem b; costate *c; costate_tape *tape; results expected; long calls[CB_COUNT]; } world;

static const double T1 = 0.6;
enum { FORWARD = 1 };            /* which of every_call's is the run */

/* NULL: the undisturbed run fails */
static void open_world(world *w, const costate_method *m, const problem *base, costate_options o)
{
    int at;
    *w = (world){.m = {.b = base}, .b = *base};
    w->b.P = meddled(&w->m);
    o.rtol = o.atol = 0.03;
    w->c = new_for_test(m, &w->b.P, &o);
    w->tape = costate_tape_new();
    CHECK_OK(w->c, every_call(w->c, &w->b, T1, w->tape, &w->expected, &at));
    memcpy(w->calls, w->m.calls, sizeof w->calls);
}

static void close_world(world *w)
{
    costate_free(w->c);
    costate_tape_free(w->tape);
}

/* one run with call k spoilt; what it gave */
static int spoil(world *w, int which, long k, int ever, int code, double write, results *r, int *at)
{
    memset(r, 0, sizeof *r);
    w->m = (meddler){.b = w->m.b, .which = (enum callback)which, .at = k, .ever = ever, .code = code, .write = write};
    int status = every_call(w->c, &w->b, T1, w->tape, r, at);
    w->m.at = 0;
    return status;
}

static void works_again(world *w)
{
    results r;
    int at;
    CHECK_OK(w->c, every_call(w->c, &w->b, T1, w->tape, &r, &at));
    assert_memory_equal(&r, &w->expected, sizeof r);
}

static void complain(const world *w, int which, long k, const char *what, int at, int status)
{
    fail_msg("%s, call %ld of %s %s: call %d gave %s: %s", w->b.name, k, callback_names[which], what, at,
             costate_status_name(status), costate_message(w->c));
}

/* all of the first calls, some of the many that follow: k % 10 takes all values */
static long next(long k) { return k < 16 ? k + 1 : k + (how_much() == TESTS_ALL ? 9 : 29); }

static double largest(const results *r)
{
    const double *x = (const double *)r;
    double most = 0;
    for (size_t i = 0; i < sizeof *r / sizeof *x; i++) most = larger_of(most, fabs(x[i]));
    return most;
}

/* < 0: give up, at once and everywhere */
static void gives_up(world *w)
{
    results r;
    int at;
    for (int which = 0; which < CB_COUNT; which++)
        for (long k = 1; k <= w->calls[which]; k = next(k)) {
            int status = spoil(w, which, k, 0, -3, 0, &r, &at);
            if (status != COSTATE_CALLBACK || w->m.calls[which] != k) complain(w, which, k, "returning -3", at, status);
            if (at == FORWARD) {                    /* what was taken before is swept all the same */
                status = costate_adjoint(w->c, w->tape, 1, (double[EVERY_N]){1}, NULL, NULL, NULL);
                assert_int_equal(status, costate_tape_steps(w->tape) ? COSTATE_OK : COSTATE_BAD_TAPE);
            }
            if (k % 10 == 1) works_again(w);
        }
}

/* > 0: a smaller step in the forward run, a status over the tape */
static void asks_for_less(world *w)
{
    results r;
    int at, recovered = 0;
    for (int which = 0; which < CB_COUNT; which++)
        for (long k = 1; k <= w->calls[which]; k = next(k)) {
            int status = spoil(w, which, k, 0, 1, 0, &r, &at);
            if (status != COSTATE_OK && status != COSTATE_CALLBACK) complain(w, which, k, "returning 1", at, status);
            if (status == COSTATE_OK && !(largest(&r) < 100))
                complain(w, which, k, "returning 1 and a bad result", at, status);
            if (status == COSTATE_OK) recovered++;
            if (k % 10 == 1) works_again(w);
        }
    assert_true(recovered > 3);
    int status = spoil(w, CB_VALUE, 4, 1, 1, 0, &r, &at);
    if (status != COSTATE_CALLBACK || at != FORWARD) complain(w, CB_VALUE, 4, "and after returning 1", at, status);
}

/* NaN or Inf: once, or from then on */
static void not_finite(world *w)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    results r;
    int at;
    for (int which = 0; which < CB_COUNT; which++)
        for (long k = 1; k <= w->calls[which]; k = next(k)) {
            int status = spoil(w, which, k, 0, 0, bad[k % 3], &r, &at);
            if (!(largest(&r) < 100)) complain(w, which, k, "being NaN or Inf and so the result", at, status);
            if (status == COSTATE_OK) continue;                          /* recovered */
            if (status != COSTATE_NOT_FINITE) complain(w, which, k, "being NaN or Inf", at, status);
            if (k % 10 == 1) works_again(w);
        }
    for (long k = 1; k < 12; k++) {
        int status = spoil(w, CB_VALUE, k, 1, 0, bad[k % 3], &r, &at);
        if (status != COSTATE_NOT_FINITE) complain(w, CB_VALUE, k, "and after being NaN or Inf", at, status);
    }
}

/* ---- callbacks of options and calls ------------------------------------------------------------------------------ */

typedef struct { int calls, at; } counter;

static int on_step(const costate_step *s, void *ctx) { counter *k = ctx; (void)s; return ++k->calls == k->at; }
static int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    counter *n = ctx;
    (void)k, (void)t, (void)y, (void)m;
    w[0] = 1;
    return ++n->calls == n->at ? -2 : 0;
}
static int value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    counter *n = ctx;
    (void)k, (void)t, (void)y, (void)m, (void)V;
    return ++n->calls == n->at ? 2 : 0;
}

/* on_step, observations.seed and observations.value, at each of their calls */
static void others(void **state)
{
    enum { COUNT = 5 };
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    const double t[COUNT] = {0.3, 0.34, 0.4, 0.41, 0.6};
    counter steps = {0, 0}, seen = {0, 0};
    costate_observations o = {.count = COUNT, .t = t, .value = value, .seed = seed, .ctx = &seen};
    costate *c = new_for_test(*state, &b->P, &(costate_options){.rtol = 1e-2, .atol = 1e-2, .hmax = 0.08,
                                                                .on_step = on_step, .on_step_ctx = &steps});
    costate_tape *tape = costate_tape_new();
    double y[EVERY_N], V[EVERY_N] = {1}, lambda[EVERY_N] = {1};
    for (int k = 1, status = COSTATE_STOPPED; status != COSTATE_OK; k++) {
        steps = (counter){0, k};
        every_start(b, y);
        status = costate_integrate(c, b->t0, T1, y, b->p0, tape);
        if (status != COSTATE_OK)
            assert_true(status == COSTATE_STOPPED && costate_tape_steps(tape) == k && steps.calls == k);
    }
    assert_true(steps.calls > 3);
    for (int k = 1; k <= COUNT + 1; k++) {
        seen = (counter){0, k};
        assert_int_equal(costate_adjoint(c, tape, 1, lambda, NULL, NULL, &o),
                         k > COUNT ? COSTATE_OK : COSTATE_CALLBACK);
        assert_int_equal(seen.calls, k > COUNT ? COUNT : k);
        seen = (counter){0, k};
        assert_int_equal(costate_tangent(c, tape, 1, V, NULL, NULL, &o), k > COUNT ? COSTATE_OK : COSTATE_CALLBACK);
        assert_int_equal(seen.calls, k > COUNT ? COUNT : k);
    }
    costate_free(c);
    costate_tape_free(tape);
}

static void with_worlds(const costate_method *m, void (*claim)(world *))
{
    costate_options o[] = {{.h0 = 0.15},
                           {.h0 = 0.1,
                            .controller = COSTATE_FIXED,
                            .storage = COSTATE_STATES_ONLY,
                            .stage_solve = COSTATE_STAGE_ITERATIVE},
                           {.h0 = 0.1, .controller = COSTATE_FIXED, .solver = COSTATE_LS_GMRES}};
    int count = claim == asks_for_less                     ? 1
                : claim == not_finite && !is_explicit(m) ? 3
                                                         : 2; /* fixed steps cannot be smaller */
    for (int k = 0; k < count; k++) {
        world w;
        if (!is_newton(m)) o[k].stage_solve = 0;
        open_world(&w, m, problem_synthetic(MASS_IDENTITY, 0, 2, 2, k & 1), o[k]);
        claim(&w);
        close_world(&w);
    }
}

static void fails(void **state) { with_worlds(*state, gives_up); }
static void smaller(void **state) { NEEDS_ESTIMATE(*state); with_worlds(*state, asks_for_less); }
static void nan_inf(void **state) { NEEDS_ESTIMATE(*state); with_worlds(*state, not_finite); }

int main(void)
{
    return run_by_kind("a callback gives up", fails) + run_by_kind("a callback asks for a smaller step", smaller) +
           run_by_kind("a callback answers NaN or Inf", nan_inf) + run_by_kind("on_step and observations", others);
}
