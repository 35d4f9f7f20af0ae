/* test_kept_matrices.c - tapes whose steps are made again let a run keep its matrices: over fixed steps it factors
   about as often as without such a tape, and sweeps, by whoever, and runs that are gone on with have the same bits.

   The Brusselator on a line, n = 40, and the heat equation with its boundary as constraints (a residual, M singular),
   by every method that keeps matrices. */
#include <unistd.h>
#include "files.h"
#include "problems.h"

/* Blocks have three or four steps: MORE is few of them. */
enum { STEPS = 120, MORE = 6, N_MOST = 64, STORES = 4 };

typedef struct { const costate_method *m; const problem *b; costate_options o; int file; } task;
typedef struct { costate *c; costate_tape *tape; double y[N_MOST], lambda[N_MOST]; long factored, swept; } result;

static char path[64];

static size_t states_of(const problem *b) { return (size_t)(b->P.n + b->P.nq); }

static long factored(const costate *c)
{
    const costate_stats *s = costate_get_stats(c);
    return s->decompositions + s->complex_decompositions;
}

/* 0: all in memory; 1: all in a file; 2, 3: few states, in memory and in a file */
static task task_of(const costate_method *m, const problem *b, int store)
{
    double h = (b->t1 - b->t0) / STEPS / 4;
    task k = {m, b, {.controller = COSTATE_FIXED, .h0 = h, .theta_reuse = 0.9, .newton_tol = 1e-6, .newton_max = 20,
                     .solver = COSTATE_LS_DENSE, .stage_solve = COSTATE_STAGE_DIRECT}, store & 1};
    k.o.storage = store > 1 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES;
    k.o.checkpoints = store > 1 ? 8 * (method_info(m).stages + 2) : 0;
    return k;
}

static void sweep_by(const task *k, costate *c, const costate_tape *tape, double *lambda)
{
    for (size_t i = 0; i < states_of(k->b); i++) lambda[i] = 1 + 0.1 * (double)i;
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
}

static void run_and_sweep(const task *k, result *r)
{
    r->c = new_for_test(k->m, &k->b->P, &k->o);
    assert_non_null(r->tape = k->file ? costate_tape_open(path) : costate_tape_new());
    memset(r->y, 0, sizeof r->y);
    memcpy(r->y, k->b->y0, (size_t)k->b->P.n * sizeof *r->y);
    CHECK_OK(r->c, costate_integrate(r->c, k->b->t0, k->b->t0 + STEPS * k->o.h0, r->y, k->b->p0, r->tape));
    r->factored = factored(r->c);
    sweep_by(k, r->c, r->tape, r->lambda);
    r->swept = factored(r->c) - r->factored;
}

static void close_result(result *r)
{
    costate_tape_free(r->tape);
    costate_free(r->c);
}

/* the gradient again, over the same steps that are all in memory, and by a solver that has made none of them */
static void same_elsewhere(const task *k, const result *r)
{
    task in_memory = task_of(k->m, k->b, 0);
    costate *all = new_for_test(k->m, &k->b->P, &in_memory.o), *other = new_for_test(k->m, &k->b->P, &k->o);
    costate_tape *tape = costate_tape_new();
    size_t N = states_of(k->b);
    double y[N_MOST] = {0}, lambda[N_MOST];
    memcpy(y, k->b->y0, (size_t)k->b->P.n * sizeof *y);
    CHECK_OK(all, costate_replay_onto(all, r->tape, y, k->b->p0, tape));
    assert_memory_equal(y, r->y, N * sizeof *y);
    sweep_by(k, all, tape, lambda);
    assert_memory_equal(lambda, r->lambda, N * sizeof *y);
    sweep_by(k, other, r->tape, lambda);
    assert_memory_equal(lambda, r->lambda, N * sizeof *y);
    costate_tape_free(tape);
    costate_free(other);
    costate_free(all);
}

/* the run from its file, cut anywhere */
static void same_resumed(const task *k, const result *r, unsigned *seed)
{
    bytes_of whole = file_bytes(path);
    size_t head = first_end(&whole, 3), N = states_of(k->b);          /* behind the first state */
    for (int cut = how_much() == TESTS_ALL ? 0 : 3; cut < 4; cut++) {
        char piece[72];
        result again = {.c = new_for_test(k->m, &k->b->P, &k->o)};
        snprintf(piece, sizeof piece, "%s.cut", path);
        file_is(piece, whole.data, head + random_below(seed, (unsigned)(whole.length - head)), 0);
        assert_non_null(again.tape = costate_tape_open(piece));
        CHECK_OK(again.c, costate_resume(again.c, again.tape, again.y));
        assert_memory_equal(again.y, r->y, N * sizeof *again.y);
        assert_true(factored(again.c) <= r->factored + MORE);
        sweep_by(k, again.c, again.tape, again.lambda);
        assert_memory_equal(again.lambda, r->lambda, N * sizeof *again.y);
        close_result(&again);
        remove(piece);
    }
    free(whole.data);
}

static void of_problem(const costate_method *m, const problem *b, unsigned *seed)
{
    result all;
    task k = task_of(m, b, 0);
    run_and_sweep(&k, &all);
    for (int store = 1; store < STORES; store++) {
        result r;
        k = task_of(m, b, store);
        run_and_sweep(&k, &r);
        if (r.factored > all.factored + MORE || r.swept > all.swept + 2 * MORE)
            fail_msg("%s, %s, store %d: %ld, %ld factorisations, %ld, %ld with all in memory", method_name(m), b->name,
                     store, r.factored, r.swept, all.factored, all.swept);
        same_elsewhere(&k, &r);
        if (k.file) same_resumed(&k, &r, seed);
        close_result(&r);
    }
    close_result(&all);
}

static void kept(void **state)
{
    unsigned seed = 17;
    problem *line = problem_brusselator(how_much() == TESTS_ALL ? 20 : 10), *heat = problem_heat_dae(4, 1);
    assert_non_null(line);
    assert_non_null(heat);
    of_problem(*state, line, &seed);
    if (!(method_info(*state).properties & COSTATE_EXPLICIT_FIRST) && method_takes(*state, MASS_SINGULAR))
        of_problem(*state, heat, &seed);
    problem_free(line);
    problem_free(heat);
}

static void by_method(void **state)
{
    if (is_newton(*state)) kept(state);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/costate-kept-%ld", (long)getpid());
    int failed = run_by_kind("kept matrices", by_method);
    remove(path);
    return failed;
}
