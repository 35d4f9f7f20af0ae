/* ls.h - the four calls with which steppers solve systems with (re + i im) M - J, for any backend. */
#ifndef COSTATE_LS_H
#define COSTATE_LS_H

#include <costate/linsol.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "linsol/few.h"
#include "linsol/substitute.h"

typedef struct LS LS;

/* backend: from costate_backend_find or the user's.  pattern NULL: J and M are dense n*n by columns; else both are
   in the pattern (M NULL in LS_Decomp: identity; the diagonal need not be in the pattern, ls.c adds it).
   like: NULL, or an LS of the same backend, n, pattern and arithmetic, whose analysis may be shared.
   On failure NULL, and *status is a COSTATE_LS_... code. */
LS *LS_Init(const costate_backend *backend, int n, const costate_pattern *pattern, int is_complex, const LS *like,
            costate_stats *count, int *status);
/* From the next LS_Decomp on, rows and columns of the matrix are scaled before it is factored; solutions are the same.
   COSTATE_LS_OK or COSTATE_LS_NO_MEMORY. */
int LS_Balance(LS *);
/* factor (re + i im) M - J.  J NULL: zero.  im must be 0 for a real LS.  COSTATE_LS_OK, COSTATE_LS_SINGULAR (also
   when an entry is not finite), or < 0. */
int LS_Decomp(LS *, double re, double im, const double *J, const double *M);
/* X (n by nrhs; complex: pairs) <- A^-1 X or A^-T X (transposed, never conjugated).  COSTATE_LS_SINGULAR when the
   result is not finite. */
static inline int LS_Solve(LS *, int transpose, int nrhs, double *X);
/* out += |A| |x|, or |A|^T |x|, with the moduli of the entries of the last matrix formed; x, out: n real numbers. */
void LS_AddModuli(const LS *, int transpose, const double *x, double *out);
size_t LS_Bytes(const LS *);      /* memory of the factor, 0 if unknown */
void LS_Free(LS *);               /* NULL is fine */

/* The beginning of an LS.  Systems of few rows are solved from here: the calls between a step and few.c cost more than
   they do.  few: the factors, if nothing is scaled; else NULL. */
typedef struct { const LS_few_factors *few; long *solves; } LS_front;
int LS_solve_by_backend(LS *, int transpose, int nrhs, double *X);
static inline int LS_Solve(LS *ls, int transpose, int nrhs, double *X)
{
    const LS_front *front = (const LS_front *)(void *)ls;
    const LS_few_factors *few = front->few;
    if (!few || nrhs <= 0) return LS_solve_by_backend(ls, transpose, nrhs, X);
    *front->solves += nrhs;
    few->by->solve[!!transpose](few->n, nrhs, few->LU, few->pivot, X);
    return all_finite((size_t)few->n * (size_t)nrhs * (size_t)few->parts, X) ? COSTATE_LS_OK : COSTATE_LS_SINGULAR;
}

/* LS_Solve of one column.  known: the unknowns, where the compiler knows them and they are at most KNOWN, so that the
   solution is inline; else 0.  parts: doubles a number */
INLINE int LS_solve_one(int known, int parts, LS *ls, double *x)
{
    const LS_front *front = (const LS_front *)(void *)ls;
    const LS_few_factors *few = front->few;
    if (!known || !few) return LS_Solve(ls, 0, 1, x);
    ++*front->solves;
    few_solve(parts, known, few->LU, few->pivot, x);
    return all_finite((size_t)(known * parts), x) ? COSTATE_LS_OK : COSTATE_LS_SINGULAR;
}

/* The backend that enum costate_solver names; COSTATE_LS_AUTO looks at n and the pattern.  NULL: not built in. */
const costate_backend *LS_Choose(int solver, int n, const costate_pattern *pattern);
/* What this backend needs for a real matrix, if pivoting does not disturb it: multiplications of a factorisation,
   entries of the factors.  COSTATE_LS_OK, or < 0. */
int LS_Counts(const costate_backend *, int n, const costate_pattern *, double *work, double *entries);

#endif
