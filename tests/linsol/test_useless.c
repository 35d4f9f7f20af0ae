/* test_useless.c - GMRES ends after a bounded number of iterations if a preconditioner is wrong: a run says that GMRES
   did not converge, a sweep says which solve did not. */
#include "common.h"

/* y_i' = -d_i y_i, d_i from 1 to 1e6: more different eigenvalues than a cycle has iterations */
enum { N = 200, CYCLE = 80, MOST = 25 * CYCLE };

typedef struct { double sigma; int wrong[2]; } spoiled;     /* of the system, of the transposed one: 1, 2, 3 */

static double rate(int i) { return pow(10, 6.0 * i / (N - 1)); }

static int value(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < N; i++) f[i] = -rate(i) * x->y[i];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x;
    if (dx->y) return value(dx, out, ctx);
    memset(out, 0, N * sizeof *out);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    for (int i = 0; i < N; i++) g->y[i] -= rate(i) * w[i];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx, const costate_point *dx2, double *out, void *ctx)
{
    (void)x, (void)dx, (void)dx2, (void)ctx;
    memset(out, 0, N * sizeof *out);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)x, (void)dx, (void)w, (void)g, (void)ctx;
    return 0;
}

static int setup(double sigma, const costate_point *x, void *ctx)
{
    (void)x;
    ((spoiled *)ctx)->sigma = sigma;
    return 0;
}

/* the inverse; wrong 1: permuted in one cycle of all components, so that a Krylov space of less than N has nothing of
   the solution; 2: singular; 3: another permutation, with signs */
static int solve(int transpose, double *x, void *ctx)
{
    const spoiled *q = ctx;
    int wrong = q->wrong[transpose != 0];
    double z[N];
    for (int i = 0; i < N; i++) {
        z[i] = x[i] / (q->sigma + rate(i));
        if (wrong == 2 && i % 2) z[i] = 0;
        if (wrong == 3 && i % 2) z[i] = -z[i];
    }
    for (int i = 0; i < N; i++) x[i] = z[wrong == 1 ? (i + 1) % N : wrong == 3 ? (i + 7) % N : i];
    return 0;
}

typedef struct { spoiled by; costate_preconditioner p; costate_problem P; costate *c; costate_tape *tape;
                 double y[N]; } world;

static void open_world(world *w, const char *method, double tol, spoiled by)
{
    *w = (world){.by = by, .P = {.n = N, .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                               .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent}},
                 .tape = costate_tape_new()};
    w->p = (costate_preconditioner){.setup = setup, .solve = solve, .ctx = &w->by};
    for (int i = 0; i < N; i++) w->y[i] = 1;
    costate_options o = {.solver = COSTATE_LS_GMRES, .preconditioner = &w->p, .krylov_tol = tol, .rtol = 1e-3,
                         .atol = 1e-3, .h0 = 0.1};
    w->c = new_for_test(costate_method_find(method), &w->P, &o);
}

static void close_world(world *w)
{
    costate_free(w->c);
    costate_tape_free(w->tape);
}

static void says(const world *w, const char *method, int status, const char *what)
{
    if (status != COSTATE_STAGNATED || !strstr(costate_message(w->c), what))
        fail_msg("%s: %d, %s", method, status, costate_message(w->c));
}

/* wrong from the end of the run on, in one of the solves; 2 systems at most come before the one that fails */
static void in_sweep(const char *method, double tol, int transpose, int wrong)
{
    world w;
    double x[N];
    open_world(&w, method, tol, (spoiled){0});
    for (int i = 0; i < N; i++) x[i] = 1 + i % 3;
    CHECK_OK(w.c, costate_integrate(w.c, 0, 0.2, w.y, NULL, w.tape));
    w.by.wrong[transpose] = wrong;
    long before = costate_get_stats(w.c)->krylov;
    int status = transpose ? costate_adjoint(w.c, w.tape, 1, x, NULL, NULL, NULL)
                           : costate_tangent(w.c, w.tape, 1, x, NULL, NULL, NULL);
    says(&w, method, status, transpose ? "A transposed solve of the adjoint did not converge at t = "
                                       : "A solve of the tangent did not converge at t = ");
    says(&w, method, status, transpose ? "transpose = 1 is not the transpose" : "too weak");
    long took = costate_get_stats(w.c)->krylov - before;
    if (took > 3 * MOST) fail_msg("%s: %ld iterations", method, took);
    close_world(&w);
}

static const char *const methods[] = {"sdirk4a", "rodas4", "ark436"};

static void sweeps(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int wrong = 1; wrong <= 3; wrong++)
            for (int transpose = 0; transpose < 2; transpose++) {
                in_sweep(methods[k], 0, transpose, wrong);
                in_sweep(methods[k], 1e-6, transpose, wrong);
            }
}

static void runs(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int wrong = 1; wrong <= 3; wrong += 2) {
            world w;
            open_world(&w, methods[k], 1e-6, (spoiled){.wrong = {wrong, 0}});
                    says(&w, methods[k], costate_integrate(w.c, 0, 0.2, w.y, NULL, NULL), "GMRES did not converge");
            long tries = costate_get_stats(w.c)->steps;
            if (costate_get_stats(w.c)->krylov > tries * MOST) fail_msg("%s: too many iterations", methods[k]);
            close_world(&w);
        }
}

/* the coupled stages of firk are solved without a preconditioner, which their sentence says */
static void coupled(void **state)
{
    world w;
    double x[N];
    (void)state;
    open_world(&w, "radau2a", 0, (spoiled){0});
    for (int i = 0; i < N; i++) x[i] = 1 + i % 3;
    CHECK_OK(w.c, costate_integrate(w.c, 0, 0.2, w.y, NULL, w.tape));
    says(&w, "radau2a", costate_adjoint(w.c, w.tape, 1, x, NULL, NULL, NULL), "without a preconditioner");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps), cmocka_unit_test(runs), cmocka_unit_test(coupled)};
    return cmocka_run_group_tests_name("useless preconditioners", tests, NULL, NULL);
}
