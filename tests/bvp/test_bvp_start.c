/* test_bvp_start.c - what a solve begins with: the mesh that is given, with breaks to the bit; a guess, which chooses
   among solutions, and is for one solve; else the last solution, stretched to the new ends. */
#include "bratu.h"
#include "bvp_common.h"

/* ---- Bratu: y'' = -k e^y, y(0) = y(L) = 0; for L = 1, k < 3.5138 two solutions: y(1/2) = 2 ln cosh(th/4) with both
   roots of th = sqrt(2 k) cosh(th/4) ---- */

static const costate_problem P = {.n = 2, .np = 1, .rhs = {.value = bratu}, .jac = bratu_jac};
static const costate_conditions C = {.map = {.value = zero_ends}, .count = 2};

static double root(double k, double th)                  /* Newton's iteration from th */
{
    for (int i = 0; i < 50; i++)
        th -= (th - sqrt(2 * k) * cosh(th / 4)) / (1 - sqrt(2 * k) * sinh(th / 4) / 4);
    return 2 * log(cosh(th / 4));
}

static double middle(costate_bvp *c, double t)
{
    double Y[2];
    CHECK_BVP(c, costate_bvp_eval(c, t, Y));
    return Y[0];
}

static void at(costate_bvp *c, double t, double wanted)
{
    double y = middle(c, t);
    if (!(fabs(y - wanted) <= 1e-5)) fail_msg("y(%g) = %.10g, not %.10g", t, y, wanted);
}

static void guesses(void **state)
{
    const double high[] = {0, 15, 4, 0, 0, -15}, low[] = {0.1, 0}, t[] = {0.5}, k = 1, other = 1.5, b = 1;
    (void)state;
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &P, &C, NULL);
    CHECK_BVP(c, costate_bvp_solve(c, 0, b, &k));                        /* from zero: the lower one */
    at(c, 0.5, root(1, 1));
    CHECK_BVP(c, costate_bvp_guess(c, 3, NULL, high));                   /* equidistant: 0, 1/2, 1 */
    CHECK_BVP(c, costate_bvp_solve(c, 0, b, &k));
    at(c, 0.5, root(1, 11));
    CHECK_BVP(c, costate_bvp_solve(c, 0, b, &other));                    /* goes on from there */
    at(c, 0.5, root(1.5, 10));
    CHECK_BVP(c, costate_bvp_guess(c, 1, t, low));                       /* constant beyond */
    CHECK_BVP(c, costate_bvp_solve(c, 0, b, &other));
    at(c, 0.5, root(1.5, 1.5));
    costate_bvp_free(c);
}

/* y(t) on [0, L] is that on [0, 1] for k L^2 at t/L; on [3, 3 + L] the same */
static void stretched(void **state)
{
    const double high[] = {0, 15, 4, 0, 0, -15};
    (void)state;
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &P, &C, NULL);
    CHECK_BVP(c, costate_bvp_guess(c, 3, NULL, high));
    for (double L = 1; L <= 1.4; L += 0.1) {
        CHECK_BVP(c, costate_bvp_solve(c, 3, 3 + L, &(double){1}));
        at(c, 3 + L / 2, root(L * L, 11 - 4 * (L - 1)));
    }
    CHECK_BVP(c, costate_bvp_solve(c, 5, 4, &(double){1}));              /* backwards, from a solution forwards */
    assert_true(fabs(middle(c, 4.5) - root(1, 1)) <= 1e-5 || fabs(middle(c, 4.5) - root(1, 11)) <= 1e-5);
    costate_bvp_free(c);
}

/* the same again: one mesh, and at most two iterations to see that it is one */
static void again(void **state)
{
    bvps *s = bvps_tangled(&(bvps_spec){.seed = 2, .n = 5, .np = 3, .pieces = 3, .kind = {.jac = 1}});
    assert_non_null(s);
    const costate_bvp_options o = bvps_options(s, 1e-7);
    costate_bvp *c = costate_bvp_new(*state, &s->P, &s->C, &o);
    double before[7], after[7];
    CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
    CHECK_BVP(c, costate_bvp_eval(c, 0.9, before));
    int intervals = costate_bvp_intervals(c);
    CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
    CHECK_BVP(c, costate_bvp_eval(c, 0.9, after));
    assert_int_equal(costate_bvp_intervals(c), intervals);
    assert_int_equal(costate_bvp_get_stats(c)->meshes, 1);
    assert_true(costate_bvp_get_stats(c)->iterations <= 2);
    assert_true(relative_gap(7, after, before) <= 1e-13);
    costate_bvp_free(c);
    bvps_free(s);
}

/* the mesh that is given is the mesh; breaks that are not in it are added, and are there to the bit */
static void meshes(void **state)
{
    bvps *s = bvps_tangled(&(bvps_spec){.seed = 2, .n = 2, .pieces = 3, .kind = {.jac = 1}});
    assert_non_null(s);
    costate_bvp_options o = bvps_options(s, 1e-3);
    o.fixed = 1;
    costate_bvp *c = costate_bvp_new(*state, &s->P, &s->C, &o);
    const double t[] = {s->a, 0.43, 0.7, 0.81, 0.97, 1.3, s->b};
    const double with[] = {s->a, 0.43, 0.7, 0.81, 0.97, 1.15, 1.3, s->b};
    CHECK_BVP(c, costate_bvp_mesh(c, 7, t));
    for (int twice = 0; twice < 2; twice++) {            /* and goes on with it */
        CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
        assert_int_equal(costate_bvp_intervals(c), 7);
        for (int k = 0; k < 8; k++) {
            double at_k, Y[4], Z[4];
            CHECK_BVP(c, costate_bvp_get(c, k, &at_k, Y));
            assert_true(fabs(at_k - with[k]) <= 1e-15);
            if (k == 0 || k == 2 || k == 5 || k == 7) assert_true(at_k == with[k]);
            CHECK_BVP(c, costate_bvp_eval(c, at_k, Z));
            assert_true(largest_gap(4, Y, Z) <= 1e-14);
        }
    }
    costate_bvp_free(c);
    bvps_free(s);
}

int main(void)
{
    static const char *const names[] = {"gauss3", "radau2a", "lobatto3a4", "sdirk4a"};
    enum { NAMES = sizeof names / sizeof *names };
    static char title[2 * NAMES][40];
    struct CMUnitTest tests[2 + 2 * NAMES] = {cmocka_unit_test(guesses), cmocka_unit_test(stretched)};
    for (int k = 0; k < 2 * NAMES; k++) {
        snprintf(title[k], sizeof title[k], "%s: %s", k % 2 ? "again" : "meshes", names[k / 2]);
        tests[2 + k] = (struct CMUnitTest){title[k], k % 2 ? again : meshes, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k / 2])};
    }
    return cmocka_run_group_tests_name("what a boundary value problem begins with", tests, NULL, NULL);
}
