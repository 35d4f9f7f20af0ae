/* petsc.h - what the files of this room share: a preconditioner by KSP, its point and its products. */
#ifndef COSTATE_SRC_PETSC_H
#define COSTATE_SRC_PETSC_H

#include <costate/petsc.h>

/* as in the library: a status goes up as soon as it is one */
#define TRY(call) do { int status_ = (int)(call); if (status_) return status_; } while (0)
/* PETSc's code as a status */
#define ASK(call) TRY(-(int)(call))

typedef struct {                  /* entries of A by products with directions of one colour each */
    int count;                    /* colours; 0: not made yet */
    double *seed, *product;       /* n each */
    double *value;                /* entries of the local rows, row by row */
    PetscInt *column;             /* theirs, global */
    PetscInt *start;              /* n + 1: where rows begin */
    int *colour;                  /* n, of local columns */
    int *first;                   /* count + 1: the entries of a colour are at[first[c]] .. at[first[c + 1] - 1] */
    int *at, *row;                /* entry, and its local row */
} colours;

struct costate_petsc {
    costate_problem P;
    costate_point x;              /* of the last setup; what it points to is in kept */
    double sigma;
    double *kept;                 /* y, y', p, m */
    double *M, *scaled;           /* entries of mass; n */
    MPI_Comm comm;
    Mat A, shell;
    KSP ksp;
    Vec in, out;
    costate_petsc_matrix form;
    void *ctx;
    colours by_colour;
    int shelled;                  /* the operator is the shell */
    int ready;                    /* options are read */
    int trouble;                  /* what a product inside KSP returned */
    int broken;                   /* what costate_petsc_new met: of setup, from then on */
    costate_preconditioner pre;
    char message[512];
};

/* 0, or minus PETSC_ERR_USER: the sentence becomes the message */
int petsc_fail(costate_petsc *, const char *sentence);
/* 0, or a status with a sentence: products are there, in this direction, without prepare */
int shell_possible(costate_petsc *, int transpose, const char *who);
int shell_mass(costate_petsc *);                                /* once */
/* out = (sigma M - J) x or its transpose times x; what a callback returns */
int shell_product(costate_petsc *, int transpose, const double *x, double *out);
int shell_make(costate_petsc *, MPI_Comm);
int coloured_fill(costate_petsc *);                             /* A, not yet assembled */
int coloured_make(costate_petsc *);
void coloured_free(colours *);

#endif
