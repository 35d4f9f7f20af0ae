/* test_killed.c - a process that runs with its tape in a file is killed, again and again: each time the run goes on
   from the file, and ends with the bits and the gradient of the run that nobody killed.

   A child waits a little in each on_step, so that kills, at times between nothing and about the whole run, come
   anywhere in its steps and its writing. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "files.h"
#include "hybrid_sweeps.h"

/* runs that are killed after their first state; turns; nanoseconds a step */
enum { KILLS = 40, MOST = 400, WAIT = 20000 };

static char path[64];

typedef struct { const char *method; int storage; } killed_run;

static session begin_session(const killed_run *k)
{
    session s = {.m = costate_method_find(k->method), .h = hybrid_find("everything")};
    s.o = (costate_options){.rtol = 1e-4, .atol = 1e-4, .hmax = 0.003, .mode = s.h->mode, .storage = k->storage,
                            .checkpoints = 30};
    if (is_newton(s.m)) s.o.stage_solve = COSTATE_STAGE_DIRECT;
    s.N = s.h->n + s.h->nq + s.h->nm;
    s.P = hybrid_problem(s.h);
    hybrid_start(s.h, s.h->p, s.y0, NULL);
    memcpy(s.y, s.y0, sizeof s.y);
    return s;
}

static void open_session(session *s)
{
    s->c = costate_new(s->m, &s->P, &s->o);
    assert_non_null(s->tape = costate_tape_open(path));
}

static int slow(const costate_step *step, void *ctx)
{
    const struct timespec wait = {0, WAIT};
    (void)step, (void)ctx;
    nanosleep(&wait, NULL);
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

/* the child: the run from its start, or on from the file */
static void child(const killed_run *k, int on)
{
    session s = begin_session(k);
    s.o.on_step = slow;
    open_session(&s);
    int status = on ? costate_resume(s.c, s.tape, s.y) :
                 costate_integrate(s.c, s.h->t0, s.h->t1, s.y, s.h->p, s.tape);
    _exit(status ? 1 : 0);
}

/* 1: it was killed; 0: it had ended well */
static int start_and_kill(const killed_run *k, int on, double after)
{
    int how;
    pid_t id = fork();
    assert_true(id >= 0);
    if (id == 0) child(k, on);
    pause_for(after);
    kill(id, SIGKILL);
    assert_true(waitpid(id, &how, 0) == id);
    if (WIFSIGNALED(how)) return 1;
    assert_true(WIFEXITED(how));
    return 0;
}

/* as in the file, to the end: 0: its run was killed before the first state was written */
static int goes_on(const killed_run *k, const session *all, const outputs *w, const inputs *expected)
{
    session r = begin_session(k);
    r.events = all->events;
    memcpy(r.seen_at, all->seen_at, sizeof r.seen_at);
    open_session(&r);
    int status = costate_resume(r.c, r.tape, r.y), begun = 1;
    if (status == COSTATE_BAD_TAPE && strstr(costate_message(r.c), "ended before")) begun = 0;
    else if (access(path, F_OK) != 0) begun = 0;
    else {
        CHECK_OK(r.c, status);
        assert_memory_equal(r.y, all->y, (size_t)r.N * sizeof *r.y);
        assert_int_equal(costate_tape_steps(r.tape), costate_tape_steps(all->tape));
        inputs g = adjoint(&r, w, r.c);
        double most = is_newton(r.m) ? 1e-11 : 0;
        say(&r, "gradient after a kill", relative_gap(r.N * M, g.V, expected->V), most);
        say(&r, "gradient by p after a kill", relative_gap(r.h->np * M, g.p, expected->p), most);
    }
    session_close(&r);
    return begun;
}

static void killed(void **state)
{
    const killed_run *k = *state;
    session all = begin_session(k);
    unsigned seed = 12;
    int kills = 0, none = 0;
    outputs w = random_outputs();
    unlink(path);
    open_session(&all);
    CHECK_OK(all.c, costate_integrate(all.c, all.h->t0, all.h->t1, all.y, all.h->p, all.tape));
    see_events(&all);
    inputs expected = adjoint(&all, &w, all.c);
    unlink(path);
    double begun = now();
    int how;
    pid_t id = fork();
    if (id == 0) child(k, 0);
    assert_true(waitpid(id, &how, 0) == id && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    double whole = now() - begun;
    /* A machine that is busy makes a run longer or shorter than the one that was measured: what ended before it was
       killed took less, and what was killed before its first state may have taken more. */
    int turn;
    for (turn = 0; kills < KILLS && turn < MOST; turn++) {
        double after = whole * (0.5 + 0.5 * random_in(&seed));
        unlink(path);
        int was_killed = start_and_kill(k, 0, after);
        if (!was_killed) whole = after;
        if (turn % 5 == 0) start_and_kill(k, 1, 0.3 * after);              /* and what goes on, too */
        int begins = goes_on(k, &all, &w, &expected);
        if (!begins) whole *= 1.1;
        none += !begins;
        kills += was_killed && begins;
    }
    print_message("           %s, storage %d: %d steps, %.0f ms; %d kills in %d turns, %d before there was anything\n",
                  k->method, k->storage, costate_tape_steps(all.tape), 1e3 * whole, kills, turn, none);
    assert_int_equal(kills, KILLS);
    session_close(&all);
    unlink(path);
}

int main(void)
{
    static killed_run runs[] = {{"dopri5", COSTATE_ALL_STAGES}, {"dopri5", COSTATE_CHECKPOINTS},
                                {"radau2a", COSTATE_ALL_STAGES}, {"radau2a", COSTATE_CHECKPOINTS}};
    enum { COUNT = sizeof runs / sizeof *runs };
    struct CMUnitTest tests[COUNT];
    for (int k = 0; k < COUNT; k++) tests[k] = (struct CMUnitTest){runs[k].method, killed, NULL, NULL, &runs[k]};
    snprintf(path, sizeof path, "killed_%ld.tape", (long)getpid());
    return _cmocka_run_group_tests("killed", tests, COUNT, NULL, NULL);
}
