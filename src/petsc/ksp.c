/* ksp.c - a Krylov solver of PETSc (KSP) as a preconditioner of costate: creation, set-up at a point, solution with the
   matrix and with its transpose.

   PETSc's calls are collective: if one process returned early, the others would wait for ever.  So a failure on one
   process is made known to all.  The status of a callback is summed over the processes here, a failed product inside
   KSP fills the result with NaN (shell.c), and a status returned from this file is shared by costate itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "petsc/petsc.h"

/* *answer becomes 1 on all processes if it is not 0 on one of them */
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

static int ksp_make(costate_petsc *c, MPI_Comm comm)
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

/* Work of the first set-up: first what may fail on only one process, then what takes products, and options that the
   user may have set since costate_petsc_new.  *stop: see fill. */
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
    if (c->cycles) TRY(cycles_configure(c));
    ASK(KSPSetFromOptions(c->ksp));
    if (c->cycles) TRY(cycles_fix(c));
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

/* Fills A.  *stop is set on all processes if one of them failed; the status returned is that of this process.  A is
   assembled even then, because PETSc does not set a matrix to zero that has unassembled entries. */
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

static int set_up_here(costate_petsc *c, double sigma, const costate_point *x)
{
    int stop = 0, first = !c->ready;
    keep_point(c, sigma, x);
    TRY(get_ready(c, &stop));
    if (c->A && !stop) TRY(fill(c, &stop));
    if (stop) return 0;                                   /* another process failed and reports it */
    ASK(MatAssemblyBegin(c->shell, MAT_FINAL_ASSEMBLY));                /* tells PETSc that the operator has changed */
    ASK(MatAssemblyEnd(c->shell, MAT_FINAL_ASSEMBLY));
    TRY(petsc_factor(c));
    return c->cycles ? cycles_check(c, first) : 0;
}

static int set_up(double sigma, const costate_point *x, void *ctx)
{
    ASK(PetscPushErrorHandler(petsc_record, ctx));
    int status = set_up_here(ctx, sigma, x);
    ASK(PetscPopErrorHandler());
    return status;
}

/* ---- applied ---------------------------------------------------------------------------------------------------- */

static int ksp_solve(int transpose, double *x, void *ctx)
{
    ASK(PetscPushErrorHandler(petsc_record, ctx));
    int status = petsc_solve(ctx, transpose, x);
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
    c->pre = (costate_preconditioner){.setup = set_up, .solve = ksp_solve, .ctx = c};
    strcpy(c->message, "No error.");
    PetscPushErrorHandler(petsc_record, c);
    c->broken = ksp_make(c, comm);
    PetscPopErrorHandler();
    return c;
}

void costate_petsc_free(costate_petsc *c)
{
    if (!c) return;
    if (c->ksp && c->A) MatDestroy(&c->A);
    if (!c->ruined) KSPDestroy(&c->ksp);
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
