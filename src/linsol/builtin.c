/* builtin.c - the routines of LAPACK and BLAS that costate calls, in plain C, where no LAPACK is linked.

   Factorisations are LAPACK's: partial pivoting by |re| + |im|, exchanges counted from 1, info = the first column
   without a pivot.  LU is recursive (S. Toledo, SIAM J. Matrix Anal. Appl. 18 (1997) 1065): the left half of the
   columns, then the right half,

       A12 <- L11^-1 A12,   A22 <- A22 - A21 A12,

   so that nearly all arithmetic is that of products of matrices.  These are computed in tiles of rows and four columns
   whose sums stay in registers.  Each element is the same chain of subtractions in every version of the tiles, so that
   results do not depend on the registers of the processor.  The condition is estimated by N. J. Higham's method (ACM
   Trans. Math. Softw. 14 (1988) 381).

   Complex numbers are pairs (re, im).  parts, the doubles of a number, is a constant where the functions are inlined.
   Row and column numbers are int, as in LAPACK; places in arrays are size_t. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linsol/builtin.h"
#include "linsol/number.h"

enum { NARROW = 8 };            /* columns that are factored one by one */
enum { DEPTH = 128 };           /* terms of a product at a time: a tile's rows of A stay in the first-level cache */

/* ---- columns ---- */

/* y <- y - a x, n numbers apart from each other */
static inline void subtract_column(int parts, int n, const double *a, const double *restrict x, double *restrict y)
{
    if (parts == 1) {
        const double by = a[0];
        for (int i = 0; i < n; i++) y[i] -= by * x[i];
        return;
    }
    for (int i = 0; i < n; i++) number_subtract(2, y + 2 * i, a, x + 2 * i);
}

/* the sum of x_i y_i */
static inline void product(int parts, int n, const double *x, const double *y, double *sum)
{
    if (parts == 1) {
        sum[0] = dot((size_t)n, x, y);
        return;
    }
    double re = 0, im = 0;
    for (int i = 0; i < n; i++) {
        re += x[2 * i] * y[2 * i] - x[2 * i + 1] * y[2 * i + 1];
        im += x[2 * i] * y[2 * i + 1] + x[2 * i + 1] * y[2 * i];
    }
    sum[0] = re;
    sum[1] = im;
}

/* x <- x/a, or times 1/a where that does not overflow; n numbers */
static inline void divide_column(int parts, int n, const double *a, double *x)
{
    double by[2] = {1, 0};
    if (number_size(parts, a) < 4 / DBL_MAX) {
        for (int i = 0; i < n; i++) number_divide(parts, x + parts * i, a);
        return;
    }
    number_divide(parts, by, a);
    if (parts == 1) {
        for (int i = 0; i < n; i++) x[i] *= by[0];
        return;
    }
    for (int i = 0; i < n; i++) {
        double re = x[2 * i] * by[0] - x[2 * i + 1] * by[1], im = x[2 * i] * by[1] + x[2 * i + 1] * by[0];
        x[2 * i] = re;
        x[2 * i + 1] = im;
    }
}

static inline double *at(int parts, double *A, int lda, int i, int j)
{
    return A + (size_t)parts * ((size_t)i + (size_t)j * (size_t)lda);
}

static inline const double *in(int parts, const double *A, int lda, int i, int j)
{
    return A + (size_t)parts * ((size_t)i + (size_t)j * (size_t)lda);
}

/* ---- C <- C - A B: C m by n, A m by k ---- */

typedef void product_of_matrices(int m, int n, int k, const double *A, int lda, const double *B, int ldb, double *C,
                                 int ldc);

static inline void product_by_columns(int parts, int m, int n, int k, const double *A, int lda, const double *B,
                                      int ldb, double *C, int ldc)
{
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
            subtract_column(parts, m, in(parts, B, ldb, l, j), in(parts, A, lda, 0, l), at(parts, C, ldc, 0, j));
}

#if FLT_EVAL_METHOD == 0 && (defined __clang__ || defined __GNUC__ && __GNUC__ >= 12)
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#define FOUR(p) (*(four *)(void *)(p))
#define CFOUR(p) (*(const four *)(const void *)(p))

/* sum -= a b, where b is one number, and a and sum are four, or two complex ones */
INLINE void subtract_four(int parts, four *sum, const double *a, const double *b)
{
    const four x = CFOUR(a);
    if (parts == 1) {
        *sum -= x * b[0];
        return;
    }
    const four turned = __builtin_shufflevector(x, x, 1, 0, 3, 2), by = {-b[1], b[1], -b[1], b[1]};
    *sum -= x * b[0] + turned * by;
}

