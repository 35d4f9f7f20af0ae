/* band.c - the backend "band": the band is taken from the pattern; narrow ones are factored by band_lu.c, wide ones by
   LAPACK's gbtrf. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linsol/backends.h"
#include "linsol/band_lu.h"
#include "linsol/lapack.h"

typedef struct {
    LS_band_lu lu;
    const costate_pattern *pattern;
    int rows;                /* of LU: the pivots' fill needs `lower` more than the diagonals of A */
    int *order;              /* the rows of A in the order they were taken */
    LS_pivots check;
} band;

static size_t size(const band *b)
{
    return (size_t)b->lu.n * (size_t)b->rows * (size_t)b->lu.parts * sizeof(double);
}

#ifdef COSTATE_BUILTIN_LAPACK
static int factor(band *b) { return LS_band_factor(&b->lu); }
static int solve(band *b, int transpose, int nrhs, double *X)
{
    LS_band_solve(&b->lu, transpose, nrhs, X);
    return 0;
}
#else
/* Diagonals off the main one.  Factorisations of narrow bands take half of LAPACK's time, and solves; with about so
   many of them both take as long. */
enum { NARROW = 32 };

static int is_narrow(const band *b) { return b->lu.lower + b->lu.upper <= NARROW; }

/* 0, the first column without a pivot, or negative: LAPACK refuses */
static int factor(band *b)
{
    LS_band_lu *lu = &b->lu;
    int info;
    if (is_narrow(b)) return LS_band_factor(lu);
    (lu->parts == 2 ? zgbtrf_ : dgbtrf_)(&lu->n, &lu->n, &lu->lower, &lu->upper, lu->LU, &b->rows, lu->pivot, &info);
    return info;
}

static int solve(band *b, int transpose, int nrhs, double *X)
{
    LS_band_lu *lu = &b->lu;
    int info = 0;
    if (is_narrow(b)) LS_band_solve(lu, transpose, nrhs, X);
    else (lu->parts == 2 ? zgbtrs_ : dgbtrs_)(transpose ? "T" : "N", &lu->n, &lu->lower, &lu->upper, &nrhs, lu->LU,
                                              &b->rows, lu->pivot, X, &lu->n, &info, 1);
    return info;
}
#endif

static void band_free(void *self)
{
    band *b = self;
    if (!b) return;
    LS_pivots_free(&b->check);
    free(b->lu.LU);
    free(b->lu.inverse);
    free(b->lu.pivot);
    free(b);
}

static int band_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    band *b = calloc(1, sizeof *b);
    (void)like;                          /* the analysis is cheaper than sharing it */
    if (!b) return COSTATE_LS_NO_MEMORY;
    LS_band_lu *lu = &b->lu;
    lu->n = n;
    lu->parts = is_complex ? 2 : 1;
    b->pattern = pattern;
    pattern_band(pattern, &lu->lower, &lu->upper);
    if (lu->lower > (INT32_MAX - 1 - lu->upper) / 2) {
        band_free(b);
        return COSTATE_LS_UNSUPPORTED;
    }
    b->rows = 2 * lu->lower + lu->upper + 1;
    if ((size_t)b->rows <= SIZE_MAX / (2 * sizeof(double)) / (size_t)n) lu->LU = malloc(size(b));
    lu->inverse = malloc((size_t)lu->parts * (size_t)n * sizeof *lu->inverse);
    lu->pivot = malloc(2 * (size_t)n * sizeof *lu->pivot);
    if (!lu->LU || !lu->inverse || !lu->pivot || LS_pivots_init(&b->check, n, pattern, is_complex)) {
        band_free(b);
        return COSTATE_LS_NO_MEMORY;
    }
    b->order = lu->pivot + n;
    *self = b;
    return COSTATE_LS_OK;
}

static void scatter(band *b, const double *A)
{
    LS_band_lu *lu = &b->lu;
    size_t parts = (size_t)lu->parts;
    memset(lu->LU, 0, size(b));
    for (int j = 0; j < lu->n; j++)
        for (int k = b->pattern->col[j]; k < b->pattern->col[j + 1]; k++) {
            size_t row = (size_t)(lu->lower + lu->upper + b->pattern->row[k] - j);
            size_t at = (size_t)j * (size_t)b->rows + row;
            memcpy(lu->LU + parts * at, A + parts * (size_t)k, parts * sizeof *A);
        }
}

static int band_solve(void *self, int transpose, int nrhs, double *X)
{
    return solve(self, transpose, nrhs, X) ? COSTATE_LS_FAILED : COSTATE_LS_OK;
}

static LS_pivot get_pivot(void *self, int k)
{
    band *b = self;
    size_t at = (size_t)k * (size_t)b->rows + (size_t)(b->lu.lower + b->lu.upper);
    LS_pivot p = { b->order[k], k, b->lu.LU + at * (size_t)b->lu.parts, 1.0 };
    return p;
}

static int band_factor(void *self, const double *A)
{
    band *b = self;
    scatter(b, A);
    int info = factor(b);
    if (info) return info < 0 ? COSTATE_LS_FAILED : COSTATE_LS_SINGULAR;
    LS_row_order(b->lu.n, b->lu.pivot, b->order);
    return LS_pivots_judge(&b->check, A, b, get_pivot, band_solve);
}

static size_t band_bytes(const void *self)
{
    return size(self);
}

const costate_backend LS_band = { "band", 0, band_init, band_factor, band_solve, band_bytes, band_free };
