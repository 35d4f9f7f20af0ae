/* test_builtin.c - the routines that stand in for LAPACK: factors, solves, bands, conditions, kernels, on matrices of
   every shape: residuals are of the order of round-off, and singular matrices are noticed where they are.

   builtin.c is part of this program, so that it is tested where the library is linked with LAPACK, too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "linsol/band_lu.h"
#include "linsol/builtin.c"

static unsigned state_of_numbers = 1;

static double number(void)
{
    state_of_numbers = state_of_numbers * 1664525u + 1013904223u;
    return state_of_numbers / 2147483648.0 - 1;
}

static double *numbers(size_t count)
{
    double *x = malloc((count ? count : 1) * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < count; k++) x[k] = number();
    return x;
}

/* sum += a b, numbers of `parts` doubles */
static void add_product(int parts, double *sum, const double *a, const double *b)
{
    sum[0] += parts == 1 ? a[0] * b[0] : a[0] * b[0] - a[1] * b[1];
    if (parts == 2) sum[1] += a[0] * b[1] + a[1] * b[0];
}

typedef struct { int n, parts, lda; double *A, *LU; int *pivot, info; } system_of;

static system_of factored(int parts, int n, int lda)
{
    system_of s = {n, parts, lda, numbers((size_t)parts * (size_t)lda * (size_t)n), NULL, NULL, 99};
    size_t bytes = sizeof(double) * (size_t)parts * (size_t)lda * (size_t)n;
    s.LU = malloc(bytes);
    s.pivot = malloc((size_t)n * sizeof *s.pivot);
    assert_true(s.LU && s.pivot);
    memcpy(s.LU, s.A, bytes);
    (parts == 1 ? LS_dgetrf : LS_zgetrf)(&n, &n, s.LU, &lda, s.pivot, &s.info);
    return s;
}

static void system_free(system_of *s)
{
    free(s->A);
    free(s->LU);
    free(s->pivot);
}

/* the largest |b - A x| over |A| |x| */
static double residual(const system_of *s, int transpose, const double *x, const double *b)
{
    double worst = 0, size = 0;
    for (int i = 0; i < s->n; i++) {
        double r[2] = {0, 0};
        for (int k = 0; k < s->n; k++) {
            size_t at = transpose ? (size_t)k + (size_t)i * (size_t)s->lda : (size_t)i + (size_t)k * (size_t)s->lda;
            add_product(s->parts, r, s->A + (size_t)s->parts * at, x + s->parts * k);
        }
        for (int l = 0; l < s->parts; l++) {
            worst = fmax(worst, fabs(r[l] - b[s->parts * i + l]));
            size = fmax(size, fabs(x[s->parts * i + l]));
        }
    }
    return worst / (size * s->n);
}

static void solves(void **state)
{
    static const int n[] = {1, 2, 7, 8, 9, 16, 17, 31, 33, 64, 65, 129, 150, 301};
    (void)state;
    for (size_t q = 0; q < sizeof n / sizeof *n; q++)
        for (int parts = 1; parts <= 2; parts++)
            for (int extra = 0; extra < 4; extra += 3) {
                system_of s = factored(parts, n[q], n[q] + extra);
                double *b = numbers(3 * (size_t)parts * (size_t)n[q]), *x = numbers(3 * (size_t)parts * (size_t)n[q]);
                assert_int_equal(s.info, 0);
                for (int transpose = 0; transpose < 2; transpose++) {
                    int several = 3, info = 9;
                    memcpy(x, b, 3 * (size_t)parts * (size_t)n[q] * sizeof *b);
                    (parts == 1 ? LS_dgetrs : LS_zgetrs)(transpose ? "T" : "N", &s.n, &several, s.LU, &s.lda, s.pivot,
                                                         x, &s.n, &info, 1);
                    assert_int_equal(info, 0);
                    for (int j = 0; j < several; j++)
                        assert_true(residual(&s, transpose, x + j * parts * n[q], b + j * parts * n[q]) < 1e-15);
                }
                free(b);
                free(x);
                system_free(&s);
            }
}

/* entries of L are at most 1, and the rows are exchanged as the pivots say */
static void pivots(void **state)
{
    (void)state;
    for (int parts = 1; parts <= 2; parts++) {
        system_of s = factored(parts, 77, 77);
        for (int k = 0; k < s.n; k++) {
            assert_true(s.pivot[k] >= k + 1 && s.pivot[k] <= s.n);
            for (int i = k + 1; i < s.n; i++) {
                const double *l = s.LU + parts * (i + k * s.lda);
                assert_true(parts == 1 ? fabs(l[0]) <= 1 : hypot(l[0], l[1]) <= 1.4143);
            }
        }
        system_free(&s);
    }
}

