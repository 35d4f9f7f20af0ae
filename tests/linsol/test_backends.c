/* test_backends.c - every linear solver, built in or the user's own, gives the same run, tangents and gradients as the
   dense one. */
#include <complex.h>
#include "common.h"
#include <costate/linsol.h>

enum { N = 5, M = 2, MOST = 21 * 21 };        /* MOST: n = 3, all of seven stages at once */

/* ---- a user's backend: Gaussian elimination of a full matrix, real and complex alike ---------------------------- */

typedef struct { int n, parts; const costate_pattern *pattern; double complex A[MOST], lu[MOST]; } own;

static int own_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    own *s = malloc(sizeof *s);
    (void)like;
    *self = s;
    if (!s) return COSTATE_LS_NO_MEMORY;
    if ((size_t)(n * n) > sizeof s->A / sizeof *s->A) return COSTATE_LS_UNSUPPORTED;
    s->n = n;
    s->parts = is_complex ? 2 : 1;
    s->pattern = pattern;
    return COSTATE_LS_OK;
}
static void own_free(void *self) { free(self); }

static double complex number_at(const own *s, const double *A, int k)
{
    return s->parts == 2 ? A[2 * k] + I * A[2 * k + 1] : A[k];
}

static int own_factor(void *self, const double *A)
{
    own *s = self;
    int n = s->n;
    for (int k = 0; k < n * n; k++) s->A[k] = 0;
    for (int j = 0; s->pattern && j < n; j++)
        for (int k = s->pattern->col[j]; k < s->pattern->col[j + 1]; k++)
            s->A[j * n + s->pattern->row[k]] = number_at(s, A, k);
    for (int k = 0; !s->pattern && k < n * n; k++) s->A[k] = number_at(s, A, k);
    return COSTATE_LS_OK;
}

/* eliminated anew for each right-hand side: naive is the point */
static int own_solve_one(own *s, int transpose, double complex *x)
{
    int n = s->n;
    double complex *a = s->lu;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) a[j * n + i] = transpose ? s->A[i * n + j] : s->A[j * n + i];
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++) if (cabs(a[k * n + i]) > cabs(a[k * n + best])) best = i;
        if (a[k * n + best] == 0) return COSTATE_LS_SINGULAR;
        for (int j = 0; j < n; j++) {
            double complex z = a[j * n + k];
            a[j * n + k] = a[j * n + best];
            a[j * n + best] = z;
        }
        double complex z = x[k]; x[k] = x[best]; x[best] = z;
        for (int i = k + 1; i < n; i++) {
            double complex f = a[k * n + i] / a[k * n + k];
            for (int j = k; j < n; j++) a[j * n + i] -= f * a[j * n + k];
            x[i] -= f * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= a[j * n + k] * x[j];
        x[k] /= a[k * n + k];
    }
    return COSTATE_LS_OK;
}

static int own_solve(void *self, int transpose, int nrhs, double *X)
{
    own *s = self;
    for (int c = 0; c < nrhs; c++, X += s->n * s->parts) {
        double complex x[21];
        for (int i = 0; i < s->n; i++) x[i] = number_at(s, X, i);
        int status = own_solve_one(s, transpose, x);
        if (status) return status;
        for (int i = 0; i < s->n; i++) {
            X[i * s->parts] = creal(x[i]);
            if (s->parts == 2) X[2 * i + 1] = cimag(x[i]);
        }
    }
    return COSTATE_LS_OK;
}

static const costate_backend own_dense = {.name = "own", .dense = 1, .init = own_init, .factor = own_factor,
                                          .solve = own_solve, .free = own_free};
static const costate_backend own_sparse = {.name = "own, sparse", .dense = 0, .init = own_init, .factor = own_factor,
                                           .solve = own_solve, .free = own_free};

/* ---- the claim -------------------------------------------------------------------------------------------------- */

typedef struct { double y[N], V[M * N], lambda[M * N], mu[M * 2]; } result;