/* 4*high doubles of a column, `wide` columns; parts, high and wide are constants */
INLINE void tile(int parts, int high, int wide, int k, const double *a, int lda, const double *b, int ldb, double *c,
                 int ldc)
{
    four sum[4][2];
    for (int j = 0; j < wide; j++)
        for (int i = 0; i < high; i++) sum[j][i] = CFOUR(at(parts, c, ldc, 0, j) + 4 * i);
    for (int l = 0; l < k; l++)
        for (int j = 0; j < wide; j++)
            for (int i = 0; i < high; i++)
                subtract_four(parts, &sum[j][i], in(parts, a, lda, 0, l) + 4 * i, in(parts, b, ldb, l, j));
    for (int j = 0; j < wide; j++)
        for (int i = 0; i < high; i++) FOUR(at(parts, c, ldc, 0, j) + 4 * i) = sum[j][i];
}

INLINE void row_of_tiles(int parts, int high, int n, int k, const double *a, int lda, const double *B, int ldb,
                         double *c, int ldc)
{
    int j = 0, wide = parts == 1 ? 4 : 2;
    for (; j + wide <= n; j += wide)
        tile(parts, high, wide, k, a, lda, in(parts, B, ldb, 0, j), ldb, at(parts, c, ldc, 0, j), ldc);
    for (; j < n; j++) tile(parts, high, 1, k, a, lda, in(parts, B, ldb, 0, j), ldb, at(parts, c, ldc, 0, j), ldc);
}

INLINE void tiles(int parts, int high, int m, int n, int k, const double *A, int lda, const double *B, int ldb,
                  double *C, int ldc)
{
    const int four_are = 4 / parts;
    for (int l = 0; l < k; l += DEPTH) {
        int i = 0, some = k - l < DEPTH ? k - l : DEPTH;
        const double *a = in(parts, A, lda, 0, l), *b = in(parts, B, ldb, l, 0);
        if (high == 2) for (; i + 2 * four_are <= m; i += 2 * four_are)
            row_of_tiles(parts, 2, n, some, a + parts * i, lda, b, ldb, C + parts * i, ldc);
        for (; i + four_are <= m; i += four_are)
            row_of_tiles(parts, 1, n, some, a + parts * i, lda, b, ldb, C + parts * i, ldc);
        product_by_columns(parts, m - i, n, some, a + parts * i, lda, b, ldb, C + parts * i, ldc);
    }
}
#define TILED(name, parts, high)                                                                                    \
    static void name(int m, int n, int k, const double *A, int lda, const double *B, int ldb, double *C, int ldc)    \
    { tiles(parts, high, m, n, k, A, lda, B, ldb, C, ldc); }
#else
#define TILED(name, parts, high)                                                                                    \
    static void name(int m, int n, int k, const double *A, int lda, const double *B, int ldb, double *C, int ldc)    \
    { product_by_columns(parts, m, n, k, A, lda, B, ldb, C, ldc); }
#endif

TILED(tiled, 1, 1)
TILED(tiled_complex, 2, 1)
#if defined INLINE && defined __x86_64__
__attribute__((target("avx2"))) TILED(tiled_avx2, 1, 2)
__attribute__((target("avx2"))) TILED(tiled_complex_avx2, 2, 2)

static product_of_matrices *fastest(int parts)
{
    if (__builtin_cpu_supports("avx2")) return parts == 1 ? tiled_avx2 : tiled_complex_avx2;
    return parts == 1 ? tiled : tiled_complex;
}
#else
static product_of_matrices *fastest(int parts) { return parts == 1 ? tiled : tiled_complex; }
#endif

static inline void subtract_product(int parts, int m, int n, int k, const double *A, int lda, const double *B, int ldb,
                                    double *C, int ldc)
{
    fastest(parts)(m, n, k, A, lda, B, ldb, C, ldc);
}

/* ---- triangles ---- */

/* B <- L^-1 B: L m by m with ones on its diagonal, B m by n */
static inline void narrow_lower(int parts, int m, int n, const double *L, int ldl, double *B, int ldb)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k < m; k++)
            subtract_column(parts, m - k - 1, in(parts, B, ldb, k, j), in(parts, L, ldl, k + 1, k),
                            at(parts, B, ldb, k + 1, j));
}

