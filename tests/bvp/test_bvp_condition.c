/* test_bvp_condition.c - ill-conditioned problems: an error of one interval, within the tolerance, may be a large one
   of the solution.  y'' = -w^2 y, y(0) = 0, y(1) = 1, is solved by sin(w t)/sin(w); near w = pi the conditions hardly
   determine it.  Solutions and derivatives are right to 20 tolerances up to conditions of 1e10, adjoint and tangent
   transposes; beyond it may be said that they cannot be. */
#include "bvp_common.h"

static int oscillator(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[1], out[1] = -x->p[0] * x->p[0] * x->y[0];
    return 0;
}
static int along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double w = x->p[0], dw = dx->p ? dx->p[0] : 0, u = dx->y ? dx->y[0] : 0, v = dx->y ? dx->y[1] : 0;
    (void)ctx, out[0] = v, out[1] = -w * w * u - 2 * w * dw * x->y[0];
    return 0;
}
static int back(const costate_point *x, const double *l, const costate_gradient *g, void *ctx)
{
    double w = x->p[0];
    (void)ctx;
    if (g->y) g->y[0] -= w * w * l[1], g->y[1] += l[0];
    if (g->p) g->p[0] -= 2 * w * x->y[0] * l[1];
    return 0;
}
static int ends(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[0], out[1] = x->y[2] - 1;
    return 0;
}
static int ends_along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx, out[0] = dx->y ? dx->y[0] : 0, out[1] = dx->y ? dx->y[2] : 0;
    return 0;
}
static int ends_back(const costate_point *x, const double *l, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += l[0], g->y[2] += l[1];
    return 0;
}

static const costate_problem P = {.n = 2, .np = 1, .rhs = {.value = oscillator, .tangent = along, .adjoint = back}};
static const costate_conditions C = {.map = {.value = ends, .tangent = ends_along, .adjoint = ends_back}, .count = 2};

/* relative errors of y and dy/dw at 0.4; round-off of w alone makes eps/off of y, and that of a matrix over some
   hundred intervals as often as much of dy/dw */
static void solved(costate_bvp *c, double w, double off)
{
    double t[] = {0.4}, one = 1, V[2], lambda[] = {1, 0}, mu = 0, Y[2];
    double tol = 2e-3 + 50 * 2.2e-16 / off, tol2 = 4e-3 + 3e4 * 2.2e-16 / off;
    double y = sin(w * 0.4) / sin(w), dy = (0.4 * cos(w * 0.4) - y * cos(w)) / sin(w);
    costate_bvp_tangents tangents = {.m = 1, .points = 1, .t = t, .Vp = &one, .V = V};
    costate_bvp_adjoints adjoints = {.m = 1, .points = 1, .t = t, .lambda = lambda, .mu = &mu};
    CHECK_BVP(c, costate_bvp_eval(c, t[0], Y));
    CHECK_BVP(c, costate_bvp_tangent(c, &tangents));
    CHECK_BVP(c, costate_bvp_adjoint(c, &adjoints));
    int right = off < 1e-11 || (fabs(Y[0] / y - 1) <= tol && fabs(V[0] / dy - 1) <= tol2);
    if (!(right && fabs(mu / V[0] - 1) <= 1e-12))
        fail_msg("condition %.0e: y off by %.1e, dy/dw by %.1e, transposes by %.1e", 1 / off, Y[0] / y - 1,
                 V[0] / dy - 1, mu / V[0] - 1);
}

static void ill_conditioned(void **state)
{
    const double pi = 3.14159265358979323846;
    const costate_bvp_options o = {.rtol = 1e-4, .atol = 1e-4};
    costate_method_info method = method_info(*state);
    if (method.order < method.dense + 2) skip();         /* their errors are handed on as they are estimated */
    for (int k = 2; k <= 14; k += 2) {
        double off = pow(10, -k), w = pi * (1 + off);
        costate_bvp *c = costate_bvp_new(*state, &P, &C, &o);
        int status = costate_bvp_solve(c, 0, 1, &w);
        if (status == COSTATE_OK) solved(c, w, off);
        else if (k <= 8 || (status != COSTATE_SINGULAR && status != COSTATE_MESH_LIMIT))
            fail_msg("condition %.0e: %d, %s", 1 / off, status, costate_bvp_message(c));
        costate_bvp_free(c);
    }
}

int main(void) { return run_by_bvp_method("ill-conditioned", ill_conditioned); }
