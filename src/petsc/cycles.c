/* cycles.c - k cycles of a PETSc preconditioner as a linear operator, for methods whose matrix it is.

   k Richardson iterations from zero are  sum_j (I - B A)^j B,  and those with B^T and A^T its transpose.  Whether
   PCApplyTranspose is the transpose of PCApply depends on smoothers, coarse solvers and versions of PETSc.  So each
   set-up is tried with random vectors, and the first one is repeated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "petsc/petsc.h"

int costate_petsc_cycles(costate_petsc *c, int k)
{
    if (k < 1 || c->ready) return PETSC_ERR_ARG_OUTOFRANGE;
    c->cycles = k;
    return 0;
}

int cycles_configure(costate_petsc *c)
{
    PC pc;
    ASK(KSPSetType(c->ksp, KSPRICHARDSON));
    ASK(KSPGetPC(c->ksp, &pc));
    if (c->A) ASK(PCSetType(pc, PCGAMG));
    return -(int)PCGAMGSetReuseInterpolation(pc, PETSC_FALSE);        /* ignored by other types */
}

int cycles_fix(costate_petsc *c)
{
    ASK(KSPSetNormType(c->ksp, KSP_NORM_NONE));
    ASK(KSPSetConvergenceTest(c->ksp, KSPConvergedSkip, NULL, NULL));
    ASK(KSPSetInitialGuessNonzero(c->ksp, PETSC_FALSE));
    return -(int)KSPSetTolerances(c->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, c->cycles);
}

/* numbers in (-1, 1) that depend on the process, the vector and the component */
static void fill(const costate_petsc *c, unsigned which, double *x)
{
    int rank;
    MPI_Comm_rank(c->comm, &rank);
    unsigned s = 2654435761u * (which + 3u * (unsigned)rank + 1u);
    for (int i = 0; i < c->P.n; i++) {
        s = 1664525u * s + 1013904223u;
        x[i] = (double)(s >> 8) / 8388608.0 - 1;
    }
}

enum { X, W, BX, BTW, SUM, VECTORS };

static int refuse(costate_petsc *c, const char *what, const char *todo)
{
    char sentence[480];
    snprintf(sentence, sizeof sentence, "costate_petsc_cycles: %s.  %s", what, todo);
    return petsc_fail(c, sentence);
}

/* sums over all processes of w.Bx, x.B^T w, |w||Bx| terms, errors of B(x + w) and of a repeated set-up */
static int compare(costate_petsc *c, double *v[VECTORS], double *again)
{
    static const char *const LINEAR = "Use richardson or chebyshev smoothing with a fixed number of iterations and a "
        "direct coarse solver: -costate_mg_levels_ksp_type richardson -costate_mg_levels_pc_type jacobi";
    static const char *const TRANSPOSED = "Use smoothing that PETSc can transpose: -costate_mg_levels_ksp_type "
        "richardson -costate_mg_levels_pc_type jacobi";
    static const char *const REPEATED = "Use -costate_mg_levels_ksp_type richardson, or chebyshev with a fixed "
        "interval, -costate_mg_levels_ksp_chebyshev_eigenvalues";
    const double SQUARED = 1e-22;         /* round-off of some cycles; what is wrong is wrong by more than 1e-6 */
    double s[7] = {0};
    for (int i = 0; i < c->P.n; i++) {
        double bw = v[SUM][i] - v[BX][i] - again[c->P.n + i];
        s[0] += v[W][i] * v[BX][i];
        s[1] += v[X][i] * v[BTW][i];
        s[2] += v[W][i] * v[W][i];
        s[3] += v[BX][i] * v[BX][i];
        s[4] += bw * bw;
        s[5] += (again[i] - v[BX][i]) * (again[i] - v[BX][i]);
        s[6] += v[X][i] * v[X][i] + v[BTW][i] * v[BTW][i];
    }
    ASK(MPI_Allreduce(MPI_IN_PLACE, s, 7, MPI_DOUBLE, MPI_SUM, c->comm));
    double gap = s[0] - s[1];
    if (!(s[3] + s[6] < HUGE_VAL)) return refuse(c, "a solve is NaN or Inf", "Check the matrix and the smoother");
    if (s[4] > SQUARED * s[3]) return refuse(c, "the solve is not linear in the right-hand side", LINEAR);
    if (gap * gap > SQUARED * s[2] * s[3])
        return refuse(c, "the transposed solve is not the transpose of the solve", TRANSPOSED);
    if (s[5] > SQUARED * s[3]) return refuse(c, "a second set-up gives another operator", REPEATED);
    return 0;
}