static inline void lower_unit(int parts, int m, int n, const double *L, int ldl, double *B, int ldb)
{
    for (int k = 0; k < m; k += NARROW) {
        int some = m - k < NARROW ? m - k : NARROW, next = k + some;
        narrow_lower(parts, some, n, in(parts, L, ldl, k, k), ldl, at(parts, B, ldb, k, 0), ldb);
        subtract_product(parts, m - next, n, some, in(parts, L, ldl, next, k), ldl, at(parts, B, ldb, k, 0), ldb,
                         at(parts, B, ldb, next, 0), ldb);
    }
}

static inline void exchange_rows(int parts, int n, double *A, int lda, int from, int to, const int *pivot)
{
    for (int j = 0; j < n; j++) {
        double *a = at(parts, A, lda, 0, j);
        for (int k = from; k < to; k++)
            if (pivot[k] - 1 != k) number_exchange(parts, a + parts * k, a + parts * (pivot[k] - 1));
    }
}

/* ---- LU ---- */

/* Pivots are counted from the first row of A, beginning with 1; 0, or 1 + the first column without a pivot */
static inline int narrow_lu(int parts, int m, int n, double *A, int lda, int *pivot)
{
    int info = 0;
    for (int k = 0; k < n && k < m; k++) {
        double *a = at(parts, A, lda, k, k);
        int p = k + largest_number(parts, m - k, a);
        pivot[k] = p + 1;
        if (number_is_zero(parts, at(parts, A, lda, p, k))) {
            if (!info) info = k + 1;
            continue;
        }
        for (int j = 0; j < n && p != k; j++) number_exchange(parts, at(parts, A, lda, k, j), at(parts, A, lda, p, j));
        divide_column(parts, m - k - 1, a, a + parts);
        for (int j = k + 1; j < n; j++)
            subtract_column(parts, m - k - 1, at(parts, A, lda, k, j), a + parts, at(parts, A, lda, k + 1, j));
    }
    return info;
}

static int lu(int parts, int m, int n, double *A, int lda, int *pivot);

static inline int halves(int parts, int m, int n, double *A, int lda, int *pivot)
{
    int least = m < n ? m : n, left = least / 2 / NARROW * NARROW;
    if (least <= NARROW) {
        int info = narrow_lu(parts, m, least, A, lda, pivot);
        exchange_rows(parts, n - least, at(parts, A, lda, 0, least), lda, 0, least, pivot);
        lower_unit(parts, least, n - least, A, lda, at(parts, A, lda, 0, least), lda);
        return info;
    }
    if (left < NARROW) left = NARROW;
    double *right = at(parts, A, lda, 0, left);
    int info = lu(parts, m, left, A, lda, pivot);
    exchange_rows(parts, n - left, right, lda, 0, left, pivot);
    lower_unit(parts, left, n - left, A, lda, right, lda);
    subtract_product(parts, m - left, n - left, left, at(parts, A, lda, left, 0), lda, right, lda,
                     right + (size_t)parts * (size_t)left, lda);
    int below = lu(parts, m - left, n - left, right + (size_t)parts * (size_t)left, lda, pivot + left);
    for (int k = left; k < least; k++) pivot[k] += left;
    exchange_rows(parts, left, A, lda, left, least, pivot);
    return info ? info : below ? below + left : 0;
}

static int lu(int parts, int m, int n, double *A, int lda, int *pivot)
{
    return parts == 1 ? halves(1, m, n, A, lda, pivot) : halves(2, m, n, A, lda, pivot);
}

/* ---- solving with one column ---- */

static inline void solve(int parts, int n, const double *A, int lda, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++)
        if (pivot[k] - 1 != k) number_exchange(parts, x + parts * k, x + parts * (pivot[k] - 1));
    for (int k = 0; k < n; k++)
        subtract_column(parts, n - k - 1, x + parts * k, in(parts, A, lda, k + 1, k), x + parts * (k + 1));
    for (int k = n - 1; k >= 0; k--) {
        number_divide(parts, x + parts * k, in(parts, A, lda, k, k));
        subtract_column(parts, k, x + parts * k, in(parts, A, lda, 0, k), x);
    }
}

