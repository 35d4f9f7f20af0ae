/* band.c - the backend "band": LAPACK's gbtrf and gbtrs, the band taken from the pattern. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linsol/backends.h"
#include "linsol/lapack.h"

static const struct {
    lapack_gbtrf *factor;
    lapack_gbtrs *solve;
} lapack[2] = { { dgbtrf_, dgbtrs_ }, { zgbtrf_, zgbtrs_ } };   /* real, complex */

typedef struct {
    int n, is_complex;
    int lower, upper, rows;  /* LAPACK's kl, ku, ldab = 2 kl + ku + 1: the pivots' fill needs kl more rows */
    const costate_pattern *pattern;
    double *LU;
    int *pivot, *order;      /* LAPACK's exchanges; the rows of A in the order they were taken */
    LS_pivots check;
} band;

static size_t size(const band *b)
{
    return (size_t)b->n * (size_t)b->rows * (b->is_complex ? 2 : 1) * sizeof(double);
}

static void band_free(void *self)
{
    band *b = self;
    if (!b) return;
    LS_pivots_free(&b->check);
    free(b->LU);
    free(b->pivot);
    free(b);
}

static int band_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    band *b = calloc(1, sizeof *b);
    (void)like;                          /* the analysis is cheaper than sharing it */
    if (!b) return COSTATE_LS_NO_MEMORY;
    b->n = n;
    b->is_complex = is_complex;
    b->pattern = pattern;
    pattern_band(pattern, &b->lower, &b->upper);
    if (b->lower > (INT32_MAX - 1 - b->upper) / 2) {
        band_free(b);
        return COSTATE_LS_UNSUPPORTED;
    }
    b->rows = 2 * b->lower + b->upper + 1;
    if ((size_t)b->rows <= SIZE_MAX / (2 * sizeof(double)) / (size_t)n) b->LU = malloc(size(b));
    b->pivot = malloc(2 * (size_t)n * sizeof *b->pivot);
    if (!b->LU || !b->pivot || LS_pivots_init(&b->check, n, pattern, is_complex)) {
        band_free(b);
        return COSTATE_LS_NO_MEMORY;
    }
    b->order = b->pivot + n;
    *self = b;
    return COSTATE_LS_OK;
}

static void scatter(band *b, const double *A)
{
    size_t parts = b->is_complex ? 2 : 1;
    memset(b->LU, 0, size(b));
    for (int j = 0; j < b->n; j++)
        for (int k = b->pattern->col[j]; k < b->pattern->col[j + 1]; k++) {
            size_t row = (size_t)(b->lower + b->upper + b->pattern->row[k] - j);
            size_t at = (size_t)j * (size_t)b->rows + row;
            memcpy(b->LU + parts * at, A + parts * (size_t)k, parts * sizeof *A);
        }
}

static int band_solve(void *self, int transpose, int nrhs, double *X)
{
    band *b = self;
    int info;
    lapack[b->is_complex].solve(transpose ? "T" : "N", &b->n, &b->lower, &b->upper, &nrhs, b->LU, &b->rows, b->pivot,
                                X, &b->n, &info, 1);
    return info ? COSTATE_LS_FAILED : COSTATE_LS_OK;
}

static LS_pivot get_pivot(void *self, int k)
{
    band *b = self;
    size_t at = (size_t)k * (size_t)b->rows + (size_t)(b->lower + b->upper);
    LS_pivot p = { b->order[k], k, b->LU + at * (b->is_complex ? 2 : 1), 1.0 };
    return p;
}

static int band_factor(void *self, const double *A)
{
    band *b = self;
    int info;
    scatter(b, A);
    lapack[b->is_complex].factor(&b->n, &b->n, &b->lower, &b->upper, b->LU, &b->rows, b->pivot, &info);
    if (info) return info < 0 ? COSTATE_LS_FAILED : COSTATE_LS_SINGULAR;
    LS_row_order(b->n, b->pivot, b->order);
    return LS_pivots_judge(&b->check, A, b, get_pivot, band_solve);
}

static size_t band_bytes(const void *self)
{
    return size(self);
}

const costate_backend LS_band = { "band", 0, band_init, band_factor, band_solve, band_bytes, band_free };