static int apply(costate_petsc *c, int transpose, const double *from, double *to)
{
    memcpy(to, from, (size_t)c->P.n * sizeof *to);
    return petsc_solve(c, transpose, to);
}

/* *level: the smoother without a transpose, -1: the preconditioner itself; *all 1: there is none.  Asked before
   anything is applied: a PETSc object is undefined after an error in one of its functions. */
static int have_transposes(PC pc, PetscBool *all, PetscInt *level)
{
    PetscBool levels;
    PetscInt count;
    *level = -1;
    ASK(PCApplyTransposeExists(pc, all));
    ASK(PetscObjectTypeCompareAny((PetscObject)pc, &levels, PCMG, PCGAMG, ""));
    if (!*all || !levels) return 0;
    ASK(PCMGGetLevels(pc, &count));
    for (*level = 0; *level < count; ++*level) {
        KSP smoother;
        PC inner;
        ASK(PCMGGetSmoother(pc, *level, &smoother));
        ASK(KSPGetPC(smoother, &inner));
        ASK(PCApplyTransposeExists(inner, all));
        if (!*all) return 0;
    }
    return 0;
}

static int refuse_untransposed(costate_petsc *c)
{
    char what[160];
    PetscBool all;
    PetscInt level;
    PC pc, inner;
    KSP smoother;
    PCType type;
    ASK(KSPGetPC(c->ksp, &pc));
    TRY(have_transposes(pc, &all, &level));
    if (all) return 0;
    inner = pc;
    if (level >= 0) { ASK(PCMGGetSmoother(pc, level, &smoother)); ASK(KSPGetPC(smoother, &inner)); }
    ASK(PCGetType(inner, &type));
    snprintf(what, sizeof what, "PETSc cannot apply the transpose of -%s %s", level < 0 ? "costate_pc_type" :
             level == 0 ? "costate_mg_coarse_pc_type" : "costate_mg_levels_pc_type", type);
    return refuse(c, what, "Choose what has a transpose: -costate_pc_type gamg -costate_mg_levels_ksp_type richardson "
                  "-costate_mg_levels_pc_type jacobi -costate_mg_coarse_pc_type redundant");
}

/* An error inside a transposed multigrid leaves its vectors exchanged: destroying it afterwards would crash. */
static int transposed(costate_petsc *c, const double *w, double *out)
{
    int status = apply(c, 1, w, out);
    if (status >= 0) return status;
    c->ruined = 1;
    return refuse(c, "PETSc failed in the transposed solve, because a smoother or the coarse solver has no transpose",
                  "Use -costate_mg_levels_ksp_type richardson -costate_mg_levels_pc_type jacobi "
                  "-costate_mg_coarse_pc_type redundant");
}

static int check(costate_petsc *c, int first, double *v[VECTORS], double *again)
{
    size_t n = (size_t)c->P.n;
    TRY(refuse_untransposed(c));
    fill(c, 1, v[X]);
    fill(c, 2, v[W]);
    TRY(apply(c, 0, v[X], v[BX]));
    TRY(transposed(c, v[W], v[BTW]));
    TRY(apply(c, 0, v[W], again + n));
    for (size_t i = 0; i < n; i++) again[i] = v[X][i] + v[W][i];
    TRY(apply(c, 0, again, v[SUM]));
    if (first) TRY(petsc_factor(c));
    TRY(apply(c, 0, v[X], again));
    return compare(c, v, again);
}

int cycles_check(costate_petsc *c, int first)
{
    size_t n = (size_t)c->P.n;
    double *v[VECTORS], *room = malloc((VECTORS + 2) * (n + 1) * sizeof *room);
    int missing = !room;
    ASK(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX, c->comm));
    if (missing) { free(room); return petsc_fail(c, "No memory for the check of the cycles."); }
    for (size_t k = 0; k < VECTORS; k++) v[k] = room + k * n;
    int status = check(c, first, v, room + VECTORS * n);
    free(room);
    return status;
}
