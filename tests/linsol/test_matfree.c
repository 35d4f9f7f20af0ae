/* test_matfree.c - the matrix-free solver: the same answers without a matrix, preconditioned or not; its failures, and
   a pattern that lies, are statuses or harmless, never wrong numbers. */
#include "common.h"
#include <costate/linsol.h>

enum { N_MOST = 64 };

typedef struct { double y[N_MOST], V[N_MOST], lambda[N_MOST]; long krylov, decompositions; } result;

static costate_options with(int solver)
{
    return (costate_options){.rtol = 1e-5, .atol = 1e-5, .controller = COSTATE_FIXED, .solver = solver,
                             .derivative_mode = 1};
}

static result solve(const costate_method *m, const problem *b, costate_options o)
{
    int N = b->P.n + b->P.nq;
    unsigned seed = 9;
    result r = {{0}, {0}, {0}, 0, 0};
    o.h0 = (b->t1 - b->t0) / 20;
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(r.y, b->y0, (size_t)b->P.n * sizeof *r.y);
    random_fill(&seed, (size_t)N, r.V);
    random_fill(&seed, (size_t)N, r.lambda);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, r.y, b->p0, tape));
    CHECK_OK(c, costate_tangent(c, tape, 1, r.V, NULL, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, r.lambda, NULL, NULL, NULL));
    r.krylov = costate_get_stats(c)->krylov;
    r.decompositions = costate_get_stats(c)->decompositions + costate_get_stats(c)->complex_decompositions;
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

static void same_answers(void **state)
{
    const costate_method *m = *state;
    if (is_explicit(m)) return;
    for (int mass = 0; mass <= MASS_REGULAR; mass++)
        for (int q = 0; q <= 2; q += 2) {
            const problem *b = problem_synthetic(mass, 0, 2, q, 0);
            result x = solve(m, b, with(COSTATE_LS_DENSE)), z = solve(m, b, with(COSTATE_LS_GMRES));
            int N = b->P.n + b->P.nq;
            assert_true(z.krylov > 0 && z.decompositions == 0);
            if (!(relative_gap(N, z.y, x.y) <= 1e-10 && relative_gap(N, z.V, x.V) <= 1e-10 &&
                  relative_gap(N, z.lambda, x.lambda) <= 1e-10))
                fail_msg("%s, %s: %.1e %.1e %.1e", method_name(m), b->name, relative_gap(N, z.y, x.y),
                         relative_gap(N, z.V, x.V), relative_gap(N, z.lambda, x.lambda));
        }
}

/* ---- how exact the solves of a Rosenbrock adjoint must be: the gap to the tangent is about the tolerance ---- */

static double gap(const costate_method *m, double tol)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 0, 0, 0);
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES, .krylov_tol = tol};
    double y[3], V[3], V0[3], lambda[3], end[3], left = 0, right = 0;
    unsigned seed = 4;
    memcpy(y, b->y0, sizeof y);
    random_fill(&seed, 3, V);
    random_fill(&seed, 3, lambda);
    memcpy(V0, V, sizeof V);
    memcpy(end, lambda, sizeof end);
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, NULL, tape));
    CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    for (int i = 0; i < 3; i++) { left += end[i] * V[i]; right += lambda[i] * V0[i]; }
    costate_tape_free(tape);
    costate_free(c);
    return fabs(left - right) / fabs(left);
}

static void exactness(void **state)
{
    (void)state;
    const costate_method *m = costate_method_find("rodas4");
    assert_true(gap(m, 1e-14) < 1e-12);
    assert_true(gap(m, 0.05) > 1e-9);          /* so a tolerance is really what makes it exact */
    assert_true(gap(m, 1e-8) < 1e-6);
}

/* ---- preconditioners: of the 1-D Brusselator, the inverse of the diagonal sigma + 2 a/dx^2 of its diffusion ---- */

typedef struct { double diagonal, diffusion; int n, setups, fail_setup, fail_solve; } diagonal;

static int setup(double sigma, const costate_point *x, void *ctx)
{
    diagonal *d = ctx;
    (void)x;
    d->diagonal = sigma + d->diffusion;
    d->setups++;
    return d->fail_setup;
}

static int divide(int transpose, double *x, void *ctx)
{
    const diagonal *d = ctx;
    (void)transpose;
    for (int i = 0; i < d->n; i++) x[i] /= d->diagonal;
    return d->fail_solve;
}

/* with and without: the same state, tangent and adjoint */
static void preconditioner(void **state)
{
    static const char *const name[] = {"rodas4", "sdirk4b", "radau2a"};
    (void)state;
    problem *b = problem_brusselator(16);
    diagonal d = {1, 2 * 0.02 * 17 * 17, 32, 0, 0, 0};
    costate_preconditioner p = {.setup = setup, .solve = divide, .ctx = &d};
    b->t1 = b->t0 + 1;
    for (int k = 0; k < 3; k++) {
        costate_options o = with(COSTATE_LS_GMRES);
        result x = solve(costate_method_find(name[k]), b, o);
        d.setups = 0;
        o.preconditioner = &p;
        result z = solve(costate_method_find(name[k]), b, o);
        int N = b->P.n + b->P.nq;
        assert_true(d.setups > 0);
        assert_true(relative_gap(N, z.y, x.y) < 1e-10 && relative_gap(N, z.V, x.V) < 1e-10 &&
                    relative_gap(N, z.lambda, x.lambda) < 1e-10);
    }
    problem_free(b);
}

