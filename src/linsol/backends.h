/* backends.h - the backends that may be built in, and what they share. */
#ifndef COSTATE_BACKENDS_H
#define COSTATE_BACKENDS_H

#include <costate/linsol.h>
#include "base/pattern.h"
#include "linsol/few.h"

extern const costate_backend LS_dense, LS_band, LS_umfpack, LS_superlu, LS_ilu, LS_klu, LS_sparse;
/* The matrices sigma M - J whose rows and columns must be scaled for a backend: none, those with an M that is not the
   identity, or all */
enum unscaled { NEVER_UNSCALED, UNSCALED_WITH_MASS, ALWAYS_UNSCALED };
enum unscaled LS_Unscaled(const costate_backend *);
/* dense.c: the factors of its matrix by few.c, or NULL */
const LS_few_factors *LS_few_of(const void *self);
int LS_Banded(const costate_backend *);     /* the backend stores a band, whose width grows with coupled stages */

/* order[k]: the k-th unknown in an order that causes little fill-in on grids.  COSTATE_LS_...  Part of "umfpack". */
int LS_dissect(const costate_pattern *, int *order);

/* Is a factored matrix singular to working precision?  Different units do not make it singular: [2 1e20; 0 2] is
   harmless, and so are the algebraic rows of a DAE with sigma = 1e12; the ratio of the largest to the smallest pivot
   would reject both.  So a pivot is suspect only if it is below the round-off of the largest entry of its row of A and
   of its column.  Only then the factor is tested: it has to reproduce a known solution.  A false "nonsingular" does
   little harm (the solution is huge, Newton's iteration diverges, the step is reduced), but a false "singular" does. */
typedef struct {
    int n, parts;                       /* doubles a number: 1, or 2 when complex */
    const costate_pattern *pattern;     /* NULL: dense */
    double *row, *col;                  /* largest moduli of A's rows and columns */
    double *probe;                      /* n numbers */
} LS_pivots;

typedef struct {
    int row, col;                       /* of A: the pivot eliminates column col by row row */
    const double *u;                    /* 1 or 2 doubles */
    double scale;                       /* u times scale is the pivot of A itself */
} LS_pivot;

int LS_pivots_init(LS_pivots *, int n, const costate_pattern *pattern, int is_complex);
void LS_pivots_free(LS_pivots *);
/* COSTATE_LS_OK or COSTATE_LS_SINGULAR.  get: the k-th pivot of self's factor of A; called for k = 0, 1, ... */
int LS_pivots_judge(LS_pivots *, const double *A, void *self, LS_pivot (*get)(void *self, int k),
                    int (*solve)(void *self, int transpose, int nrhs, double *X));

/* Sparse codes take the diagonal entry as pivot unless it is smaller than threshold times the largest entry of its
   column.  This causes less fill-in and is usually as accurate.  But if the pivots grow far beyond the entries of A,
   digits are lost, in bad cases nearly all of them, without a sign.  So such a factor, and one found singular, is
   computed again with threshold 1, partial pivoting.  The decision depends only on A, so that a replay decides alike.
   factor: factors and judges. */
int LS_pivots_factor(LS_pivots *, const double *A, void *self, LS_pivot (*get)(void *self, int k),
                     int (*factor)(void *self, const double *A, double threshold));

/* 1: self's factor of A is nonsingular and as accurate as one whose pivots are chosen for A, although its pivots were
   chosen without A.  Either they dominate A, or the solution x for b = A z, z known, has |b - A x| <= 1e-14 |A| |z| in
   every row (W. Oettli, W. Prager, Numerische Mathematik 6 (1964) 405).  z weighs columns by their largest entries, so
   that neither rows' nor columns' units matter.  room: for n numbers. */
int LS_pivots_hold(LS_pivots *, const double *A, void *self, LS_pivot (*get)(void *self, int k),
                   int (*solve)(void *self, int transpose, int nrhs, double *X), double *room);

#endif
