/* test_foodweb.c - prey and predator on a 20 x 20 grid, 800 unknowns, index 1, sparse: a residual by every solver.

       c1' = c1 (b - c1 - 0.5e-6 c2) + L c1,   0 = c2 (-b + 1e4 c1 - c2) + 0.05 L c2,
       b = 1 + alpha x y + beta sin(4 pi x) sin(4 pi y)

   with the root c2 = 0, and another one near 1e4 c1 - b: the guess of the start chooses; on the first one g = the sum
   of all squares at t = 0.1, by alpha, beta and c1(0). The references were made elsewhere, by two routes. (Brown,
   Hindmarsh, Petzold, SISSC 19 (1998) 1495.) */
#include "common.h"
#include <costate/linsol.h>

enum { SIDE = 20, N = 2 * SIDE * SIDE };

static const double PI = 3.14159265358979323846;

static int at(int jx, int jy, int s) { return 2 * (jx + SIDE * jy) + s; }
static int mirrored(int j) { return j < 0 ? 1 : j >= SIDE ? SIDE - 2 : j; }

/* the four neighbours of species s */
static void neighbours(int jx, int jy, int s, int *to)
{
    to[0] = at(mirrored(jx - 1), jy, s);
    to[1] = at(mirrored(jx + 1), jy, s);
    to[2] = at(jx, mirrored(jy - 1), s);
    to[3] = at(jx, mirrored(jy + 1), s);
}

static double laplace(const double *c, int jx, int jy, int s)
{
    int to[4];
    double sum = -4 * c[at(jx, jy, s)];
    neighbours(jx, jy, s, to);
    for (int k = 0; k < 4; k++) sum += c[to[k]];
    return sum * (SIDE - 1) * (SIDE - 1);
}

static void laplace_back(double w, int jx, int jy, int s, double *g)
{
    int to[4];
    double scale = w * (SIDE - 1) * (SIDE - 1);
    neighbours(jx, jy, s, to);
    g[at(jx, jy, s)] -= 4 * scale;
    for (int k = 0; k < 4; k++) g[to[k]] += scale;
}

/* node k: where its species are, b = 1 + alpha by_alpha + beta by_beta */
typedef struct { int jx, jy, i, j; double c1, c2, by_alpha, by_beta, b; } node;

static node node_at(const costate_point *X, int k)
{
    int jx = k % SIDE, jy = k / SIDE, i = at(jx, jy, 0);
    double x = jx / (SIDE - 1.0), y = jy / (SIDE - 1.0), by_beta = sin(4 * PI * x) * sin(4 * PI * y);
    return (node){jx, jy, i, i + 1, X->y[i], X->y[i + 1], x * y, by_beta, 1 + X->p[0] * x * y + X->p[1] * by_beta};
}

static int value(const costate_point *X, double *F, void *ctx)
{
    for (int k = 0; k < SIDE * SIDE; k++) {
        node q = node_at(X, k);
        F[q.i] = X->yp[q.i] - q.c1 * (q.b - q.c1 - 0.5e-6 * q.c2) - laplace(X->y, q.jx, q.jy, 0);
        F[q.j] = -q.c2 * (-q.b + 1e4 * q.c1 - q.c2) - 0.05 * laplace(X->y, q.jx, q.jy, 1);
    }
    return (void)ctx, 0;
}

static int tangent(const costate_point *X, const costate_point *dX, double *out, void *ctx)
{
    static const double zeros[N];
    const double *d = dX->y ? dX->y : zeros, *dk = dX->yp ? dX->yp : zeros, *dp = dX->p ? dX->p : zeros;
    for (int k = 0; k < SIDE * SIDE; k++) {
        node q = node_at(X, k);
        double d1 = d[q.i], d2 = d[q.j], db = dp[0] * q.by_alpha + dp[1] * q.by_beta;
        out[q.i] = dk[q.i] - d1 * (q.b - q.c1 - 0.5e-6 * q.c2) - q.c1 * (db - d1 - 0.5e-6 * d2) -
                   laplace(d, q.jx, q.jy, 0);
        out[q.j] = -d2 * (-q.b + 1e4 * q.c1 - q.c2) - q.c2 * (-db + 1e4 * d1 - d2) - 0.05 * laplace(d, q.jx, q.jy, 1);
    }
    return (void)ctx, 0;
}

static int adjoint(const costate_point *X, const double *w, const costate_gradient *g, void *ctx)
{
    for (int k = 0; k < SIDE * SIDE; k++) {
        node q = node_at(X, k);
        double w1 = w[q.i], w2 = w[q.j], by_b = -q.c1 * w1 + q.c2 * w2;
        if (g->yp) g->yp[q.i] += w1;
        if (g->p) { g->p[0] += q.by_alpha * by_b; g->p[1] += q.by_beta * by_b; }
        if (!g->y) continue;
        g->y[q.i] += -w1 * (q.b - 2 * q.c1 - 0.5e-6 * q.c2) - 1e4 * q.c2 * w2;
        g->y[q.j] += 0.5e-6 * q.c1 * w1 - w2 * (-q.b + 1e4 * q.c1 - 2 * q.c2);
        laplace_back(-w1, q.jx, q.jy, 0, g->y);
        laplace_back(-0.05 * w2, q.jx, q.jy, 1, g->y);
    }
    return (void)ctx, 0;
}

static void start(double *y)
{
    for (int jy = 0; jy < SIDE; jy++)
        for (int jx = 0; jx < SIDE; jx++) {
            double x = jx / (SIDE - 1.0), z = jy / (SIDE - 1.0), hill = 16 * x * (1 - x) * z * (1 - z);
            y[at(jx, jy, 0)] = 10 + hill * hill;
            y[at(jx, jy, 1)] = 0;
        }
}

