/* test_censored.c - the likelihood of censored values: -log of the probability of the side of the bound, right to
   round-off far into both tails, and its derivatives with respect to output and sigma. */
#include "pieces/pieces.h"
#include "common.h"

enum { SCALES = 3 };
static const int KINDS[] = {COSTATE_BELOW, COSTATE_ABOVE, COSTATE_BELOW | COSTATE_NOISE_LAPLACE,
                            COSTATE_ABOVE | COSTATE_NOISE_LAPLACE};

static likelihood at(int scale, int kind, double f, double sigma)
{
    likelihood of;
    const costate_measured m = {.noise = -1, .sigma = 1, .value = 1.3, .scale = scale, .distribution = kind};
    likelihood_of(&m, f, sigma, &of);
    return of;
}

static void near(const char *what, double a, double b, double tol)
{
    if (!(fabs(a - b) <= tol * (1 + fabs(b)))) fail_msg("%s: %.16g instead of %.16g", what, a, b);
}

/* -log(erfc(-z/sqrt(2))/2), its hazard g and g (g + z), by mpmath with 30 digits */
static void tails(void **state)
{
    static const double z[] = {-40, -20, -5.5, -4.5, -1, 0.5, 3},
        L[] = {804.60844201375379, 203.91715537109726, 17.779376352625261, 12.592419735713079, 1.8410216450092635,
               0.36894641528865639, 0.0013508099647481938},
        g[] = {40.024968847207264, 20.049753068527851, 5.6714103138973056, 4.7043198448277324, 1.5251352761609812,
               0.50916043383703349, 0.0044378390421256638};
    (void)state;
    for (int k = 0; k < 7; k++) {
        likelihood above = at(COSTATE_SCALE_LINEAR, COSTATE_ABOVE, 1.3 + z[k], 1),
                   below = at(COSTATE_SCALE_LINEAR, COSTATE_BELOW, 1.3 - z[k], 1);
        near("L above", above.L, L[k], 1e-14);
        near("L below", below.L, L[k], 1e-14);
        near("slope above", above.f, -g[k], 1e-13);
        near("slope below", below.f, g[k], 1e-13);
        near("curvature", above.ff, g[k] * (g[k] + z[k]), 1e-11);
        near("expected curvature", above.expected_ff, above.ff, 0);
    }
}

/* the probabilities below and above a bound add up to 1; those of Laplace's distribution are known */
static void probabilities(void **state)
{
    (void)state;
    for (int scale = 0; scale < SCALES; scale++)
        for (int laplace = 0; laplace < 2; laplace++)
            for (double f = 0.3; f < 3; f += 0.4) {
                double below = exp(-at(scale, COSTATE_BELOW | laplace, f, 0.6).L),
                       above = exp(-at(scale, COSTATE_ABOVE | laplace, f, 0.6).L);
                near("sum of the probabilities", below + above, 1, 1e-14);
                if (laplace && scale == COSTATE_SCALE_LINEAR && f < 1.3)
                    near("above", above, exp((f - 1.3) / 0.6) / 2, 1e-14);
            }
}

static void derivatives(void **state)
{
    const double h = 1e-5;
    (void)state;
    for (int scale = 0; scale < SCALES; scale++)
        for (int k = 0; k < 4; k++)
            for (double f = 0.4; f < 3; f += 0.37) {
                double s = 0.6;
                likelihood of = at(scale, KINDS[k], f, s), up = at(scale, KINDS[k], f + h, s),
                           down = at(scale, KINDS[k], f - h, s), more = at(scale, KINDS[k], f, s + h),
                           less = at(scale, KINDS[k], f, s - h);
                near("L_f", of.f, (up.L - down.L) / (2 * h), 1e-8);
                near("L_s", of.s, (more.L - less.L) / (2 * h), 1e-8);
                near("L_ff", of.ff, (up.f - down.f) / (2 * h), 1e-7);
                near("L_fs", of.fs, (more.f - less.f) / (2 * h), 1e-7);
                near("L_sf", of.fs, (up.s - down.s) / (2 * h), 1e-7);
                near("L_ss", of.ss, (more.s - less.s) / (2 * h), 1e-7);
                assert_true(of.expected_ff >= 0 && of.expected_ss >= 0);
                near("curvature in s(f)", of.expected_ss * of.r_f * of.r_f, of.expected_ff * of.r_s * of.r_s, 1e-12);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tails), cmocka_unit_test(probabilities),
                                       cmocka_unit_test(derivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
