/* test_bench_problems.c - the problems of the benchmark and the demonstration: every derivative is right. */
#include "common.h"
#include "ivp.h"

static void right(void **state)
{
    const char *name = *state;
    for (int sparse = 0; sparse < 2; sparse++) {
        ivp b;
        costate_report r;
        unsigned seed = 3;
        assert_int_equal(ivp_new(&b, name, 6, sparse), COSTATE_OK);
        int n = b.P.n, N = ivp_length(&b);
        double *y = malloc((size_t)(N + n) * sizeof *y), *yp = y + N;
        int residual = b.P.residual.value != NULL;
        assert_non_null(y);
        for (int i = 0; i < N; i++) y[i] = b.y0[i] * (1 + 0.1 * random_in(&seed)) + 0.01 * (2 + random_in(&seed));
        for (int i = 0; i < n; i++) yp[i] = random_in(&seed);
        costate_point x = {.t = 0.3 * b.timed, .y = y, .p = b.p, .yp = residual ? yp : NULL,
                           .m = b.P.nm ? y + n + b.P.nq : NULL};
        if (costate_check_problem(&b.P, &x, &r, NULL) != COSTATE_OK) fail_msg("%s: %s", name, r.text);
        const double gaps[] = {r.tangent, r.adjoint, r.jac, r.tangent2, r.adjoint_tangent, r.adjoint_tangent2};
        for (int k = 0; k < (b.P.rhs.adjoint_tangent2 ? 6 : b.P.rhs.tangent2 ? 5 : 3); k++) assert_true(gaps[k] < 1e-7);
        free(y);
        ivp_free(&b);
    }
}

int main(void)
{
    struct CMUnitTest tests[64] = {{0}};
    size_t count = 0;
    for (int k = 0; ivp_name(k) && count < 64; k++)
        tests[count++] = (struct CMUnitTest){ivp_name(k), right, NULL, NULL, (void *)(uintptr_t)ivp_name(k)};
    return _cmocka_run_group_tests("problems of the benchmark", tests, count, NULL, NULL);
}
