/* test_reused.c - a tape that is used for a second run: it allocates nothing, has the bits of a new tape, and holds no
   more memory than its storage and its limits allow. */
#include <unistd.h>
#include "alloc.h"
#include "common.h"

enum { N_MOST = 15 * 15 };

typedef struct {
    const costate_method *m;
    const problem *b;
    costate_options o;
    costate *c;
    double y[N_MOST], lambda[N_MOST];
    size_t run, swept;                   /* bytes of the tape after the run, and after the sweep */
} user;

static user user_of(const costate_method *m, const problem *b, costate_options o)
{
    user u = {.m = m, .b = b, .o = o};
    u.o.controller = COSTATE_FIXED;
    u.o.autonomous = b->autonomous;
    u.o.keep_factors = -1;               /* their memory is that of linear solvers */
    assert_non_null(u.c = new_for_test(m, &b->P, &u.o));
    return u;
}

static void run_only(user *u, costate_tape *tape)
{
    memset(u->y, 0, sizeof u->y);
    memcpy(u->y, u->b->y0, (size_t)u->b->P.n * sizeof *u->y);
    CHECK_OK(u->c, costate_integrate(u->c, u->b->t0, u->b->t1, u->y, u->b->p0, tape));
    u->run = costate_tape_bytes(tape);
}

static void run_and_sweep(user *u, costate_tape *tape)
{
    run_only(u, tape);
    for (int i = 0; i < N_MOST; i++) u->lambda[i] = sin(1.0 + i);
    CHECK_OK(u->c, costate_adjoint(u->c, tape, 1, u->lambda, NULL, NULL, NULL));
    u->swept = costate_tape_bytes(tape);
}

static void same(const user *a, const user *b)
{
    assert_memory_equal(a->y, b->y, sizeof a->y);
    assert_memory_equal(a->lambda, b->lambda, sizeof a->lambda);
}

/* ---- no allocation ---- */

/* Checkpoints for which all blocks fit.  If they do not, states and blocks take turns in what memory there is. */
enum { STEPS = 100, ENOUGH = 4000 };

static void no_allocation(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage++) {
        user u = user_of(m, b, (costate_options){.h0 = (b->t1 - b->t0) / STEPS, .storage = storage,
                                                  .checkpoints = ENOUGH}), first;
        costate_tape *tape = costate_tape_new();
        run_and_sweep(&u, tape);
        first = u;
        alloc_fail_at(0);
        run_and_sweep(&u, tape);
        if (alloc_calls()) fail_msg("%s, storage %d: %ld allocations", method_name(m), storage, alloc_calls());
        same(&u, &first);
        assert_true(u.run == first.swept && u.swept == first.swept);
        costate_tape_free(tape);
        costate_free(u.c);
    }
}

/* ---- memory that is given back ---- */

static costate_options checkpoints(const problem *b, int states)
{
    return (costate_options){.h0 = (b->t1 - b->t0) / 2000, .storage = COSTATE_CHECKPOINTS, .checkpoints = states};
}

static size_t state_bytes(const problem *b) { return (size_t)b->P.n * sizeof(double); }

static costate_tape *tape_of(const char *path) { return path ? costate_tape_open(path) : costate_tape_new(); }

/* A run of problem a and one of b over one tape, or that of b over a new tape.  *before, *alone: bytes after the first,
   and of the new tape.  path: of the tapes' file, or NULL */
static user next_run(const problem *a, costate_options first, const problem *b, costate_options second,
                     const char *path, size_t *before, size_t *alone)
{
    const costate_method *m = costate_method_find("dopri5");
    user u = user_of(m, a, first), v = user_of(m, b, second), w = user_of(m, b, second);
    costate_tape *used = tape_of(path);
    run_and_sweep(&u, used);
    run_and_sweep(&v, used);
    costate_tape_free(used);
    if (path) unlink(path);
    costate_tape *new = tape_of(path);
    run_and_sweep(&w, new);
    costate_tape_free(new);
    if (path) unlink(path);
    same(&v, &w);
    costate_free(u.c);
    costate_free(v.c);
    costate_free(w.c);
    *before = u.swept;
    *alone = w.swept;
    return v;
}

