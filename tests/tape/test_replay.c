/* test_replay.c - the same bits: a replay gives the recorded run, a states-only tape the stages, tangents and adjoints
   of a tape with all of them. */
#include "common.h"
#include <costate/linsol.h>

enum { N_MOST = 5, M = 2, POINTS = 9 };

typedef struct {
    double end[N_MOST], again[N_MOST], at[POINTS][N_MOST], V[M * N_MOST], lambda[M * N_MOST], mu[M * 2];
    int steps;
} result;

static result run(const costate_method *m, const problem *b, costate_options o)
{
    result r = {0};
    double dp[4] = {0.2, -0.3, 0.1, 0.4};
    unsigned seed = 9;
    costate *c = new_for_test(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(r.end, b->y0, 3 * sizeof *r.end);
    memcpy(r.again, b->y0, 3 * sizeof *r.end);
    random_fill(&seed, M * N_MOST, r.V);
    random_fill(&seed, M * N_MOST, r.lambda);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, r.end, b->p0, tape));
    for (int k = 0; k < POINTS; k++)
        CHECK_OK(c, costate_tape_eval(c, tape, b->t0 + (b->t1 - b->t0) * k / (POINTS - 1.0), r.at[k]));
    CHECK_OK(c, costate_tangent(c, tape, M, r.V, b->P.np ? dp : NULL, NULL, NULL));
    CHECK_OK(c, costate_replay(c, tape, r.again, b->p0));
    CHECK_OK(c, costate_adjoint(c, tape, M, r.lambda, r.mu, NULL, NULL));
    r.steps = costate_tape_steps(tape);
    costate_free(c);
    costate_tape_free(tape);
    return r;
}

static void same(const char *what, const costate_method *m, const problem *b, const costate_options *o, const void *x,
                 const void *y, size_t size)
{
    if (memcmp(x, y, size) != 0)
        fail_msg("%s, %s, solver %d, keep %d, derivative mode %d, stages %d: %s differs by %.1e or so", method_name(m),
                 b->name, o->solver, o->keep_factors, o->derivative_mode, o->stage_solve, what,
                 fabs(*(const double *)x - *(const double *)y));
}

static double gap(int n, const double *x, const double *y)
{
    double most = 0, size = 0;
    for (int i = 0; i < n; i++) { most = fmax(most, fabs(x[i] - y[i])); size = fmax(size, fabs(x[i])); }
    return most / size;
}

static void compare(const costate_method *m, const problem *b, costate_options o)
{
    int direct = o.stage_solve == COSTATE_STAGE_DIRECT || !is_newton(m);
    o.predictor = COSTATE_PREDICT_NONE;             /* a states-only tape has no stages to predict from */
    result all = run(m, b, o);
    assert_true(all.steps > 1);
    same("replay", m, b, &o, all.end, all.again, sizeof all.end);
    o.storage = COSTATE_STATES_ONLY;
    result states = run(m, b, o);
    same("replay of states", m, b, &o, states.end, states.again, sizeof all.end);
    same("end", m, b, &o, all.end, states.end, sizeof all.end);
    same("dense output", m, b, &o, all.at, states.at, sizeof all.at);
    if (!direct) {
        if (!(gap(M * N_MOST, all.V, states.V) <= 1e-12 && gap(M * N_MOST, all.lambda, states.lambda) <= 1e-12))
            fail_msg("%s, %s: tangents %.1e, adjoints %.1e", method_name(m), b->name, gap(M * N_MOST, all.V, states.V),
                     gap(M * N_MOST, all.lambda, states.lambda));
        return;
    }
    same("tangent", m, b, &o, all.V, states.V, sizeof all.V);
    same("adjoint", m, b, &o, all.lambda, states.lambda, sizeof all.lambda);
    same("adjoint by p", m, b, &o, all.mu, states.mu, sizeof all.mu);
}