typedef struct { const char *name; int solver; } by;

static costate_problem web_in(costate_pattern **pattern, const double *y, const double *p)
{
    static const double yp[N];
    costate_problem web = {.n = N, .np = 2, .residual = {.value = value, .tangent = tangent, .adjoint = adjoint}};
    costate_report r;
    if (costate_pattern_detect(&web, &(costate_point){.y = y, .p = p, .yp = yp}, pattern, &r)) fail_msg("%s", r.text);
    assert_int_equal((*pattern)->col[N], 6 * N - 8 * SIDE);         /* mirrored neighbours are one */
    web.pattern = *pattern;
    return web;
}

static void foodweb(void **state)
{
    static const double g = 2.36313393520239892e+05, by_alpha = 6.19839686164873434e+03,
                        by_beta = 3.04839476575518973e+03, sum = 5.02914707228912714e+03,
                        norm = 2.71133553715225337e+02, corner = 4.39995949052619915e+00;
    const by *s = *state;
    static double y[N], lambda[N];
    const double p[] = {50, 100};
    double mu[2] = {0}, value_of_g = 0, all = 0, squares = 0;
    costate_pattern *pattern = NULL;
    if (s->solver != COSTATE_LS_GMRES && !costate_backend_find(s->name)) skip();
    start(y);
    costate_problem web = web_in(&pattern, y, p);
    costate_options o = {.rtol = 1e-8, .atol = 1e-8, .solver = s->solver};
    costate *c = costate_new(costate_method_find("radau2a"), &web, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, 0.1, y, p, tape));
    for (int i = 0; i < N; i++) { value_of_g += y[i] * y[i]; lambda[i] = 2 * y[i]; }
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    for (int i = 0; i < N; i += 2) { all += lambda[i]; squares += lambda[i] * lambda[i]; }
    const double error[] = {value_of_g / g - 1, mu[0] / by_alpha - 1, mu[1] / by_beta - 1, all / sum - 1,
                            sqrt(squares) / norm - 1, lambda[0] / corner - 1};
    for (int k = 0; k < 6; k++)
        if (!(fabs(error[k]) <= 1e-6)) fail_msg("%s: number %d is wrong by %.2e", s->name, k, error[k]);
    for (int i = 1; i < N; i += 2) assert_true(lambda[i] == 0);          /* of algebraic unknowns */
    print_message("           %s: %d steps; g %.1e, by alpha %.1e, beta %.1e, c1(0) %.1e\n", s->name,
                  costate_tape_steps(tape), error[0], error[1], error[2], error[4]);
    costate_tape_free(tape);
    costate_free(c);
    costate_pattern_free(pattern);
}

/* how far from a root the state may be: of c2, the other root being as far as 1 */
typedef struct { const double *p; int second; double farthest; } root;

static int keeps_to(const costate_step *step, void *ctx)
{
    root *r = ctx;
    costate_point x = {.y = costate_step_state(step), .p = r->p};
    for (int k = 0; k < SIDE * SIDE; k++) {
        node q = node_at(&x, k);
        double other = 1e4 * q.c1 - q.b;
        r->farthest = larger_of(r->farthest, fabs(q.c2 - (r->second ? other : 0)) / other);
    }
    return 0;
}

/* The guess chooses the root; the run stays on it at every step and mesh point.  Of the second one no reference is
   known: its equation holds, and the run is checked as a whole. */
static void roots(void **state)
{
    (void)state;
    static double y[N], F[N], yp[N];
    static const double guess[] = {1, 1e5};
    const double p[] = {50, 100};
    for (int second = 0; second < 2; second++) {
        root r = {p, second, 0};
        costate_pattern *pattern = NULL;
        start(y);
        for (int i = 1; i < N; i += 2) y[i] = guess[second];
        costate_problem web = web_in(&pattern, y, p);
        costate_options o = {.rtol = 1e-6, .atol = 1e-6, .consistent = COSTATE_CONSISTENT_START,
                             .on_step = keeps_to, .on_step_ctx = &r};
        costate *c = costate_new(costate_method_find("radau2a"), &web, &o);
        costate_report report;
        int status = costate_check_adjoint(c, 0, 0.01, y, p, &report);
        if (status != COSTATE_OK) fail_msg("root %d: %s", second, report.text);
        CHECK_OK(c, costate_consistent(c, 0, y, yp, p));
        value(&(costate_point){.y = y, .p = p, .yp = yp}, F, NULL);
        for (int i = 1; i < N; i += 2) assert_true(fabs(F[i]) <= 1e-14 * (y[i] * y[i] + 1));
        CHECK_OK(c, costate_integrate(c, 0, 0.1, y, p, NULL));
        print_message("           root %d: farthest %.1e\n", second, r.farthest);
        if (!(r.farthest <= (second ? 1e-3 : 1e-30))) fail_msg("root %d: as far as %.2e", second, r.farthest);
        costate_free(c);
        costate_pattern_free(pattern);
    }
}

int main(void)
{
    static by ways[] = {{"umfpack", COSTATE_LS_UMFPACK}, {"klu", COSTATE_LS_KLU}, {"superlu", COSTATE_LS_SUPERLU}};
    const struct CMUnitTest tests[] = {
        {"umfpack", foodweb, NULL, NULL, &ways[0]}, {"klu", foodweb, NULL, NULL, &ways[1]},
        {"superlu", foodweb, NULL, NULL, &ways[2]}, cmocka_unit_test(roots)};
    return cmocka_run_group_tests_name("food web", tests, NULL, NULL);
}