/* more rows than columns, and more columns than rows */
static void shapes(void **state)
{
    static const int sizes[][2] = {{70, 20}, {20, 70}, {9, 8}, {8, 9}, {5, 3}, {3, 5}, {40, 33}, {33, 40}};
    (void)state;
    for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++) {
        int m = sizes[q][0], n = sizes[q][1], least = m < n ? m : n, info;
        double *A = numbers((size_t)m * (size_t)n), *LU = malloc((size_t)m * (size_t)n * sizeof *LU), worst = 0;
        int pivot[70];
        memcpy(LU, A, (size_t)m * (size_t)n * sizeof *LU);
        LS_dgetrf(&m, &n, LU, &m, pivot, &info);
        assert_int_equal(info, 0);
        for (int j = 0; j < n; j++)
            for (int k = 0; k < least; k++) {
                double swap = A[k + j * m];
                A[k + j * m] = A[pivot[k] - 1 + j * m];
                A[pivot[k] - 1 + j * m] = swap;
            }
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k <= i && k <= j && k < least; k++)
                    sum += (k == i ? 1 : LU[i + k * m]) * LU[k + j * m];
                worst = fmax(worst, fabs(sum - A[i + j * m]));
            }
        assert_true(worst < 1e-13);
        free(A);
        free(LU);
    }
}

/* column k is a multiple of column k - 1: the pivot of column k is 0 or round-off, and with whole numbers 0 */
static void singular(void **state)
{
    (void)state;
    for (int parts = 1; parts <= 2; parts++)
        for (int k = 0; k < 40; k += 13) {
            int n = 40, info, pivot[40];
            double *A = calloc((size_t)parts * 1600, sizeof *A);
            for (int i = 0; i < n; i++) A[parts * (i + i * n)] = 2;
            A[parts * (k + k * n)] = 0;
            (parts == 1 ? LS_dgetrf : LS_zgetrf)(&n, &n, A, &n, pivot, &info);
            assert_int_equal(info, k + 1);
            free(A);
        }
}

/* pivots from 1e-300 to 1e-310, whose inverses overflow */
static void tiny_pivots(void **state)
{
    (void)state;
    double A[4] = {1e-310, 5e-311, 1e-310, 2e-310}, x[2] = {1e-310, 2e-310};
    int n = 2, one = 1, pivot[2], info;
    LS_dgetrf(&n, &n, A, &n, pivot, &info);
    LS_dgetrs("N", &n, &one, A, &n, pivot, x, &n, &info, 1);        /* x + y = 1, x/2 + 2 y = 2 */
    assert_true(fabs(x[0]) < 1e-10 && fabs(x[1] - 1) < 1e-10);
}

static void bands(void **state)
{
    static const int shape[][3] = {{1, 0, 0}, {5, 1, 1}, {30, 2, 0}, {30, 0, 3}, {50, 4, 2}, {50, 3, 7}, {12, 11, 11}};
    (void)state;
    for (size_t q = 0; q < sizeof shape / sizeof *shape; q++)
        for (int parts = 1; parts <= 2; parts++) {
            int n = shape[q][0], lower = shape[q][1], upper = shape[q][2], rows = 2 * lower + upper + 1;
            size_t P = (size_t)parts;
            system_of s = {n, parts, n, calloc(P * (size_t)(n * n), sizeof(double)), NULL, NULL, 0};
            size_t two = 2 * P * (size_t)n;                                     /* right-hand sides */
            double *band = calloc(P * (size_t)(rows * n), sizeof *band), *b = numbers(two), *x = numbers(two);
            double *inverse = malloc(P * (size_t)n * sizeof *inverse);
            int *pivot = malloc((size_t)n * sizeof *pivot);
            const LS_band_lu lu = {parts, n, lower, upper, band, inverse, pivot};
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++)
                    for (int l = 0; l < parts && i - j <= lower && j - i <= upper; l++)
                        band[parts * (lower + upper + i - j + j * rows) + l] = s.A[parts * (i + j * n) + l] = number();
            assert_int_equal(LS_band_factor(&lu), 0);
            for (int transpose = 0; transpose < 2; transpose++) {
                memcpy(x, b, two * sizeof *b);
                LS_band_solve(&lu, transpose, 2, x);
                for (size_t c = 0; c < two; c += two / 2) assert_true(residual(&s, transpose, x + c, b + c) < 1e-15);
            }
            /* A = 0 but for a diagonal that ends at the middle: the first column without a pivot is named. */
            memset(band, 0, P * (size_t)(rows * n) * sizeof *band);
            for (int j = 0; j < n / 2; j++) band[P * (size_t)(lower + upper + j * rows)] = 1;
            assert_int_equal(LS_band_factor(&lu), n / 2 + 1);
            free(band);
            free(inverse);
            free(b);
            free(x);
            free(pivot);
            free(s.A);
        }
}

