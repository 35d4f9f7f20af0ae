/* test_block_solve.c - the linear systems of a block of coupled stages are solved, plain and transposed, for one column
   and for several, with as many unknowns as have routines of their own and with more:

       P X = B,   P = W x I/h - I x J

   Inside the library these solutions are corrected by iterations, which would hide a wrong one. */
#include "firk/firk.h"      /* before cmocka, which has a macro fail */
#include "solver/solver.h"
#include "common.h"

enum { MOST = 9, STAGES = 5, COLUMNS = 3, LENGTH = STAGES * MOST };

static double coefficient(int n, int i, int j) { return i == j ? -1.0 - i : 0.3 * sin(1.0 + i * n + 2 * j); }

static int value(const costate_point *x, double *f, void *ctx)
{
    int n = *(int *)ctx;
    for (int i = 0; i < n; i++) {
        f[i] = 0;
        for (int j = 0; j < n; j++) f[i] += coefficient(n, i, j) * x->y[j];
    }
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    int n = *(int *)ctx;
    (void)x;
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) J[j * n + i] = coefficient(n, i, j);
    return 0;
}

/* b <- P x or P^T x, size <- the same with moduli */
static void multiply(const costate_method *m, int n, double h, int transpose, const double *x, double *b, double *size)
{
    int s = m->s;
    for (int i = 0; i < s; i++)
        for (int k = 0; k < n; k++) {
            double sum = 0, moduli = 0;
            for (int j = 0; j < s; j++)
                for (int l = 0; l < n; l++) {
                    int from = transpose ? j : i, to = transpose ? i : j, row = transpose ? l : k;
                    double p = (k == l ? m->W[from * s + to] / h : 0) -
                               (i == j ? coefficient(n, row, transpose ? k : l) : 0);
                    sum += p * x[j * n + l];
                    moduli += fabs(p * x[j * n + l]);
                }
            b[i * n + k] = sum;
            size[i * n + k] = moduli;
        }
}

/* after a run and a sweep with several columns, for which there is work space then */
static costate *solver(const char *method, costate_problem *P, costate_tape *tape)
{
    double y[MOST], lambda[COLUMNS * MOST];
    costate *c = costate_new(costate_method_find(method), P, &(costate_options){.rtol = 1e-4, .atol = 1e-6,
                                                                                .autonomous = 1});
    for (int i = 0; i < MOST; i++) y[i] = 1 + 0.1 * i;
    for (int i = 0; i < COLUMNS * MOST; i++) lambda[i] = cos(i);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, tape));
    CHECK_OK(c, costate_adjoint(c, tape, COLUMNS, lambda, NULL, NULL, NULL));
    return c;
}

static void solves(costate *c, int n, int transpose, int m)
{
    stepper *st = &c->st;
    double B[COLUMNS * LENGTH], X[COLUMNS * LENGTH], b[LENGTH], size[LENGTH];
    int len = st->s * n;
    for (int i = 0; i < m * len; i++) B[i] = X[i] = sin(3.0 + 7 * i);
    accuracy to = {.tol = 1e-12};
    assert_int_equal(firk_solve(st, st->fac, transpose, m, &to, X), 0);
    for (int j = 0; j < m; j++) {
        multiply(st->m, n, st->fac->h, transpose, X + j * len, b, size);
        for (int i = 0; i < len; i++) {
            double error = fabs(b[i] - B[j * len + i]);
            if (!(error <= 1e-12 * (size[i] + 1)))
                fail_msg("%s, n = %d, transposed %d, column %d of %d: row %d is wrong by %g", st->m->name, n, transpose,
                         j, m, i, error);
        }
    }
}

static void blocks(void **state)
{
    static const char *const methods[] = {"radau2a", "gauss3", "radau2a5"};
    (void)state;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        for (int n = 1; n <= MOST; n++) {
            costate_problem P = {.n = n, .rhs.value = value, .jac = jac, .ctx = &n};
            costate_tape *tape = costate_tape_new();
            costate *c = solver(methods[k], &P, tape);
            assert_true(c->st.fac->h > 0);
            for (int transpose = 0; transpose < 2; transpose++)
                for (int m = 1; m <= COLUMNS; m++) solves(c, n, transpose, m);
            costate_tape_free(tape);
            costate_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
