/* test_coupled_band.c - the stages of a problem whose matrices are banded: their coupled matrix is no band, and is
   factored as the sparse matrix that it is, unless a solver was asked for. */
#include "irk/irk.h"        /* before cmocka, which has a macro fail */
#include "solver/solver.h"
#include "common.h"

enum { POINTS = 60, N = 2 * POINTS };

/* bytes of the factors of the coupled matrix after a sweep */
static double bytes_of(const problem *b, int solver, double *lambda)
{
    costate *c = costate_new(costate_method_find("radau2a"), &b->P,
                             &(costate_options){.rtol = 1e-4, .atol = 1e-4, .solver = solver,
                                                .stage_solve = COSTATE_STAGE_DIRECT});
    costate_tape *tape = costate_tape_new();
    double y[N + 2], mu[8] = {0};
    memcpy(y, b->y0, N * sizeof *y);
    y[N] = y[N + 1] = 0;
    for (int i = 0; i < N + 2; i++) lambda[i] = i < N ? sin(1.0 + i) : 0;
    CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 0.1, y, b->p0, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    const irk_work *a = c->st.own;
    double bytes = (double)LS_Bytes(a->systems.exact);
    costate_tape_free(tape);
    costate_free(c);
    return bytes;
}

static void sparse(void **state)
{
    double chosen[N + 2], band[N + 2], full = 8.0 * 9 * N * N;
    problem *b = problem_brusselator(POINTS);
    (void)state;
    assert_true(bytes_of(b, COSTATE_LS_AUTO, chosen) < full / 10);
    assert_true(bytes_of(b, COSTATE_LS_BAND, band) > full);
    assert_true(relative_error(N, chosen, band) < 1e-9);
    problem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
