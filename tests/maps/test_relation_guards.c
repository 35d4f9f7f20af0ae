/* test_relation_guards.c - the guards that the library makes for integers have the derivatives of their values:

       u = p0 y0^2 + p1 y1,   n = floor(u),   g = (u - n)(n + 1 - u) */
#include "maps/maps.h"      /* before cmocka, which has a macro fail */
#include "common.h"

enum { N = 2, NP = 2 };

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->p[0] * x->y[0] * x->y[0] + x->p[1] * x->y[1];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double none[N] = {0}, *y = x->y, *dy = d->y ? d->y : none, *dp = d->p ? d->p : none;
    (void)ctx;
    out[0] = dp[0] * y[0] * y[0] + 2 * x->p[0] * y[0] * dy[0] + dp[1] * y[1] + x->p[1] * dy[1];
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += 2 * *w * x->p[0] * x->y[0], g->y[1] += *w * x->p[1];
    if (g->p) g->p[0] += *w * x->y[0] * x->y[0], g->p[1] += *w * x->y[1];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const double none[N] = {0}, *ay = a->y ? a->y : none, *ap = a->p ? a->p : none;
    const double *by = b->y ? b->y : none, *bp = b->p ? b->p : none;
    (void)ctx;
    out[0] = 2 * x->y[0] * (ap[0] * by[0] + bp[0] * ay[0]) + 2 * x->p[0] * ay[0] * by[0] + ap[1] * by[1] +
        bp[1] * ay[1];
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g,
                           void *ctx)
{
    const double none[N] = {0}, *dy = d->y ? d->y : none, *dp = d->p ? d->p : none;
    (void)ctx;
    if (g->y) g->y[0] += 2 * *w * (dp[0] * x->y[0] + x->p[0] * dy[0]), g->y[1] += *w * dp[1];
    if (g->p) g->p[0] += 2 * *w * x->y[0] * dy[0], g->p[1] += *w * dy[1];
    return 0;
}

static void integers(void **state)
{
    const costate_relation integer = {.whole = 1, .guard = {.value = value, .tangent = tangent, .adjoint = adjoint,
        .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent}};
    const costate_problem P = {.n = N, .np = NP, .rhs = {.value = value}, .nrelations = 1, .relation = &integer};
    const double y[N] = {1.5, -0.4}, p[NP] = {1.2, 0.7};        /* u = 2.42 */
    const int values[1] = {2};
    maps a = maps_of(&P);
    (void)state;
    assert_int_equal(relations_init(&a), 0);
    const costate_event *e = &a.event[a.nevents];
    const costate_point x = {.y = y, .p = p, .relation = values};
    costate_report r;
    double g;
    assert_int_equal(e->guard.value(&x, &g, e->ctx), 0);
    assert_float_equal(g, 0.42 * 0.58, 1e-14);
    assert_int_equal(costate_check_map(&e->guard, N, NP, 1, &x, e->ctx, &r), COSTATE_OK);
    assert_true(r.tangent < 1e-9 && r.adjoint < 1e-12 && r.tangent2 < 1e-9 && r.adjoint_tangent < 1e-9);
    maps_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
