/* test_transpose.c - the adjoint is the transpose of the tangent: <lambda1, V1> = <lambda0, V0> + <mu, Vp> + times.

   Adaptive steps; every method x {M identity, regular, singular} x {autonomous, not} x {np, nq 0 or 2} x {dense,
   sparse} x storage x {direct, iterative} x {1, 3 columns} x backends; directions of t0 and t1 are always on. */
#include "common.h"
#include <costate/linsol.h>

enum { N_MOST = 8, M_MOST = 3 };

typedef struct { const costate_method *m; const problem *b; costate_options o; int columns; } setting;

static double gap_of(const setting *s)
{
    const problem *b = s->b;
    int N = b->P.n + b->P.nq, np = b->P.np, m = s->columns;
    unsigned seed = 5;
    double y[N_MOST], V[N_MOST * M_MOST], V0[N_MOST * M_MOST], Vp[N_MOST * M_MOST], dt[2 * M_MOST];
    double lambda[N_MOST * M_MOST], end[N_MOST * M_MOST], mu[N_MOST * M_MOST] = {0}, g0[M_MOST], g1[M_MOST], worst = 0;
    costate *c = new_for_test(s->m, &b->P, &s->o);
    costate_tape *tape = costate_tape_new();
    costate_times d = {dt, dt + M_MOST, NULL}, g = {g0, g1, NULL};
    memset(y, 0, sizeof y);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    random_fill(&seed, N_MOST * M_MOST, V);
    random_fill(&seed, N_MOST * M_MOST, Vp);
    random_fill(&seed, N_MOST * M_MOST, lambda);
    random_fill(&seed, 2 * M_MOST, dt);
    memcpy(V0, V, sizeof V);
    memcpy(end, lambda, sizeof lambda);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    assert_true(costate_tape_steps(tape) > 2);
    CHECK_OK(c, costate_tangent(c, tape, m, V, np ? Vp : NULL, &d, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, m, lambda, np ? mu : NULL, &g, NULL));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double left = 0, right = g0[i] * dt[j] + g1[i] * dt[M_MOST + j],
                   size = fabs(g0[i] * dt[j]) + fabs(g1[i] * dt[M_MOST + j]);
            for (int k = 0; k < N; k++) {
                left += end[i * N + k] * V[j * N + k];
                size += fabs(end[i * N + k] * V[j * N + k]);
            }
            for (int k = 0; k < N; k++) right += lambda[i * N + k] * V0[j * N + k];
            for (int k = 0; k < np; k++) right += mu[i * np + k] * Vp[j * np + k];
            worst = larger_of(worst, fabs(left - right) / size);
            assert_true(isfinite(left) && isfinite(right));
        }
    costate_tape_free(tape);
    costate_free(c);
    return worst;
}

static void check(const setting *s, double *worst)
{
    double gap = gap_of(s);
    *worst = larger_of(*worst, gap);
    if (!(gap <= 1e-12))
        fail_msg("%s, %s, solver %d, storage %d, stage_solve %d, keep %d, %d columns: gap %.2e", method_name(s->m),
                 s->b->name, s->o.solver, s->o.storage, s->o.stage_solve, s->o.keep_factors, s->columns, gap);
}

static void transpose(void **state)
{
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU,
                                 COSTATE_LS_KLU, COSTATE_LS_GMRES};
    static const char *const built[] = {"dense", "band", "umfpack", "superlu", "klu", "gmres"};
    setting s = {.m = *state};
    double worst = 0;
    int family = method_info(s.m).family, implicit = family == COSTATE_SDIRK || family == COSTATE_FIRK;
    for (int k = 0; (s.b = problem_synthetic_at(k)); k++) {
        if (!method_takes(s.m, s.b->mass)) continue;
        for (int variant = 0; variant < (implicit ? 8 : 4); variant++) {
            s.o = (costate_options){.rtol = 1e-3, .atol = 1e-3, .hmax = 0.25, .autonomous = s.b->autonomous,
                                    .storage = variant & 1, .keep_factors = variant >> 1 & 1};
            s.o.stage_solve = implicit ? COSTATE_STAGE_DIRECT + (variant >> 2 & 1) : 0;
            s.columns = variant & 1 ? 3 : 1;
            check(&s, &worst);
        }
        for (int l = 0; s.b->P.pattern && l < 6; l++) {
            int gmres = solver[l] == COSTATE_LS_GMRES;
            if (!gmres && !costate_backend_find(built[l])) continue;
            for (int direct = 0; direct < (implicit && !gmres ? 2 : 1); direct++) {
                s.o = (costate_options){.rtol = 1e-3, .atol = 1e-3, .hmax = 0.25, .solver = solver[l],
                                        .stage_solve = implicit ? 1 + direct : 0};
                s.columns = 3;
                check(&s, &worst);
            }
        }
    }
    print_message("           largest gap %.1e\n", worst);
}

int main(void) { return run_by_method("adjoint is the transpose of the tangent", transpose); }
