/* few.c - LU of a few rows without the overhead of a LAPACK call, which costs more than their arithmetic.

   Pivots and factors are LAPACK's, but the diagonal of U is inverted: a division costs as much as a dozen products.
   The matrix is factored column by column: each column results from a forward substitution with the previous ones.
   Substitutions take four columns of L or U (complex: two) at a time, so that x is read and written less often; the
   terms of each x_i are added in the same order as with single columns.

   Complex numbers are pairs (re, im).  parts (doubles per number) and the number of columns at a time are constants
   where the functions below are inlined, and so is n, up to eight. */
#include <math.h>

#include "linsol/few.h"

/* x -= a v */
static inline void subtract(int parts, double *x, const double *a, const double *v)
{
    double re = v[0], im = parts == 2 ? v[1] : 0;
    if (parts == 1) { x[0] -= a[0] * re; return; }
    double left = a[0] * re + a[1] * -im, right = a[1] * re + a[0] * im;
    x[0] -= left;
    x[1] -= right;
}

static inline void multiply(int parts, double *x, const double *a)
{
    double re = x[0];
    x[0] = parts == 1 ? re * a[0] : re * a[0] - x[1] * a[1];
    if (parts == 2) x[1] = x[1] * a[0] + re * a[1];
}

/* What a division x/a needs: if real, a; if complex (Smith, CACM 5 (1962) 435), the ratio r of a's parts, the smaller
   over the larger, and d. */
typedef struct { double r, d; int wide; } divisor;

static inline divisor divisor_of(int parts, const double *a)
{
    if (parts == 1) return (divisor){.d = a[0]};
    int wide = fabs(a[0]) >= fabs(a[1]);
    double r = wide ? a[1] / a[0] : a[0] / a[1];
    return (divisor){r, wide ? a[0] + a[1] * r : a[0] * r + a[1], wide};
}

static inline void divide(int parts, double *x, const divisor *by)
{
    if (parts == 1) { x[0] /= by->d; return; }
    double re = by->wide ? x[0] + x[1] * by->r : x[0] * by->r + x[1];
    double im = by->wide ? x[1] - x[0] * by->r : x[1] * by->r - x[0];
    x[0] = re / by->d;
    x[1] = im / by->d;
}

static inline double size(int parts, const double *a) { return parts == 1 ? fabs(a[0]) : fabs(a[0]) + fabs(a[1]); }

static inline void exchange(int parts, double *x, int i, int j)
{
    for (int k = 0; k < parts; k++) {
        double swap = x[parts * i + k];
        x[parts * i + k] = x[parts * j + k];
        x[parts * j + k] = swap;
    }
}

/* ---- columns of L and U ---- */

/* x_i -= sum over count columns, step apart from a, of a_i times its number in v, for i < rows */
static inline void spread(int parts, int count, int rows, const double *restrict a, int step, const double *v,
                          double *restrict x)
{
    double by[8];
    for (int c = 0; c < parts * count; c++) by[c] = v[c];
    for (int i = 0; i < rows; i++) {
        double sum[2] = {x[parts * i], parts == 2 ? x[parts * i + 1] : 0};
        for (int c = 0; c < count; c++) subtract(parts, sum, a + parts * (c * step + i), by + parts * c);
        for (int k = 0; k < parts; k++) x[parts * i + k] = sum[k];
    }
}

/* a: at the diagonal of the first of count columns of L, x: at its row, with rows from there */
static inline void lower(int parts, int count, int n, int rows, const double *a, double *x)
{
    for (int c = 0; c < count; c++)
        for (int i = c + 1; i < count; i++) subtract(parts, x + parts * i, a + parts * (c * n + i), x + parts * c);
    spread(parts, count, rows - count, a + parts * count, n, x, x + parts * count);
}

/* a: at the top of the first of count columns of U, whose diagonal stands in the row `above` and those below it */
static inline void upper(int parts, int count, int n, int above, const double *a, double *x)
{
    double v[8], *y = x + parts * above;
    for (int c = count - 1; c >= 0; c--) {
        const double *u = a + parts * (c * n + above);
        multiply(parts, y + parts * c, u + parts * c);
        for (int i = 0; i < c; i++) subtract(parts, y + parts * i, u + parts * i, y + parts * c);
        for (int k = 0; k < parts; k++) v[parts * (count - 1 - c) + k] = y[parts * c + k];
    }
    spread(parts, count, above, a + parts * (count - 1) * n, -n, v, x);
}

/* x <- L^-1 x by the first columns of L */
static inline void forward(int parts, int n, int columns, const double *A, double *x)
{
    int k = 0;
    if (parts == 1)
        for (; k + 4 <= columns; k += 4) lower(parts, 4, n, n - k, A + parts * k * (n + 1), x + parts * k);
    for (; k + 2 <= columns; k += 2) lower(parts, 2, n, n - k, A + parts * k * (n + 1), x + parts * k);
    if (k < columns) lower(parts, 1, n, n - k, A + parts * k * (n + 1), x + parts * k);
}

