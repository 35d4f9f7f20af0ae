/* test_stages_iterated.c - the coupled stages of sweeps are solved by iteration where that converges fast, else by
   factoring: gradients and tangents are those by factored matrices in either case. */
#include "common.h"

enum { POINTS = 10, N_MOST = 2 * POINTS + 2, OSCILLATORS = 6 };

static const char *const methods[] = {"radau2a", "radau2a5", "radau2a7", "gauss3", "lobatto3c"};

typedef struct { double lambda[N_MOST], mu[8], V[N_MOST]; long iterated, factored; } found;

static found solved(const char *method, const problem *b, int stage_solve, const costate_options *more, double t1)
{
    costate_options o = more ? *more : (costate_options){.rtol = 1e-7, .atol = 1e-9};
    found f = {.iterated = 0};
    o.stage_solve = stage_solve;
    costate *c = costate_new(costate_method_find(method), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    double y[N_MOST] = {0};
    int n = b->P.n;
    memcpy(y, b->y0, (size_t)n * sizeof *y);
    for (int i = 0; i < n; i++) { f.lambda[i] = sin(1.0 + i); f.V[i] = cos(2.0 * i); }
    CHECK_OK(c, costate_integrate(c, b->t0, t1, y, b->p0, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, f.lambda, f.mu, NULL, NULL));
    CHECK_OK(c, costate_tangent(c, tape, 1, f.V, NULL, NULL, NULL));
    f.iterated = costate_get_stats(c)->stage_iterative;
    f.factored = costate_get_stats(c)->stage_direct;
    costate_tape_free(tape);
    costate_free(c);
    return f;
}

static void alike(const char *what, const problem *b, const found *x, const found *exact, double tol)
{
    double gap = fmax(relative_error(b->P.n, x->lambda, exact->lambda), relative_error(b->P.n, x->V, exact->V));
    if (b->P.np) gap = fmax(gap, relative_error(b->P.np, x->mu, exact->mu));
    if (!(gap <= tol)) fail_msg("%s: gap %.2g", what, gap);
}

static int mass(double *M, void *ctx)
{
    const int n = 2 * POINTS;
    (void)ctx;
    for (int j = 0; j < n * n; j++) M[j] = j % (n + 1) == 0 ? 1 + 0.05 * (j / n) : j % n == j / n + 1 ? 0.1 : 0;
    return 0;
}

/* with the pattern and without, and with a mass matrix */
static void smooth(void **state)
{
    problem *b = problem_brusselator(POINTS);
    const costate_pattern *pattern = b->P.pattern;
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        b->P.pattern = kind == 0 ? pattern : NULL;
        b->P.mass = kind == 2 ? mass : NULL;
        b->P.jac = NULL;
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            found x = solved(methods[k], b, COSTATE_STAGE_AUTO, NULL, b->t0 + 2),
                  exact = solved(methods[k], b, COSTATE_STAGE_DIRECT, NULL, b->t0 + 2);
            alike(methods[k], b, &x, &exact, 1e-12);
            assert_true(x.iterated > 0 && x.factored == 0);
            assert_true(exact.iterated == 0 && exact.factored == x.iterated);
        }
    }
    problem_free(b);
}

/* x'' = mu ((1 - x^2) x' - x), in steps across fast transitions */
static int jumps(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 2 * OSCILLATORS; i += 2) {
        double u = x->y[i], v = x->y[i + 1];
        f[i] = v;
        f[i + 1] = (20 + i) * ((1 - u * u) * v - u);
    }
    return 0;
}
static int jumps_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; d->y && i < 2 * OSCILLATORS; i += 2) {
        double u = x->y[i], v = x->y[i + 1], du = d->y[i], dv = d->y[i + 1];
        out[i] = dv;
        out[i + 1] = (20 + i) * ((1 - u * u) * dv - 2 * u * v * du - du);
    }
    return 0;
}
static int jumps_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    for (int i = 0; g->y && i < 2 * OSCILLATORS; i += 2) {
        double u = x->y[i], v = x->y[i + 1], z = (20 + i) * w[i + 1];
        g->y[i] += z * (-2 * u * v - 1);
        g->y[i + 1] += w[i] + z * (1 - u * u);
    }
    return 0;
}

static void rough(void **state)
{
    double y0[2 * OSCILLATORS];
    for (int i = 0; i < 2 * OSCILLATORS; i++) y0[i] = i % 2 ? -0.5 : 2;
    const problem b = {.P = {.n = 2 * OSCILLATORS, .rhs = {.value = jumps, .tangent = jumps_tangent,
                                                           .adjoint = jumps_adjoint}}, .y0 = y0};
    const costate_options o = {.rtol = 1e-2, .atol = 1e-2};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        found x = solved(methods[k], &b, COSTATE_STAGE_AUTO, &o, 4),
              exact = solved(methods[k], &b, COSTATE_STAGE_DIRECT, &o, 4);
        alike(methods[k], &b, &x, &exact, 1e-9);
        assert_true(x.iterated > 10 && x.factored > 10 && x.iterated + x.factored == exact.factored);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(smooth), cmocka_unit_test(rough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
