/* few.c - LU of a few rows without the overhead of a LAPACK call, which costs more than their arithmetic.

   Pivots and factors are LAPACK's, but the diagonal of U is inverted: a division costs as much as a dozen products.
   The matrix is factored column by column: each column results from a forward substitution with the previous ones.
   Substitutions take four columns of L or U (complex: two) at a time, so that x is read and written less often.
   In transposed substitutions each x_k is a chain of subtractions along a column.  Real chains overlap four at a time:
   those of four columns of U, or of four right-hand sides.  With one right-hand side the chains of L^T cannot overlap,
   because each begins with the x_k that the previous one ends with.
   In all of these the terms of each x_i are subtracted in the same order as with single columns, so that the results
   have the same bits.

   Complex numbers are pairs (re, im).  parts (doubles per number) and the number of columns at a time are constants
   where the functions below are inlined, and so is n, up to eight. */
#include <float.h>
#include "base/vec.h"
#include "linsol/few.h"
#include "linsol/substitute.h"

/* ---- factors, solves ---- */

/* the row of the largest number of column a, from row k on; -1: all of them are 0 */
INLINE int pivot_of(int parts, int n, int k, const double *a)
{
    int p = k;
    double most = number_size(parts, a + parts * k);
    for (int i = k + 1; i < n; i++) {
        double v = number_size(parts, a + parts * i);
        if (v > most) { most = v; p = i; }
    }
    return most == 0 ? -1 : p;
}

/* column k; 1: its pivot is 0 */
INLINE int factor_column(int parts, int n, int k, const double *A, double *LU, int *pivot, double *diagonal)
{
    double *a = LU + parts * k * n, *u = diagonal + parts * k;
    for (int i = 0; i < parts * n; i++) a[i] = A[parts * k * n + i];
    for (int j = 0; j < k; j++)
        if (pivot[j] != j + 1) number_exchange(parts, a + parts * j, a + parts * (pivot[j] - 1));
    few_forward(parts, n, k, LU, a);
    int p = pivot_of(parts, n, k, a);
    if (p < 0) return 1;
    pivot[k] = p + 1;
    for (int j = 0; j <= k && p != k; j++)
        number_exchange(parts, LU + parts * (j * n + k), LU + parts * (j * n + p));
    for (int part = 0; part < parts; part++) { u[part] = a[parts * k + part]; a[parts * k + part] = 1 - part; }
    divisor by = divisor_of(parts, u);
    for (int i = k; i < n; i++) number_divide_by(parts, a + parts * i, &by);
    return 0;
}

/* Unrolled, two rows take half as many instructions; compilers do not do so by themselves. */
INLINE int factor(int parts, int n, const double *A, double *LU, int *pivot, double *diagonal)
{
    if (n > 4) {
        for (int k = 0; k < n; k++) if (factor_column(parts, n, k, A, LU, pivot, diagonal)) return 1;
        return 0;
    }
#pragma GCC unroll 4
    for (int k = 0; k < n; k++) if (factor_column(parts, n, k, A, LU, pivot, diagonal)) return 1;
    return 0;
}

INLINE int form(int parts, int n, double re, double im, const double *J, double *A)
{
    for (int k = 0; k < n * n; k++) {
        A[parts * k] = 0.0 - J[k];
        if (parts == 2) A[2 * k + 1] = 0;
    }
    for (int j = 0; j < n; j++) {
        A[parts * j * (n + 1)] += re;
        if (parts == 2) A[2 * j * (n + 1) + 1] += im;
    }
    return all_finite((size_t)(parts * n * n), A);
}

/* Are all pivots above the round-off of all columns of U?  See `convincing` of dense.c; the sum is one of four, which
   do not wait for each other. */
