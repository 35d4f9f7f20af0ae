/* test_check_index.c - costate_check_adjoint and costate_check_hessian find nothing wrong where nothing is: problems of
   index 0 to 2 with and without options.consistent, whose directions would leave the constraints; and functionals whose
   Hessian is 0, where products are round-off. */
#include "common.h"
#include "daes.h"

enum { ENOUGH = 8 };

/* c.y, and half of the sum of squares where bent */
typedef struct { int n, bent; } functional;

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const functional *g = ctx;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < g->n; i++) lambda[i] = 1 + i + g->bent * y[i];
    for (int i = 0; g->bent && i < g->n * m; i++) lambda2[i] = V[i];
    return 0;
}

static void right(const costate_method *m, const char *what, int status, const costate_report *r)
{
    if (status != COSTATE_OK) fail_msg("%s, %s: %s: %s", method_name(m), what, costate_status_name(status), r->text);
}

/* ---- index 0 to 2 ---- */

static void of_index(const costate_method *m, const dae *d, int consistent, int bent)
{
    costate_problem P = dae_problem(d, 1);
    functional g = {d->n, bent};
    double tol = method_info(m).order > 3 ? 1e-6 : 1e-3;
    costate_options o = {.rtol = tol, .atol = 0.1 * tol, .consistent = consistent};
    double y[DAE_N];
    char what[80];
    costate_report r;
    P.nq = 0;
    P.cost = (costate_map){.value = NULL};
    dae_start(d, d->p, y, NULL);
    costate *c = new_for_test(m, &P, &o);
    snprintf(what, sizeof what, "%s, consistent %d, bent %d", d->name, consistent, bent);
    right(m, what, costate_check_adjoint(c, 0, 0.15 * d->T, y, d->p, &r), &r);
    if (!(d->index == 2 && consistent > 0))                /* products through the start want a third derivative */
        right(m, what, costate_check_hessian(c, 0, 0.15 * d->T, y, d->p, seed, &g, &r), &r);
    costate_free(c);
}

static void indices(void **state)
{
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++)
        for (int l = 0; l < 3 && dae_takes(*state, d); l++)
            of_index(*state, d, l & 1 ? COSTATE_CONSISTENT_START : COSTATE_CONSISTENT_NONE, l >> 1);
}

/* ---- G(y) (y' + A y) = 0: y(t1) is linear in y(0), though F is not linear ---- */

static const double A[2][2] = {{1, -0.4}, {0.3, 0.5}};

static double factor(const double *y, int i) { return 1 + (1 + i) * y[0] * y[0] + y[1] * y[1]; }
static double factor_along(const double *y, const double *d, int i)
{
    return 2 * ((1 + i) * y[0] * d[0] + y[1] * d[1]);
}
static double linear(const double *y, const double *yp, int i) { return yp[i] + A[i][0] * y[0] + A[i][1] * y[1]; }

static const double zero[2];
static const double *or_zero(const double *x) { return x ? x : zero; }

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 2; i++) out[i] = factor(x->y, i) * linear(x->y, x->yp, i);
    return 0;
}
static int tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double *v = or_zero(d->y), *vp = or_zero(d->yp);
    (void)ctx;
    for (int i = 0; i < 2; i++)
        out[i] = factor_along(x->y, v, i) * linear(x->y, x->yp, i) + factor(x->y, i) * linear(v, vp, i);
    return 0;
}
/* by components: the derivatives of <w, F'(x) d>, d NULL: of <w, F> */
static int back(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g)
{
    const double *v = d ? or_zero(d->y) : NULL, *vp = d ? or_zero(d->yp) : NULL;
    for (int j = 0; j < 4; j++) {
        double e[2] = {j == 0, j == 1}, ep[2] = {j == 2, j == 3}, sum = 0;
        for (int i = 0; i < 2; i++) {
            double f = factor_along(x->y, e, i), l = linear(e, ep, i);
            sum += w[i] * (d ? 2 * ((1 + i) * v[0] * e[0] + v[1] * e[1]) * linear(x->y, x->yp, i) +
                               factor_along(x->y, v, i) * l + f * linear(v, vp, i)
                             : f * linear(x->y, x->yp, i) + factor(x->y, i) * l);
        }
        if (j < 2 && g->y) g->y[j] += sum;
        if (j > 1 && g->yp) g->yp[j - 2] += sum;
    }
    return 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    return back(x, NULL, w, g);
}
static int adjoint_tangent(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)ctx;
    return back(x, d, w, g);
}

static void no_hessian(void **state)
{
    const costate_method *m = *state;
    costate_problem P = {.n = 2, .residual = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                              .adjoint_tangent = adjoint_tangent}};
    functional g = {2, 0};
    if (!is_newton(m) || (method_info(m).properties & COSTATE_EXPLICIT_FIRST)) return;
    for (int k = 0; k < 3; k++) {
        double size = pow(10, 4 * k - 4), y[2] = {size, -0.7 * size};
        costate_options o = {.rtol = 1e-4, .atol = 1e-4 * size};
        costate *c = new_for_test(m, &P, &o);
        costate_report r;
        right(m, "H = 0", costate_check_hessian(c, 0, 1, y, NULL, seed, &g, &r), &r);
        costate_free(c);
    }
}

int main(void) { return run_by_method("index", indices) + run_by_method("no Hessian", no_hessian); }
