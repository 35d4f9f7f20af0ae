/* test_bench_problems.c - the problems of the benchmark and the demonstration: every derivative is right. */
#include "common.h"
#include "../bench/ivp.h"

static void right(void **state)
{
    const char *name = *state;
    for (int sparse = 0; sparse < 2; sparse++) {
        ivp b;
        costate_report r;
        unsigned seed = 3;
        assert_int_equal(ivp_new(&b, name, 6, sparse), COSTATE_OK);
        double *y = malloc(2 * (size_t)b.P.n * sizeof *y), *yp = y + b.P.n;
        int residual = b.P.residual.value != NULL;
        assert_non_null(y);
        for (int i = 0; i < b.P.n; i++) y[i] = b.y0[i] * (1 + 0.1 * random_in(&seed)) + 0.01 * (2 + random_in(&seed));
        for (int i = 0; i < b.P.n; i++) yp[i] = random_in(&seed);
        costate_point x = {.y = y, .p = b.p, .yp = residual ? yp : NULL};
        if (costate_check_problem(&b.P, &x, &r, NULL) != COSTATE_OK) fail_msg("%s: %s", name, r.text);
        const double gaps[] = {r.tangent, r.adjoint, r.jac, r.tangent2, r.adjoint_tangent};
        for (int k = 0; k < (residual ? 3 : 5); k++) assert_true(gaps[k] < 1e-7);       /* of residuals: no second */
        free(y);
        ivp_free(&b);
    }
}

int main(void)
{
    struct CMUnitTest tests[16] = {{0}};
    size_t count = 0;
    for (int k = 0; ivp_name(k) && count < 16; k++)
        tests[count++] = (struct CMUnitTest){ivp_name(k), right, NULL, NULL, (void *)(uintptr_t)ivp_name(k)};
    return _cmocka_run_group_tests("problems of the benchmark", tests, count, NULL, NULL);
}
