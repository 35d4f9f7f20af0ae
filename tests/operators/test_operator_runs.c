/* test_operator_runs.c - W-methods with splittings and Chebyshev polynomials: order, exact derivatives, in two and
   three dimensions, periodic or not; matrices that depend on p. */
#include "grid.h"

static const int plane[] = {12, 10}, solid[] = {6, 5, 4};

static double end_of(const grid *g, const costate_preconditioner *B, const char *method, double h, double *y)
{
    costate_options o = grid_options(B, 1e-12);
    if (B) o.controller = COSTATE_FIXED, o.h0 = h;
    else o.solver = 0;
    costate *c = costate_new(costate_method_find(method), &g->P, &o);
    memcpy(y, g->y0, sizeof g->y0);
    CHECK_OK(c, costate_integrate(c, 0, 0.4, y, g->p, NULL));
    costate_free(c);
    return 0;
}

static void order(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        grid g;
        double exact[GRID_MOST], y[GRID_MOST], error[2];
        grid_make(&g, 2, k < 2 ? 2 : 3, k < 2 ? plane : solid, k % 2, 0.01);
        costate_splitting *s = costate_splitting_new(&g.P, g.nd, g.part);
        const costate_preconditioner *B = costate_splitting_preconditioner(s);
        end_of(&g, NULL, "verner98", 0, exact);
        for (int fine = 0; fine < 2; fine++) {
            end_of(&g, B, "w6s4os", fine ? 0.025 : 0.05, y);
            error[fine] = relative_error(g.P.n, y, exact);
        }
        double found = log2(error[0] / error[1]);
        if (!(found > 3.6 && error[1] < 1e-5)) fail_msg("case %d: order %.2f, error %.1e", k, found, error[1]);
        costate_splitting_free(s);
    }
}

/* sum_i w_i y_i(t1) of a replay from y0 + e v and p + e vp */
static double moved(costate *c, const costate_tape *tape, const grid *g, double e, const double *v, const double *vp,
                    const double *w)
{
    double y[GRID_MOST], p[GRID_COMPONENTS], sum = 0;
    for (int i = 0; i < g->P.n; i++) y[i] = g->y0[i] + e * v[i];
    for (int i = 0; i < g->P.np; i++) p[i] = g->p[i] + e * vp[i];
    CHECK_OK(c, costate_replay(c, tape, y, p));
    for (int i = 0; i < g->P.n; i++) sum += w[i] * y[i];
    return sum;
}

/* Gradient against tangent, and against differences of replays, of order 4.  P is held in derivatives: along p it must
   not depend on p (frozen). */
static void derivatives_of(grid *g, const costate_preconditioner *B, const char *name)
{
    double y[GRID_MOST], w[GRID_MOST], v[GRID_MOST], V[GRID_MOST], lambda[GRID_MOST];
    double vp[GRID_COMPONENTS] = {0}, mu[GRID_COMPONENTS] = {0}, back = 0, forward = 0, size = 0;
    const double e = 2e-3;
    unsigned seed = 9;
    costate_options o = grid_options(B, 1e-5);
    costate *c = costate_new(costate_method_find("w6s4os"), &g->P, &o);
    costate_tape *tape = costate_tape_new();
    random_fill(&seed, (size_t)g->P.n, w);
    random_fill(&seed, (size_t)g->P.n, v);
    if (g->frozen) random_fill(&seed, (size_t)g->P.np, vp);
    for (int i = 0; i < g->P.np; i++) vp[i] *= g->p[i];
    memcpy(y, g->y0, sizeof y);
    memcpy(V, v, sizeof V);
    memcpy(lambda, w, sizeof lambda);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, g->p, tape));
    assert_string_equal(costate_message(c), "No error.");
    assert_true(costate_tape_steps(tape) < 60);
    CHECK_OK(c, costate_tangent(c, tape, 1, V, vp, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    for (int i = 0; i < g->P.n; i++) {
        forward += w[i] * V[i];
        back += lambda[i] * v[i];
        size += fabs(w[i] * V[i]);
    }
    for (int i = 0; i < g->P.np; i++) back += mu[i] * vp[i];
    if (!(fabs(forward - back) < 1e-13 * size)) fail_msg("%s: gap %.1e", name, fabs(forward - back) / size);
    double near = moved(c, tape, g, e, v, vp, w) - moved(c, tape, g, -e, v, vp, w);
    double far = moved(c, tape, g, 2 * e, v, vp, w) - moved(c, tape, g, -2 * e, v, vp, w);
    double differences = (8 * near - far) / (12 * e);
    if (!(fabs(differences - back) < 1e-9 * size)) fail_msg("%s: %.12g, %.12g", name, back, differences);
    costate_tape_free(tape);
    costate_free(c);
}

static void derivatives(void **state)
{
    (void)state;
    for (int k = 0; k < 16; k++) {
        grid g;
        char name[80];
        int m = 1 + k / 2 % 2, nd = 2 + k / 4 % 2;
        grid_make(&g, m, nd, nd == 2 ? plane : solid, k % 2, 0.3);
        g.frozen = k / 8;
        costate_splitting *s = costate_splitting_new(&g.P, nd, g.part);
        snprintf(name, sizeof name, "%d components, %d dimensions, periodic %d, frozen %d", m, nd, k % 2, k / 8);
        derivatives_of(&g, costate_splitting_preconditioner(s), name);
        costate_splitting_free(s);
    }
}

/* a grid of one dimension, whose part is a matrix in a pattern, and one that holds half of the reaction */
static int by_pattern(const costate_point *x, double *A, void *ctx)
{
    grid_lines *d = ctx;
    const grid *g = d->of;
    int k = 0;
    for (int j = 0; j < g->P.n; j++) {
        double before, after;
        grid_weights(g, d, j, &before, &after);
        if (j > 0) A[k++] = x->p[0] * before;
        A[k++] = -x->p[0] * (before + after);
        if (j < g->P.n - 1) A[k++] = x->p[0] * after;
    }
    return 0;
}
static int by_reaction(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    (void)x, (void)lower, (void)upper;
    for (int i = 0; i < ((grid_lines *)ctx)->of->P.n; i++) diagonal[i] = 0.6;
    return 0;
}

static void with_a_matrix(void **state)
{
    (void)state;
    grid g;
    const int points = 40;
    int col[41] = {0}, row[120], k = 0;
    grid_make(&g, 1, 1, &points, 0, 0.3);
    for (int j = 0; j < points; j++) {
        for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < points; i++) row[k++] = i;
        col[j + 1] = k;
    }
    const costate_pattern pattern = {points, col, row};
    for (int order = 0; order < 2; order++) {
        costate_part parts[2];
        parts[order] = (costate_part){.matrix = by_pattern, .pattern = &pattern, .ctx = &g.along[0]};
        parts[!order] = (costate_part){.lines = by_reaction, .points = 1, .stride = 1, .ctx = &g.along[0]};
        costate_splitting *s = costate_splitting_new(&g.P, 2, parts);
        derivatives_of(&g, costate_splitting_preconditioner(s), "a matrix and a reaction");
        costate_splitting_free(s);
    }
}

