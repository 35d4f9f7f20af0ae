/* few.h - LU of a few rows. */
#ifndef COSTATE_FEW_H
#define COSTATE_FEW_H

/* Measured: up to this size a complex factorisation with its solves is faster than OpenBLAS with AVX-512; a real one up
   to 56. */
enum { LS_FEW = 32 };

typedef struct LS_few_factors LS_few_factors;

/* FEW_DOUBTFUL: singular, or one of its pivots is as small as the round-off of a column of U */
enum { FEW_NOT_FINITE, FEW_DOUBTFUL, FEW_REGULAR };

typedef struct {
    /* A = (re + i im) I - J, and its factors, if all entries are finite */
    int (*decompose)(int n, const LS_few_factors *, double re, double im, const double *J, double *A);
    /* LU <- the factors of A, which may be LU, with LAPACK's pivots; U's diagonal is stored inverted, its values in
       `diagonal`.  1: a pivot is 0, and the factors are useless; else 0. */
    int (*factor)(int n, const double *A, double *LU, int *pivot, double *diagonal);
    /* X <- A^-1 X, or A^-T X (solve[1]), nrhs columns; returns 0 */
    int (*solve[2])(int n, int nrhs, const double *A, const int *pivot, double *X);
} LS_few_routines;

const LS_few_routines *LS_few(int n, int is_complex);

struct LS_few_factors {
    const LS_few_routines *by;      /* NULL: the matrix is too large */
    int n, parts;                   /* doubles a number: 1, or 2 when complex */
    double *LU;
    int *pivot;
    double *diagonal;
};

#endif
