/* petsc.h - states spread over processes by PETSc: sums over processes, ghost cells of a DM, preconditioners by KSP.

   A library of its own, libcostate_petsc, built where PETSc is.  Each process has a solver of its own: its n unknowns
   are its part of a PETSc Vec, y is the array of that part.  All processes make the same calls.

       options.sum = costate_petsc_sum, options.sum_ctx = &comm;                  all methods
       options.solver = COSTATE_LS_GMRES,                                         implicit ones
       options.preconditioner = costate_petsc_preconditioner(costate_petsc_new(...))

   The program calls PetscInitialize before all else and PetscFinalize after.  Errors of PETSc inside these functions
   print nothing: they are returned as minus PETSc's code, so that a callback may return what it got from here. */
#ifndef COSTATE_PETSC_H
#define COSTATE_PETSC_H

#include <costate/costate.h>
#include <petscdm.h>
#include <petscksp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* options.sum: x <- its sum over the processes of *(MPI_Comm *)comm, summed on one of them, so that all have the same
   bits.  0, or MPI's code, where errors of comm return. */
int costate_petsc_sum(int count, double *x, void *comm);

/* ---- cells of other processes, in callbacks --------------------------------------------------------------------- */

/* local <- y and the cells of others beside it (DMGlobalToLocal): y is the array of a global vector of dm. */
int costate_petsc_local(DM dm, const double *y, Vec local);
/* Its transpose: g += what local holds, that for cells of others at these (DMLocalToGlobal, ADD_VALUES). */
int costate_petsc_add(DM dm, Vec local, double *g);

/* ---- preconditioners by KSP ------------------------------------------------------------------------------------- */

typedef struct costate_petsc costate_petsc;

/* A <- sigma M - J at x, of a residual sigma F_y' + F_y: what TSSetIJacobian asks for, sigma being its shift.  A is
   zero on entry; MatSetValues and its kin are enough: A is assembled afterwards, and a process that fails before leaves
   none waiting.  Returns what callbacks return. */
typedef int (*costate_petsc_matrix)(double sigma, const costate_point *x, Mat A, void *ctx);

/* Of the problem that the solver has, which is copied (what it points to is not).  A: n local rows and columns, with
   the pattern of sigma M - J, assembled (DMCreateMatrix gives one); kept.  matrix NULL: the entries are found by
   products with directions of colours, rhs.tangent (residual.tangent), exactly.  A NULL: no entries; the operator of
   KSP is then a shell of the problem's products.  Returns NULL on all processes where one has no memory; what else is
   wrong the first setup says.

   The KSP solves with A: as it comes, block Jacobi with ILU(0), one application.  Options of PETSc with the prefix
   costate_ change that, read at the first setup: -costate_pc_type asm, -costate_ksp_type gmres.  -costate_shell: the
   operator of an iteration is not A but the shell, which needs products both ways.  Shell and colours call the
   problem's products at points of their own: its maps must do without prepare.

   costate's GMRES goes around it and judges by its own products, with a preconditioner that may vary: tangents and
   adjoints are as exact as krylov_tol says, however roughly KSP solves.  What KSP leaves when it meets its limit of
   iterations is taken; a zero pivot, or NaN, asks for a smaller step. */
costate_petsc *costate_petsc_new(MPI_Comm, const costate_problem *, Mat A, costate_petsc_matrix matrix, void *ctx);
void costate_petsc_free(costate_petsc *);                       /* after the solvers that use it; NULL is fine */
const costate_preconditioner *costate_petsc_preconditioner(costate_petsc *);
KSP costate_petsc_ksp(costate_petsc *);                         /* to be set up by calls; NULL where that failed */
const char *costate_petsc_message(const costate_petsc *);       /* what PETSc said of its last error on this process;
                                                                   never NULL */

#ifdef __cplusplus
}
#endif
#endif
