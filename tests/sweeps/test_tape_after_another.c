/* test_tape_after_another.c - dense output of a tape is the same after the solver has made another run, whose truth
   values are numbered otherwise, and whose tape is gone.

       y' = (y > 1 ? 3 : 1) p_0,  run A from 0 to 1 passes y = 1, run B starts above it. */
#include "common.h"

static int rhs(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = (x->relation[0] ? 3 : 1) * x->p[0], 0;
}
static int guard(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - 1, 0; }
static int guard_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = dx->y ? dx->y[0] : 0, 0;
}
static int guard_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += w[0];
    return 0;
}

static void evaluated_again(int storage)
{
    const costate_relation relation = {.guard = {.value = guard, .tangent = guard_tangent, .adjoint = guard_adjoint}};
    const costate_problem jumping = {.n = 1, .np = 1, .rhs = {.value = rhs}, .nrelations = 1, .relation = &relation};
    const costate_options o = {.rtol = 1e-6, .atol = 1e-6, .storage = storage};
    costate *c = costate_new(costate_method_find("dopri5"), &jumping, &o);
    costate_tape *a = costate_tape_new(), *b = costate_tape_new();
    double p = 2, y = 0, at;
    CHECK_OK(c, costate_integrate(c, 0, 1, &y, &p, a));
    y = 2;
    CHECK_OK(c, costate_integrate(c, 0, 1, &y, &p, b));
    costate_tape_free(b);
    for (int k = 0; k <= 20; k++) {
        double t = 0.05 * k, exact = t < 0.5 ? 2 * t : 1 + 6 * (t - 0.5);
        CHECK_OK(c, costate_tape_eval(c, a, t, &at));
        if (!(fabs(at - exact) < 1e-9)) fail_msg("y(%g) = %.12g instead of %.12g", t, at, exact);
    }
    costate_tape_free(a);
    costate_free(c);
}

static void with_all_stages(void **state) { (void)state, evaluated_again(0); }
static void with_stages_computed_again(void **state) { (void)state, evaluated_again(COSTATE_CHECKPOINTS); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(with_all_stages), cmocka_unit_test(with_stages_computed_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
