/* test_bvp_order.c - orders on fixed meshes: at mesh points that of the method, between them that of the dense output,
   of values and of their derivatives by parameters, in every form.

   The problem has a closed solution, growing and decaying modes, and conditions that couple both ends.  The order is
   read off two meshes, the second with twice the intervals, of the same distribution (x^1.3): the errors at the points
   of the coarse one fall by 2^order.  Of several pairs the finest counts whose errors are above round-off.  Of order 13
   that is the first: one interval, which is not near the limit, and two. */
#include "bvp_common.h"

enum { N = 4, NP = 3, BETWEEN = 3, MOST = 129 };

typedef struct { double mesh, mesh_p, between, between_p; } errors;

static double error_of(int count, const double *x, const double *truth)
{
    double worst = 0;
    for (int i = 0; i < count; i++) worst = larger_of(worst, fabs(x[i] - truth[i]));
    return worst;
}

/* values and derivatives by p at count points */
static void at_points(costate_bvp *c, const bvps *s, int count, const double *t, double *value, double *slope)
{
    double *V = malloc((size_t)(count * N * NP) * sizeof *V), X[N], exact[N], by_p[N * NP], Vp[NP * NP] = {0};
    assert_non_null(V);
    for (int j = 0; j < NP; j++) Vp[j * NP + j] = 1;
    CHECK_BVP(c, costate_bvp_tangent(c, &(costate_bvp_tangents){.m = NP, .points = count, .t = t, .Vp = Vp, .V = V}));
    *value = *slope = 0;
    for (int k = 0; k < count; k++) {
        CHECK_BVP(c, costate_bvp_eval(c, t[k], X));
        bvps_exact(s, t[k], exact, by_p, NULL);
        *value = larger_of(*value, error_of(N, X, exact));
        for (int j = 0; j < NP; j++)
            *slope = larger_of(*slope, error_of(N, V + (j * count + k) * N, by_p + j * N));
    }
    free(V);
}

/* on `coarse` times `finer` intervals, at the points of the coarse mesh and at some inside its intervals */
static errors errors_on(const costate_method *m, const bvps *s, int coarse, int finer)
{
    const costate_bvp_options o = {.rtol = 1e-6, .atol = 1e-6, .fixed = 1};
    double t[MOST], inside[MOST * BETWEEN];
    errors e;
    costate_bvp *c = costate_bvp_new(m, &s->P, &s->C, &o);
    solve_on(c, s, coarse * finer);
    assert_int_equal(costate_bvp_intervals(c), coarse * finer);
    for (int k = 0; k <= coarse; k++) t[k] = uneven(s->a, s->b, k, coarse);
    for (int k = 0; k < coarse * BETWEEN; k++)           /* nowhere near a point of superconvergence of all methods */
        inside[k] = uneven(s->a, s->b, k / BETWEEN, coarse) +
                    (0.171 + 0.29 * (k % BETWEEN)) * (t[k / BETWEEN + 1] - t[k / BETWEEN]);
    at_points(c, s, coarse + 1, t, &e.mesh, &e.mesh_p);
    at_points(c, s, coarse * BETWEEN, inside, &e.between, &e.between_p);
    costate_bvp_free(c);
    return e;
}

/* on the finest pair of meshes whose errors are above round-off */
static double seen(int first, int count, const double *before, const double *after)
{
    double order = 0;
    for (int k = first; k < count; k++)
        if (after[k] > 1e-13) order = log2(before[k] / after[k]);
    return order;
}

static void expect(const costate_method *m, int form, const char *what, double order, double wanted)
{
    if (!(order >= wanted - (wanted > 12 ? 2 : 0.35)))
        fail_msg("%s, form %d: order %.2f of %s, %g is expected", method_name(m), form, order, what, wanted);
}

static void orders_of(const costate_method *m, int form)
{
    enum { PAIRS = 7 };
    static const int coarse[PAIRS] = {1, 2, 4, 8, 16, 32, 64};
    costate_method_info info = method_info(m);
    int first = info.order > 6 ? 0 : info.order > 2 ? 3 : 4;
    double before[4][PAIRS], after[4][PAIRS], order[4];
    bvps *s = bvps_closed(1, 2, (bvps_kind){.form = form, .jac = 1});
    assert_non_null(s);
    for (int k = first; k < PAIRS; k++) {
        errors e[2] = {errors_on(m, s, coarse[k], 1), errors_on(m, s, coarse[k], 2)};
        for (int i = 0; i < 2; i++) {
            double *to[4] = {&(i ? after : before)[0][k], &(i ? after : before)[1][k], &(i ? after : before)[2][k],
                             &(i ? after : before)[3][k]};
            *to[0] = e[i].mesh, *to[1] = e[i].mesh_p, *to[2] = e[i].between, *to[3] = e[i].between_p;
        }
    }
    for (int i = 0; i < 4; i++) order[i] = seen(first, PAIRS, before[i], after[i]);
    double dense = info.dense < info.order ? info.dense : info.order;
    expect(m, form, "values at mesh points", order[0], info.order);
    expect(m, form, "gradients at mesh points", order[1], info.order);
    expect(m, form, "values between", order[2], dense);
    expect(m, form, "gradients between", order[3], dense);
    if (form == 0)
        print_message("           order %d, dense %d: seen %.1f %.1f, %.1f %.1f\n", info.order, info.dense, order[0],
                      order[1], order[2], order[3]);
    bvps_free(s);
}

static void orders(void **state)
{
    for (int form = 0; form < BVPS_FORMS; form++) orders_of(*state, form);
}

int main(void) { return run_by_bvp_method("orders on fixed meshes", orders); }
