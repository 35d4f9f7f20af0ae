/* test_residual_cost.c - F = M y' - f(t, y) with a constant M costs what M y' = f(t, y) does: matrices factored, at the
   start and in steps, and Newton iterations. */
#include "common.h"

enum { INTERIOR = 10, MOST = (INTERIOR + 2) * (INTERIOR + 2) + 4 };

/* to t1, or one step of this h */
static costate_stats cost(const costate_method *m, const problem *b, double tol, double h)
{
    double y[MOST] = {0};
    costate_options o = {.rtol = tol, .atol = tol, .h0 = h, .controller = h > 0 ? COSTATE_FIXED : COSTATE_AUTO};
    costate *c = new_for_test(m, &b->P, &o);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, h > 0 ? b->t0 + h : b->t1, y, b->p0, NULL));
    costate_stats s = *costate_get_stats(c);
    costate_free(c);
    return s;
}

static long factored(const costate_stats *s) { return s->decompositions + s->complex_decompositions; }

/* Newton iterations a step: until M has been seen twice, after the second step, Newton does not trust that it stays,
   and takes one more a block; runs have three steps or more. */
static void as_with_mass(void **state)
{
    const costate_method *m = *state;
    costate_method_info i = method_info(m);
    if (!is_newton(m) || !i.embedded || i.properties & COSTATE_EXPLICIT_FIRST) return;
    if (!method_takes(m, MASS_SINGULAR)) return;
    problem *mass = problem_heat(INTERIOR), *residual = problem_heat_dae(INTERIOR, 1);
    assert_true(mass && residual && residual->P.n + residual->P.nq <= MOST);
    for (int k = 2; k <= 6; k += 2) {
        double tol = pow(10, -k), h = (mass->t1 - mass->t0) / 50;
        costate_stats a = cost(m, mass, tol, h), b = cost(m, residual, tol, h);
        if (factored(&b) != factored(&a) + 1)                  /* with which y' is found */
            fail_msg("%s, tol %.0e, one step: %ld factorisations, with M %ld", method_name(m), tol, factored(&b),
                     factored(&a));
        a = cost(m, mass, tol, 0);
        b = cost(m, residual, tol, 0);
        double each = (double)b.newton / (double)b.steps, with_mass = (double)a.newton / (double)a.steps;
        if (!(each <= 1.25 * with_mass))
            fail_msg("%s, tol %.0e: %.3g Newton iterations a step, with M %.3g", method_name(m), tol, each, with_mass);
    }
    problem_free(mass);
    problem_free(residual);
}

int main(void) { return run_by_method("the cost of a residual", as_with_mass); }
