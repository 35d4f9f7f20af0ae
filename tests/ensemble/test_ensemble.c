/* test_ensemble.c - a member of an ensemble has the bits, the status, the sentence and the counters of a solver of its
   own, whatever the number of threads, method, linear solver and options. */
#include "ensembles.h"
#include "hybrids.h"
#include <costate/linsol.h>

static const int THREADS[] = {3, 1, 2, 8};

/* costate_options of new_for_test, where they can be passed on */
static costate_options for_test(const costate_method *m, costate_options o)
{
    if (method_info(m).embedded || o.controller != COSTATE_AUTO) return o;
    o.controller = COSTATE_FIXED;
    o.h0 = 0.02;
    return o;
}

static void compared(const char *what, const void *a, const void *b, size_t size, const char *method, int threads)
{
    if (memcmp(a, b, size) != 0) fail_msg("%s, %d threads: %s differ", method, threads, what);
}

static void same(const costate_method *m, const problem *b, costate_options o, wanted w, size_t threads)
{
    given_to_all g;
    results_of_all alone, r;
    costate_times times[2];
    costate_stats sum;
    int N, bad = BAD;
    members_given(b, &g);
    costate_members a = members_of(b, &g, w, &alone, &N, times);
    one_by_one(m, b, &o, &a, &sum);
    for (size_t k = 0; k < threads; k++) {
        costate_ensemble_report report;
        a = members_of(b, &g, w, &r, &N, times);
        a.threads = THREADS[k];
        int status = costate_ensemble(m, &b->P, &o, &a, &report);
        const char *name = method_name(m);
#define COMPARE(x) compared(#x, r.x, alone.x, sizeof r.x, name, THREADS[k])
        COMPARE(status); COMPARE(y); COMPARE(V); COMPARE(lambda); COMPARE(mu); COMPARE(along_end); COMPARE(t0);
        COMPARE(t1); COMPARE(defect);
        for (int j = 0; j < MEMBERS; j++) assert_string_equal(r.message[j], alone.message[j]);
        assert_int_equal(status, alone.status[bad]);
        assert_int_equal(status, COSTATE_BAD_ARGUMENT);
        assert_int_equal(report.done, MEMBERS);
        assert_int_equal(report.first, bad);
        assert_int_equal(report.failed, 1);
        assert_true(report.threads >= 1 && report.threads <= THREADS[k]);
        report.stats.tape_bytes = sum.tape_bytes = 0;
        compared("stats", &report.stats, &sum, sizeof sum, name, THREADS[k]);
    }
}

static void bits(void **state)
{
    static const wanted all[] = {{0, 0, 0}, {ED, 0, 0}, {0, EM, 0}, {ED, EM, 0}, {0, EM, 1}};
    const costate_method *m = *state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        costate_options o = for_test(m, (costate_options){.rtol = 1e-5, .atol = 1e-5, .warm = 1});
        same(m, problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0), o, all[k], k == 2 ? 4 : 1);
        o.storage = COSTATE_STATES_ONLY;
        if (!method_takes(m, MASS_REGULAR)) continue;
        same(m, problem_synthetic(MASS_REGULAR, 1, 2, 0, 0), o, all[k], k == 3 ? 2 : 1);
    }
}

/* every linear solver there is, stage systems iterated, factorisations kept, tapes of limited length */
static void solvers(void **state)
{
    const costate_method *m = *state;
    if (is_explicit(m)) skip();
    const problem *b = problem_synthetic(MASS_REGULAR, 0, 2, 2, 1);
    for (int solver = COSTATE_LS_DENSE; solver <= COSTATE_LS_GMRES; solver++)
        for (int k = 0; k < 3; k++) {
            if (skipped(solver + k, 3)) continue;
            static const char *const name[] = {"", "dense", "band", "umfpack", "superlu", "klu", "gmres"};
            if (solver != COSTATE_LS_GMRES && !costate_backend_find(name[solver])) continue;
            costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = solver, .keep_factors = k == 1 ? 1 : -1,
                                 .tape_limit = k == 1 ? 1 << 24 : 0};
            if (is_newton(m)) o.stage_solve = k == 2 ? COSTATE_STAGE_DIRECT : COSTATE_STAGE_ITERATIVE;
            if (solver == COSTATE_LS_GMRES) o.stage_solve = COSTATE_STAGE_AUTO;
            if (solver == COSTATE_LS_GMRES && k == 2) o.krylov_tol = 1e-6;
            same(m, b, for_test(m, o), (wanted){k == 1 ? 0 : ED, EM, 0}, 1);
        }
}

