/* test_power.c - logarithm and exponential to base 2: against the C library, and the same bits side by side. */
#include <float.h>
#include "common.h"
#include "base/power.h"

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static void test_logarithm(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int k = 0; k < 200000; k++) {
        double x = exp2(2000 * uniform(&seed) - 1000), exact = log2(x);
        if (!(fabs(log2_of(x) - exact) <= 2 * DBL_EPSILON * fmax(fabs(exact), 1)))
            fail_msg("log2(%.17g) = %.17g instead of %.17g", x, log2_of(x), exact);
    }
    for (int k = -1000; k <= 1000; k++) assert_true(log2_of(ldexp(1, k)) == k);
}

/* near 1 the relative error stays small, too */
static void test_logarithm_near_one(void **state)
{
    uint64_t seed = 2;
    (void)state;
    for (int k = 0; k < 200000; k++) {
        double x = 1 + (uniform(&seed) - 0.5) * exp2(-40 * uniform(&seed)), exact = log2(x);
        if (!(fabs(log2_of(x) - exact) <= 4 * DBL_EPSILON * fabs(exact)))
            fail_msg("log2(%.17g) = %.17g instead of %.17g", x, log2_of(x), exact);
    }
    assert_true(log2_of(1) == 0);
}

static void test_exponential(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int k = 0; k < 200000; k++) {
        double x = 2000 * uniform(&seed) - 1000, exact = exp2(x);
        if (!(fabs(exp2_of(x) - exact) <= 3 * DBL_EPSILON * exact))
            fail_msg("2^%.17g = %.17g instead of %.17g", x, exp2_of(x), exact);
    }
    for (int k = -1000; k <= 1000; k++) assert_true(exp2_of(k) == ldexp(1, k));
}

/* near |r| = 1/2, where a term too few would show, errors are those of rounding: without a bias */
static void test_exponential_has_no_bias(void **state)
{
    enum { COUNT = 100000 };
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        double sum = 0;
        for (int k = 0; k < COUNT; k++) {
            double x = side * (0.48 + 0.02 * k / COUNT), exact = exp2(x);
            sum += (exp2_of(x) - exact) / (DBL_EPSILON * exact);
        }
        assert_true(fabs(sum / COUNT) < 0.2);
    }
}

/* a compiler may take several numbers at once in a loop; through a volatile it takes one */
static void test_several_have_the_bits_of_one(void **state)
{
    enum { COUNT = 4096 };
    static double x[COUNT], log2s[COUNT], exp2s[COUNT];
    uint64_t seed = 4;
    (void)state;
    for (int k = 0; k < COUNT; k++) x[k] = exp2(60 * uniform(&seed) - 30);
    for (int k = 0; k < COUNT; k++) log2s[k] = log2_of(x[k]);
    for (int k = 0; k < COUNT; k++) exp2s[k] = exp2_of(log2s[k]);
    for (int k = 0; k < COUNT; k++) {
        volatile double one = x[k];
        double l = log2_of(one);
        volatile double two = l;
        double e = exp2_of(two);
        assert_memory_equal(&l, &log2s[k], sizeof l);
        assert_memory_equal(&e, &exp2s[k], sizeof e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logarithm),
        cmocka_unit_test(test_logarithm_near_one),
        cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_exponential_has_no_bias),
        cmocka_unit_test(test_several_have_the_bits_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
