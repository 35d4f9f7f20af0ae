/* test_bench_slow_modes.c - two cycles of multigrid that are not exact for the mean of a Brusselator, on 24 x 24
   points, give a wrong gradient, and run, sweep and check say so; on 32 x 32 they are exact, and nothing is said. */
#include "common.h"
#include "ivp.h"
#include "multigrid.h"

enum { MOST = 2 * 32 * 32 };

typedef struct { double by_y0[MOST], estimate; int named; costate_report report; } result;

static int cycles_setup(double sigma, const costate_point *x, void *ctx)
{
    (void)x;
    return multigrid_setup(ctx, sigma, NULL), 0;
}
static int cycles_solve(int transpose, double *x, void *ctx) { return (void)transpose, multigrid_solve(ctx, x), 0; }

/* the gradient of |y(t1)|^2/2, and the check at the last step */
static void swept(const ivp *b, multigrid *cycles, double rtol, result *r)
{
    const costate_preconditioner p = {.setup = cycles_setup, .solve = cycles_solve, .ctx = cycles};
    double y[MOST], t, h;
    int n = ivp_length(b);
    costate *c = costate_new(costate_method_find("w6s4os"), &b->P, &(costate_options){.rtol = rtol,
                             .atol = rtol * b->atol, .solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p});
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, 0, b->t1, y, b->p, tape));
    ivp_seed(b, y, r->by_y0);
    CHECK_OK(c, costate_adjoint(c, tape, 1, r->by_y0, NULL, NULL, NULL));
    r->estimate = costate_get_stats(c)->gradient_error;
    r->named = strstr(costate_message(c), "not exact enough on slow modes") != NULL;
    costate_tape_get(tape, costate_tape_steps(tape) - 1, &t, &h, y);
    CHECK_OK(c, costate_check_matrix(c, t, h, y, b->p, &r->report));
    costate_tape_free(tape);
    costate_free(c);
}

static result right, coarse;

static void brusselator(void **state)
{
    (void)state;
    for (int side = 24; side <= 32; side += 8) {
        ivp b;
        assert_int_equal(ivp_new(&b, "brusselator_100", side, 0), COSTATE_OK);
        multigrid *cycles = multigrid_new(&b.grid, 2, 1);
        swept(&b, cycles, 1e-6, &right);
        swept(&b, cycles, 1e-2, &coarse);
        double error = relative_error(ivp_length(&b), coarse.by_y0, right.by_y0);
        int warned = strstr(coarse.report.text, "WARNING") != NULL;
        int expected = side == 24 ? error > 0.5 && coarse.estimate > error / 4 && coarse.estimate < 4 * error &&
                                    coarse.named && warned && coarse.report.smooth > 0.5
                                  : error < 0.01 && coarse.estimate < 0.01 && !coarse.named && !warned;
        if (!expected || right.named)
            fail_msg("%d: the error is %.1e, the estimate %.1e: %s", side, error, coarse.estimate, coarse.report.text);
        multigrid_free(cycles);
        ivp_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(brusselator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
