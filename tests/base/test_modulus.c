/* test_modulus.c - modulus(a, b) is the root of the sum of two squares to two units of round-off, for numbers of all
   sizes, and has the same bits when both are multiplied by a power of two. */
#include "base/modulus.h"
#include "common.h"

enum { PAIRS = 2000 };

/* in long double, whose range holds the squares */
static void right(double a, double b)
{
    long double exact = sqrtl((long double)a * a + (long double)b * b), got = modulus(a, b);
    if (!(fabsl(got - exact) <= 2 * 0x1p-53L * exact)) fail_msg("(%g, %g): %.17Lg instead of %.17Lg", a, b, got, exact);
}

static void of_all_sizes(void **state)
{
    unsigned seed = 5;
    double x[2 * PAIRS];
    (void)state;
    random_fill(&seed, 2 * PAIRS, x);
    for (int i = 0; i < PAIRS; i++) {
        double a = x[2 * i], b = x[2 * i + 1], r = modulus(a, b);
        right(a, b);
        right(a, ldexp(b, -i % 60));
        right(ldexp(a, -i % 60), b);
        for (int k = -900; k <= 1000; k += 475) {
            right(ldexp(a, k), ldexp(b, k));
            assert_true(modulus(ldexp(a, k), ldexp(b, k)) == ldexp(r, k));
        }
    }
}

static void special(void **state)
{
    (void)state;
    assert_true(modulus(3, -4) == 5 && modulus(-4, 3) == 5);
    assert_true(modulus(0, 0) == 0 && modulus(0, -2) == 2 && modulus(2, 0) == 2);
    assert_true(modulus(0x1p-1074, 0) == 0x1p-1074 && modulus(1e-300, 1e300) == 1e300);
    assert_true(isinf(modulus(INFINITY, 1)) && isinf(modulus(1, -INFINITY)));
    assert_true(isnan(modulus(NAN, 1)) && isnan(modulus(1, NAN)) && isnan(modulus(NAN, NAN)));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(of_all_sizes), cmocka_unit_test(special)};
    return cmocka_run_group_tests_name("modulus", tests, NULL, NULL);
}
