/* test_gives_up.c - a callback that returns < 0 ends the call it was made in, whichever that is, with COSTATE_CALLBACK
   and a sentence that names it and its number: runs, tangents, adjoints with times, defects and observations, GMRES,
   the preconditioner. */
#include "everything.h"
#include "meddle.h"

enum { N = EVERY_N, M = EVERY_M, OBSERVED = 4 };

static const double T1 = 0.6, UNIT[N * M] = {1, 0.5, -0.2, 0.1, 0.3, -0.4, 1, 0.6, 0.2, -0.7},
                    DP[EVERY_P * M] = {0.3, -0.2, 0.1, 0.5};

typedef struct {
    int calls, at;
} counter; /* of a callback that is no map: fails at this call */

static int fails(counter *k) { return ++k->calls == k->at ? -7 : 0; }

typedef struct {
    counter value, seed, end, setup, solve;
} others;

static int observe(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    (void)k, (void)t, (void)y, (void)m, (void)V;
    return fails(&((others *)ctx)->value);
}
static int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    (void)k, (void)t;
    for (int i = 0; i < 3 * m; i++) w[i] = y[i % 3];
    return fails(&((others *)ctx)->seed);
}
static int seed_end(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)mu;
    memcpy(lambda, UNIT, sizeof UNIT);
    return fails(&((others *)ctx)->end);
}
static int setup(double sigma, const costate_point *x, void *ctx)
{
    (void)sigma, (void)x;
    return fails(&((others *)ctx)->setup);
}
static int solve(int transpose, double *x, void *ctx)
{
    (void)transpose, (void)x;
    return fails(&((others *)ctx)->solve);
}

typedef struct {
    meddler m;
    others o;
    problem b;
    costate_options options;
    costate_preconditioner pre;
    costate *c;
    costate_tape *tape;
} world;

/* every call that calls back, with everything that can be asked of it */
static int everything(world *w)
{
    double t0[M] = {0.1, -0.2}, t1[M] = {0.3, 0.2}, defect[M], dt[OBSERVED * M], y[N], V[N * M], mu[EVERY_P * M] = {0};
    const double at[OBSERVED] = {w->b.t0, 0.37, 0.41, T1};
    costate_observations o = {.count = OBSERVED, .t = at, .value = observe, .seed = seed, .dt = dt, .ctx = &w->o};
    costate_times by = {.t0 = t0, .t1 = t1}, of = {.t0 = t0, .t1 = t1, .defect = defect};
    int status;
#define DO(call) if ((status = (call)) != COSTATE_OK) return status
    every_start(&w->b, y);
    memcpy(V, UNIT, sizeof V);
    DO(costate_integrate_tlm(w->c, w->b.t0, T1, y, w->b.p0, M, V, DP, &by, NULL));
    every_start(&w->b, y);
    DO(costate_integrate(w->c, w->b.t0, T1, y, w->b.p0, w->tape));
    memcpy(V, UNIT, sizeof V);
    DO(costate_tangent(w->c, w->tape, M, V, DP, &by, &o));
    memcpy(V, UNIT, sizeof V);
    DO(costate_adjoint(w->c, w->tape, M, V, mu, &of, &o));
    every_start(&w->b, y);
    DO(costate_replay(w->c, w->tape, y, w->b.p0));
    DO(costate_tape_eval(w->c, w->tape, 0.44, y));
    every_start(&w->b, y);
    DO(costate_integrate_adj(w->c, w->b.t0, T1, y, w->b.p0, M, V, mu, &of, seed_end, &w->o));
#undef DO
    return COSTATE_OK;
}

static void claim(const world *w, const char *name, long k, int status)
{
    const char *message = costate_message(w->c);
    if (status != COSTATE_CALLBACK || !strstr(message, name) || !strstr(message, "-7"))
        fail_msg("solver %d, storage %d, call %ld of %s: %s: %s", w->options.solver, w->options.storage, k, name,
                 costate_status_name(status), message);
}

/* all of the first calls, some of the many that follow */
static long next(long k) { return k < 24 ? k + 1 : k + k / 3; }

static void maps(world *w, const long *calls)
{
    for (int which = 0; which < CB_COUNT; which++)
        for (long k = 1; k <= calls[which]; k = next(k)) {
            w->m = (meddler){.b = w->m.b, .which = (enum callback)which, .at = k, .code = -7};
            int status = everything(w);
            if (w->m.calls[which] != k) fail_msg("%s was called again after it gave up", callback_names[which]);
            claim(w, callback_names[which], k, status);
        }
    w->m = (meddler){.b = w->m.b};
}

static void counted(world *w, counter *one, const char *name)
{
    for (int k = 1, calls = one->calls; k <= calls; k = (int)next(k)) {
        w->o = (others){.value = {0, 0}};
        one->at = k;
        int status = everything(w);
        assert_int_equal(one->calls, k);
        claim(w, name, k, status);
    }
    w->o = (others){.value = {0, 0}};
    CHECK_OK(w->c, everything(w));
}

static void with_options(const costate_method *m, costate_options o, int preconditioned, int mass)
{
    world w = {.m = {.b = problem_synthetic(mass, 0, 2, 2, 1)}, .options = o, .tape = costate_tape_new()};
    w.b = *w.m.b;
    w.b.P = meddled(&w.m);
    w.pre = (costate_preconditioner){.setup = setup, .solve = solve, .ctx = &w.o};
    if (preconditioned) w.options.preconditioner = &w.pre;
    w.c = new_for_test(m, &w.b.P, &w.options);
    CHECK_OK(w.c, everything(&w));
    others all = w.o;
    long calls[CB_COUNT];
    memcpy(calls, w.m.calls, sizeof calls);
    maps(&w, calls);
    w.o = all;
    counted(&w, &w.o.value, "observations.value");
    w.o = all;
    counted(&w, &w.o.seed, "observations.seed");
    w.o = all;
    counted(&w, &w.o.end, "seed");
    w.o = all;
    if (preconditioned) counted(&w, &w.o.setup, "preconditioner's setup");
    w.o = all;
    if (preconditioned) counted(&w, &w.o.solve, "preconditioner's solve");
    costate_free(w.c);
    costate_tape_free(w.tape);
}

static void gives_up(void **state)
{
    const costate_method *m = *state;
    int irk = is_newton(m);
    with_options(m, (costate_options){.rtol = 0.03, .atol = 0.03, .h0 = 0.15, .tangent_error = 1, .cost_error = 1}, 0,
                 method_takes(m, MASS_REGULAR) ? MASS_REGULAR : MASS_IDENTITY);
    with_options(m,
                 (costate_options){.controller = COSTATE_FIXED,
                                   .rtol = 0.03,
                                   .atol = 0.03,
                                   .h0 = 0.1,
                                   .storage = COSTATE_STATES_ONLY,
                                   .stage_solve = irk ? COSTATE_STAGE_ITERATIVE : 0},
                 0, MASS_IDENTITY);
    if (is_explicit(m)) return;
    with_options(m,
                 (costate_options){
                     .controller = COSTATE_FIXED, .rtol = 0.03, .atol = 0.03, .h0 = 0.1, .solver = COSTATE_LS_GMRES},
                 1, MASS_IDENTITY);
}

int main(void) { return run_by_kind("a callback that gives up is named", gives_up); }