static inline void solve_transposed(int parts, int n, const double *A, int lda, const int *pivot, double *x)
{
    double sum[2];
    for (int k = 0; k < n; k++) {
        product(parts, k, in(parts, A, lda, 0, k), x, sum);
        for (int l = 0; l < parts; l++) x[parts * k + l] -= sum[l];
        number_divide(parts, x + parts * k, in(parts, A, lda, k, k));
    }
    for (int k = n - 1; k >= 0; k--) {
        product(parts, n - k - 1, in(parts, A, lda, k + 1, k), x + parts * (k + 1), sum);
        for (int l = 0; l < parts; l++) x[parts * k + l] -= sum[l];
    }
    for (int k = n - 1; k >= 0; k--)
        if (pivot[k] - 1 != k) number_exchange(parts, x + parts * k, x + parts * (pivot[k] - 1));
}

static inline void solve_columns(int parts, const char *trans, int n, int count, const double *A, int lda,
                                 const int *pivot, double *B, int ldb)
{
    for (int j = 0; j < count; j++) {
        double *x = at(parts, B, ldb, 0, j);
        if (*trans == 'N') solve(parts, n, A, lda, pivot, x);
        else solve_transposed(parts, n, A, lda, pivot, x);
    }
}

/* ---- the condition ---- */

/* x <- U^-1 L^-1 x, or transposed: without exchanges, which only permute the columns of A^-1 */
static void solve_triangles(int n, const double *A, int lda, int transpose, double *x)
{
    if (!transpose) {
        for (int k = 0; k < n; k++) subtract_column(1, n - k - 1, x + k, in(1, A, lda, k + 1, k), x + k + 1);
        for (int k = n - 1; k >= 0; k--) {
            x[k] /= *in(1, A, lda, k, k);
            subtract_column(1, k, x + k, in(1, A, lda, 0, k), x);
        }
        return;
    }
    for (int k = 0; k < n; k++) x[k] = (x[k] - dot((size_t)k, in(1, A, lda, 0, k), x)) / *in(1, A, lda, k, k);
    for (int k = n - 1; k >= 0; k--) x[k] -= dot((size_t)(n - k - 1), in(1, A, lda, k + 1, k), x + k + 1);
}

