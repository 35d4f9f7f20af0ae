/* test_few.c - transposed solves of few rows have the bits of plain loops, for any number of right-hand sides. */
#include "common.h"
#include "linsol/few.h"

enum { MOST = 9 };                       /* right-hand sides */

/* x -= a v, with the products and sums of few.c */
static void subtract(int parts, double *x, const double *a, const double *v)
{
    if (parts == 1) { x[0] -= a[0] * v[0]; return; }
    double left = a[0] * v[0] + a[1] * -v[1], right = a[1] * v[0] + a[0] * v[1];
    x[0] -= left;
    x[1] -= right;
}

static void multiply(int parts, double *x, const double *a)
{
    double re = x[0];
    x[0] = parts == 1 ? re * a[0] : re * a[0] - x[1] * a[1];
    if (parts == 2) x[1] = x[1] * a[0] + re * a[1];
}

/* one right-hand side: U^T, whose diagonal is inverted, then L^T, then the exchanges; terms in the order of i */
static void plain(int parts, int n, const double *A, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < k; i++) subtract(parts, x + parts * k, A + parts * (k * n + i), x + parts * i);
        multiply(parts, x + parts * k, A + parts * k * (n + 1));
    }
    for (int k = n - 1; k >= 0; k--)
        for (int i = k + 1; i < n; i++) subtract(parts, x + parts * k, A + parts * (k * n + i), x + parts * i);
    for (int k = n - 1; k >= 0; k--)
        for (int part = 0; part < parts; part++) {
            double *a = x + parts * k + part, *b = x + parts * (pivot[k] - 1) + part, swap = *a;
            *a = *b;
            *b = swap;
        }
}

static void same_bits(void **state)
{
    double A[2 * LS_FEW * LS_FEW], X[2 * LS_FEW * MOST], Y[2 * LS_FEW * MOST], diagonal[2 * LS_FEW];
    int pivot[LS_FEW];
    unsigned seed = 1;
    (void)state;
    for (int parts = 1; parts <= 2; parts++)
        for (int n = 1; n <= LS_FEW; n++)
            for (int nrhs = 1; nrhs <= MOST; nrhs++) {
                const LS_few_routines *few = LS_few(n, parts == 2);
                random_fill(&seed, (size_t)(parts * n * n), A);
                random_fill(&seed, (size_t)(parts * n * nrhs), X);
                memcpy(Y, X, sizeof X);
                assert_int_equal(few->factor(n, A, A, pivot, diagonal), 0);
                assert_int_equal(few->solve[1](n, nrhs, A, pivot, X), 0);
                for (int j = 0; j < nrhs; j++) plain(parts, n, A, pivot, Y + parts * n * j);
                assert_memory_equal(X, Y, (size_t)(parts * n * nrhs) * sizeof *X);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