/* the callbacks are called once for each p of a sequence of runs */
static void parameters(void **state)
{
    (void)state;
    grid g;
    static const double scale[] = {1, 1, 2, 2, 1};
    static const int calls[] = {1, 1, 2, 2, 3};
    grid_make(&g, 2, 2, plane, 0, 0.3);
    costate_splitting *s = costate_splitting_new(&g.P, 2, g.part);
    costate_options o = grid_options(costate_splitting_preconditioner(s), 1e-4);
    costate *c = costate_new(costate_method_find("w6s4os"), &g.P, &o);
    for (int k = 0; k < 5; k++) {
        double y[GRID_MOST], p[2] = {g.p[0] * scale[k], g.p[1]};
        memcpy(y, g.y0, sizeof y);
        CHECK_OK(c, costate_integrate(c, 0, 0.5, y, p, NULL));
        assert_true(g.along[0].calls == calls[k] && g.along[1].calls == calls[k]);
    }
    costate_free(c);
    costate_splitting_free(s);
}

/* ---- Chebyshev around the diagonal ---- */

typedef struct { const grid *g; double inverse[GRID_MOST]; } jacobi;

static int jacobi_setup(double sigma, const costate_point *x, void *ctx)
{
    jacobi *a = ctx;
    for (int i = 0; i < a->g->P.n; i++) {
        a->inverse[i] = sigma;
        for (int j = 0; j < a->g->nd; j++) {
            double before, after;
            grid_weights(a->g, &a->g->along[j], i, &before, &after);
            a->inverse[i] += x->p[i % a->g->m] * (before + after);
        }
        a->inverse[i] = 1 / a->inverse[i];
    }
    return 0;
}
static int jacobi_solve(int transpose, double *x, void *ctx)
{
    const jacobi *a = ctx;
    for (int i = 0; i < a->g->P.n; i++) x[i] *= a->inverse[i];
    return (void)transpose, 0;
}
static int laplace(int transpose, const double *x, double *out, void *ctx)
{
    const grid *g = ctx;
    (void)transpose;
    memset(out, 0, (size_t)g->P.n * sizeof *out);
    grid_laplace(g, g->p, x, out);
    return 0;
}

static void chebyshev(void **state)
{
    (void)state;
    for (int periodic = 0; periodic < 2; periodic++) {
        grid g;
        grid_make(&g, 1, 2, plane, periodic, 0.3);
        jacobi j = {.g = &g};
        const costate_preconditioner B = {.setup = jacobi_setup, .solve = jacobi_solve, .ctx = &j};
        const costate_polynomial with = {.inner = &B, .apply = laplace, .terms = 8, .lo = 0.1, .hi = 2};
        costate_chebyshev *c = costate_chebyshev_new(&g.P, &with);
        derivatives_of(&g, costate_chebyshev_preconditioner(c), "chebyshev");
        costate_chebyshev_free(c);
    }
}

/* an operator that could not be made says so, and ends the run */
static void broken(void **state)
{
    (void)state;
    grid g;
    double y[GRID_MOST] = {0};
    grid_make(&g, 1, 2, plane, 0, 0.3);
    g.part[1].points = 7;
    costate_splitting *s = costate_splitting_new(&g.P, 2, g.part);
    costate_options o = grid_options(costate_splitting_preconditioner(s), 1e-4);
    costate *c = costate_new(costate_method_find("w6s4os"), &g.P, &o);
    assert_int_equal(costate_integrate(c, 0, 1, y, g.p, NULL), COSTATE_CALLBACK);
    assert_non_null(strstr(costate_message(c), "The preconditioner's setup returned -1"));
    assert_non_null(strstr(costate_splitting_message(s), "does not divide"));
    costate_free(c);
    costate_splitting_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(derivatives),
                                       cmocka_unit_test(with_a_matrix), cmocka_unit_test(parameters),
                                       cmocka_unit_test(chebyshev), cmocka_unit_test(broken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