static void replay(void **state)
{
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU,
                                 COSTATE_LS_KLU};
    static const char *const built[] = {"dense", "band", "umfpack", "superlu", "klu"};
    const costate_method *m = *state;
    int irk = is_newton(m);
    for (int mass = MASS_IDENTITY; mass <= MASS_SINGULAR; mass++) {
        const problem *b = problem_synthetic(mass, 0, 2, 2, 1);
        if (!method_takes(m, mass)) continue;
        for (int l = 0; l < 5; l++) {
            if (!costate_backend_find(built[l])) continue;
            /* dense: all; the others: two each */
            for (int variant = l ? l % 2 : 0; variant < 8; variant += l ? 6 : 1) {
                costate_options o = {.rtol = 1e-4, .atol = 1e-4, .solver = solver[l],
                                     .keep_factors = variant & 1 ? 1 : -1, .derivative_mode = variant >> 1 & 1};
                if (irk) o.stage_solve = variant & 4 ? COSTATE_STAGE_ITERATIVE : COSTATE_STAGE_DIRECT;
                compare(m, b, o);
            }
        }
    }
}

/* With predicted starting values, rejected steps and old Jacobians on the way: a replay of a tape with all stages. */
static void rejections(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const problem *b = problem_find("vdpol_mild");
    long rejected = 0;
    for (int variant = 0; variant < 8; variant++) {
        costate_options o = {.rtol = 1e-4, .atol = 1e-4, .h0 = 0.3, .keep_factors = variant & 1,
                             .storage = variant >> 1 & 1, .theta_reuse = variant & 4 ? 0.5 : 0};
        double y[3] = {b->y0[0], b->y0[1], 0}, z[3] = {b->y0[0], b->y0[1], 0};
        costate *c = costate_new(m, &b->P, &o);
        costate_tape *tape = costate_tape_new();
        CHECK_OK(c, costate_integrate(c, 0, 1, y, b->p0, tape));
        rejected += costate_get_stats(c)->rejected;
        CHECK_OK(c, costate_replay(c, tape, z, b->p0));
        same("replay", m, b, &o, y, z, sizeof y);
        costate_free(c);
        costate_tape_free(tape);
    }
    assert_true(rejected > 0);
}

/* What a solver did before, or which solver it is, changes nothing. */
static void no_history(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    int irk = is_newton(m);
    for (int variant = 0; variant < 8; variant++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.05, .rtol = 1e-3, .atol = 1e-3,
                             .storage = variant & 1, .keep_factors = variant & 2 ? 1 : -1};
        if (irk) o.stage_solve = COSTATE_STAGE_DIRECT;
        double before[2][15], after[2][15], y[5], z[5] = {2, -1, 1}, at[2][5] = {{0}};
        costate *c = costate_new(m, &b->P, &o), *other = costate_new(m, &b->P, &o);
        costate_tape *tape = costate_tape_new(), *second = costate_tape_new();
        for (int pass = 0; pass < 2; pass++) {
            double (*x)[15] = pass ? after : before, t1 = b->t0 + 0.05;
            unsigned seed = 4;
            random_fill(&seed, 10, x[0]);
            memcpy(x[1], x[0], sizeof x[0]);
            memset(y, 0, sizeof y);
            memcpy(y, b->y0, 3 * sizeof *y);
            CHECK_OK(c, costate_integrate(c, b->t0, t1, y, b->p0, tape));
            if (pass) CHECK_OK(c, costate_integrate(c, b->t0, t1, z, b->p0, second));
            if (pass && variant & 4) {
                costate_free(c);
                c = costate_new(m, &b->P, &o);
                CHECK_OK(c, costate_integrate(c, b->t0, t1, z, b->p0, second));
            }
            CHECK_OK(c, costate_tape_eval(c, tape, b->t0 + 0.02, at[pass]));
            if (pass) CHECK_OK(other, costate_tangent(other, second, 1, z, NULL, NULL, NULL));
            CHECK_OK(pass ? other : c, costate_tangent(pass ? other : c, tape, 2, x[0], NULL, NULL, NULL));
            if (pass) CHECK_OK(c, costate_tape_eval(c, second, b->t0 + 0.02, y));
            CHECK_OK(c, costate_adjoint(c, tape, 2, x[1], NULL, NULL, NULL));
        }
        same("dense output after another run", m, b, &o, at[0], at[1], sizeof at[0]);
        same("tangent by another solver", m, b, &o, before[0], after[0], 10 * sizeof(double));
        same("adjoint after another run", m, b, &o, before[1], after[1], 10 * sizeof(double));
        costate_free(c);
        costate_free(other);
        costate_tape_free(tape);
        costate_tape_free(second);
    }
}

int main(void)
{
    return run_by_kind("replay", replay) + run_by_kind("replay with rejections", rejections) +
           run_by_kind("no history", no_history);
}
