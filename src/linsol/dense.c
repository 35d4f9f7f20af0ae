/* dense.c - the backend "dense": LAPACK's getrf and getrs, or for a few rows our own (few.c). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linsol/backends.h"
#include "linsol/few.h"

typedef struct {
    lapack_getrf *factor;
    lapack_getrs *solve;
} routines;

static const routines lapack[2] = { { dgetrf_, dgetrs_ }, { zgetrf_, zgetrs_ } };   /* real, complex */
static const routines few[2] = { { LS_few_dgetrf, LS_few_dgetrs }, { LS_few_zgetrf, LS_few_zgetrs } };

typedef struct {
    int n, is_complex;
    const routines *by;
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
    d->is_complex = is_complex;
    d->by = (n <= LS_FEW ? few : lapack) + !!is_complex;
    d->LU = malloc(size(d));
    d->pivot = malloc(2 * (size_t)n * sizeof *d->pivot);
    d->diagonal = malloc(2 * (size_t)n * sizeof *d->diagonal);
    if (!d->LU || !d->pivot || !d->diagonal || LS_pivots_init(&d->check, n, NULL, is_complex)) {
        dense_free(d);
        return COSTATE_LS_NO_MEMORY;
    }
    d->order = d->pivot + n;
    *self = d;
    return COSTATE_LS_OK;
}

static int dense_solve(void *self, int transpose, int nrhs, double *X)
{
    dense *d = self;
    int info;
    d->by->solve(transpose ? "T" : "N", &d->n, &nrhs, d->LU, &d->n, d->pivot, X, &d->n, &info, 1);
    return info ? COSTATE_LS_FAILED : COSTATE_LS_OK;
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

static int dense_factor(void *self, const double *A)
{
    dense *d = self;
    int info;
    memcpy(d->LU, A, size(d));
    d->by->factor(&d->n, &d->n, d->LU, &d->n, d->pivot, &info);
    if (info) return info < 0 ? COSTATE_LS_FAILED : COSTATE_LS_SINGULAR;
    LS_row_order(d->n, d->pivot, d->order);
    keep_diagonal(d);
    if (d->n <= LS_FEW) LS_few_invert(d->n, d->is_complex, d->LU);
    return LS_pivots_judge(&d->check, A, d, get_pivot, dense_solve);
}

static size_t dense_bytes(const void *self)
{
    return size(self);
}

const costate_backend LS_dense = { "dense", 1, dense_init, dense_factor, dense_solve, dense_bytes, dense_free };
