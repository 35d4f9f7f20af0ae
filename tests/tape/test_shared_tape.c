/* test_shared_tape.c - a sweep only reads the tape: another solver's sweeps, alone or in two threads at once, leave the
   writer's replay, the recorded states and the stages as they were, and see the stages of the run. */
#include "common.h"
#include <pthread.h>

enum { N = 5, M = 2, POINTS = 7, SWEEPS = 6 };

typedef struct {
    double V[N * M], lambda[N * M], mu[2 * M], defect[M], at[POINTS][N];
    int status;
} swept;

typedef struct {
    const costate_method *m;
    const problem *b;
    costate_options o;
    costate_tape *tape;
    swept out;
} sweeper;

static const double DP[2 * M] = {0.3, -0.2, 0.1, 0.5};

/* everything that can be asked of a tape, by a solver of its own; no assertion, since it may be a thread */
static void *sweep(void *of)
{
    sweeper *s = of;
    swept *r = &s->out;
    unsigned seed = 5;
    costate *c = new_for_test(s->m, &s->b->P, &s->o);
    memset(r, 0, sizeof *r);
    random_fill(&seed, N * M, r->V);
    random_fill(&seed, N * M, r->lambda);
    costate_times times = {.defect = r->defect};
    r->status = costate_tangent(c, s->tape, M, r->V, DP, NULL, NULL);
    if (r->status == COSTATE_OK) r->status = costate_adjoint(c, s->tape, M, r->lambda, r->mu, &times, NULL);
    for (int k = 0; r->status == COSTATE_OK && k < POINTS; k++)
        r->status = costate_tape_eval(c, s->tape, s->b->t0 + (s->b->t1 - s->b->t0) * k / (POINTS - 1.0), r->at[k]);
    costate_free(c);
    return NULL;
}

/* a run, its tape, and what its own solver sees there; how: options that each method takes */
typedef struct {
    const costate_method *m;
    const problem *b;
    costate_options o;
    costate *c;
    costate_tape *tape;
    double end[N];
} world;

static world open_world(const costate_method *m, int storage)
{
    world w = {.m = m,
               .b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0),
               .o = {.rtol = 1e-3, .atol = 1e-3, .storage = storage}};
    if (is_newton(m)) w.o.stage_solve = COSTATE_STAGE_DIRECT;
    w.c = new_for_test(m, &w.b->P, &w.o);
    w.tape = costate_tape_new();
    memcpy(w.end, w.b->y0, 3 * sizeof *w.end);
    CHECK_OK(w.c, costate_integrate(w.c, w.b->t0, w.b->t1, w.end, w.b->p0, w.tape));
    return w;
}

static void close_world(world *w)
{
    costate_free(w->c);
    costate_tape_free(w->tape);
}

static void replays_the_run(const world *w, const char *when)
{
    double y[N] = {w->b->y0[0], w->b->y0[1], w->b->y0[2]};
    CHECK_OK(w->c, costate_replay(w->c, w->tape, y, w->b->p0));
    if (memcmp(y, w->end, sizeof y) != 0)
        fail_msg("%s: the replay %s differs by %.1e", method_name(w->m), when, largest_gap(N, y, w->end));
}

static sweeper sweeper_of(const world *w, int derivative_mode)
{
    sweeper s = {w->m, w->b, w->o, w->tape, {.status = 0}};
    s.o.derivative_mode = derivative_mode;
    return s;
}

static void steps_of(const world *w, double (*list)[N + 2])
{
    for (int k = 0; k < costate_tape_steps(w->tape); k++)
        costate_tape_get(w->tape, k, &list[k][0], &list[k][1], &list[k][2]);
}

static void another_solver(void **state)
{
    enum { ROOM = 2000 };
    static double before[ROOM][N + 2], after[ROOM][N + 2];
    world w = open_world(*state, COSTATE_STATES_ONLY);
    assert_true(costate_tape_steps(w.tape) > 1 && costate_tape_steps(w.tape) < ROOM);
    steps_of(&w, before);
    replays_the_run(&w, "before any sweep");
    sweeper same = sweeper_of(&w, 0), exact = sweeper_of(&w, 1);
    sweep(&same);
    replays_the_run(&w, "after a sweep");
    sweep(&exact);
    assert_true(same.out.status == COSTATE_OK && exact.out.status == COSTATE_OK);
    steps_of(&w, after);
    assert_memory_equal(before, after, (size_t)costate_tape_steps(w.tape) * sizeof *before);
    replays_the_run(&w, "after a sweep in derivative mode");
    if (memcmp(&same.out, &exact.out, sizeof same.out) != 0)
        fail_msg("%s: derivative mode recomputes other stages: between %.1e, tangents %.1e, adjoints %.1e",
                 method_name(w.m), largest_gap(POINTS * N, same.out.at[0], exact.out.at[0]),
                 largest_gap(N * M, same.out.V, exact.out.V), largest_gap(N * M, same.out.lambda, exact.out.lambda));
    close_world(&w);
}

static void two_threads(void **state)
{
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
        world w = open_world(*state, storage);
        sweeper alone[2] = {sweeper_of(&w, 0), sweeper_of(&w, 1)}, both[2] = {alone[0], alone[1]};
        for (int k = 0; k < 2; k++) sweep(&alone[k]);
        for (int pass = 0; pass < SWEEPS; pass++) {
            pthread_t thread[2];
            for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&thread[k], NULL, sweep, &both[k]), 0);
            for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
            for (int k = 0; k < 2; k++) assert_memory_equal(&alone[k].out, &both[k].out, sizeof alone[k].out);
        }
        replays_the_run(&w, "after two threads");
        close_world(&w);
    }
}

int main(void)
{
    return run_by_method("another solver only reads the tape", another_solver) +
           run_by_method("two threads sweep one tape", two_threads);
}
