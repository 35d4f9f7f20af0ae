/* ksp.c - a KSP as a costate_preconditioner: made, set up at a point, applied both ways.

   What one process finds, all learn before PETSc waits for all of them: callbacks by a sum of theirs here, products
   inside KSP by NaN (shell.c), what is returned from here by costate itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "petsc/petsc.h"

int petsc_fail(costate_petsc *c, const char *sentence)
{
    snprintf(c->message, sizeof c->message, "%s", sentence);
    return -(int)PETSC_ERR_USER;
}

/* PETSc's error handler: the first word counts, the callers' add nothing. */
static PetscErrorCode record(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                             PetscErrorType kind, const char *text, void *ctx)
{
    costate_petsc *c = ctx;
    const char *general = NULL;
    (void)comm, (void)file;
    if (kind != PETSC_ERROR_INITIAL) return code;
    PetscErrorMessage((int)code, &general, NULL);
    snprintf(c->message, sizeof c->message, "PETSc, error %d in %s, line %d: %s%s%s", (int)code, function, line,
             general ? general : "", general && text ? ": " : "", text ? text : "");
    return code;
}

/* *answer: 1 on all processes if it is not 0 on one */
static int any(MPI_Comm comm, int *answer)
{
    int mine = *answer != 0;
    return -MPI_Allreduce(&mine, answer, 1, MPI_INT, MPI_MAX, comm);
}

/* ---- made ------------------------------------------------------------------------------------------------------- */

static int default_solver(costate_petsc *c)
{
    PC pc;
    ASK(KSPSetType(c->ksp, KSPPREONLY));
    ASK(KSPGetPC(c->ksp, &pc));
    return -(int)PCSetType(pc, c->A ? PCBJACOBI : PCNONE);
}

static int sizes(costate_petsc *c)
{
    PetscInt rows = c->P.n, columns = c->P.n;
    if (c->A) ASK(MatGetLocalSize(c->A, &rows, &columns));
    if (rows == c->P.n && columns == c->P.n) return 0;
    return petsc_fail(c, "A has not n local rows and columns.");
}

static int make(costate_petsc *c, MPI_Comm comm)
{
    int status = sizes(c), stop = status;
    TRY(any(comm, &stop));
    if (stop) return status ? status : petsc_fail(c, "A of another process has not n local rows and columns.");
    ASK(VecCreateMPI(comm, c->P.n, PETSC_DETERMINE, &c->in));
    ASK(VecCreateMPIWithArray(comm, 1, c->P.n, PETSC_DETERMINE, NULL, &c->out));
    TRY(shell_make(c, comm));
    ASK(KSPCreate(comm, &c->ksp));
    ASK(KSPSetOptionsPrefix(c->ksp, "costate_"));
    ASK(KSPSetErrorIfNotConverged(c->ksp, PETSC_FALSE));
    if (c->A) ASK(PetscObjectReference((PetscObject)c->A));
    return default_solver(c);
}

static size_t kept_by(const costate_problem *P)
{
    return (size_t)P->n * (P->residual.value ? 2 : 1) + (size_t)P->np + (size_t)P->nm;
}

/* At the first setup: what may fail on one process alone, then what costs products or what a user may have set until
   then.  *stop: as of fill. */
static int get_ready(costate_petsc *c, int *stop)
{
    const char *prefix;
    PetscBool shelled = PETSC_FALSE;
    if (c->ready) return 0;
    int status = c->broken ? c->broken : shell_mass(c);
    *stop = status;
    TRY(any(c->comm, stop));
    if (*stop) return status;
    ASK(KSPGetOptionsPrefix(c->ksp, &prefix));
    ASK(PetscOptionsGetBool(NULL, prefix, "-shell", &shelled, NULL));
    ASK(KSPSetFromOptions(c->ksp));
    c->shelled = shelled || !c->A;
    if (c->shelled) TRY(shell_possible(c, 0, "A shell"));
    if (c->shelled) TRY(shell_possible(c, 1, "A shell"));
    if (c->A && !c->form) {
        TRY(shell_possible(c, 0, "A without a callback that fills it"));
        TRY(coloured_make(c));
    }
    c->ready = 1;
    return 0;
}

/* ---- set up ----------------------------------------------------------------------------------------------------- */

static const double *keep(double **to, size_t n, const double *x)
{
    double *kept = *to;
    *to += n;
    if (!x) return NULL;
    memcpy(kept, x, n * sizeof *x);
    return kept;
}

