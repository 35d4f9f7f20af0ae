/* few.h - LU of a few rows. */
#ifndef COSTATE_FEW_H
#define COSTATE_FEW_H

/* Measured: up to here a complex factorisation and its solves are faster than by OpenBLAS with AVX-512; real: to 56. */
enum { LS_FEW = 32 };

typedef struct {
    /* A <- its factors with LAPACK's pivots, the diagonal of U inverted, what it was in diagonal.  0, or 1 where a
       pivot is 0: what is factored then is of no use. */
    int (*factor)(int n, double *A, int *pivot, double *diagonal);
    /* X <- A^-1 X, or A^-T X (solve[1]), nrhs columns; 0: nothing goes wrong */
    int (*solve[2])(int n, int nrhs, const double *A, const int *pivot, double *X);
} LS_few_routines;

const LS_few_routines *LS_few(int n, int is_complex);

#endif