static double sum_of_moduli(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

/* The sum norm of A^-1, from below.  It is the largest |A^-1 x| with |x| = 1, a convex function: each step goes to the
   corner where its slope is largest.  Alternating signs are for matrices whose corners tell nothing.  x: 2n. */
static double norm_of_inverse(int n, const double *A, int lda, double *x)
{
    enum { STEPS = 5 };
    double *z = x + n, norm = 0;
    for (int i = 0; i < n; i++) x[i] = 1.0 / n;
    for (int step = 0, corner = -1; step < STEPS; step++) {
        solve_triangles(n, A, lda, 0, x);
        double sum = sum_of_moduli(n, x);
        if (step > 0 && !(sum > norm)) break;
        norm = sum;
        for (int i = 0; i < n; i++) z[i] = x[i] >= 0 ? 1 : -1;
        solve_triangles(n, A, lda, 1, z);
        int next = largest_number(1, n, z);
        if (next == corner) break;
        corner = next;
        for (int i = 0; i < n; i++) x[i] = i == corner;
    }
    for (int i = 0; i < n; i++) x[i] = (i % 2 ? -1 : 1) * (1 + (double)i / (n > 1 ? n - 1 : 1));
    solve_triangles(n, A, lda, 0, x);
    double other = 2 * sum_of_moduli(n, x) / (3.0 * n);
    return other > norm ? other : norm;
}

/* ---- LAPACK's interfaces ---- */

void LS_dgetrf(const int *m, const int *n, double *A, const int *lda, int *pivot, int *info)
{
    *info = lu(1, *m, *n, A, *lda, pivot);
}

void LS_zgetrf(const int *m, const int *n, double *A, const int *lda, int *pivot, int *info)
{
    *info = lu(2, *m, *n, A, *lda, pivot);
}

void LS_dgetrs(const char *trans, const int *n, const int *nrhs, const double *A, const int *lda, const int *pivot,
               double *B, const int *ldb, int *info, size_t length)
{
    (void)length;
    *info = 0;
    solve_columns(1, trans, *n, *nrhs, A, *lda, pivot, B, *ldb);
}

void LS_zgetrs(const char *trans, const int *n, const int *nrhs, const double *A, const int *lda, const int *pivot,
               double *B, const int *ldb, int *info, size_t length)
{
    (void)length;
    *info = 0;
    solve_columns(2, trans, *n, *nrhs, A, *lda, pivot, B, *ldb);
}

/* of the sum norm; work: 2n */
void LS_dgecon(const char *norm, const int *n, const double *A, const int *lda, const double *anorm, double *rcond,
               double *work, int *iwork, int *info, size_t length)
{
    (void)norm;
    (void)iwork;
    (void)length;
    double inverse = norm_of_inverse(*n, A, *lda, work);
    *info = 0;
    *rcond = *anorm > 0 && inverse > 0 ? 1 / inverse / *anorm : 0;
    if (!(*rcond >= 0)) *rcond = 0;
}

/* pivots from k1 to k2, counted from 1 */
void LS_dlaswp(const int *n, double *A, const int *lda, const int *k1, const int *k2, const int *pivot, const int *step)
{
    (void)step;
    exchange_rows(1, *n, A, *lda, *k1 - 1, *k2, pivot);
}

/* L^-1 B with ones on the diagonal of L: "L", "L", "N", "U" and alpha = 1 */
void LS_dtrsm(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
              const double *alpha, const double *A, const int *lda, double *B, const int *ldb, size_t side_length,
              size_t uplo_length, size_t trans_length, size_t diag_length)
{
    (void)side, (void)uplo, (void)trans, (void)diag, (void)alpha;
    (void)side_length, (void)uplo_length, (void)trans_length, (void)diag_length;
    lower_unit(1, *m, *n, A, *lda, B, *ldb);
}

/* C - A B: "N", "N", alpha = -1, beta = 1 */
void LS_dgemm(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
              const double *A, const int *lda, const double *B, const int *ldb, const double *beta, double *C,
              const int *ldc, size_t transa_length, size_t transb_length)
{
    (void)transa, (void)transb, (void)alpha, (void)beta, (void)transa_length, (void)transb_length;
    subtract_product(1, *m, *n, *k, A, *lda, B, *ldb, C, *ldc);
}

/* ---- complete pivoting: A = P L U Q.  Pivots below the round-off of the largest one are replaced by that (LAPACK's
   getc2), so that solutions with a singular matrix lie along its kernel ---- */

void LS_dgetc2(const int *order, double *A, const int *lda, int *rows, int *columns, int *info)
{
    int n = *order;
    double least = 0;
    *info = 0;
    for (int k = 0; k < n; k++) {
        int row = k, column = k;
        for (int j = k; j < n; j++) {
            int i = k + largest_number(1, n - k, at(1, A, *lda, k, j));
            if (fabs(*at(1, A, *lda, i, j)) > fabs(*at(1, A, *lda, row, column))) row = i, column = j;
        }
        double *a = at(1, A, *lda, k, k);
        if (k == 0) least = fmax(DBL_EPSILON * fabs(*at(1, A, *lda, row, column)), DBL_MIN / DBL_EPSILON);
        rows[k] = row + 1;
        columns[k] = column + 1;
        for (int j = 0; j < n && row != k; j++) number_exchange(1, at(1, A, *lda, k, j), at(1, A, *lda, row, j));
        for (int i = 0; i < n && column != k; i++) number_exchange(1, at(1, A, *lda, i, k), at(1, A, *lda, i, column));
        if (fabs(*a) < least) {
            *a = least;
            *info = k + 1;
        }
        divide_column(1, n - k - 1, a, a + 1);
        for (int j = k + 1; j < n; j++)
            subtract_column(1, n - k - 1, at(1, A, *lda, k, j), a + 1, at(1, A, *lda, k + 1, j));
    }
}

/* A x = scale b; x: b, overwritten */
void LS_dgesc2(const int *order, const double *A, const int *lda, double *x, const int *rows, const int *columns,
               double *scale)
{
    int n = *order;
    *scale = 1;
    for (int k = 0; k < n; k++) if (rows[k] - 1 != k) number_exchange(1, x + k, x + rows[k] - 1);
    for (int k = 0; k < n; k++) subtract_column(1, n - k - 1, x + k, in(1, A, *lda, k + 1, k), x + k + 1);
    double most = n > 0 ? fabs(x[largest_number(1, n, x)]) : 0;
    if (2 * DBL_MIN / DBL_EPSILON * most > fabs(*in(1, A, *lda, n - 1, n - 1))) {
        *scale = 0.5 / most;
        for (int i = 0; i < n; i++) x[i] *= *scale;
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] /= *in(1, A, *lda, k, k);
        subtract_column(1, k, x + k, in(1, A, *lda, 0, k), x);
    }
    for (int k = n - 1; k >= 0; k--) if (columns[k] - 1 != k) number_exchange(1, x + k, x + columns[k] - 1);
}
