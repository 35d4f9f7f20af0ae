/* test_stopped.c - a run that stopped or failed leaves a tape of the steps it took: it is evaluated, swept and replayed
   up to where it ended, exactly as the tape of a run that was to end there. */
#include "common.h"

enum { N_MOST = 5, M = 2 };

typedef struct { int kind; double at; long calls; const problem *b; } obstacle;
enum { BY_USER, BY_STEPS, BY_CALLBACK, BY_LIMIT, BY_NAN, KINDS };
static const int expected[KINDS] = {COSTATE_STOPPED, COSTATE_MAX_STEPS, COSTATE_CALLBACK, COSTATE_TAPE_LIMIT,
                                    COSTATE_NOT_FINITE};

static obstacle here;       /* what the callbacks run into: they get the context of the problem's formula */

static int value(const costate_point *x, double *out, void *ctx)
{
    int r = here.b->P.rhs.value(x, out, ctx);
    if (x->t < here.at) return r;
    if (here.kind == BY_CALLBACK) return -7;
    if (here.kind == BY_NAN) out[0] = NAN;
    return r;
}

static int stop(const costate_step *s, void *ctx)
{
    (void)ctx;
    return here.kind == BY_USER && costate_step_end(s) >= here.at;
}

/* <lambda, V> at the end and at the start, times and parameters included */
static void transposes(costate *c, const costate_method *m, const costate_tape *tape, const problem *b)
{
    int N = b->P.n + b->P.nq, np = b->P.np;
    double V[M * N_MOST], V0[M * N_MOST], lambda[M * N_MOST], end[M * N_MOST], mu[M * 2] = {0}, Vp[M * 2], d[4], g[4];
    unsigned seed = 5;
    random_fill(&seed, M * N_MOST, V0);
    random_fill(&seed, M * N_MOST, end);
    random_fill(&seed, M * 2, Vp);
    random_fill(&seed, 4, d);
    memcpy(V, V0, sizeof V);
    memcpy(lambda, end, sizeof lambda);
    CHECK_OK(c, costate_tangent(c, tape, M, V, Vp, &(costate_times){.t0 = d, .t1 = d + M}, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, M, lambda, mu, &(costate_times){.t0 = g, .t1 = g + M}, NULL));
    for (int j = 0; j < M; j++) {
        double left = 0, right = g[j] * d[j] + g[M + j] * d[M + j], size = 0;
        for (int i = 0; i < N; i++) {
            left += end[j * N + i] * V[j * N + i];
            right += lambda[j * N + i] * V0[j * N + i];
            size += fabs(end[j * N + i] * V[j * N + i]) + fabs(lambda[j * N + i] * V0[j * N + i]);
        }
        for (int i = 0; i < np; i++) right += mu[j * np + i] * Vp[j * np + i];
        if (!(fabs(left - right) <= 1e-12 * size))
            fail_msg("%s, %s, kind %d: gap %.1e", method_name(m), b->name, here.kind, fabs(left - right) / size);
    }
}

static void one(const costate_method *m, const problem *b, int kind, int storage)
{
    costate_problem P = b->P;
    here = (obstacle){kind, b->t0 + 0.6 * (b->t1 - b->t0), 0, b};
    P.rhs.value = value;
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.03, .storage = storage, .on_step = stop};
    if (kind == BY_NAN) o.hmin = 1e-3;      /* with M singular, M/h - J is of condition 1/h */
    if (kind == BY_STEPS) o.max_steps = 12;
    if (kind == BY_LIMIT) { o.tape_limit = 20000; o.hmax = 0.002; }
    costate *c = new_for_test(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[N_MOST] = {0}, z[N_MOST] = {0}, inside[N_MOST];
    memcpy(y, b->y0, (size_t)P.n * sizeof *y);
    memcpy(z, y, sizeof z);
    int status = costate_integrate(c, b->t0, b->t1, y, b->p0, tape);
    if (status != expected[kind])
        fail_msg("%s, kind %d: %s: %s", method_name(m), kind, costate_status_name(status), costate_message(c));
    double end = costate_time(c);
    assert_true(costate_tape_steps(tape) >= 5 && end > b->t0 && end < b->t1);
    here.kind = KINDS;
    CHECK_OK(c, costate_tape_eval(c, tape, end, inside));
    assert_memory_equal(inside, y, (size_t)P.n * sizeof *y);
    CHECK_OK(c, costate_tape_eval(c, tape, b->t0 + 0.5 * (end - b->t0), inside));
    assert_int_equal(costate_tape_eval(c, tape, end + 0.01, inside), COSTATE_OUT_OF_RANGE);
    transposes(c, m, tape, b);
    CHECK_OK(c, costate_replay(c, tape, z, b->p0));
    if (storage == COSTATE_ALL_STAGES) assert_memory_equal(z, y, (size_t)(P.n + P.nq) * sizeof *y);
    assert_true(costate_time(c) == end);
    costate_free(c);
    costate_tape_free(tape);
}

static void stopped(void **state)
{
    const costate_method *m = *state;
    for (int mass = MASS_IDENTITY; mass <= MASS_SINGULAR; mass++)
        for (int kind = 0; kind < KINDS && method_takes(m, mass); kind++)
            for (int storage = 0; storage < 2; storage++) one(m, problem_synthetic(mass, 0, 2, 2, 0), kind, storage);
}

/* Stopped at a time, or run to it, by the same steps: the same bits of everything. */
static void as_if_asked_for(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 1, 2, 2, 0);
    double got[2][2 * N_MOST + 4];
    for (int k = 0; k < 2; k++) {
        here = (obstacle){k ? KINDS : BY_USER, 0.25, 0, b};
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 1.0 / 32, .rtol = 1e-4, .atol = 1e-4, .on_step = stop};
        costate *c = costate_new(*state, &b->P, &o);
        costate_tape *tape = costate_tape_new();
        double *y = got[k], *lambda = got[k] + N_MOST, *mu = lambda + N_MOST;
        memset(got[k], 0, sizeof got[k]);
        memcpy(y, b->y0, 3 * sizeof *y);
        lambda[0] = lambda[4] = 1;
        assert_int_equal(costate_integrate(c, 0, k ? 0.25 : 1, y, b->p0, tape), k ? COSTATE_OK : COSTATE_STOPPED);
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, &(costate_times){.t0 = mu + 2, .t1 = mu + 3}, NULL));
        costate_free(c);
        costate_tape_free(tape);
    }
    assert_memory_equal(got[0], got[1], sizeof got[0]);
}

/* Where no step was taken there is nothing to sweep, and that is said. */
static void nothing_taken(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    costate_problem P = b->P;
    here = (obstacle){BY_CALLBACK, -1, 0, b};
    P.rhs.value = value;
    costate *c = new_for_test(*state, &P, NULL);
    costate_tape *tape = costate_tape_new();
    double y[N_MOST] = {0};
    memcpy(y, b->y0, 3 * sizeof *y);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(costate_replay(c, tape, y, b->p0), COSTATE_BAD_TAPE);
        assert_non_null(strstr(costate_message(c), "no step"));
        if (k == 0) assert_int_equal(costate_integrate(c, 0, 1, y, b->p0, tape), COSTATE_CALLBACK);
    }
    costate_free(c);
    costate_tape_free(tape);
}

int main(void)
{
    return run_by_kind("stopped", stopped) + run_by_kind("as if asked for", as_if_asked_for) +
           run_by_kind("nothing taken", nothing_taken);
}
