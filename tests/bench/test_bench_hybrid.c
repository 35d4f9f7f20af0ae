/* test_bench_hybrid.c - the benchmark's problems with events have the values and gradients that are known of them. */
#include "common.h"
#include "ivp.h"

enum { LINE = 3 };

/* what the adjoint gives, and the functional */
static double gradient(const ivp *b, const char *method, double tol, double *y, double *lambda, double *mu)
{
    costate_options o = {.rtol = tol, .atol = tol * b->atol};
    costate *c = costate_new(costate_method_find(method), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)ivp_length(b) * sizeof *y);
    memset(mu, 0, (size_t)b->P.np * sizeof *mu);
    CHECK_OK(c, costate_integrate(c, 0, b->t1, y, b->p, tape));
    double value = ivp_seed(b, y, lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return value;
}

/* problem H6 of the references: q(10) and its gradient */
static void hysteresis(void **state)
{
    static const double integral = 0.04993978860638280573746, by_p[] = {
        -1.336643883957091555890e-5, 0.003266790157646101446010, -1.530224960043961405298e-6, 0,
        -0.1275863207781624947501, 0.02802043968220589536325, 0.1991317621919131987736};
    static const char *const methods[] = {"dopri853", "tsit5", "sdirk4a", "radau2a5"};
    (void)state;
    ivp b;
    assert_int_equal(ivp_new(&b, "hysteresis", 0, 1), COSTATE_OK);
    for (int k = 0; k < 4; k++) {
        double y[5], lambda[5], mu[7], value = gradient(&b, methods[k], 1e-11, y, lambda, mu);
        if (!(fabs(value / integral - 1) <= 1e-9)) fail_msg("%s: %.3e", methods[k], value / integral - 1);
        for (int j = 0; j < 7; j++)
            if (!(fabs(mu[j] - by_p[j]) <= 1e-9 * fabs(by_p[j])))
                fail_msg("%s: by p[%d]: %.3e", methods[k], j, mu[j] - by_p[j]);
    }
    ivp_free(&b);
}

/* the adjoint along a direction against differences of fourth order of whole runs: 1e-11/1e-4 */
static void thresholds(void **state)
{
    ivp b;
    unsigned seed = 3;
    assert_int_equal(ivp_new(&b, *state, LINE, 1), COSTATE_OK);
    int N = ivp_length(&b), np = b.P.np;
    double *work = calloc((size_t)(2 * N + 4 * np), sizeof *work), *lambda = work + N, *mu = lambda + N, *d = mu + np,
           *p = d + np, *other = p + np, along = 0, size = 0, value[4];
    const double *given = b.p;
    assert_non_null(work);
    random_fill(&seed, np, d);
    gradient(&b, "dopri853", 1e-12, work, lambda, mu);
    for (int j = 0; j < np; j++) along += mu[j] * d[j], size += fabs(mu[j] * d[j]);
    b.p = p;
    for (int k = 0; k < 4; k++) {
        static const double at[] = {-2e-4, -1e-4, 1e-4, 2e-4};
        for (int j = 0; j < np; j++) p[j] = given[j] + at[k] * d[j];
        value[k] = gradient(&b, "dopri853", 1e-12, work, lambda, other);
    }
    double differences = (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / 12e-4;
    if (!(fabs(along - differences) <= 1e-7 * size)) fail_msg("%.3e of %.3e", along - differences, size);
    free(work);
    ivp_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hysteresis), cmocka_unit_test_prestate(thresholds, "rooms"),
        cmocka_unit_test_prestate(thresholds, "rooms_least")};
    return cmocka_run_group_tests_name("the benchmark's problems with events", tests, NULL, NULL);
}
