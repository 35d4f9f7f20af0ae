/* test_bvp_error.c - the error of y and q is within twice the tolerance at every t: random problems of 1 to 8 states in
   three forms, with breaks and jumps, forwards and backwards, every method; the truth is gauss5 at 1e-12.

   Where the order at mesh points is no higher than that between them, errors of mesh points add up to more than what
   the estimate, of each interval by itself, sees: within 5 times there. */
#include "bvp_common.h"

enum { CASES = 24, POINTS = 61, NMAX = 10 };

static double time_of(const bvps *s, int k) { return k == POINTS - 1 ? s->b : s->a + k * (s->b - s->a) / (POINTS - 1); }

static costate_bvp *solved(const costate_method *m, const bvps *s, double tol)
{
    const costate_bvp_options o = bvps_options(s, tol);
    costate_bvp *c = costate_bvp_new(m, &s->P, &s->C, &o);
    CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
    return c;
}

/* in tolerances */
static double error_of(costate_bvp *c, costate_bvp *truth, const bvps *s, double tol)
{
    double X[NMAX], Y[NMAX], worst = 0;
    for (int k = 0; k < POINTS; k++) {
        CHECK_BVP(c, costate_bvp_eval(c, time_of(s, k), X));
        CHECK_BVP(truth, costate_bvp_eval(truth, time_of(s, k), Y));
        for (int i = 0; i < s->P.n + s->P.nq; i++)
            worst = larger_of(worst, fabs(X[i] - Y[i]) / (tol + tol * fabs(Y[i])));
    }
    return worst;
}

static void errors(void **state)
{
    const costate_method *m = *state;
    int order = method_info(m).order;
    double bound = order > method_info(m).dense ? 2 : 5, worst = 0, ratio = 0;
    for (unsigned k = 1; k <= CASES; k++) {
        unsigned u = 71 * k;
        bvps_spec spec = {.seed = u, .n = 1 + (int)random_below(&u, 8), .np = (int)random_below(&u, 4)};
        spec.pieces = 1 + (int)random_below(&u, 3);
        spec.backwards = (int)random_below(&u, 2);
        spec.kind = (bvps_kind){(int)random_below(&u, 3), (int)random_below(&u, 2), 0};
        double tol = order == 1 ? 3e-2 : pow(10, -3 - (double)random_below(&u, order < 4 ? 2 : 5));
        bvps *s = bvps_tangled(&spec);
        assert_non_null(s);
        costate_bvp *truth = solved(costate_method_find("gauss5"), s, 1e-12), *c = solved(m, s, tol);
        double error = error_of(c, truth, s, tol), estimate = costate_bvp_get_stats(c)->error;
        worst = larger_of(worst, error);
        ratio = larger_of(ratio, error / estimate);
        if (!(error <= bound && estimate <= 1))
            fail_msg("%s, case %u, n = %d, form %d, tolerance %.0e, %d intervals: error %.2f, estimated %.2f",
                     method_name(m), k, spec.n, spec.kind.form, tol, costate_bvp_intervals(c), error, estimate);
        costate_bvp_free(c);
        costate_bvp_free(truth);
        bvps_free(s);
    }
    print_message("           largest error %.2f tolerances, at most %.2f of the estimate\n", worst, ratio);
}

int main(void) { return run_by_bvp_method("errors within the tolerance", errors); }