INLINE int regular(int parts, int n, const double *LU, const double *diagonal)
{
    double sum[4] = {0}, least = HUGE_VAL;
    int count = parts * n * n, k = 0;
    for (; k + 4 <= count; k += 4) for (int l = 0; l < 4; l++) sum[l] += fabs(LU[k + l]);
    for (; k < count; k++) sum[0] += fabs(LU[k]);
    for (int j = 0; j < n; j++) {
        double pivot = number_largest(parts, diagonal + parts * j);
        least = pivot < least ? pivot : least;
        sum[1] += pivot;
    }
    return least > 2 * DBL_EPSILON * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* ---- transposed ---- */

INLINE void chain(int parts, int rows, const double *a, const double *x, double *y)
{
    for (int i = 0; i < rows; i++) number_subtract(parts, y, a + parts * i, x + parts * i);
}

/* x_k .. x_(k+3) of U^T x = b, real, where a is the column k of U */
INLINE void upper_transposed_4(int n, int k, const double *a, double *x)
{
    const double *a1 = a + n, *a2 = a1 + n, *a3 = a2 + n;
    double x0 = x[k], x1 = x[k + 1], x2 = x[k + 2], x3 = x[k + 3];
    for (int i = 0; i < k; i++) {
        double v = x[i];
        x0 -= a[i] * v;
        x1 -= a1[i] * v;
        x2 -= a2[i] * v;
        x3 -= a3[i] * v;
    }
    x0 *= a[k];
    x1 = (x1 - a1[k] * x0) * a1[k + 1];
    x2 = (x2 - a2[k] * x0 - a2[k + 1] * x1) * a2[k + 2];
    x3 = (x3 - a3[k] * x0 - a3[k + 1] * x1 - a3[k + 2] * x2) * a3[k + 3];
    x[k] = x0;
    x[k + 1] = x1;
    x[k + 2] = x2;
    x[k + 3] = x3;
}

INLINE void exchange_back(int parts, int n, const int *pivot, double *x)
{
    for (int k = n - 1; k >= 0; k--)
        if (pivot[k] != k + 1) number_exchange(parts, x + parts * k, x + parts * (pivot[k] - 1));
}

INLINE void solve_transposed(int parts, int n, const double *A, const int *pivot, double *x)
{
    int fours = parts == 1 ? n - n % 4 : 0;
    for (int k = 0; k < fours; k += 4) upper_transposed_4(n, k, A + k * n, x);
    for (int k = fours; k < n; k++) {
        const double *a = A + parts * k * n;
        chain(parts, k, a, x, x + parts * k);
        few_multiply(parts, x + parts * k, a + parts * k);
    }
    for (int k = n - 2; k >= 0; k--)
        chain(parts, n - k - 1, A + parts * (k * (n + 1) + 1), x + parts * (k + 1), x + parts * k);
    exchange_back(parts, n, pivot, x);
}

/* y_k -= sum of a_i x_i, i < rows, of four columns, n numbers apart.  The sums are four variables: clang vectorises an
   array of them badly. */
INLINE void four_chains(int n, int rows, const double *a, const double *x, double *y)
{
    const double *x1 = x + n, *x2 = x1 + n, *x3 = x2 + n;
    double y0 = y[0], y1 = y[n], y2 = y[2 * n], y3 = y[3 * n];
    for (int i = 0; i < rows; i++) {
        y0 -= a[i] * x[i];
        y1 -= a[i] * x1[i];
        y2 -= a[i] * x2[i];
        y3 -= a[i] * x3[i];
    }
    y[0] = y0;
    y[n] = y1;
    y[2 * n] = y2;
    y[3 * n] = y3;
}

/* four columns of X, real */
INLINE void solve_transposed_4(int n, const double *A, const int *pivot, double *X)
{
    for (int k = 0; k < n; k++) {
        four_chains(n, k, A + k * n, X, X + k);
        for (int c = 0; c < 4; c++) few_multiply(1, X + c * n + k, A + k * (n + 1));
    }
    for (int k = n - 2; k >= 0; k--) four_chains(n, n - k - 1, A + k * (n + 1) + 1, X + k + 1, X + k);
    for (int c = 0; c < 4; c++) exchange_back(1, n, pivot, X + c * n);
}

/* ---- by size ---- */

/* n: known, or rows; LOOPS: SHORT_LOOPS where it is known */
#define ROUTINES(name, parts, n)                                                                                \
    LOOPS static int factor_##name(int rows, const double *A, double *LU, int *pivot, double *diagonal)         \
    {                                                                                                           \
        (void)rows;                                                                                             \
        return factor(parts, n, A, LU, pivot, diagonal);                                                        \
    }                                                                                                           \
    LOOPS static int decompose_##name(int rows, const LS_few_factors *f, double re, double im, const double *J, \
                                      double *A)                                                                \
    {                                                                                                           \
        if (!form(parts, n, re, im, J, A)) return FEW_NOT_FINITE;                                               \
        if (factor_##name(rows, A, f->LU, f->pivot, f->diagonal)) return FEW_DOUBTFUL;                          \
        return regular(parts, n, f->LU, f->diagonal) ? FEW_REGULAR : FEW_DOUBTFUL;                              \
    }                                                                                                           \
    LOOPS static int solve_##name(int rows, int nrhs, const double *A, const int *pivot, double *X)             \
    {                                                                                                           \
        (void)rows;                                                                                             \
        for (int j = 0; j < nrhs; j++, X += parts * n) few_solve(parts, n, A, pivot, X);                        \
        return 0;                                                                                               \
    }
#define TRANSPOSED(name, parts, n)                                                                              \
    static int transposed_##name(int rows, int nrhs, const double *A, const int *pivot, double *X)              \
    {                                                                                                           \
        (void)rows;                                                                                             \
        if (parts == 1) for (; nrhs >= 4; nrhs -= 4, X += 4 * n) solve_transposed_4(n, A, pivot, X);            \
        for (; nrhs > 0; nrhs--, X += parts * n) solve_transposed(parts, n, A, pivot, X);                       \
        return 0;                                                                                               \
    }
#define BOTH(n) ROUTINES(real_##n, 1, n) ROUTINES(complex_##n, 2, n)
#define LOOPS
BOTH(rows)
#undef LOOPS
#define LOOPS SHORT_LOOPS
BOTH(1) BOTH(2) BOTH(3) BOTH(4) BOTH(5) BOTH(6) BOTH(7) BOTH(8)
#define BOTH_TRANSPOSED(n) TRANSPOSED(real_##n, 1, n) TRANSPOSED(complex_##n, 2, n)
BOTH_TRANSPOSED(rows) BOTH_TRANSPOSED(1) BOTH_TRANSPOSED(2) BOTH_TRANSPOSED(3) BOTH_TRANSPOSED(4) BOTH_TRANSPOSED(5)
BOTH_TRANSPOSED(6) TRANSPOSED(complex_7, 2, 7) TRANSPOSED(complex_8, 2, 8)

/* Measured: a real transposed solve of 7 or 8 rows is faster with loops that the compiler does not unroll. */
#define ROW(is, n, m) {decompose_##is##_##n, factor_##is##_##n, {solve_##is##_##n, transposed_##is##_##m}}
#define SIX(is) ROW(is, rows, rows), ROW(is, 1, 1), ROW(is, 2, 2), ROW(is, 3, 3), ROW(is, 4, 4), ROW(is, 5, 5), \
                ROW(is, 6, 6)
const LS_few_routines *LS_few(int n, int is_complex)
{
    static const LS_few_routines by_size[2][9] = {{SIX(real), ROW(real, 7, rows), ROW(real, 8, rows)},
                                                 {SIX(complex), ROW(complex, 7, 7), ROW(complex, 8, 8)}};
    return &by_size[!!is_complex][n <= 8 ? n : 0];
}
