/* test_transpose.c - the adjoint is the transpose of the tangent: <lambda1, V1> = <lambda0, V0> + <mu, Vp> + times.

   Adaptive steps; every method x {M identity, regular, singular} x {autonomous, not} x {np, nq 0 or 2} x {dense,
   sparse} x storage x {direct, iterative} x {1, 3 columns} x backends; directions of t0 and t1 are always on. */
#include "transpose.h"
#include <costate/linsol.h>

typedef struct { const costate_method *m; const problem *b; costate_options o; int columns; } setting;

static void check(const setting *s, double *worst)
{
    transposed_run run = {s->m, &s->b->P, s->b->t0, s->b->t1, s->b->y0, s->b->p0, s->o, s->columns, NULL};
    double gap = transpose_gap(&run);
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
    int implicit = is_newton(s.m);
    for (int k = 0; (s.b = problem_synthetic_at(k)); k++) {
        if (!method_takes(s.m, s.b->mass)) continue;
        for (int variant = 0; variant < (implicit ? 8 : 4); variant++) {
            if (skipped(k + variant + turn_of(s.m), 3)) continue;
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
                if (skipped(k + l + direct + turn_of(s.m), 3)) continue;
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
