/* test_malloc.c - malloc fails at call k, for every k: a status (or no solver), nothing leaked, and all works when
   memory is back. */
#include "alloc.h"
#include "everything.h"
#include "residual.h"
#include <costate/linsol.h>

typedef struct { const costate_method *m; const problem *b; costate_options o; int check; } setting;

static const double T1 = 0.7;

static int run(const setting *s, costate *c, costate_tape *tape, results *r)
{
    int at, status = every_call(c, s->b, T1, tape, r, &at);
    costate_report report;
    double y[EVERY_N];
    every_start(s->b, y);
    return status == COSTATE_OK && s->check ? costate_check_adjoint(c, s->b->t0, T1, y, s->b->p0, &report) : status;
}

static void complain(const setting *s, long k, int status, const costate *c)
{
    alloc_fail_at(0);
    fail_msg("%s, solver %d, storage %d, keep %d, stages %d, call %ld: %s: %s", method_name(s->m), s->o.solver,
             s->o.storage, s->o.keep_factors, s->o.stage_solve, k, costate_status_name(status), costate_message(c));
}

/* A run that keeps factorisations goes on without them. */
static int allowed(const setting *s, long failures, int status)
{
    if (failures == 0) return status == COSTATE_OK;
    return status == COSTATE_NO_MEMORY || (status == COSTATE_OK && s->o.keep_factors == 1);
}

/* from the first call of all: returns how many calls there are */
static long from_nothing(const setting *s)
{
    for (long k = 1;; k++) {
        results r;
        int status = COSTATE_NO_MEMORY;
        alloc_fail_at(k);
        costate_tape *tape = costate_tape_new();
        costate *c = costate_new(s->m, &s->b->P, &s->o);
        if (c) status = costate_status(c);
        if (!c && alloc_failures() == 0) complain(s, k, status, c);
        if (c && status == COSTATE_OK && tape) status = run(s, c, tape, &r);
        long failures = alloc_failures();
        if (tape && !allowed(s, failures, status)) complain(s, k, status, c);
        if (c && status == COSTATE_NO_MEMORY && tape) assert_non_null(strstr(costate_message(c), "o memory"));
        alloc_fail_at(0);
        costate_free(c);
        costate_tape_free(tape);
        if (failures == 0) return k;
    }
}

/* the same objects, once more with memory: the same results */
static void recovers(const setting *s)
{
    results expected, r;
    costate *c = costate_new(s->m, &s->b->P, &s->o);
    costate_tape *tape = costate_tape_new();
    int status = run(s, c, tape, &expected);
    if (status != COSTATE_OK) complain(s, 0, status, c);
    costate_free(c);
    costate_tape_free(tape);
    for (long k = 1, failures = 1; failures; k += 3) {
        c = costate_new(s->m, &s->b->P, &s->o);
        tape = costate_tape_new();
        alloc_fail_at(k);
        status = run(s, c, tape, &r);
        failures = alloc_failures();
        alloc_fail_at(0);
        if (!allowed(s, failures, status)) complain(s, k, status, c);
        if (status == COSTATE_OK) assert_memory_equal(&r, &expected, sizeof r);
        memset(&r, 0, sizeof r);
        status = run(s, c, tape, &r);
        if (status != COSTATE_OK) complain(s, k, status, c);
        assert_memory_equal(&r, &expected, sizeof r);
        costate_free(c);
        costate_tape_free(tape);
    }
}

static void no_memory(void **state)
{
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU,
                                 COSTATE_LS_KLU, COSTATE_LS_GMRES};
    static const char *const built[] = {"dense", "band", "umfpack", "superlu", "klu", NULL};
    static const costate_options variants[] = {
        {.storage = COSTATE_STATES_ONLY, .stage_solve = COSTATE_STAGE_ITERATIVE, .consistent = 3},
        {.keep_factors = 1, .stage_solve = COSTATE_STAGE_DIRECT},
        {.keep_factors = 1, .stage_solve = COSTATE_STAGE_ITERATIVE, .storage = COSTATE_STATES_ONLY}};
    const costate_method *m = *state;
    /* checked runs do not depend on t: the run with short steps that follows otherwise is in test_look */
    const problem *straight[] = {problem_synthetic(MASS_REGULAR, 0, 2, 2, 1),
                                 problem_synthetic(MASS_REGULAR, 1, 2, 2, 1)};
    problem *twisted[] = {residual_of(straight[0], RESIDUAL_TWISTED, 0), residual_of(straight[1], RESIDUAL_TWISTED, 0)};
    int forms = is_newton(m) && !(method_info(m).properties & COSTATE_EXPLICIT_FIRST) ? 2 : 1;
    long most = 0;
    assert_true(twisted[0] && twisted[1]);
    for (size_t l = 0; l < sizeof solver / sizeof *solver; l++)
        for (int variant = 0; variant < forms * (l == 0 ? 3 : 2); variant++) {
            int check = variant / forms == 1;
            const problem *b = variant % forms ? twisted[check] : straight[check];
            setting s = {m, b, variants[variant / forms], check};
            if (built[l] && !costate_backend_find(built[l])) continue;
            s.o.rtol = s.o.atol = 1e-2;
            s.o.autonomous = check;
            s.o.solver = solver[l];
            s.o.derivative_mode = !built[l];        /* GMRES leaves more in Newton than 1e-12 of the states */
            long calls = from_nothing(&s);
            most = calls > most ? calls : most;
            recovers(&s);
        }
    residual_free(twisted[0]);
    residual_free(twisted[1]);
    print_message("           up to %ld calls\n", most);
}

/* No jac, no tangent: the pattern is coloured; differences. */
static void coloured(void **state)
{
    problem b = *problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1);
    b.P.jac = NULL;
    setting s = {*state, &b, {.rtol = 1e-2, .atol = 1e-2}, 0};
    from_nothing(&s);
    recovers(&s);
}

/* One method of each kind: what they allocate depends on nothing else. */
int main(void)
{
    static const char *const names[] = {"dopri5", "sdirk4a", "trbdf2", "radau2a", "gauss3", "rodas4"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[2 * NAMES];
    for (int k = 0; k < NAMES; k++) {
        void *m = (void *)(uintptr_t)costate_method_find(names[k]);
        tests[k] = (struct CMUnitTest){names[k], no_memory, NULL, NULL, m};
        tests[NAMES + k] = (struct CMUnitTest){names[k], coloured, NULL, NULL, m};
    }
    return cmocka_run_group_tests_name("no memory", tests, NULL, NULL);
}