static double sum_norm(int n, const double *A)
{
    double most = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(A[i + j * n]);
        most = fmax(most, sum);
    }
    return most;
}

/* the estimate is never above the condition, and for these matrices not below a third of it */
static void condition(void **state)
{
    (void)state;
    for (int kind = 0; kind < 40; kind++) {
        int n = 3 + kind / 2, info, one = 1, iwork[40], pivot[40];
        double *A = numbers((size_t)(n * n)), work[160], inverse[1600], rcond = -1;
        for (int i = 0; i < n && kind % 2; i++) for (int j = 0; j < n; j++) A[i + j * n] *= pow(10, -i / 2.0);
        double norm = sum_norm(n, A);
        LS_dgetrf(&n, &n, A, &n, pivot, &info);
        LS_dgecon("1", &n, A, &n, &norm, &rcond, work, iwork, &info, 1);
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) inverse[i + j * n] = i == j;
            LS_dgetrs("N", &n, &one, A, &n, pivot, inverse + j * n, &n, &info, 1);
        }
        double exact = 1 / (norm * sum_norm(n, inverse));
        assert_true(rcond >= exact * (1 - 1e-10) && rcond <= 3 * exact);
        free(A);
    }
    int n = 2, info, iwork[2];
    double A[4] = {0}, work[8], norm = 0, rcond = -1;
    LS_dgecon("1", &n, A, &n, &norm, &rcond, work, iwork, &info, 1);
    assert_true(rcond == 0);
}

/* a matrix of rank n - 1: the solution is along its kernel */
static void kernel(void **state)
{
    enum { N = 6 };
    (void)state;
    for (int draw = 0; draw < 20; draw++) {
        int n = N, rows[N], columns[N], info;
        double *A = numbers(N * N), v[N], x[N], most = 0, scale, apart = 0;
        for (int i = 0; i < N; i++) v[i] = number();
        for (int i = 0; i < N; i++) {                   /* each row less its part along v */
            double along = 0, size = 0;
            for (int j = 0; j < N; j++) along += A[i + j * N] * v[j], size += v[j] * v[j];
            for (int j = 0; j < N; j++) A[i + j * N] -= along / size * v[j];
            x[i] = number();
        }
        LS_dgetc2(&n, A, &n, rows, columns, &info);
        LS_dgesc2(&n, A, &n, x, rows, columns, &scale);
        for (int i = 0; i < N; i++) if (fabs(x[i]) > fabs(most)) most = x[i];
        double by = 0;
        for (int i = 0; i < N; i++) if (x[i] == most) by = v[i] / most;
        for (int i = 0; i < N; i++) apart = fmax(apart, fabs(x[i] * by - v[i]));
        assert_true(fabs(most) > 1e10 && apart < 1e-4);
        free(A);
    }
}

/* a pivot that is exactly 0 is replaced, and said */
static void kernel_of_whole_numbers(void **state)
{
    (void)state;
    double A[4] = {1, 2, 2, 4}, x[2] = {1, 1}, scale;
    int n = 2, rows[2], columns[2], info;
    LS_dgetc2(&n, A, &n, rows, columns, &info);
    LS_dgesc2(&n, A, &n, x, rows, columns, &scale);
    assert_int_equal(info, 2);
    assert_true(isfinite(x[0]) && fabs(x[1]) > 1e10 && fabs(x[0] / x[1] + 2) < 1e-10);
}

static void complete_pivoting_solves(void **state)
{
    enum { N = 9 };
    (void)state;
    system_of s = factored(1, N, N);
    int n = N, rows[N], columns[N], info;
    double b[N], x[N], scale;
    for (int i = 0; i < N; i++) x[i] = b[i] = number();
    memcpy(s.LU, s.A, N * N * sizeof *s.LU);
    LS_dgetc2(&n, s.LU, &n, rows, columns, &info);
    LS_dgesc2(&n, s.LU, &n, x, rows, columns, &scale);
    assert_true(info == 0 && scale == 1 && residual(&s, 0, x, b) < 1e-15);
    system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves), cmocka_unit_test(pivots), cmocka_unit_test(shapes), cmocka_unit_test(singular),
        cmocka_unit_test(tiny_pivots), cmocka_unit_test(bands), cmocka_unit_test(condition), cmocka_unit_test(kernel),
        cmocka_unit_test(kernel_of_whole_numbers),
        cmocka_unit_test(complete_pivoting_solves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
