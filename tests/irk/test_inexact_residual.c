/* test_inexact_residual.c - stages of a residual solved without a matrix no further than the error counts: constraints
   and the unknowns they determine, too, are as good as with exact stages, and the preconditioner is kept.

   The 1-D Brusselator y' = f(t, y) with z_i of 0 = c_i = z_i + z_i^3/3 - y_i, which enters the other rows:
   F = (y' - f + c, c). */
#include "common.h"

enum { POINTS = 16, HALF = 2 * POINTS, N = 2 * HALF };

static const problem *brusselator;

static void constraints(const double *y, double *c)
{
    const double *z = y + HALF;
    for (int i = 0; i < HALF; i++) c[i] = z[i] + z[i] * z[i] * z[i] / 3 - y[i];
}

static int value(const costate_point *x, double *out, void *ctx)
{
    double f[HALF];
    costate_point at = {.t = x->t, .y = x->y, .p = x->p};
    (void)ctx;
    int r = brusselator->P.rhs.value(&at, f, brusselator->P.ctx);
    constraints(x->y, out + HALF);
    for (int i = 0; i < HALF; i++) out[i] = x->yp[i] - f[i] + out[HALF + i];
    return r;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double f[HALF];
    const double *z = x->y + HALF;
    costate_point at = {.t = x->t, .y = x->y, .p = x->p}, along = {.t = dx->t, .y = dx->y, .p = dx->p};
    (void)ctx;
    int r = brusselator->P.rhs.tangent(&at, &along, f, brusselator->P.ctx);
    for (int i = 0; i < HALF; i++) {
        out[HALF + i] = dx->y ? (1 + z[i] * z[i]) * dx->y[HALF + i] - dx->y[i] : 0;
        out[i] = (dx->yp ? dx->yp[i] : 0) - f[i] + out[HALF + i];
    }
    return r;
}

/* the inverse of the diagonal, of f that of its diffusion */
typedef struct { double of[N]; int setups; } diagonal;

static int setup(double sigma, const costate_point *x, void *ctx)
{
    diagonal *d = ctx;
    for (int i = 0; i < HALF; i++) {
        d->of[i] = sigma + 2 * 0.02 * (POINTS + 1) * (POINTS + 1);
        d->of[HALF + i] = 1 + x->y[HALF + i] * x->y[HALF + i];
    }
    d->setups++;
    return 0;
}

static int divide(int transpose, double *x, void *ctx)
{
    const diagonal *d = ctx;
    (void)transpose;
    for (int i = 0; i < N; i++) x[i] /= d->of[i];
    return 0;
}

static void start(double *y)
{
    memcpy(y, brusselator->y0, HALF * sizeof *y);
    for (int i = 0; i < HALF; i++) {
        double z = 0;
        for (int k = 0; k < 60; k++) z -= (z + z * z * z / 3 - y[i]) / (1 + z * z);
        y[HALF + i] = z;
    }
}

static costate_stats forward(const costate_method *m, costate_options o, double *y)
{
    costate_problem P = {.n = N, .np = brusselator->P.np, .residual = {.value = value, .tangent = tangent}};
    double again[N];
    costate *c = new_for_test(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    start(y);
    memcpy(again, y, sizeof again);
    CHECK_OK(c, costate_integrate(c, brusselator->t0, brusselator->t0 + 2, y, brusselator->p0, tape));
    costate_stats s = *costate_get_stats(c);
    CHECK_OK(c, costate_replay(c, tape, again, brusselator->p0));
    assert_memory_equal(again, y, sizeof again);
    costate_tape_free(tape);
    costate_free(c);
    return s;
}

/* Each stage may be wrong by newton_tol, 0.003 tolerances; steps add up what is left of it, and a constraint is missed
   by it: a hundred times that is more than either. */
static void as_good_as_exact(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    if (info.family != COSTATE_SDIRK || !info.embedded || info.properties & COSTATE_EXPLICIT_FIRST) return;
    if (!method_takes(m, MASS_SINGULAR)) return;
    problem *b = problem_brusselator(POINTS);
    const double LEFT = 100 * 0.003;
    double truth[N], y[N], c[HALF], none[HALF] = {0};
    brusselator = b;
    forward(costate_method_find("radau2a5"), (costate_options){.rtol = 1e-11, .atol = 1e-11}, truth);
    for (int k = 3; k <= 5; k++) {
        diagonal d = {{0}, 0};
        costate_preconditioner p = {.setup = setup, .solve = divide, .ctx = &d};
        double tol = pow(10, -k);
        costate_options o = {.rtol = tol, .atol = tol};
        forward(m, o, y);
        double exact[2] = {error_in_tolerances(HALF, y, truth, tol),
                           error_in_tolerances(HALF, y + HALF, truth + HALF, tol)};
        o.solver = COSTATE_LS_GMRES;
        o.preconditioner = &p;
        costate_stats s = forward(m, o, y);
        double stages = (double)s.steps * info.stages;
        for (int part = 0; part < 2; part++) {
            double e = error_in_tolerances(HALF, y + part * HALF, truth + part * HALF, tol);
            if (!(e <= 1.5 * exact[part] + LEFT))
                fail_msg("%s, tol %.0e, %s: %.2g tolerances, with exact stages %.2g", method_name(m), tol,
                         part ? "z" : "y", e, exact[part]);
        }
        constraints(y, c);
        if (!(error_in_tolerances(HALF, c, none, tol) <= LEFT))
            fail_msg("%s, tol %.0e: c is %.2g tolerances", method_name(m), tol,
                     error_in_tolerances(HALF, c, none, tol));
        if (!((double)s.newton <= 3 * stages)) fail_msg("%s: %ld Newton, %g stages", method_name(m), s.newton, stages);
        if (!(d.setups <= 2 * (4 + s.steps / 10)))                     /* run and replay */
            fail_msg("%s: %d setups in %ld steps", method_name(m), d.setups / 2, s.steps);
    }
    problem_free(b);
}

int main(void) { return run_by_method("residuals: as good as with exact stages", as_good_as_exact); }
