/* test_bench_bvp.c - the benchmark's boundary value problems: their callbacks are right, their solutions those that are
   known of them, and the arm's gradient is that of the references. */
#include "bvp_cases.h"
#include "common.h"

static const char *const names[] = {"arm", "layer_a", "layer_b", "layer_c"};
enum { NAMES = sizeof names / sizeof *names };

static void callbacks(void **state)
{
    const double y[4] = {0.3, -0.7, 0.4, 0.2};
    (void)state;
    for (int k = 0; k < NAMES; k++) {
        static bvp_case z;
        assert_int_equal(bvp_case_new(&z, names[k], 0.1), 0);
        costate_point x = {.t = 0.4, .y = y, .p = z.p, .mode = z.nbreaks ? 3 : 0};
        costate_report f, r;
        if (costate_check_problem(&z.P, &x, &f, &r) != COSTATE_OK) fail_msg("%s: %s %s", names[k], f.text, r.text);
        if (costate_check_map(&z.g.map, 4, z.P.np, 2, &x, z.g.ctx, &f) != COSTATE_OK)
            fail_msg("%s, conditions: %s", names[k], f.text);
    }
}

static int eval(double t, double *Y, void *solver) { return costate_bvp_eval(solver, t, Y); }

static costate_bvp *solved(bvp_case *z, const char *method, double tol)
{
    double guess[4];
    costate_bvp_options o = {.rtol = tol, .atol = tol, .nbreaks = z->nbreaks, .breaks = z->breaks};
    costate_bvp *b = costate_bvp_new(costate_method_find(method), &z->P, &z->g, &o);
    bvp_case_guess(z, guess);
    assert_int_equal(costate_bvp_guess(b, 2, NULL, guess), COSTATE_OK);
    if (costate_bvp_solve(b, z->a, z->b, z->p) != COSTATE_OK) fail_msg("%s", costate_bvp_message(b));
    return b;
}

/* to ten tolerances, at all times that the race looks at */
static void solutions(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++) {
        static bvp_case z;
        assert_int_equal(bvp_case_new(&z, names[k], 0.1), 0);
        costate_bvp *b = solved(&z, "lobatto3a4", 1e-8);
        double error = bvp_case_error(&z, eval, b);
        if (!(error <= 1e-7)) fail_msg("%s is wrong by %.1e", names[k], error);
        costate_bvp_free(b);
    }
}

/* of the energy, by fifteen numbers */
static void gradient(void **state)
{
    static const double known[BVP_NP] = {
        -0.000811314731864808579, -0.00457092066850013399, -0.00865012013701256747, -0.0123817731398391233,
        -0.0150207131026822153, -0.0153503921381009401, -0.0126256037649678012, -0.00716056983323893674,
        -0.00126693838566625017, 0.498067270567107101, 0.497367074334774360, 0.0849534447027878420,
        0.0557648309170866522, -0.0291886137857011899, 0.114142058488489032};
    static bvp_case z;
    double end = 1, lambda[3] = {0, 0, 1}, mu[BVP_NP] = {0};
    (void)state;
    assert_int_equal(bvp_case_new(&z, "arm", 0), 0);
    costate_bvp *b = solved(&z, "gauss4", 1e-10);
    costate_bvp_adjoints back = {.m = 1, .points = 1, .t = &end, .lambda = lambda, .mu = mu};
    assert_int_equal(costate_bvp_adjoint(b, &back), COSTATE_OK);
    for (int i = 0; i < BVP_NP; i++)
        if (!(fabs(mu[i] - known[i]) <= 1e-10)) fail_msg("by parameter %d: %.15g", i, mu[i]);
    costate_bvp_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(callbacks), cmocka_unit_test(solutions),
                                       cmocka_unit_test(gradient)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
