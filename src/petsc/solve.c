/* solve.c - KSP is set up for a matrix, and solves with it or its transpose. */
#include <string.h>
#include "petsc/petsc.h"

static int refused(KSPConvergedReason why) { return why == KSP_DIVERGED_PC_FAILED || why == KSP_DIVERGED_NANORINF; }

/* PCReset makes PETSc forget eigenvalues and interpolation of the matrix before, on which cycles must not depend. */
int petsc_factor(costate_petsc *c)
{
    KSPConvergedReason why;
    PC pc;
    ASK(KSPGetPC(c->ksp, &pc));
    if (c->cycles) ASK(PCReset(pc));
    ASK(KSPSetOperators(c->ksp, c->shelled ? c->shell : c->A, c->A ? c->A : c->shell));
    ASK(KSPSetUp(c->ksp));
    ASK(KSPSetUpOnBlocks(c->ksp));
    ASK(KSPGetConvergedReason(c->ksp, &why));
    return refused(why);
}

int petsc_solve(costate_petsc *c, int transpose, double *x)
{
    KSPConvergedReason why;
    double *in;
    ASK(VecGetArray(c->in, &in));
    if (c->P.n > 0) memcpy(in, x, (size_t)c->P.n * sizeof *x);
    ASK(VecRestoreArray(c->in, &in));
    ASK(VecPlaceArray(c->out, x));
    c->trouble = 0;
    PetscErrorCode code = transpose ? KSPSolveTranspose(c->ksp, c->in, c->out) : KSPSolve(c->ksp, c->in, c->out);
    ASK(VecResetArray(c->out));
    TRY(c->trouble);
    ASK(code);
    ASK(KSPGetConvergedReason(c->ksp, &why));
    return refused(why);
}
