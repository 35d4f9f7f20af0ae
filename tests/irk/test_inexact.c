/* test_inexact.c - stages solved without a matrix no further than the error counts: what that leaves is an error of the
   tolerance's size, the preconditioner is kept, few iterations are taken, and the run can be repeated to the bit. */
#include "common.h"

enum { POINTS = 32, N = 2 * POINTS, ROOM = N + 4 };       /* ROOM: for integrals, too */

/* the inverse of the diagonal sigma + 2 a/dx^2 of the 1-D Brusselator's diffusion, poor where it matters */
typedef struct { double diagonal; int setups; } diagonal;

static int setup(double sigma, const costate_point *x, void *ctx)
{
    diagonal *d = ctx;
    (void)x;
    d->diagonal = sigma + 2 * 0.02 * (POINTS + 1) * (POINTS + 1);
    d->setups++;
    return 0;
}

static int divide(int transpose, double *x, void *ctx)
{
    const diagonal *d = ctx;
    (void)transpose;
    for (int i = 0; i < N; i++) x[i] /= d->diagonal;
    return 0;
}

static costate_stats forward(const costate_method *m, const problem *b, costate_options o, double *y)
{
    double again[ROOM] = {0};
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    assert_true(b->P.n == N && N + b->P.nq <= ROOM);
    memset(y, 0, ROOM * sizeof *y);
    memcpy(y, b->y0, N * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    costate_stats s = *costate_get_stats(c);
    memcpy(again, b->y0, N * sizeof *again);
    CHECK_OK(c, costate_replay(c, tape, again, b->p0));
    assert_memory_equal(again, y, sizeof again);
    costate_tape_free(tape);
    costate_free(c);
    return s;
}

/* Each stage may be wrong by newton_tol, 0.1 tolerances at most, and steps add up what is left of it: one tolerance and
   a half of the error with exact stages are more than that leaves. */
static void as_good_as_exact(void **state)
{
    const costate_method *m = *state;
    if (method_info(m).family != COSTATE_SDIRK || !method_info(m).embedded) return;
    problem *b = problem_brusselator(POINTS);
    double truth[ROOM], y[ROOM];
    b->t1 = b->t0 + 2;
    forward(costate_method_find("radau2a"), b, (costate_options){.rtol = 1e-11, .atol = 1e-11}, truth);
    for (int k = 0; k < 6; k++) {
        diagonal d = {1, 0};
        costate_preconditioner p = {.setup = setup, .solve = divide, .ctx = &d};
        double tol = pow(10, -3 - k / 2);
        costate_options o = {.rtol = tol, .atol = tol};
        forward(m, b, o, y);
        double exact = error_in_tolerances(N, y, truth, tol);
        o.solver = COSTATE_LS_GMRES;
        o.preconditioner = k & 1 ? &p : NULL;
        costate_stats s = forward(m, b, o, y);
        double stages = (double)s.steps * method_info(m).stages;
        if (!(error_in_tolerances(N, y, truth, tol) <= 1.5 * exact + 1))
            fail_msg("%s, tol %.0e: %.2g tolerances, with exact stages %.2g", method_name(m), tol,
                     error_in_tolerances(N, y, truth, tol), exact);
        if (!((double)s.newton <= 3 * stages)) fail_msg("%s: %ld Newton, %g stages", method_name(m), s.newton, stages);
        if (k & 1 && !(d.setups <= 2 * (4 + s.steps / 10)))            /* run and replay */
            fail_msg("%s: %d setups in %ld steps", method_name(m), d.setups / 2, s.steps);
    }
    problem_free(b);
}

/* y(t1) by GMRES with this newton_tol */
static void by_gmres(const costate_method *m, const problem *b, double newton_tol, double *y)
{
    costate_options o = {.rtol = 1e-6, .atol = 1e-6, .newton_tol = newton_tol, .solver = COSTATE_LS_GMRES};
    costate *c = costate_new(m, &b->P, &o);
    memset(y, 0, ROOM * sizeof *y);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
    costate_free(c);
}

/* The default of newton_tol where stages are solved so: 0.1 if what that leaves in the estimate, 0.1 sum |e_j|, is at
   most a fifth of a tolerance, else 0.03; trbdf2's has f(t, y).  0: not shipped, its weights are not known here. */
static double loosely(const costate_method *m)
{
    static const struct { const char *name; double tol; } known[] = {
        {"trbdf2", 0.03}, {"sdirk3a", 0.03}, {"sdirk4a", 0.03}, {"sdirk4b", 0.03}, {"sdirk2a", 0.1}, {"sdirk2b", 0.1},
        {"ark324", 0.1}, {"ark436", 0.1}, {"kvaerno32", 0.1}, {"kvaerno43", 0.1}, {"kvaerno54", 0.03},
        {"esdirk32i5", 0.1}, {"esdirk43i6", 0.1}, {"esdirk54i8", 0.03}, {"kencarp5", 0.03}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(method_name(m), known[i].name)) return known[i].tol;
    return 0;
}

/* sqrt(rtol) where M is singular: stages are not solved so. */
static void default_tolerance(void **state)
{
    const costate_method *m = *state;
    if (method_info(m).family != COSTATE_SDIRK || !method_info(m).embedded) return;
    for (int mass = MASS_IDENTITY; mass <= MASS_SINGULAR; mass++) {
        const problem *b = problem_synthetic(mass, 0, 0, 0, 0);
        double given[ROOM], y[ROOM];
        if (!method_takes(m, mass) || loosely(m) == 0) continue;
        by_gmres(m, b, mass == MASS_SINGULAR ? sqrt(1e-6) : loosely(m), given);
        by_gmres(m, b, 0, y);
        assert_memory_equal(y, given, sizeof y);
    }
}

int main(void)
{
    return run_by_method("as good as with exact stages", as_good_as_exact) +
           run_by_method("default of newton_tol", default_tolerance);
}
