/* dense.c - the backend "dense": LAPACK's getrf and getrs, or few.c for matrices of a few rows. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "linsol/backends.h"
#include "linsol/lapack.h"
#include "linsol/number.h"

typedef struct {
    lapack_getrf *factor;
    lapack_getrs *solve;
} routines;

static const routines lapack[2] = { { dgetrf_, dgetrs_ }, { zgetrf_, zgetrs_ } };   /* real, complex */

typedef struct {
    int n, is_complex;
    const routines *by;      /* LAPACK's, or */
    LS_few_factors few;
    double *LU, *diagonal;   /* of U: the pivots */
    int *pivot, *order;      /* LAPACK's exchanges; the rows of A in the order they were taken */
    LS_pivots check;
} dense;

static size_t size(const dense *d)
{
    return (size_t)d->n * (size_t)d->n * (d->is_complex ? 2 : 1) * sizeof(double);
}

static void dense_free(void *self)
{
    dense *d = self;
    if (!d) return;
    LS_pivots_free(&d->check);
    free(d->LU);
    free(d->diagonal);
    free(d->pivot);
    free(d);
}

static int dense_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    dense *d = calloc(1, sizeof *d);
    (void)pattern;
    (void)like;                          /* there is nothing to analyse */
    if (!d) return COSTATE_LS_NO_MEMORY;
    d->n = n;
    d->is_complex = !!is_complex;
    d->by = lapack + !!is_complex;
    d->LU = malloc(size(d));
    d->pivot = malloc(2 * (size_t)n * sizeof *d->pivot);
    d->diagonal = malloc(2 * (size_t)n * sizeof *d->diagonal);
    if (!d->LU || !d->pivot || !d->diagonal || LS_pivots_init(&d->check, n, NULL, is_complex)) {
        dense_free(d);
        return COSTATE_LS_NO_MEMORY;
    }
    d->order = d->pivot + n;
    d->few = (LS_few_factors){n <= LS_FEW ? LS_few(n, is_complex) : NULL, n, d->is_complex ? 2 : 1, d->LU, d->pivot,
                              d->diagonal};
    *self = d;
    return COSTATE_LS_OK;
}

static int dense_solve(void *self, int transpose, int nrhs, double *X)
{
    const dense *d = self;
    int info = 0;
    if (d->few.by) return d->few.by->solve[transpose](d->n, nrhs, d->LU, d->pivot, X);
    d->by->solve(transpose ? "T" : "N", &d->n, &nrhs, d->LU, &d->n, d->pivot, X, &d->n, &info, 1);
    return info ? COSTATE_LS_FAILED : COSTATE_LS_OK;
}

const LS_few_factors *LS_few_of(const void *self)
{
    const dense *d = self;
    return d->few.by ? &d->few : NULL;
}

static LS_pivot get_pivot(void *self, int k)
{
    dense *d = self;
    LS_pivot p = { d->order[k], k, d->diagonal + (d->is_complex ? 2 : 1) * k, 1.0 };
    return p;
}

static void keep_diagonal(dense *d)
{
    size_t parts = d->is_complex ? 2 : 1, step = ((size_t)d->n + 1) * parts;
    for (size_t k = 0; k < (size_t)d->n; k++) memcpy(d->diagonal + parts * k, d->LU + k * step, parts * sizeof(double));
}

/* 0, or LAPACK's info: < 0 for an argument, > 0 where a pivot is 0 */
static int factor(dense *d, const double *A)
{
    int info;
    if (d->few.by) return d->few.by->factor(d->n, A, d->LU, d->pivot, d->diagonal);
    memcpy(d->LU, A, size(d));
    d->by->factor(&d->n, &d->n, d->LU, &d->n, d->pivot, &info);
    keep_diagonal(d);
    return info;
}

static double pivot_size(const dense *d, int k)
{
    return number_largest(d->check.parts, d->diagonal + d->check.parts * k);
}

/* No entry of L is larger than 1 (complex: sqrt(2)).  So no entry of column k of A is larger than the sum of column k
   of U (twice this sum, if each modulus is taken as |re| + |im|).  A pivot above the round-off of that is not suspect,
   and A need not be read.  Usually the smallest pivot is above the round-off of all columns. */
static int convincing(const dense *d)
{
    size_t parts = (size_t)d->check.parts, n = (size_t)d->n;
    double least = HUGE_VAL, sum = sum_moduli(parts * n * n, d->LU), limit = 2 * DBL_EPSILON;
    for (int k = 0; k < d->n; k++) {
        double pivot = pivot_size(d, k);
        least = pivot < least ? pivot : least;
        sum += pivot;                          /* few.c has inverted it; NaN and Inf must be noticed */
    }
    if (least > limit * sum) return 1;
    for (int k = 0; k < d->n; k++) {
        double pivot = pivot_size(d, k);
        if (!(pivot > limit * (pivot + sum_moduli(parts * (size_t)k, d->LU + parts * (size_t)k * n)))) return 0;
    }
    return 1;
}

static int dense_factor(void *self, const double *A)
{
    dense *d = self;
    int info = factor(d, A);
    if (info) return info < 0 ? COSTATE_LS_FAILED : COSTATE_LS_SINGULAR;
    if (convincing(d)) return COSTATE_LS_OK;
    LS_row_order(d->n, d->pivot, d->order);
    return LS_pivots_judge(&d->check, A, d, get_pivot, dense_solve);
}

static size_t dense_bytes(const void *self)
{
    return size(self);
}

const costate_backend LS_dense = { "dense", 1, dense_init, dense_factor, dense_solve, dense_bytes, dense_free };
