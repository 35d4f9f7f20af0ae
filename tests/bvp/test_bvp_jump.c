/* test_bvp_jump.c - a jump of f in time that is no break is found wherever it is, and the solution is right: y'' = 100
   before t = p0 and -100 behind it, y(0) = y(1) = 0.  The estimate counts a defect by the error that a smooth one
   of its size makes, h times it times 1/34 for radau2a5, where that of a jump is h times it: within 50 tolerances. */
#include "bvp_common.h"

static int jump(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[1], out[1] = x->t < x->p[0] ? 100 : -100;
    return 0;
}
static int zero_ends(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[0], out[1] = x->y[2];
    return 0;
}

static void exact(double p, double t, double *Y)
{
    double since = t - p, slope = -(50 * p * p + 100 * p * (1 - p) - 50 * (1 - p) * (1 - p));
    Y[0] = slope * t + (since < 0 ? 50 * t * t : 50 * p * p + 100 * p * since - 50 * since * since);
    Y[1] = slope + (since < 0 ? 100 * t : 100 * p - 100 * since);
}

static void unknown_jump(void **state)
{
    static const double at[] = {1.0 / 3, 0.3, 0.5, 0.77, 0.1234567};
    const double tol = 1e-6;
    const costate_problem P = {.n = 2, .np = 1, .rhs = {.value = jump}};
    const costate_conditions C = {.map = {.value = zero_ends}, .count = 2};
    if (method_info(*state).order < 3) skip();           /* 1e4 intervals and more */
    for (int k = 0; k < 5; k++) {
        const costate_bvp_options o = {.rtol = tol, .atol = tol};
        double X[2], Y[2], worst = 0;
        costate_bvp *c = costate_bvp_new(*state, &P, &C, &o);
        CHECK_BVP(c, costate_bvp_solve(c, 0, 1, &at[k]));
        for (int l = 0; l <= 500; l++) {
            CHECK_BVP(c, costate_bvp_eval(c, l / 500.0, X));
            exact(at[k], l / 500.0, Y);
            for (int i = 0; i < 2; i++) worst = larger_of(worst, fabs(X[i] - Y[i]) / (tol + tol * fabs(Y[i])));
        }
        if (!(worst <= 50))
            fail_msg("%s: a jump at %g, %d intervals: error of %.1f tolerances", method_name(*state), at[k],
                     costate_bvp_intervals(c), worst);
        costate_bvp_free(c);
    }
}

int main(void) { return run_by_bvp_method("a jump that is no break", unknown_jump); }