static user second_run(const problem *b, costate_options first, costate_options second, size_t *before, size_t *alone)
{
    return next_run(b, first, b, second, NULL, before, alone);
}

static void given_back(void **state)
{
    (void)state;
    problem *b = problem_heat(13);
    size_t before, alone;
    /* fewer states: lists stay as long as they were */
    user few = second_run(b, checkpoints(b, 100), checkpoints(b, 20), &before, &alone);
    assert_true(before - few.swept > 50 * state_bytes(b));
    assert_true(few.swept < alone + 10 * state_bytes(b));
    /* no states, but stages: of the first run there are only lists */
    costate_options stages = checkpoints(b, 0);
    stages.storage = COSTATE_ALL_STAGES;
    user all = second_run(b, checkpoints(b, 100), stages, &before, &alone);
    assert_true(all.swept < alone + 10 * state_bytes(b));
    /* a limit */
    costate_options limited = checkpoints(b, 20);
    limited.tape_limit = few.swept;
    user least = second_run(b, checkpoints(b, 100), limited, &before, &alone);
    assert_true(least.run <= limited.tape_limit && least.swept <= limited.tape_limit);
    problem_free(b);
}

/* A sweep gives states back to make room for blocks; after a run without one they are all there. */
static void states_given_back(void **state)
{
    (void)state;
    problem *b = problem_heat(13);
    const costate_method *m = costate_method_find("dopri5");
    user many = user_of(m, b, checkpoints(b, 100)), few = user_of(m, b, checkpoints(b, 20)), alone = few;
    costate_tape *used = costate_tape_new(), *new = costate_tape_new();
    run_only(&many, used);
    run_only(&few, used);
    run_only(&alone, new);
    assert_true(many.run - few.run > 50 * state_bytes(b) && few.run < alone.run + 10 * state_bytes(b));
    costate_tape_free(used);
    costate_tape_free(new);
    costate_free(many.c);
    costate_free(few.c);
    problem_free(b);
}

/* States that a sweep drops are memory for its blocks, and blocks for states: together they take what the run took. */
static void one_budget(void **state)
{
    (void)state;
    problem *b = problem_heat(13);
    size_t before, alone;
    user u = second_run(b, checkpoints(b, 60), checkpoints(b, 60), &before, &alone);
    assert_true(before == alone && u.swept == before);
    assert_true(u.run <= before + 6 * state_bytes(b));
    user v = user_of(u.m, b, checkpoints(b, 60));
    costate_tape *tape = costate_tape_new();
    run_and_sweep(&v, tape);
    assert_true(v.run > 60 * state_bytes(b) && v.swept <= v.run + 6 * state_bytes(b));
    costate_tape_free(tape);
    costate_free(v.c);
    problem_free(b);
}

/* Memory for states and blocks of another size is not used. */
static void other_sizes(void **state)
{
    (void)state;
    char path[64];
    problem *small = problem_heat(3), *large = problem_heat(13);
    snprintf(path, sizeof path, "reused_%ld.tape", (long)getpid());
    for (int k = 0; k < 4; k++) {
        const problem *a = k % 2 ? large : small, *b = k % 2 ? small : large;
        costate_options first = checkpoints(a, 60), second = checkpoints(b, 60);
        size_t before, alone;
        if (k > 1) first.storage = second.storage = COSTATE_ALL_STAGES;
        user u = next_run(a, first, b, second, k > 1 ? path : NULL, &before, &alone);
        assert_true(u.swept <= alone + 10 * state_bytes(large));
    }
    problem_free(small);
    problem_free(large);
}

static void none_left(void **state)
{
    (void)state;
    problem *b = problem_heat(13);
    size_t before, alone;
    long live = alloc_live();
    second_run(b, checkpoints(b, 20), checkpoints(b, 60), &before, &alone);
    assert_int_equal(alloc_live(), live);
    problem_free(b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_back), cmocka_unit_test(states_given_back), cmocka_unit_test(one_budget),
        cmocka_unit_test(other_sizes), cmocka_unit_test(none_left)};
    int failed = run_by_kind("no allocation", no_allocation);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
