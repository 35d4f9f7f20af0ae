/* test_sparse.c - the backend "sparse": fill-in near that of AMD, patterns that are singular for any numbers, pivots of
   its own where those of the pattern are bad. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "linsol/backends.h"
#include "linsol/order.h"
#include "patterns.h"

static int grid(int n, int i, int j)                    /* 32 x 32 */
{
    (void)n;
    return abs(i % 32 - j % 32) + abs(i / 32 - j / 32) <= 1;
}

static int two_fields(int n, int i, int j)              /* on 32 x 32, coupled in each cell */
{
    return i / 2 == j / 2 || (i % 2 == j % 2 && grid(n, i / 2, j / 2));
}

static int shifted(int n, int i, int j) { return i == (j + 1) % n || i == (j + 5) % n; }

static int network(int n, int i, int j)
{
    return i == j || ((unsigned)i * 2654435761u ^ (unsigned)j * 40503u) / 7 % (unsigned)n < 3;
}

/* so many that it is not singular without its diagonal */
static int ties(int n, int i, int j) { return network(n, i, j) || shifted(n, i, j); }

/* a row and a column that touch everything: 3 n - 2 entries in the right order, n^2 in the wrong one */
static int arrow(int n, int i, int j)
{
    (void)n;
    return i == j || i == 0 || j == 0;
}

static int two_columns_of_one_row(int n, int i, int j) { (void)n; return j < 2 ? i == 0 : i == j || i == 1; }

/* Entries of L and U with the diagonal; those of AMD 2.4.6 by klu_analyze and klu_factor of SuiteSparse 5.12 */
static void fill_in(void **state)
{
    static const struct { int n, (*has)(int, int, int); size_t amd; double most; } table[] = {
        {1024, grid, 22776, 1.06}, {2048, two_fields, 82234, 1.03}, {60, arrow, 178, 1.0}};
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        costate_pattern *p = big_pattern(table[k].n, table[k].has);
        double *A = malloc((size_t)p->col[p->n] * sizeof *A);
        void *self = NULL;
        for (int j = 0; j < p->n; j++) for (int e = p->col[j]; e < p->col[j + 1]; e++) A[e] = p->row[e] == j ? 100 : -1;
        assert_int_equal(LS_sparse.init(&self, p->n, p, 0, NULL), COSTATE_LS_OK);
        assert_int_equal(LS_sparse.factor(self, A), COSTATE_LS_OK);
        size_t entries = LS_sparse.bytes(self) / (sizeof(double) + sizeof(int)) + (size_t)p->n;
        assert_true(entries <= table[k].most * table[k].amd && entries >= 0.95 * table[k].amd);
        LS_sparse.free(self);
        free(A);
        big_pattern_free(p);
    }
}

/* each column its own row of the pattern; where there are not enough rows, it is said before any number is seen */
static void matchings(void **state)
{
    int row[50], seen[50] = {0};
    (void)state;
    costate_pattern *p = big_pattern(50, shifted);
    assert_int_equal(LS_match(50, p, row), COSTATE_LS_OK);
    for (int j = 0; j < 50; j++) {
        assert_true(row[j] >= 0 && shifted(50, row[j], j) && !seen[row[j]]++);
    }
    big_pattern_free(p);
    p = big_pattern(50, network);
    assert_int_equal(LS_match(50, p, row), COSTATE_LS_OK);
    for (int j = 0; j < 50; j++) assert_int_equal(row[j], j);
    big_pattern_free(p);
    p = big_pattern(9, two_columns_of_one_row);
    double A[40] = {1, 1, 1, 1};
    void *self = NULL;
    assert_int_equal(LS_sparse.init(&self, 9, p, 0, NULL), COSTATE_LS_OK);
    assert_int_equal(LS_sparse.factor(self, A), COSTATE_LS_SINGULAR);
    LS_sparse.free(self);
    big_pattern_free(p);
}

/* The worst component of A x - b over |A| |x|, for random numbers with a diagonal of the given size */
static double residual(int is_complex, int (*has)(int, int, int), int n, double diagonal, int transpose)
{
    costate_pattern *p = big_pattern(n, has);
    int parts = is_complex ? 2 : 1;
    double *A = malloc((size_t)parts * (size_t)p->col[n] * sizeof *A), *x = calloc((size_t)(parts * n), sizeof *x);
    double *b = calloc((size_t)(parts * n), sizeof *b), worst = 0, most = 0;
    unsigned next = 7;
    void *self = NULL;
    for (int j = 0; j < n; j++)
        for (int e = parts * p->col[j]; e < parts * p->col[j + 1]; e++) {
            next = next * 1664525u + 1013904223u;
            A[e] = (next / 2147483648.0 - 1) * (p->row[e / parts] == j ? diagonal : 1);
        }
    for (int i = 0; i < parts * n; i++) x[i] = b[i] = cos(i);
    assert_int_equal(LS_sparse.init(&self, n, p, is_complex, NULL), COSTATE_LS_OK);
    assert_int_equal(LS_sparse.factor(self, A), COSTATE_LS_OK);
    assert_int_equal(LS_sparse.solve(self, transpose, 1, x), COSTATE_LS_OK);
    for (int j = 0; j < n; j++)
        for (int e = p->col[j]; e < p->col[j + 1]; e++) {
            int to = transpose ? j : p->row[e], from = transpose ? p->row[e] : j;
            const double *a = A + parts * e, *y = x + parts * from;
            b[parts * to] -= is_complex ? a[0] * y[0] - a[1] * y[1] : a[0] * y[0];
            if (is_complex) b[2 * to + 1] -= a[0] * y[1] + a[1] * y[0];
        }
    for (int i = 0; i < parts * n; i++) {
        worst = fmax(worst, fabs(b[i]));
        most = fmax(most, fabs(x[i]));
    }
    LS_sparse.free(self);
    free(A), free(x), free(b);
    big_pattern_free(p);
    return worst / most;
}

static void pivots_of_its_own(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (double diagonal = 10; diagonal > 1e-13; diagonal *= 1e-6)
            assert_true(residual(kind & 1, ties, 120, diagonal, kind & 2) < 1e-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_in), cmocka_unit_test(matchings), cmocka_unit_test(pivots_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
