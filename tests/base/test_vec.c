/* test_vec.c - sums over vectors are those of their definitions at every length: short ones, the blocks of eight and of
   1024 components, and one more or less; any number of terms. */
#include "base/vec.h"
#include "common.h"

enum { LONGEST = 2100, TERMS = 9 };
static const size_t lengths[] = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 1023, 1024, 1025, 2100};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static double x[LONGEST], y[LONGEST], z[LONGEST], X[TERMS * LONGEST], out[TERMS * LONGEST];

static int fill(void **state)
{
    unsigned seed = 3;
    (void)state;
    random_fill(&seed, LONGEST, x);
    random_fill(&seed, LONGEST, y);
    random_fill(&seed, LONGEST, z);
    random_fill(&seed, TERMS * LONGEST, X);
    return 0;
}

static void near(const char *what, size_t n, double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b)))) fail_msg("%s, n = %zu: %.15g instead of %.15g", what, n, a, b);
}

static void one_number(void **state)
{
    (void)state;
    for (int k = 0; k < LENGTHS; k++) {
        size_t n = lengths[k];
        double d = 0, moduli = 0, scaled = 0, weighted = 0;
        for (size_t i = 0; i < n; i++) {
            double size = fabs(x[i]) > fabs(y[i]) ? fabs(x[i]) : fabs(y[i]);
            double e = z[i] / (0.3 + 0.7 * size), w = x[i] * y[i];
            d += x[i] * y[i];
            moduli += fabs(x[i]);
            scaled += e * e;
            weighted += w * w;
        }
        near("dot", n, dot(n, x, y), d);
        near("sum_moduli", n, sum_moduli(n, x), moduli);
        near("sum_scaled", n, sum_scaled(n, 0.7, 0.3, x, y, z), scaled);
        near("sum_weighted", n, sum_weighted(n, x, y), weighted);
        near("sum_weighted_of_many", n, sum_weighted_of_many(n, x, y), weighted);
    }
}

static void vectors(void **state)
{
    static const double w[TERMS] = {0.5, -1, 0, 2, 0.25, 0, -3, 1.5, 0.1};
    (void)state;
    for (int k = 0; k < LENGTHS; k++)
        for (int terms = 0; terms <= TERMS; terms++)
            for (int onto = 0; onto < 2; onto++) {
                size_t n = lengths[k];
                combine(n, out, onto ? y : NULL, 1.5, terms, w, X, n);
                for (size_t i = 0; i < n; i++) {
                    double sum = onto ? y[i] : 0;
                    for (int j = 0; j < terms; j++) sum += 1.5 * w[j] * X[(size_t)j * n + i];
                    near("combine", n, out[i], sum);
                }
            }
    for (int k = 0; k < LENGTHS; k++)
        for (int size = 1; size <= 8; size++)
            for (int onto = 0; onto < 2; onto++) {
                size_t n = lengths[k];
                for (size_t i = 0; i < n * (size_t)size; i++) out[i] = onto ? z[i % LONGEST] : 0;
                mix(n, out, onto, 0.5, size, x, X);
                for (size_t i = 0; i < n * (size_t)size; i++) {
                    double sum = onto ? z[i % LONGEST] : 0;
                    for (size_t j = 0; j < (size_t)size; j++)
                        sum += 0.5 * x[i / n * (size_t)size + j] * X[j * n + i % n];
                    near("mix", n, out[i], sum);
                }
            }
}

static void finite(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (int k = 1; k < LENGTHS; k++)
        for (size_t at = 0; at < lengths[k]; at += 1 + lengths[k] / 16)
            for (int b = 0; b < 3; b++) {
                double kept = x[at];
                assert_true(all_finite(lengths[k], x) && all_finite_of_many(lengths[k], x));
                x[at] = bad[b];
                assert_true(!all_finite(lengths[k], x) && !all_finite_of_many(lengths[k], x));
                x[at] = kept;
            }
    double large[] = {1e308, 1e308, 1e308};                /* whose sum is no number, though they are */
    assert_true(all_finite(3, large));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_number), cmocka_unit_test(vectors),
                                       cmocka_unit_test(finite)};
    return cmocka_run_group_tests(tests, fill, NULL);
}
