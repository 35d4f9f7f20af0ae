/* petsc.h - what the files of this folder share: the preconditioner, the point where it was set up, its products. */
#ifndef COSTATE_SRC_PETSC_H
#define COSTATE_SRC_PETSC_H

#include <costate/petsc.h>

/* returns from the caller with any status that is not 0, as in base/verdict.h */
#define TRY(call) do { int status_ = (int)(call); if (status_) return status_; } while (0)
/* the same for an error code of PETSc, as a negative status */
#define ASK(call) TRY(-(int)(call))

typedef struct {                  /* columns of A in colours; one product gives the entries of a colour */
    int count;                    /* number of colours; 0: not computed yet */
    double *seed, *product;       /* n each */
    double *value;                /* entries of the local rows, row by row */
    PetscInt *column;             /* their global columns */
    PetscInt *start;              /* n + 1: where rows begin */
    int *colour;                  /* n, of local columns */
    int *first;                   /* count + 1: the entries of a colour are at[first[c]] .. at[first[c + 1] - 1] */
    int *at, *row;                /* entry, and its local row */
} colours;

struct costate_petsc {
    costate_problem P;
    costate_point x;              /* of the last set-up; its vectors lie in kept */
    double sigma;
    double *kept;                 /* y, y', p, m */
    double *M, *scaled;           /* entries of the mass matrix; n: work */
    MPI_Comm comm;
    Mat A, shell;
    KSP ksp;
    Vec in, out;
    costate_petsc_matrix form;
    void *ctx;
    colours by_colour;
    int cycles;                   /* of Richardson's iteration: the operator is the matrix; 0: a preconditioner */
    int ruined;                   /* an error left KSP such that it cannot be destroyed: it is lost */
    int shelled;                  /* the operator is the shell */
    int ready;                    /* the first set-up is done */
    int trouble;                  /* status of a product that failed inside KSP */
    int broken;                   /* status of costate_petsc_new, returned by every set-up */
    costate_preconditioner pre;
    char message[512];
};

/* message.c: the sentence becomes the message; returns minus PETSC_ERR_USER */
int petsc_fail(costate_petsc *, const char *sentence);
PetscErrorCode petsc_record(MPI_Comm, int line, const char *function, const char *file, PetscErrorCode,
                            PetscErrorType, const char *text, void *ctx);   /* error handler; ctx: costate_petsc */
/* shell.c: 0, or a status with a sentence if a product (with the transpose) is missing or needs `prepare` */
int shell_possible(costate_petsc *, int transpose, const char *who);
int shell_mass(costate_petsc *);                                /* evaluates the mass matrix, once */
/* out = (sigma M - J) x or its transpose times x; returns the status of the callback */
int shell_product(costate_petsc *, int transpose, const double *x, double *out);
int shell_make(costate_petsc *, MPI_Comm);
/* solve.c: after a set-up, x <- the solution */
int petsc_solve(costate_petsc *, int transpose, double *x);
int petsc_factor(costate_petsc *);                              /* sets KSP up for A as it is */
/* cycles.c */
int cycles_configure(costate_petsc *);                          /* before KSPSetFromOptions */
int cycles_fix(costate_petsc *);                                /* after it */
int cycles_check(costate_petsc *, int first);                   /* after a set-up: 0, or a status with a sentence */
/* coloured.c */
int coloured_fill(costate_petsc *);                             /* sets the entries of A; the caller assembles it */
int coloured_make(costate_petsc *);
void coloured_free(colours *);

#endif
