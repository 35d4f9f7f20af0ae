/* bidiagonal.h - a chain of blocks of n, A_i y_i + B_i y_{i+1} = r_i, i < N, closed by conditions that couple its ends,
   G y_0 + H y_N = g. */
#ifndef COSTATE_BVP_BIDIAGONAL_H
#define COSTATE_BVP_BIDIAGONAL_H

#include <stddef.h>

typedef struct {
    int n, N;
    double *Q, *tau;                /* (N-1) 2n*n, n: reflections that eliminate y_i, with R in the upper triangle */
    double *U, *V;                  /* (N-1) n*n: of the row R y_i + U y_0 + V y_{i+1} */
    double *F;                      /* 2n*2n: of y_0 and y_N, factored */
    double *before, *inverse;       /* F before that; its inverse and 4n: of rcond */
    double *row, *col;              /* 2n: its scaling */
    int *pivot;                     /* 2n */
    double *running, *work;         /* n*2n; 8n */
    int *iwork;                     /* 2n */
    double rcond;                   /* of F; where that is round-off, in the units that are best for it */
    int loose;                      /* the column of F with the smallest pivot */
    double *block;
} chain;

int chain_new(chain *, int n, int N);               /* 0: no memory */
void chain_free(chain *);
/* Block by block: the first, then each next; A, B: n*n in columns of ld.  1: y_{i} is not determined */
void chain_first(chain *, const double *A, const double *B, size_t ld);
int chain_next(chain *, int i, const double *A, const double *B, size_t ld);
/* The conditions g' = [G H], n*2n, end it.  unit: n, of columns.  1: singular; rcond and loose tell */
int chain_close(chain *, const double *g, const double *unit);
/* r: right sides, stride apart, destroyed; g: of the conditions; y: N + 1 of n, side by side, out */
void chain_solve(chain *, double *r, size_t stride, const double *g, double *y);
/* y: N + 1 of n, side by side, destroyed; r, g: out */
void chain_solve_transposed(chain *, double *y, double *r, size_t stride, double *g);

#endif