/* the incomplete LU: the same answers in far fewer iterations; without jac or SuperLU a status */
static void incomplete_lu(void **state)
{
    static const char *const name[] = {"rodas4", "sdirk4b"};
    (void)state;
    problem *b = problem_brusselator(30);
    costate_options o = with(COSTATE_LS_GMRES);
    b->t1 = b->t0 + 2;
    o.ilu = 1;
    costate_problem without = b->P;
    without.jac = NULL;
    costate *c = costate_new(costate_method_find("rodas4"), &without,
                             &(costate_options){.solver = COSTATE_LS_GMRES, .ilu = 1});
    assert_int_equal(costate_status(c), COSTATE_MISSING);
    costate_free(c);
    for (int k = 0; k < 2 && costate_backend_find("ilu"); k++) {
        result z = solve(costate_method_find(name[k]), b, o),
               x = solve(costate_method_find(name[k]), b, with(COSTATE_LS_GMRES));
        int N = b->P.n + b->P.nq;
        assert_true(2 * z.krylov < x.krylov);
        assert_true(relative_gap(N, z.y, x.y) < 1e-9 && relative_gap(N, z.V, x.V) < 1e-9 &&
                    relative_gap(N, z.lambda, x.lambda) < 1e-9);
    }
    problem_free(b);
}

static void failing_preconditioner(void **state)
{
    (void)state;
    problem *b = problem_brusselator(16);
    for (int k = 0; k < 4; k++) {
        diagonal d = {1, 1, 32, 0, 0, 0};
        *(k & 1 ? &d.fail_setup : &d.fail_solve) = k & 2 ? 1 : -1;
        costate_preconditioner p = {.setup = setup, .solve = divide, .ctx = &d};
        costate_options o = {.solver = COSTATE_LS_GMRES, .preconditioner = &p};
        costate *c = costate_new(costate_method_find("radau2a"), &b->P, &o);
        double y[N_MOST] = {0};
        memcpy(y, b->y0, 32 * sizeof *y);
        int status = costate_integrate(c, 0, 1, y, b->p0, NULL);
        assert_int_equal(status, k & 2 ? COSTATE_SINGULAR : COSTATE_CALLBACK);
        assert_non_null(strstr(costate_message(c), "reconditioner"));
        costate_free(c);
    }
    problem_free(b);
}

/* no preconditioner on a stiff problem: GMRES does not come to its end, which cuts steps and then is a status */
static void stagnation(void **state)
{
    (void)state;
    problem *b = problem_brusselator(200);
    costate_options o = {.solver = COSTATE_LS_GMRES, .controller = COSTATE_FIXED, .h0 = 1};
    costate *c = costate_new(costate_method_find("rodas4"), &b->P, &o);
    double *y = calloc(401, sizeof *y);
    memcpy(y, b->y0, 400 * sizeof *y);
    assert_int_equal(costate_integrate(c, 0, 10, y, b->p0, NULL), COSTATE_STAGNATED);
    assert_non_null(strstr(costate_message(c), "GMRES"));
    free(y);
    costate_free(c);
    problem_free(b);
}

/* ---- a pattern without entries that the Jacobian has ---- */

static int diagonal_jac(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 3; i++) J[i] = i == 0 ? -1.2 : i == 1 ? -7.3 : -2.9;
    (void)x;
    return 0;
}

static void lying_pattern(void **state)
{
    static const int col[] = {0, 1, 2, 3}, row[] = {0, 1, 2};
    static const costate_pattern narrow = {3, col, row};
    const costate_method *m = *state;
    problem b = *problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    costate_report rhs, cost;
    costate_point x = {.t = b.t0, .y = b.y0, .p = b.p0};
    b.P.pattern = &narrow;
    b.P.jac = diagonal_jac;
    assert_int_equal(costate_check_problem(&b.P, &x, &rhs, &cost), COSTATE_CHECK_FAILED);
    assert_non_null(strstr(rhs.text, "jac WRONG"));
    if (!is_newton(m)) return;
    /* sdirk, firk: Newton converges more slowly to the same stages; stage systems check their residuals */
    for (int how = COSTATE_STAGE_DIRECT; how <= COSTATE_STAGE_ITERATIVE; how++) {
        const problem *right = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
        costate_options o = with(COSTATE_LS_DENSE);
        result y = solve(m, right, o);
        o.stage_solve = how;
        result z = solve(m, &b, o);
        assert_true(relative_gap(5, z.y, y.y) < 1e-9 && relative_gap(5, z.V, y.V) < 1e-9 &&
                    relative_gap(5, z.lambda, y.lambda) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preconditioner),
        cmocka_unit_test(incomplete_lu),
        cmocka_unit_test(failing_preconditioner),
        cmocka_unit_test(stagnation),
        cmocka_unit_test(exactness),
    };
    return run_by_method("matrix-free: the same answers", same_answers) +
           run_by_method("a pattern that lies", lying_pattern) + cmocka_run_group_tests(tests, NULL, NULL);
}
