/* test_steady_patterns.c - steady states of 40 cells with a sparse Jacobian, and of residuals F(t, y, y', p) = 0: those
   of the same problem as a dense right-hand side. */
#include "steady_models.h"

enum { N = 40, NP = 2 };

/* diffusion with flux p0 at one end and decay p1 y^2 at the other */
static void cells(model *m)
{
    model_begin(m, N, NP);
    graph *g = &m->f;
    for (int i = 0; i < N; i++) {
        int y = graph_y(g, i), sum = i == 0 ? graph_p(g, 0) : graph_plus(g, graph_y(g, i - 1), -1, y);
        if (i < N - 1) sum = graph_plus(g, sum, 1, graph_plus(g, graph_y(g, i + 1), -1, y));
        else sum = graph_plus(g, sum, -1, graph_times(g, graph_p(g, 1), graph_times(g, y, y)));
        graph_row(g, sum);
    }
}

static int col[N + 1], row[3 * N];
static costate_pattern tridiagonal(void)
{
    int k = 0;
    for (int j = 0; j < N; j++) {
        col[j] = k;
        for (int i = j - 1; i <= j + 1; i++) if (i >= 0 && i < N) row[k++] = i;
    }
    col[N] = k;
    return (costate_pattern){N, col, row};
}

/* F = y' - f; ctx: the model */
static int residual(const costate_point *x, double *out, void *ctx)
{
    model_value(x, out, ctx);
    for (int i = 0; i < N; i++) out[i] = x->yp[i] - out[i];
    return 0;
}

static int residual_tangent(const costate_point *x, const costate_point *a, double *out, void *ctx)
{
    model_tangent(x, a, out, ctx);
    for (int i = 0; i < N; i++) out[i] = (a->yp ? a->yp[i] : 0) - out[i];
    return 0;
}

static int residual_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double minus[N];
    for (int i = 0; i < N; i++) {
        minus[i] = -w[i];
        if (g->yp) g->yp[i] += w[i];
    }
    return model_adjoint(x, minus, g, ctx);
}

static void solved(const costate_problem *P, double *y, double *lambda, double *mu)
{
    const double p[NP] = {2, 0.5};
    for (int i = 0; i < N; i++) y[i] = 0, lambda[i] = 1 + i % 3;
    mu[0] = mu[1] = 0;
    costate_steady *s = costate_steady_new(costate_method_find("radau2a5"), P, NULL, NULL);
    CHECK_STEADY(s, costate_steady_solve(s, y, p));
    CHECK_STEADY(s, costate_steady_adjoint(s, 1, lambda, mu));
    assert_int_equal(costate_steady_get_stats(s)->rank, N);
    costate_steady_free(s);
}

static void all_forms(void **state)
{
    static model m;
    double y[3][N], lambda[N], mu[3][NP], last = 0;
    const costate_pattern pattern = tridiagonal();
    (void)state;
    cells(&m);
    solved(&m.P, y[0], lambda, mu[0]);
    m.P.pattern = &pattern;
    solved(&m.P, y[1], lambda, mu[1]);
    costate_problem F = m.P;
    F.rhs = (costate_map){0};
    F.residual = (costate_map){.value = residual, .tangent = residual_tangent, .adjoint = residual_adjoint};
    solved(&F, y[2], lambda, mu[2]);
    for (int i = N - 1; i >= 0; i--) {          /* the flux p0 = 2 runs through all cells: y falls by 2 from each */
        last = i == N - 1 ? sqrt(2 / 0.5) : last + 2;
        for (int k = 0; k < 3; k++) assert_float_equal(y[k][i], last, 1e-11);
    }
    for (int k = 1; k < 3; k++)
        for (int i = 0; i < NP; i++) assert_float_equal(mu[k][i] / mu[0][i], 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
