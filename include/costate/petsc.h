/* petsc.h - states distributed over MPI processes with PETSc: sums, ghost cells of a DM, KSP as preconditioner.

   This is a separate library, libcostate_petsc, built if PETSc is installed.  Each process has its own solver: its n
   unknowns are its part of a PETSc Vec, and y is the array of that part.  All processes make the same calls.

       options.sum = costate_petsc_sum, options.sum_ctx = &comm;                  all methods
       options.solver = COSTATE_LS_GMRES,                                         implicit methods
       options.preconditioner = costate_petsc_preconditioner(costate_petsc_new(...))

   The program must call PetscInitialize first and PetscFinalize last.  PETSc errors inside these functions are not
   printed: they are returned as minus the error code of PETSc, so that a callback can return them directly. */
#ifndef COSTATE_PETSC_H
#define COSTATE_PETSC_H

#include <costate/costate.h>
#include <petscdm.h>
#include <petscksp.h>

#ifdef __cplusplus
extern "C" {
#endif

/** For options.sum: replaces x by its sum over the processes of *(MPI_Comm *)comm.  One process computes the sum, so
   that all have the same bits.  Returns 0, or the error code of MPI if comm is set to return errors. */
int costate_petsc_sum(int count, double *x, void *comm);

/* ---- ghost cells, for callbacks --------------------------------------------------------------------------------- */

/** local <- y and its ghost cells (DMGlobalToLocal); y is the array of a global vector of dm. */
int costate_petsc_local(DM dm, const double *y, Vec local);
/** The transpose: g += local, where ghost cells are added on the processes that own them (DMLocalToGlobal, ADD_VALUES).
   */
int costate_petsc_add(DM dm, Vec local, double *g);

/* ---- KSP as preconditioner -------------------------------------------------------------------------------------- */

typedef struct costate_petsc costate_petsc;

/** Sets A to sigma M - J at x, or for a residual to sigma F_y' + F_y: the matrix that TSSetIJacobian expects, with
   shift sigma.  A is zero on entry.  Only call MatSetValues and similar functions: A is assembled afterwards, so that a
   process that fails does not leave others waiting.  Returns what callbacks return. */
typedef int (*costate_petsc_matrix)(double sigma, const costate_point *x, Mat A, void *ctx);

/** Creates a preconditioner for the problem of the solver, which is copied (what it points to is not). A: an assembled
   matrix with n local rows and columns and the pattern of sigma M - J (DMCreateMatrix creates one); it is kept.  matrix
   NULL: the entries are computed exactly from products of rhs.tangent (residual.tangent) with a colouring. A NULL:
   there are no entries, and the operator of KSP is a shell matrix that uses the products of the problem.  If one
   process has no memory, all processes get NULL; other errors are reported by the first setup.

   KSP solves with A.  Its default is one application of block Jacobi with ILU(0).  PETSc options with the prefix
   costate_, read at the first setup, change it: -costate_pc_type asm, -costate_ksp_type gmres.  With -costate_shell the
   operator of a KSP iteration is the shell matrix instead of A, which needs products and transposed products.  Shell
   and colouring call the products of the problem at points of their own, so its maps must not rely on `prepare`.

   The GMRES of costate is the outer iteration.  It allows a variable preconditioner and checks residuals with products
   of its own: tangents and adjoints are as exact as krylov_tol requires, however inaccurately KSP solves.  If KSP
   reaches its limit of iterations, the result is used as it is; a zero pivot or NaN requests a smaller step. */
costate_petsc *costate_petsc_new(MPI_Comm, const costate_problem *, Mat A, costate_petsc_matrix matrix, void *ctx);
void costate_petsc_free(costate_petsc *);                       /**< after the solvers that use it; accepts NULL */
const costate_preconditioner *costate_petsc_preconditioner(costate_petsc *);
KSP costate_petsc_ksp(costate_petsc *);                         /**< to configure it by calls; NULL if creating it
                                                                     failed */
const char *costate_petsc_message(const costate_petsc *);       /**< PETSc's text on its last error on this process;
                                                                     never NULL */

/* ---- cycles that are the matrix of W-methods -------------------------------------------------------------------- */

/** For COSTATE_LS_PRECONDITIONER, where the preconditioner is the matrix of the method (w6s4os): KSP becomes k
   Richardson iterations from zero with its PC, without a convergence test or norms,

       x <- x + B (b - A x)        transposed:  x <- x + B^T (b - A^T x)

   which are linear in b, and transposes of each other if PCApply and PCApplyTranspose are.  k of one or two multigrid
   cycles is usual.  Call it between costate_petsc_new and the first run; 0, or a PETSc error code (k < 1).

   Every set-up tries both with random vectors, and refuses, with a sentence, what is not linear or has no exact
   transpose: KSPGMRES or KSPCG as smoother or on the coarsest level, SOR as smoother, hypre's BoomerAMG.  This works:

       -costate_pc_type gamg -costate_mg_levels_ksp_type chebyshev -costate_mg_levels_pc_type jacobi
       -costate_mg_coarse_pc_type redundant

   The same sigma and p must give the same operator, or tapes cannot be repeated: `matrix` may use sigma and x->p, but
   not x->t and x->y, so it fills in a linear part of the problem, such as diffusion.  Each set-up starts from nothing
   (PCReset), because PETSc keeps interpolation and eigenvalues of the matrix before.  On one process it has the same
   bits; on several, PETSc may add in another order.

   PCGAMG for GMRES: -pc_gamg_reuse_interpolation, true by default in PETSc 3.18, keeps the interpolation of the first
   matrix for all later ones.  If sigma has changed by orders of magnitude, GMRES may take many iterations: use
   -costate_pc_gamg_reuse_interpolation false. */
int costate_petsc_cycles(costate_petsc *, int k);

#ifdef __cplusplus
}
#endif
#endif
