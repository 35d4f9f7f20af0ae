/* band_lu.c - LU of a band with partial pivoting, column by column.

   A(i, j) is in row lower + upper + i - j of column j, as LAPACK's gbtrf stores it; U has lower + upper diagonals above
   its own, because exchanges fill them.  With few diagonals a call of LAPACK takes longer than its arithmetic: with
   three on each side and n = 200, gbtrf 9.5 us and gbtrs 7.1, this 5.0 and 3.7 (gcc 12, OpenBLAS 0.3.21).

   Complex numbers are pairs (re, im).  parts, the doubles of a number, is a constant where functions are inlined. */
#include <float.h>
#include <stddef.h>

#include "linsol/band_lu.h"
#include "linsol/substitute.h"

/* row i of column j */
INLINE double *entry(int parts, const LS_band_lu *b, int i, int j)
{
    return b->LU + (size_t)parts * ((size_t)i + (size_t)j * (size_t)(2 * b->lower + b->upper + 1));
}

INLINE int least(int a, int b) { return a < b ? a : b; }

/* x -= a times the numbers of a column */
INLINE void subtract(int parts, int count, const double *a, const double *column, double *x)
{
    for (int i = 0; i < count; i++) number_subtract(parts, x + parts * i, column + parts * i, a);
}

INLINE int factor(int parts, const LS_band_lu *b)
{
    int n = b->n, wide = b->lower + b->upper, rows = wide + b->lower + 1;
    int last = 0;                                           /* the last column that an exchange has filled */
    for (int k = 0; k < n; k++) {
        int below = least(b->lower, n - 1 - k);
        double *a = entry(parts, b, wide, k), *inverse = b->inverse + parts * k;
        int p = largest_number(parts, below + 1, a);
        b->pivot[k] = k + p + 1;
        if (number_size(parts, a + parts * p) < 4 / DBL_MAX) return k + 1;          /* 0, or its inverse overflows */
        int reach = least(k + b->upper + p, n - 1);
        if (reach > last) last = reach;
        if (p) for (int j = 0; j <= last - k; j++) {
            double *u = a + parts * j * (rows - 1);
            number_exchange(parts, u, u + parts * p);
        }
        for (int l = 0; l < parts; l++) inverse[l] = 1 - l;
        number_divide(parts, inverse, a);
        for (int i = 1; i <= below; i++) few_multiply(parts, a + parts * i, inverse);
        for (int j = 1; j <= last - k; j++) {
            double *u = a + parts * j * (rows - 1);
            subtract(parts, below, u, a + parts, u + parts);
        }
    }
    return 0;
}

INLINE void solve(int parts, const LS_band_lu *b, double *x)
{
    int n = b->n, wide = b->lower + b->upper;
    for (int k = 0; k < n; k++) {
        double *v = x + parts * k;
        if (b->pivot[k] - 1 != k) number_exchange(parts, v, x + parts * (b->pivot[k] - 1));
        subtract(parts, least(b->lower, n - 1 - k), v, entry(parts, b, wide + 1, k), v + parts);
    }
    for (int k = n - 1; k >= 0; k--) {
        int above = least(wide, k);
        few_multiply(parts, x + parts * k, b->inverse + parts * k);
        subtract(parts, above, x + parts * k, entry(parts, b, wide - above, k), x + parts * (k - above));
    }
}

/* v -= sum of the products of two columns of count numbers, in their order */
INLINE void subtract_products(int parts, int count, const double *column, const double *x, double *v)
{
    for (int i = 0; i < count; i++) number_subtract(parts, v, column + parts * i, x + parts * i);
}

INLINE void solve_transposed(int parts, const LS_band_lu *b, double *x)
{
    int n = b->n, wide = b->lower + b->upper;
    for (int k = 0; k < n; k++) {
        int above = least(wide, k);
        subtract_products(parts, above, entry(parts, b, wide - above, k), x + parts * (k - above), x + parts * k);
        few_multiply(parts, x + parts * k, b->inverse + parts * k);
    }
    for (int k = n - 1; k >= 0; k--) {
        double *v = x + parts * k;
        subtract_products(parts, least(b->lower, n - 1 - k), entry(parts, b, wide + 1, k), v + parts, v);
        if (b->pivot[k] - 1 != k) number_exchange(parts, v, x + parts * (b->pivot[k] - 1));
    }
}

INLINE void solve_columns(int parts, const LS_band_lu *b, int transpose, int nrhs, double *X)
{
    for (int j = 0; j < nrhs; j++) {
        double *x = X + (size_t)parts * (size_t)j * (size_t)b->n;
        if (transpose) solve_transposed(parts, b, x);
        else solve(parts, b, x);
    }
}

int LS_band_factor(const LS_band_lu *b) { return b->parts == 1 ? factor(1, b) : factor(2, b); }

void LS_band_solve(const LS_band_lu *b, int transpose, int nrhs, double *X)
{
    if (b->parts == 1) solve_columns(1, b, transpose, nrhs, X);
    else solve_columns(2, b, transpose, nrhs, X);
}