static inline void backward(int parts, int n, const double *A, double *x)
{
    int k = n;
    if (parts == 1) for (; k >= 4; k -= 4) upper(parts, 4, n, k - 4, A + parts * (k - 4) * n, x);
    for (; k >= 2; k -= 2) upper(parts, 2, n, k - 2, A + parts * (k - 2) * n, x);
    if (k > 0) upper(parts, 1, n, 0, A, x);
}

/* ---- factors, solves ---- */

/* the row of the largest number of column a, from row k on; -1: all of them are 0 */
static inline int pivot_of(int parts, int n, int k, const double *a)
{
    int p = k;
    double most = size(parts, a + parts * k);
    for (int i = k + 1; i < n; i++) {
        double v = size(parts, a + parts * i);
        if (v > most) { most = v; p = i; }
    }
    return most == 0 ? -1 : p;
}

static inline int factor(int parts, int n, double *A, int *pivot, double *diagonal)
{
    for (int k = 0; k < n; k++) {
        double *a = A + parts * k * n, *u = diagonal + parts * k;
        for (int j = 0; j < k; j++) if (pivot[j] != j + 1) exchange(parts, a, j, pivot[j] - 1);
        forward(parts, n, k, A, a);
        int p = pivot_of(parts, n, k, a);
        if (p < 0) return 1;
        pivot[k] = p + 1;
        if (p != k) for (int j = 0; j <= k; j++) exchange(parts, A + parts * j * n, k, p);
        for (int part = 0; part < parts; part++) { u[part] = a[parts * k + part]; a[parts * k + part] = 1 - part; }
        divisor by = divisor_of(parts, u);
        for (int i = k; i < n; i++) divide(parts, a + parts * i, &by);
    }
    return 0;
}

static inline void solve(int parts, int n, const double *A, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) if (pivot[k] != k + 1) exchange(parts, x, k, pivot[k] - 1);
    forward(parts, n, n, A, x);
    backward(parts, n, A, x);
}

static inline void solve_transposed(int parts, int n, const double *A, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {
        const double *a = A + parts * k * n;
        for (int i = 0; i < k; i++) subtract(parts, x + parts * k, a + parts * i, x + parts * i);
        multiply(parts, x + parts * k, a + parts * k);
    }
    for (int k = n - 1; k >= 0; k--)
        for (int i = k + 1; i < n; i++) subtract(parts, x + parts * k, A + parts * (k * n + i), x + parts * i);
    for (int k = n - 1; k >= 0; k--) if (pivot[k] != k + 1) exchange(parts, x, k, pivot[k] - 1);
}

/* ---- by size ---- */

/* n: known, or rows */
#define ROUTINES(name, parts, n)                                                                                \
    static int factor_##name(int rows, double *A, int *pivot, double *diagonal)                                 \
    {                                                                                                           \
        (void)rows;                                                                                             \
        return factor(parts, n, A, pivot, diagonal);                                                            \
    }                                                                                                           \
    static int solve_##name(int rows, int nrhs, const double *A, const int *pivot, double *X)                   \
    {                                                                                                           \
        (void)rows;                                                                                             \
        for (int j = 0; j < nrhs; j++, X += parts * n) solve(parts, n, A, pivot, X);                            \
        return 0;                                                                                               \
    }
#define BOTH(n) ROUTINES(real_##n, 1, n) ROUTINES(complex_##n, 2, n)
BOTH(rows) BOTH(1) BOTH(2) BOTH(3) BOTH(4) BOTH(5) BOTH(6) BOTH(7) BOTH(8)

static int transposed_real(int n, int nrhs, const double *A, const int *pivot, double *X)
{
    for (int j = 0; j < nrhs; j++, X += n) solve_transposed(1, n, A, pivot, X);
    return 0;
}

static int transposed_complex(int n, int nrhs, const double *A, const int *pivot, double *X)
{
    for (int j = 0; j < nrhs; j++, X += 2 * n) solve_transposed(2, n, A, pivot, X);
    return 0;
}

#define ROW(is, n) {factor_##is##_##n, {solve_##is##_##n, transposed_##is}}
#define TABLE(is) {ROW(is, rows), ROW(is, 1), ROW(is, 2), ROW(is, 3), ROW(is, 4), ROW(is, 5), ROW(is, 6), ROW(is, 7), \
                   ROW(is, 8)}
const LS_few_routines *LS_few(int n, int is_complex)
{
    static const LS_few_routines by_size[2][9] = {TABLE(real), TABLE(complex)};
    return &by_size[!!is_complex][n <= 8 ? n : 0];
}
