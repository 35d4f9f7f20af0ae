/* test_steady_relations.c - right-hand sides with branches, abs and min: the branch at the steady state counts, also
   when Newton's iteration crosses to it from another; a steady state on a border is refused. */
#include "steady_models.h"

enum { NP = 3 };

/* y' = y < p0 ? p1 : 1 - p2 y: from below p0 the slope is constant, and the zero of the other branch is 1/p2 */
static int rate(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->relation[0] ? 1 - x->p[2] * x->y[0] : x->p[1];
    return 0;
}

static int rate_tangent(const costate_point *x, const costate_point *a, double *out, void *ctx)
{
    (void)ctx;
    double y = a->y ? a->y[0] : 0, p1 = a->p ? a->p[1] : 0, p2 = a->p ? a->p[2] : 0;
    out[0] = x->relation[0] ? -p2 * x->y[0] - x->p[2] * y : p1;
    return 0;
}

static int rate_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y && x->relation[0]) g->y[0] -= w[0] * x->p[2];
    if (g->p && x->relation[0]) g->p[2] -= w[0] * x->y[0];
    if (g->p && !x->relation[0]) g->p[1] += w[0];
    return 0;
}

static int above(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - x->p[0], 0; }
static int above_tangent(const costate_point *x, const costate_point *a, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = (a->y ? a->y[0] : 0) - (a->p ? a->p[0] : 0);
    return 0;
}
static int above_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += w[0];
    if (g->p) g->p[0] -= w[0];
    return 0;
}

static const costate_relation relation = {
    .guard = {.value = above, .tangent = above_tangent, .adjoint = above_adjoint}
};
static const costate_problem P = {.n = 1, .np = NP, .nrelations = 1, .relation = &relation,
                                  .rhs = {.value = rate, .tangent = rate_tangent, .adjoint = rate_adjoint}};

static void the_other_branch(void **state)
{
    const double p[NP] = {1, 0.5, 0.4};
    double y[1] = {-3}, lambda[1] = {1}, mu[NP] = {0};
    (void)state;
    costate_steady *s = costate_steady_new(NULL, &P, NULL, NULL);
    CHECK_STEADY(s, costate_steady_solve(s, y, p));
    assert_float_equal(y[0], 1 / p[2], 1e-14);
    CHECK_STEADY(s, costate_steady_adjoint(s, 1, lambda, mu));
    assert_true(lambda[0] == 0 && mu[0] == 0 && mu[1] == 0);
    assert_float_equal(mu[2], -1 / p[2] / p[2], 1e-13);
    costate_steady_free(s);
}

/* p1 < 0: from above, the zero of the branch above lies below the border, where the solution falls for ever */
static void a_zero_beyond_the_border(void **state)
{
    const double p[NP] = {0.501, -0.5, 2};
    const costate_options run = {.max_steps = 300, .rtol = 1e-9, .atol = 1e-9};
    double y[1] = {3};
    (void)state;
    costate_steady *s = costate_steady_new(NULL, &P, &run, NULL);
    int status = costate_steady_solve(s, y, p);
    if (status != COSTATE_NO_LIMIT)
        fail_msg("%s, y %g: %s", costate_status_name(status), y[0], costate_steady_message(s));
    costate_steady_free(s);
}

/* p1 > 0 there: the solution stays on the border, which is no zero of either branch */
static void on_the_border(void **state)
{
    const double p[NP] = {1, 0.5, 2};
    double y[1] = {3};
    (void)state;
    costate_steady *s = costate_steady_new(NULL, &P, NULL, NULL);
    int status = costate_steady_solve(s, y, p);
    if (status == COSTATE_OK) fail_msg("y = %g", y[0]);
    assert_true(strlen(costate_steady_message(s)) > 40 && y[0] == 3);
    costate_steady_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_other_branch), cmocka_unit_test(a_zero_beyond_the_border),
                                       cmocka_unit_test(on_the_border)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
