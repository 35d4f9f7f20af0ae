/* test_short.c - sums, solves and checks that know how short their vectors are do what their definitions say, at every
   length around the ones they know. */
#include <float.h>
#include "base/vec.h"
#include "common.h"
#include "linsol/ls.h"

enum { LONGEST = 2500, SHORT = 70, TERMS = 6, ROWS = 36 };     /* LONGEST: more than is summed at a time */

static double X[TERMS][LONGEST], out[2][LONGEST], y[LONGEST], in[TERMS * LONGEST], to[TERMS * LONGEST];

/* 1, 2, .. SHORT, LONGEST, 0 */
static size_t next(size_t n) { return n < SHORT ? n + 1 : n == SHORT ? LONGEST : 0; }

static void fill(unsigned *seed, size_t n)
{
    random_fill(seed, n, y);
    for (int j = 0; j < TERMS; j++) random_fill(seed, n, X[j]);
}

/* |sum - what it should be| <= eps times the moduli of its terms, a rounding each and one for each addition */
static void expect_sum(double got, double start, double scale, int k, const double *w, size_t i)
{
    double sum = start, size = fabs(start);
    for (int j = 0; j < k; j++) if (w[j] != 0) { sum += scale * w[j] * X[j][i]; size += fabs(scale * w[j] * X[j][i]); }
    assert_true(fabs(got - sum) <= (TERMS + 2) * DBL_EPSILON * size);
}

static void sums(void **state)
{
    (void)state;
    unsigned seed = 1;
    double w[TERMS] = {0.5, 0, -2, 1, 3, -1};
    for (size_t n = 1; n > 0; n = next(n))
        for (int k = 0; k <= TERMS; k++) {
            fill(&seed, n);
            X[1][0] = NAN;                                  /* its weight is 0 */
            combine(n, out[0], y, 0.3, k, w, X[0], LONGEST);
            combine(n, out[1], NULL, 0.3, k, w, X[0], LONGEST);
            for (size_t i = 0; i < n; i++) expect_sum(out[0][i], y[i], 0.3, k, w, i);
            for (size_t i = 0; i < n; i++) expect_sum(out[1][i], 0, 0.3, k, w, i);
        }
}

static void mixed(void **state)
{
    (void)state;
    unsigned seed = 2;
    double A[TERMS * TERMS];
    random_fill(&seed, TERMS * TERMS, A);
    for (size_t n = 1; n > 0; n = next(n))
        for (int k = 1; k <= TERMS; k++)
            for (int onto = 0; onto < 2; onto++) {
                fill(&seed, n);
                for (int j = 0; j < k; j++) memcpy(in + (size_t)j * n, X[j], n * sizeof *in);
                for (int j = 0; j < k; j++) memcpy(to + (size_t)j * n, y, n * sizeof *to);
                mix(n, to, onto, -0.7, k, A, in);
                for (size_t l = 0; l < (size_t)k * n; l++)
                    expect_sum(to[l], onto ? y[l % n] : 0, -0.7, k, A + l / n * (size_t)k, l % n);
            }
}

static void finite(void **state)
{
    (void)state;
    unsigned seed = 3;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t n = 1; n <= SHORT; n++) {
        fill(&seed, n);
        assert_true(all_finite(n, y));
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                double was = y[i];
                y[i] = bad[k];
                assert_false(all_finite(n, y));
                if (n > 1) y[(i + 1) % n] = -bad[k];
                assert_false(all_finite(n, y));
                fill(&seed, n);
                y[i] = was;
            }
        for (size_t i = 0; i < n; i++) y[i] = DBL_MAX;      /* their sum is not */
        assert_true(all_finite(n, y));
    }
}

/* A x = b to a backward error of a few n eps (Higham, Accuracy and Stability, 9.3), pivots growing by less than 10 */
static void solves(void **state)
{
    (void)state;
    unsigned seed = 4;
    double A[2 * ROWS * ROWS], J[ROWS * ROWS], b[2 * ROWS], x[2 * ROWS];
    for (int n = 1; n <= ROWS; n++)
        for (int kind = 0; kind < 4; kind++) {
            int parts = 1 + (kind & 1), transpose = kind >> 1, status;
            LS *ls = LS_Init(LS_Choose(COSTATE_LS_DENSE, n, NULL), n, NULL, parts == 2, NULL, NULL, &status);
            random_fill(&seed, (size_t)(n * n), J);
            random_fill(&seed, (size_t)(parts * n), b);
            memcpy(x, b, sizeof x);
            assert_int_equal(LS_Decomp(ls, 0.3, parts == 2 ? 0.2 : 0, J, NULL), COSTATE_LS_OK);
            assert_int_equal(LS_Solve(ls, transpose, 1, x), COSTATE_LS_OK);
            memset(A, 0, sizeof A);
            for (int i = 0; i < n * n; i++) A[2 * i] = -J[i];
            for (int i = 0; i < n; i++) { A[2 * i * (n + 1)] += 0.3; A[2 * i * (n + 1) + 1] = parts == 2 ? 0.2 : 0; }
            for (int i = 0; i < n; i++)
                for (int part = 0; part < parts; part++) {
                    double sum = -b[parts * i + part], size = fabs(sum);
                    for (int j = 0; j < n; j++) {
                        const double *a = A + 2 * (transpose ? i * n + j : j * n + i);
                        double re = x[parts * j], im = parts == 2 ? x[2 * j + 1] : 0;
                        sum += part ? a[0] * im + a[1] * re : a[0] * re - a[1] * im;
                        size += 10 * (fabs(a[0]) + fabs(a[1])) * (fabs(re) + fabs(im));
                    }
                    for (int j = 0; j < n; j++) size += fabs(x[parts * j]);
                    assert_true(fabs(sum) <= 3 * (n + 2) * DBL_EPSILON * size);
                }
            LS_Free(ls);
        }
}

/* A pivot that overflows, though no entry does, is no pivot; nor is one that is 0 but for round-off. */
static void refused(void **state)
{
    (void)state;
    for (int n = 2; n <= ROWS; n++) {
        double J[ROWS * ROWS] = {0};
        int status;
        LS *ls = LS_Init(LS_Choose(COSTATE_LS_DENSE, n, NULL), n, NULL, 0, NULL, NULL, &status);
        for (int i = 0; i < n; i++) J[i * (n + 1)] = 1;
        J[0] = J[1] = J[n] = 1e308;
        J[n + 1] = -1e308;                  /* 1e308 (1 1; 1 -1): its second pivot is -2e308 */
        assert_int_equal(LS_Decomp(ls, 0, 0, J, NULL), COSTATE_LS_SINGULAR);
        J[0] = J[1] = J[n] = 1.0 / 3;
        J[n + 1] = nextafter(1.0 / 3, 1);
        assert_int_equal(LS_Decomp(ls, 0, 0, J, NULL), COSTATE_LS_SINGULAR);
        J[n + 1] = 2.0 / 3;
        assert_int_equal(LS_Decomp(ls, 0, 0, J, NULL), COSTATE_LS_OK);
        LS_Free(ls);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(sums), cmocka_unit_test(mixed), cmocka_unit_test(finite),
                                     cmocka_unit_test(solves), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
