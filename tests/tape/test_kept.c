/* test_kept.c - factorisations that a tape keeps are counted, bounded, and given back where memory is short; what is
   computed does not depend on which are kept. */
#define _DEFAULT_SOURCE
#include "common.h"
#include <sys/resource.h>
#include <costate/linsol.h>
#include "base/machine.h"

enum { INTERIOR = 13, N = (INTERIOR + 2) * (INTERIOR + 2) };        /* beyond the 200 from which tapes keep them */

/* ---- a backend with room for few factorisations ------------------------------------------------------------------ */

static int live, room;                   /* its objects; how many there may be, 0: any number */

static int few_init(void **self, int n, const costate_pattern *p, int is_complex, const void *like)
{
    (void)like;
    if (room && live >= room) return COSTATE_LS_NO_MEMORY;
    live++;
    int status = costate_backend_find("band")->init(self, n, p, is_complex, NULL);
    if (!*self) live--;
    return status;
}

static int few_factor(void *self, const double *A) { return costate_backend_find("band")->factor(self, A); }
static int few_solve(void *self, int t, int m, double *X) { return costate_backend_find("band")->solve(self, t, m, X); }
static size_t few_bytes(const void *self) { return (void)self, 1000000; }

static void few_free(void *self)
{
    live--;
    costate_backend_find("band")->free(self);
}

static const costate_backend few = {"few", 0, few_init, few_factor, few_solve, few_bytes, few_free};

/* ---- a run and its gradient -------------------------------------------------------------------------------------- */

typedef struct {
    double y[N], lambda[N];
    costate_stats forward, adjoint;
    int steps;
    size_t bytes;
} result;

static result run(const costate_method *m, const problem *b, costate_options o)
{
    result r = {.steps = 0};
    o.rtol = o.atol = 1e-4;
    o.autonomous = b->autonomous;
    o.backend = &few;
    if (!method_info(m).embedded) {
        o.controller = COSTATE_FIXED;
        o.h0 = (b->t1 - b->t0) / (is_explicit(m) ? 1000 : 20);
        o.theta_reuse = -1;                                    /* else one factorisation is enough for all steps */
    }
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(r.y, b->y0, sizeof r.y);
    for (int i = 0; i < N; i++) r.lambda[i] = sin(1.0 + i);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, r.y, b->p0, tape));
    r.forward = *costate_get_stats(c);
    costate_reset_stats(c);
    room = 0;
    CHECK_OK(c, costate_adjoint(c, tape, 1, r.lambda, NULL, NULL, NULL));
    r.adjoint = *costate_get_stats(c);
    r.steps = costate_tape_steps(tape);
    r.bytes = costate_tape_bytes(tape);
    costate_tape_free(tape);
    costate_free(c);
    assert_int_equal(live, 0);
    return r;
}

#define CLAIM(x) do { if (!(x)) fail_msg("%s: not so: %s", method_name(m), #x); } while (0)

static long made(const costate_stats *s) { return s->decompositions + s->complex_decompositions; }

/* ros: one a step, and all solves are by it.  The others precondition with theirs. */
static int by_steps(const costate_method *m) { return method_info(m).family == COSTATE_ROS; }

static void same(const costate_method *m, const result *a, const result *b)
{
    CLAIM(a->steps == b->steps && !memcmp(a->y, b->y, sizeof a->y));
    if (by_steps(m)) CLAIM(!memcmp(a->lambda, b->lambda, sizeof a->lambda));
    else CLAIM(relative_gap(N, a->lambda, b->lambda) < 1e-11);
}

static void bounded(void **state)
{
    const costate_method *m = *state;
    problem *b = problem_heat(INTERIOR);
    result all = run(m, b, (costate_options){0}), none = run(m, b, (costate_options){.keep_factors = -1});
    CLAIM(none.forward.factors_kept == 0 && none.forward.factors_not_kept == 0 && all.forward.factors_not_kept == 0);
    CLAIM((all.forward.factors_kept > 0) == !is_explicit(m) && all.forward.factors_kept <= made(&all.forward));
    same(m, &all, &none);
    /* 1 MB each, as their backend says: some fit */
    result some = run(m, b, (costate_options){.tape_limit = none.bytes + 2500000});
    same(m, &all, &some);
    CLAIM(some.forward.factors_kept + some.forward.factors_not_kept == all.forward.factors_kept &&
          some.bytes <= none.bytes + 2500000);
    if (by_steps(m)) {                       /* the last one made is still there */
        long again = made(&some.adjoint), left = some.forward.factors_not_kept;
        CLAIM(all.forward.factors_kept == all.steps && made(&all.adjoint) == 0);
        CLAIM(some.forward.factors_kept <= 2 && again >= left - 1 && again <= left);
    }
    result steps = run(m, b, (costate_options){.tape_limit = none.bytes});      /* as long as there is room */
    same(m, &all, &steps);
    CLAIM(steps.bytes == none.bytes && steps.forward.factors_kept == 0);
    problem_free(b);
}

/* Two kept and the one in use: the next has no room. */
static void given_back(void **state)
{
    const costate_method *m = *state;
    if (is_explicit(m)) return;
    problem *b = problem_heat(INTERIOR);
    for (int keep = 0; keep <= 1; keep++) {
        room = 0;
        const costate_options o = {.keep_factors = keep, .members = newton_members(m)};
        result all = run(m, b, o);
        int set = all.forward.complex_decompositions ? 1 + (int)(all.forward.complex_decompositions /
                  (all.forward.decompositions ? all.forward.decompositions : all.forward.complex_decompositions)) : 1;
        room = 3 * set;
        result short_of = run(m, b, o);
        same(m, &all, &short_of);
        CLAIM(all.forward.factors_kept > 2 && short_of.forward.factors_kept == 0 &&
              short_of.forward.factors_not_kept > 0);
        CLAIM(made(&short_of.forward) == made(&all.forward) && short_of.forward.steps == all.forward.steps);
    }
    problem_free(b);
}

/* What limits the process counts, if it is less than what the machine has. */
static void memory(void **state)
{
    struct rlimit before = {0, 0}, less;
    size_t all = memory_of_machine();
    (void)state;
    if (all == 0 || getrlimit(RLIMIT_AS, &before)) skip();
    less = before;
    less.rlim_cur = all / 2;
    assert_int_equal(setrlimit(RLIMIT_AS, &less), 0);
    size_t half = memory_of_machine();
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(all >= 1 << 20 && half == all / 2);
}

int main(void)
{
    const struct CMUnitTest machine[] = {cmocka_unit_test(memory)};
    return cmocka_run_group_tests_name("memory", machine, NULL, NULL) +
           run_by_method("kept factorisations", bounded) + run_by_method("given back", given_back);
}