static void keep_point(costate_petsc *c, double sigma, const costate_point *x)
{
    double *to = c->kept;
    size_t n = (size_t)c->P.n;
    c->sigma = sigma;
    c->x = *x;
    c->x.y = keep(&to, n, x->y);
    if (c->P.residual.value) c->x.yp = keep(&to, n, x->yp);
    c->x.p = keep(&to, (size_t)c->P.np, x->p);
    c->x.m = keep(&to, (size_t)c->P.nm, x->m);
}

/* *stop: a process failed, and all go no further; what is returned is of this one.  A is assembled all the same: one
   that has values of its own would refuse to be set to zero. */
static int fill(costate_petsc *c, int *stop)
{
    int status = -(int)MatZeroEntries(c->A);
    if (!status) status = c->form ? c->form(c->sigma, &c->x, c->A, c->ctx) : coloured_fill(c);
    *stop = status;
    TRY(any(c->comm, stop));
    ASK(MatAssemblyBegin(c->A, MAT_FINAL_ASSEMBLY));
    ASK(MatAssemblyEnd(c->A, MAT_FINAL_ASSEMBLY));
    return status;
}

static int refused(KSPConvergedReason why) { return why == KSP_DIVERGED_PC_FAILED || why == KSP_DIVERGED_NANORINF; }

static int set_up_here(costate_petsc *c, double sigma, const costate_point *x)
{
    KSPConvergedReason why;
    int stop = 0;
    keep_point(c, sigma, x);
    TRY(get_ready(c, &stop));
    if (c->A && !stop) TRY(fill(c, &stop));
    if (stop) return 0;                                   /* another process says so */
    ASK(MatAssemblyBegin(c->shell, MAT_FINAL_ASSEMBLY));                /* its entries, were there any, are others */
    ASK(MatAssemblyEnd(c->shell, MAT_FINAL_ASSEMBLY));
    ASK(KSPSetOperators(c->ksp, c->shelled ? c->shell : c->A, c->A ? c->A : c->shell));
    ASK(KSPSetUp(c->ksp));
    ASK(KSPSetUpOnBlocks(c->ksp));
    ASK(KSPGetConvergedReason(c->ksp, &why));
    return refused(why);
}

static int set_up(double sigma, const costate_point *x, void *ctx)
{
    ASK(PetscPushErrorHandler(record, ctx));
    int status = set_up_here(ctx, sigma, x);
    ASK(PetscPopErrorHandler());
    return status;
}

/* ---- applied ---------------------------------------------------------------------------------------------------- */

static int solve_here(costate_petsc *c, int transpose, double *x)
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

static int solve(int transpose, double *x, void *ctx)
{
    ASK(PetscPushErrorHandler(record, ctx));
    int status = solve_here(ctx, transpose, x);
    ASK(PetscPopErrorHandler());
    return status;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

costate_petsc *costate_petsc_new(MPI_Comm comm, const costate_problem *P, Mat A, costate_petsc_matrix matrix, void *ctx)
{
    size_t n = (size_t)P->n;
    costate_petsc *c = calloc(1, sizeof *c);
    double *kept = calloc(kept_by(P) + 1, sizeof *kept), *scaled = calloc(n + 1, sizeof *scaled);
    int missing = !c || !kept || !scaled;
    if (any(comm, &missing) || missing) {
        free(c);
        free(kept);
        free(scaled);
        return NULL;
    }
    *c = (costate_petsc){.P = *P, .comm = comm, .A = A, .form = matrix, .ctx = ctx, .kept = kept, .scaled = scaled};
    c->pre = (costate_preconditioner){.setup = set_up, .solve = solve, .ctx = c};
    strcpy(c->message, "No error.");
    PetscPushErrorHandler(record, c);
    c->broken = make(c, comm);
    PetscPopErrorHandler();
    return c;
}

void costate_petsc_free(costate_petsc *c)
{
    if (!c) return;
    if (c->ksp && c->A) MatDestroy(&c->A);
    KSPDestroy(&c->ksp);
    MatDestroy(&c->shell);
    VecDestroy(&c->in);
    VecDestroy(&c->out);
    coloured_free(&c->by_colour);
    free(c->M);
    free(c->kept);
    free(c->scaled);
    free(c);
}

const costate_preconditioner *costate_petsc_preconditioner(costate_petsc *c) { return &c->pre; }
KSP costate_petsc_ksp(costate_petsc *c) { return c->ksp; }
const char *costate_petsc_message(const costate_petsc *c) { return c->message; }
