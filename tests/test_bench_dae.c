/* test_bench_dae.c - heat and food web of the benchmark are those whose gradients were made elsewhere, in every form.

   The references are of |y(t1)|^2, the benchmark's functional is half of it. */
#include "common.h"
#include "../bench/ivp.h"

typedef struct { const char *name; int at; double g, by_p[2], by_start; } truth;     /* by_start: by y_at(0) */

static double half(double x) { return x / 2; }

static void agrees(void **state)
{
    const truth *T = *state;
    ivp b;
    assert_int_equal(ivp_new(&b, T->name, 0, 0), COSTATE_OK);
    size_t n = (size_t)b.P.n;
    double *y = malloc(2 * n * sizeof *y), *lambda = y + n, mu[2] = {0}, g = 0;
    costate_options o = {.rtol = 1e-8, .atol = 1e-8};
    costate *c = costate_new(costate_method_find("radau2a"), &b.P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b.y0, n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, 0, b.t1, y, b.p, tape));
    for (size_t i = 0; i < n; i++) g += y[i] * y[i];
    ivp_seed(&b, y, lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    const double error[] = {g / T->g - 1, mu[0] / half(T->by_p[0]) - 1, mu[1] / half(T->by_p[1]) - 1,
                            lambda[T->at] / half(T->by_start) - 1};
    for (int k = 0; k < 4; k++)
        if (!(fabs(error[k]) <= 1e-6)) fail_msg("%s: number %d is wrong by %.2e", T->name, k, error[k]);
    costate_tape_free(tape);
    costate_free(c);
    free(y);
    ivp_free(&b);
}

int main(void)
{
    static truth all[] = {
        {"heat_dae", 20 * 42 + 20, 0.863792474592583054991875, {-2.72675828331648437357241, -2.72675828331648437357241},
         0.003853838162497642079540253},
        {"heat_mass", 5 * 42 + 7, 0.863792474592583054991875, {-2.72675828331648437357241, -2.72675828331648437357241},
         0.0007372707437513866530017195},
        {"foodweb", 0, 2.36313393520239892e+05, {6.19839686164873434e+03, 3.04839476575518973e+03},
         4.39995949052619915}};
    const struct CMUnitTest tests[] = {{"heat as a residual", agrees, NULL, NULL, &all[0]},
                                       {"heat as M y' = f", agrees, NULL, NULL, &all[1]},
                                       {"food web", agrees, NULL, NULL, &all[2]}};
    return cmocka_run_group_tests_name("references of the benchmark's residuals", tests, NULL, NULL);
}
