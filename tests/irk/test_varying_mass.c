/* test_varying_mass.c - simplified Newton of a residual whose M = dF/dy' changes from step to step does not trust that
   an iteration which contracted fast in the step before does so in this one; where M stays the same it may. */
#include "irk/irk.h"                /* before cmocka, whose fail is a macro */
#include "run/run.h"
#include "common.h"

/* (1 + d y^2) y' + y = 0 */
static int value(const costate_point *x, double *out, void *ctx)
{
    out[0] = (1 + *(const double *)ctx * x->y[0] * x->y[0]) * x->yp[0] + x->y[0];
    return 0;
}
static int by_y(const costate_point *x, double *J, void *ctx)
{
    J[0] = 2 * *(const double *)ctx * x->y[0] * x->yp[0] + 1;
    return 0;
}
static int by_yp(const costate_point *x, double *J, void *ctx)
{
    J[0] = 1 + *(const double *)ctx * x->y[0] * x->y[0];
    return 0;
}

static double least_eta(const costate_method *m, double varies)
{
    const costate_problem P = {.n = 1, .ctx = &varies, .residual = {.value = value}, .jac = by_y, .jac_yp = by_yp};
    const costate_options o = {.theta_reuse = -1};          /* a linearisation a step */
    costate *c = costate_new(m, &P, &o);
    double y = 1;
    CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, NULL));
    assert_true(costate_get_stats(c)->jac > 2);
    double least = work(&c->st)->least_eta;
    costate_free(c);
    return least;
}

static void trusts_what_stays(void **state)
{
    const costate_method *m = *state;
    if (!is_newton(m) || (method_info(m).properties & COSTATE_EXPLICIT_FIRST)) skip();
    NEEDS_ESTIMATE(m);
    assert_true(least_eta(m, 0) == 0);
    assert_true(least_eta(m, 0.1) > 0);
}

int main(void) { return run_by_method("M that varies", trusts_what_stays); }
