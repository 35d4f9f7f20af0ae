/* substitute.h - solutions with the factors of few.c, inline where n is known.  parts: as of number.h */
#ifndef COSTATE_LINSOL_SUBSTITUTE_H
#define COSTATE_LINSOL_SUBSTITUTE_H

#include "linsol/number.h"

INLINE void few_multiply(int parts, double *x, const double *a)
{
    double re = x[0];
    x[0] = parts == 1 ? re * a[0] : re * a[0] - x[1] * a[1];
    if (parts == 2) x[1] = x[1] * a[0] + re * a[1];
}

/* x_i -= sum over count columns, step apart from a, of a_i times its number in v, for i < rows */
INLINE void few_spread(int parts, int count, int rows, const double *restrict a, int step, const double *v,
                       double *restrict x)
{
    double by[8];
    for (int c = 0; c < parts * count; c++) by[c] = v[c];
    for (int i = 0; i < rows; i++) {
        double sum[2] = {x[parts * i], parts == 2 ? x[parts * i + 1] : 0};
        for (int c = 0; c < count; c++) number_subtract(parts, sum, a + parts * (c * step + i), by + parts * c);
        for (int k = 0; k < parts; k++) x[parts * i + k] = sum[k];
    }
}

/* a: at the diagonal of the first of count columns of L, x: at its row, with rows from there */
INLINE void few_lower(int parts, int count, int n, int rows, const double *a, double *x)
{
    for (int c = 0; c < count; c++)
        for (int i = c + 1; i < count; i++)
            number_subtract(parts, x + parts * i, a + parts * (c * n + i), x + parts * c);
    few_spread(parts, count, rows - count, a + parts * count, n, x, x + parts * count);
}

/* a: at the top of the first of count columns of U, whose diagonal stands in the row `above` and those below it */
INLINE void few_upper(int parts, int count, int n, int above, const double *a, double *x)
{
    double v[8], *y = x + parts * above;
    for (int c = count - 1; c >= 0; c--) {
        const double *u = a + parts * (c * n + above);
        few_multiply(parts, y + parts * c, u + parts * c);
        for (int i = 0; i < c; i++) number_subtract(parts, y + parts * i, u + parts * i, y + parts * c);
        for (int k = 0; k < parts; k++) v[parts * (count - 1 - c) + k] = y[parts * c + k];
    }
    few_spread(parts, count, above, a + parts * (count - 1) * n, -n, v, x);
}

/* x <- L^-1 x by the first columns of L */
INLINE void few_forward(int parts, int n, int columns, const double *A, double *x)
{
    int k = 0;
    if (parts == 1)
        for (; k + 4 <= columns; k += 4) few_lower(parts, 4, n, n - k, A + parts * k * (n + 1), x + parts * k);
    for (; k + 2 <= columns; k += 2) few_lower(parts, 2, n, n - k, A + parts * k * (n + 1), x + parts * k);
    if (k < columns) few_lower(parts, 1, n, n - k, A + parts * k * (n + 1), x + parts * k);
}

INLINE void few_backward(int parts, int n, const double *A, double *x)
{
    int k = n;
    if (parts == 1) for (; k >= 4; k -= 4) few_upper(parts, 4, n, k - 4, A + parts * (k - 4) * n, x);
    for (; k >= 2; k -= 2) few_upper(parts, 2, n, k - 2, A + parts * (k - 2) * n, x);
    if (k > 0) few_upper(parts, 1, n, 0, A, x);
}

/* x <- A^-1 x */
INLINE void few_solve(int parts, int n, const double *A, const int *pivot, double *x)
{
    for (int k = 0; k + 1 < n; k++)                                             /* the last row has no other */
        if (pivot[k] != k + 1) number_exchange(parts, x + parts * k, x + parts * (pivot[k] - 1));
    few_forward(parts, n, n, A, x);
    few_backward(parts, n, A, x);
}

#endif
