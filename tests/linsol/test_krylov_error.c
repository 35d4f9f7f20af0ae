/* test_krylov_error.c - what a krylov_tol above round-off leaves in gradients and tangents is estimated to a factor;
   where systems are solved to round-off, the estimate is zero. */
#include "common.h"

enum { POINTS = 16, N = 2 * POINTS, NQ = 1, ROOM = N + NQ, COLUMNS = 2, ALL = COLUMNS * ROOM };

/* the inverse of the diagonal sigma + 2 a/dx^2 of the 1-D Brusselator's diffusion */
typedef struct { double diagonal; } diagonal;

static int setup(double sigma, const costate_point *x, void *ctx)
{
    (void)x;
    ((diagonal *)ctx)->diagonal = sigma + 2 * 0.02 * (POINTS + 1) * (POINTS + 1);
    return 0;
}

static int divide(int transpose, double *x, void *ctx)
{
    (void)transpose;
    for (int i = 0; i < N; i++) x[i] /= ((const diagonal *)ctx)->diagonal;
    return 0;
}

typedef struct { double lambda[ALL], V[ALL], of_lambda, of_V; } derivatives;

/* of one tape, by a solver with this tolerance */
static derivatives sweep(const costate_method *m, const problem *b, costate_options o, const costate_tape *tape)
{
    derivatives d = {.of_lambda = -1};
    unsigned seed = 8;
    costate *c = new_for_test(m, &b->P, &o);
    random_fill(&seed, ALL, d.V);
    for (int k = 0; k < COLUMNS; k++) d.lambda[k * ROOM + N] = d.lambda[k * ROOM + 5 * k] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, COLUMNS, d.lambda, NULL, NULL, NULL));
    d.of_lambda = costate_get_stats(c)->krylov_error;
    CHECK_OK(c, costate_tangent(c, tape, COLUMNS, d.V, NULL, NULL, NULL));
    d.of_V = costate_get_stats(c)->krylov_error;
    costate_free(c);
    return d;
}

/* of the worse column, in the Euclidean norm: components are of one size */
static double error(const double *x, const double *exact)
{
    double worst = 0;
    for (int k = 0; k < COLUMNS; k++) {
        double sum = 0, all = 0;
        for (int i = k * ROOM; i < k * ROOM + N; i++) {
            sum += (x[i] - exact[i]) * (x[i] - exact[i]);
            all += exact[i] * exact[i];
        }
        worst = larger_of(worst, sqrt(sum / all));
    }
    return worst;
}

static void judge(const costate_method *m, const char *what, double tol, double truth, double estimate)
{
    if (truth < 1e-12 && estimate < 1e-11) return;           /* nothing but the round-off of the sweeps */
    if (truth < 1e-4 * tol && estimate <= 1.01e-4 * tol) return; /* no smaller error is claimed */
    if (!(truth <= 10 * estimate && estimate <= 10 * truth))
        fail_msg("%s, krylov_tol %.0e, %s: error %.2g, estimate %.2g", method_name(m), tol, what, truth, estimate);
}

static costate *run(const costate_method *m, const problem *b, const costate_options *o, double *V, costate_tape *tape)
{
    unsigned seed = 8;
    double y[ROOM] = {0};
    costate *c = new_for_test(m, &b->P, o);
    memcpy(y, b->y0, N * sizeof *y);
    if (V) random_fill(&seed, ALL, V);
    if (V) CHECK_OK(c, costate_integrate_tlm(c, b->t0, b->t1, y, b->p0, COLUMNS, V, NULL, NULL, tape));
    else CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    return c;
}

/* tangents carried along, against exact ones over the tape of the same run */
static void along(const costate_method *m, const problem *b, const costate_options *o,
                  const costate_options *to_round_off)
{
    double V[ALL];
    costate_tape *tape = costate_tape_new();
    costate *c = run(m, b, o, V, tape);
    derivatives exact = sweep(m, b, *to_round_off, tape);
    judge(m, "tangent along a run", o->krylov_tol, error(V, exact.V), costate_get_stats(c)->krylov_error);
    costate_tape_free(tape);
    costate_free(c);
}

static void compare(const costate_method *m, const problem *b, costate_options o)
{
    static const double tolerance[] = {1e-8, 1e-3};
    const costate_options to_round_off = o;
    costate_tape *tape = costate_tape_new();
    costate *c = run(m, b, &o, NULL, tape);
    derivatives exact = sweep(m, b, o, tape);
    assert_true(exact.of_lambda == 0 && exact.of_V == 0);
    for (size_t k = 0; k < sizeof tolerance / sizeof *tolerance; k++) {
        o.krylov_tol = tolerance[k];
        derivatives d = sweep(m, b, o, tape);
        judge(m, "gradient", o.krylov_tol, error(d.lambda, exact.lambda), d.of_lambda);
        judge(m, "tangent", o.krylov_tol, error(d.V, exact.V), d.of_V);
        along(m, b, &o, &to_round_off);
    }
    costate_tape_free(tape);
    costate_free(c);
}

static void estimated(void **state)
{
    const costate_method *m = *state;
    if (is_explicit(m)) return;
    problem *b = problem_brusselator(POINTS);
    diagonal d = {1};
    costate_preconditioner p = {.setup = setup, .solve = divide, .ctx = &d};
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES};
    b->t1 = b->t0 + 1;
    assert_true(b->P.n == N && b->P.nq == NQ);
    compare(m, b, o);
    o.preconditioner = &p;
    compare(m, b, o);
    o = (costate_options){.rtol = 1e-5, .atol = 1e-5, .stage_solve = COSTATE_STAGE_ITERATIVE};
    if (is_newton(m)) compare(m, b, o);
    problem_free(b);
}

int main(void) { return run_by_kind("error left by krylov_tol", estimated); }