/* What is found out of a first Jacobian is found out for each member. */
static void pattern_of_each(void **state)
{
    static const int col[] = {0, 1, 2, 3}, row[] = {0, 1, 2};
    static const costate_pattern diagonal = {3, col, row};
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    costate_problem P = b->P;
    double y[3 * MEMBERS];
    int status[MEMBERS];
    (void)state;
    P.pattern = &diagonal;
    P.jac = NULL;
    for (int k = 0; k < 3 * MEMBERS; k++) y[k] = b->y0[k % 3];
    costate_members a = {.count = MEMBERS, .threads = 2, .t0 = b->t0, .t1 = b->t1, .y = y, .p = b->p0,
                         .same = COSTATE_SAME_P, .status = status};
    assert_int_equal(costate_ensemble(costate_method_find("rodas4"), &P, NULL, &a, NULL), COSTATE_BAD_ARGUMENT);
    for (int k = 0; k < MEMBERS; k++) assert_int_equal(status[k], COSTATE_BAD_ARGUMENT);
}

/* A member that begins where the one before ended begins as alone, with options.warm, too. */
static void warm_is_forgotten(void **state)
{
    const problem *b = problem_find("vdpol_mild");
    int N = b->P.n + b->P.nq;
    costate_options o = {.warm = 1};
    double y[3 * EN] = {0}, alone[EN], mid = 0.5 * (b->t0 + b->t1), t0[] = {b->t0, mid}, t1[] = {mid, b->t1};
    const costate_method *m = *state;
    NEEDS_ESTIMATE(m);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    for (int k = 0; k < 2; k++) {
        costate *c = costate_new(m, &b->P, &o);
        memcpy(alone, y + k * N, (size_t)N * sizeof *y);
        CHECK_OK(c, costate_integrate(c, t0[k], t1[k], alone, b->p0, NULL));
        if (k == 0) memcpy(y + N, alone, (size_t)N * sizeof *y);
        costate_free(c);
    }
    costate_members a = {.count = 2, .threads = 1, .t0_each = t0, .t1_each = t1, .y = y, .p = b->p0,
                         .same = COSTATE_SAME_P};
    assert_int_equal(costate_ensemble(m, &b->P, &o, &a, NULL), COSTATE_OK);
    assert_memory_equal(y + N, alone, (size_t)N * sizeof *y);
}

/* hybrid systems, and how often each_thread is called */
enum { RUNS = 6 };
typedef struct { const hybrid *b; int opened; } opened;

static int each(int thread, costate_problem *P, costate_options *o, void *ctx)
{
    opened *s = ctx;
    s->opened += thread == s->opened;
    o->mode = s->b->mode;
    return P->n == s->b->n ? 0 : -1;
}

static void events(void **state)
{
    const costate_method *m = *state;
    for (int k = 0; hybrid_at(k); k++) {
        const hybrid *b = hybrid_at(k);
        costate_problem P = hybrid_problem(b);
        size_t N = (size_t)(b->n + b->nq + b->nm);
        double y[2][RUNS * HYBRID_LONGEST], t1[RUNS];
        costate_options o = {.mode = b->mode, .max_steps = 2000};
        if (!hybrid_takes(m, b) || !method_info(m).embedded) continue;
        for (size_t j = 0; j < RUNS; j++) {
            costate *c = costate_new(m, &P, &o);
            hybrid_start(b, b->p, y[0] + j * N, NULL);
            memcpy(y[1] + j * N, y[0] + j * N, N * sizeof **y);
            t1[j] = b->t0 + (b->t1 - b->t0) * (double)(j + 1) / RUNS;
            costate_integrate(c, b->t0, t1[j], y[0] + j * N, b->p, NULL);
            costate_free(c);
        }
        opened s = {b, 0};
        costate_members a = {.count = RUNS, .threads = 2, .t0 = b->t0, .t1_each = t1, .y = y[1], .p = b->p,
                             .same = COSTATE_SAME_P, .ctx = &s, .each_thread = each};
        o.mode = 0;
        costate_ensemble(m, &P, &o, &a, NULL);
        assert_int_equal(s.opened, 2);
        if (memcmp(y[0], y[1], RUNS * N * sizeof **y) != 0) fail_msg("%s, %s", method_name(m), b->name);
    }
}

int main(void)
{
    const struct CMUnitTest others[] = {cmocka_unit_test(pattern_of_each)};
    return run_by_kind("bits", bits) + run_by_kind("solvers", solvers) + run_by_kind("events", events) +
           run_by_kind("warm", warm_is_forgotten) + cmocka_run_group_tests_name("others", others, NULL, NULL);
}
