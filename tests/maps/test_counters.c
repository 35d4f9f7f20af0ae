/* test_counters.c - costate_stats counts what was called: values, Jacobians and products, of right-hand sides and of
   residuals, in runs, tangents and adjoints, as the callbacks themselves count. */
#include "common.h"

enum { N = 2 };
typedef struct { long value, jac, jac_yp, tangent, adjoint; } calls;

/* y1' = -2 y1 + y2,  y2' = y1 - 3 y2 - y2^2 + t */
static void slopes(const costate_point *x, double *f)
{
    f[0] = -2 * x->y[0] + x->y[1];
    f[1] = x->y[0] - 3 * x->y[1] - x->y[1] * x->y[1] + x->t;
}
static int value(const costate_point *x, double *out, void *ctx)
{
    ((calls *)ctx)->value++;
    slopes(x, out);
    for (int i = 0; x->yp && i < N; i++) out[i] = (1 + 0.1 * i) * (x->yp[i] - out[i]);
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double u = dx->y ? dx->y[0] : 0, v = dx->y ? dx->y[1] : 0;
    ((calls *)ctx)->tangent++;
    out[0] = -2 * u + v;
    out[1] = u - (3 + 2 * x->y[1]) * v + dx->t;
    for (int i = 0; x->yp && i < N; i++) out[i] = (1 + 0.1 * i) * ((dx->yp ? dx->yp[i] : 0) - out[i]);
    return 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double v[N] = {w[0], w[1]};
    ((calls *)ctx)->adjoint++;
    for (int i = 0; x->yp && i < N; i++) {
        v[i] *= -(1 + 0.1 * i);
        if (g->yp) g->yp[i] -= v[i];
    }
    if (g->y) g->y[0] += -2 * v[0] + v[1];
    if (g->y) g->y[1] += v[0] - (3 + 2 * x->y[1]) * v[1];
    if (g->t) *g->t += v[1];
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    ((calls *)ctx)->jac++;
    J[0] = -2;
    J[1] = 1;
    J[2] = 1;
    J[3] = -3 - 2 * x->y[1];
    for (int k = 0; x->yp && k < 4; k++) J[k] *= -(1 + 0.1 * (k % 2));
    return 0;
}
static int jac_yp(const costate_point *x, double *J, void *ctx)
{
    (void)x;
    ((calls *)ctx)->jac_yp++;
    J[0] = 1;
    J[1] = J[2] = 0;
    J[3] = 1.1;
    return 0;
}

enum form { RHS, RESIDUAL, RESIDUAL_FORMED, FORMS };    /* the last: M formed from products */

static costate_problem counting_problem(int form, calls *a)
{
    costate_map map = {.value = value, .tangent = tangent, .adjoint = adjoint};
    costate_problem P = {.n = N, .ctx = a, .jac = jac};
    *(form == RHS ? &P.rhs : &P.residual) = map;
    if (form == RESIDUAL) P.jac_yp = jac_yp;
    return P;
}

static void same(const char *what, const costate_method *m, int form, long counted, long called)
{
    if (counted != called)
        fail_msg("%s, form %d: %s %ld in costate_stats, %ld calls", method_name(m), form, what, counted, called);
}

static void counted_as_called(void **state)
{
    const costate_method *m = *state;
    for (int form = 0; form < FORMS; form++) {
        int takes = is_newton(m) && !(method_info(m).properties & COSTATE_EXPLICIT_FIRST);
        if (method_info(m).family == COSTATE_ROS || (form != RHS && !takes)) continue;      /* ros: second products */
        calls a = {0};
        costate_problem P = counting_problem(form, &a);
        costate_options o = {.rtol = 1e-5, .atol = 1e-5};
        costate *c = new_for_test(m, &P, &o);
        costate_tape *tape = costate_tape_new();
        double y[N] = {1, 0.5}, V[N] = {1, 0}, lambda[N] = {0, 1};
        CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, tape));
        CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
        const costate_stats *count = costate_get_stats(c);
        same("values", m, form, count->f, a.value);
        same("Jacobians", m, form, count->jac, a.jac);
        same("products forward", m, form, count->tangents + count->jac_products, a.tangent);
        same("products back", m, form, count->adjoints, a.adjoint);
        costate_tape_free(tape);
        costate_free(c);
    }
}

int main(void) { return run_by_method("counters", counted_as_called); }