static result run(const costate_method *m, const problem *b, costate_options o)
{
    result r = {.y = {b->y0[0], b->y0[1], b->y0[2]}};
    double dp[] = {0.4, -0.1, 0.3, 0.2};
    unsigned seed = 8;
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    random_fill(&seed, M * N, r.V);
    random_fill(&seed, M * N, r.lambda);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, r.y, b->p0, tape));
    CHECK_OK(c, costate_tangent(c, tape, M, r.V, dp, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, M, r.lambda, r.mu, NULL, NULL));
    if (o.backend && costate_get_stats(c)->solves) assert_string_equal(costate_solver_name(c), o.backend->name);
    costate_free(c);
    costate_tape_free(tape);
    return r;
}

static void backends(void **state)
{
    static const struct { const char *name; int solver; const costate_backend *own; double bound; } table[] = {
        {"band", COSTATE_LS_BAND, NULL, 1e-11}, {"umfpack", COSTATE_LS_UMFPACK, NULL, 1e-11},
        {"superlu", COSTATE_LS_SUPERLU, NULL, 1e-11}, {"klu", COSTATE_LS_KLU, NULL, 1e-11},
        {"sparse", COSTATE_LS_SPARSE, NULL, 1e-11}, {"auto", COSTATE_LS_AUTO, NULL, 1e-11},
        {"own, dense", 0, &own_dense, 1e-11},
        {"own, sparse", 0, &own_sparse, 1e-11}, {"gmres", COSTATE_LS_GMRES, NULL, 1e-9}};
    const costate_method *m = *state;
    int irk = is_newton(m);
    double worst = 0;
    for (int mass = MASS_IDENTITY; mass <= MASS_SINGULAR; mass++)
        for (int variant = 0; variant < (irk ? 4 : 2); variant++) {
            const problem *b = problem_synthetic(mass, 0, 2, 2, variant & 1);
            costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.09, .rtol = 1e-5, .atol = 1e-5,
                                 .derivative_mode = 1, .solver = COSTATE_LS_DENSE};
            if (irk) o.stage_solve = variant & 2 ? COSTATE_STAGE_ITERATIVE : COSTATE_STAGE_DIRECT;
            if (!method_takes(m, mass)) continue;
            result dense = run(m, b, o);
            for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
                if (k < 4 && !costate_backend_find(table[k].name)) continue;
                o.solver = table[k].solver;
                o.backend = table[k].own;
                result r = run(m, b, o);
                double e[] = {relative_gap(N, r.y, dense.y), relative_gap(M * N, r.V, dense.V),
                              relative_gap(M * N, r.lambda, dense.lambda), relative_gap(M * 2, r.mu, dense.mu)};
                for (int i = 0; i < 4; i++) {
                    worst = larger_of(worst, e[i]);
                    if (!(e[i] <= table[k].bound))
                        fail_msg("%s, %s, %s, stages %d: y %.1e, V %.1e, lambda %.1e, mu %.1e", method_name(m), b->name,
                                 table[k].name, o.stage_solve, e[0], e[1], e[2], e[3]);
                }
            }
        }
    print_message("           largest difference %.1e\n", worst);
}

/* A backend that knows real numbers alone is said to be that where a method needs the others. */
static int real_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    return is_complex ? COSTATE_LS_FAILED : own_init(self, n, pattern, is_complex, like);
}

static void real_numbers_alone(void **state)
{
    costate_backend real = own_dense;
    costate_options o = {.backend = &real};
    (void)state;
    real.init = real_init;
    costate *c = costate_new(costate_method_find("radau2a"), &problem_find("lv")->P, &o);
    assert_int_equal(costate_status(c), COSTATE_BACKEND);
    assert_non_null(strstr(costate_message(c), "complex"));
    assert_non_null(strstr(costate_message(c), "radau2a"));
    costate_free(c);
    c = costate_new(costate_method_find("sdirk4a"), &problem_find("lv")->P, &o);
    assert_int_equal(costate_status(c), COSTATE_OK);
    costate_free(c);
}

int main(void)
{
    static const struct CMUnitTest once[] = {cmocka_unit_test(real_numbers_alone)};
    return cmocka_run_group_tests(once, NULL, NULL) + run_by_method("linear solvers agree", backends);
}
