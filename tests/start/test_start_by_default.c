/* test_start_by_default.c - where M is singular, gradients by Rosenbrock methods are those of a consistent start.

   y' = -z, 0 = z (1 + y) - p y: log y + y = log y0 + y0 - p t, so that with s = y0, dy/dp = -t y/(1 + y) and
   dy/ds = (1/s + 1)/(1/y + 1).  With z held fixed at t0 instead, errors of the first step's length are left in both. */
#include "common.h"

static int enzyme(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    f[0] = -x->y[1];
    f[1] = x->y[1] * (1 + x->y[0]) - x->p[0] * x->y[0];
    return 0;
}
static int along(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    (void)ctx;
    f[0] = f[1] = 0;
    if (dx->y) f[0] = -dx->y[1], f[1] = dx->y[1] * (1 + x->y[0]) + (x->y[1] - x->p[0]) * dx->y[0];
    if (dx->p) f[1] -= dx->p[0] * x->y[0];
    return 0;
}
static int back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += w[1] * (x->y[1] - x->p[0]), g->y[1] += -w[0] + w[1] * (1 + x->y[0]);
    if (g->p) g->p[0] -= w[1] * x->y[0];
    return 0;
}
static int along2(const costate_point *x, const costate_point *a, const costate_point *b, double *f, void *ctx)
{
    (void)x, (void)ctx;
    f[0] = f[1] = 0;
    if (a->y && b->y) f[1] += a->y[1] * b->y[0] + a->y[0] * b->y[1];
    if (a->p && b->y) f[1] -= a->p[0] * b->y[0];
    if (b->p && a->y) f[1] -= b->p[0] * a->y[0];
    return 0;
}
static int back_along(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                      void *ctx)
{
    (void)x, (void)ctx;
    if (g->y && dx->y) g->y[0] += w[1] * dx->y[1], g->y[1] += w[1] * dx->y[0];
    if (g->y && dx->p) g->y[0] -= w[1] * dx->p[0];
    if (g->p && dx->y) g->p[0] -= w[1] * dx->y[0];
    return 0;
}
static int mass(double *M, void *ctx) { return (void)ctx, M[0] = 1, M[1] = M[2] = M[3] = 0, 0; }
/* the same equations, the second one added to the first: M is not diagonal, but its columns tell */
static int mixed(double *M, void *ctx) { return (void)ctx, M[0] = M[1] = 1, M[2] = M[3] = 0, 0; }
static int enzyme_mixed(const costate_point *x, double *f, void *ctx)
{
    double a[2];
    enzyme(x, a, ctx);
    return f[0] = a[0], f[1] = a[0] + a[1], 0;
}

static const costate_problem dae = {.n = 2, .np = 1, .mass = mass,
                                    .rhs = {.value = enzyme, .tangent = along, .adjoint = back, .tangent2 = along2,
                                            .adjoint_tangent = back_along}};
static const double T = 2;

typedef struct { double y, s, p; } exact;

static exact closed_form(double s, double p)
{
    double right = log(s) + s - p * T, y = exp(right - s);
    for (int k = 0; k < 60; k++) y -= (log(y) + y - right) / (1 / y + 1);
    return (exact){y, (1 / s + 1) / (1 / y + 1), -T * y / (1 + y)};
}

typedef struct { double y[2], lambda[2], mu, V[2]; int status; } found;

static found solve(const char *method, const costate_problem *P, costate_options o, double z)
{
    found a = {.y = {1, z}, .lambda = {1, 0}};
    double p = 1, Vp = 1;
    costate *c = costate_new(costate_method_find(method), P, &o);
    costate_tape *tape = costate_tape_new();
    a.status = costate_integrate(c, 0, T, a.y, &p, tape);
    if (!a.status) CHECK_OK(c, costate_adjoint(c, tape, 1, a.lambda, &a.mu, NULL, NULL));
    if (!a.status) CHECK_OK(c, costate_tangent(c, tape, 1, a.V, &Vp, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return a;
}

static int takes_daes(const char *name)
{
    const costate_problem *P = &dae;
    costate *c = costate_new(costate_method_find(name), P, NULL);
    int takes = costate_status(c) == COSTATE_OK;
    costate_free(c);
    return takes;
}

static void gradients(void **state)
{
    (void)state;
    exact z = closed_form(1, 1);
    int wrong_before = 0, count = 0;
    for (int k = 0; k < costate_method_count(); k++) {
        costate_method_info about;
        costate_method_describe(costate_method_at(k), &about);
        if ((about.family != COSTATE_ROS && about.family != COSTATE_COMPOSITE) || about.order < 3) continue;
        if (!takes_daes(about.name)) continue;
        for (int store = 0; store < 2; store++) {
            costate_options o = {.rtol = 1e-6, .atol = 1e-6,
                                 .storage = store ? COSTATE_STATES_ONLY : COSTATE_ALL_STAGES};
            found a = solve(about.name, &dae, o, 0.5);
            double error = fabs(a.mu / z.p - 1), of_y0 = fabs(a.lambda[0] / z.s - 1);
            if (!(error < 1e-3 && of_y0 < 1e-3)) fail_msg("%s: gradients off by %g, %g", about.name, error, of_y0);
            assert_true(a.lambda[1] == 0);                  /* by the guess */
            assert_true(fabs(a.V[0] - a.mu) < 1e-12);
            o.consistent = COSTATE_CONSISTENT_NONE;
            a = solve(about.name, &dae, o, 0.5);
            wrong_before += fabs(a.mu / z.p - 1) > 20 * error;
            count++;
        }
    }
    print_message("           %d methods, %d with 20 times the error from a fixed start\n", count / 2,
                  wrong_before / 2);
    assert_true(count >= 2 && wrong_before >= count / 3);
}

/* A start that is far from consistent is a mistake, as before; a near one is corrected. */
static void far_and_near(void **state)
{
    (void)state;
    const costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    found far = solve("rodas4", &dae, o, 0.7), near = solve("rodas4", &dae, o, 0.5 + 1e-6),
          right = solve("rodas4", &dae, o, 0.5);
    assert_int_equal(far.status, COSTATE_INCONSISTENT);
    assert_int_equal(near.status, COSTATE_OK);
    assert_true(fabs(near.y[0] - right.y[0]) < 1e-13 && fabs(near.mu - right.mu) < 1e-13);
}

/* Nothing changes where the method solves the constraints itself, where M is regular, or where M does not say which
   unknowns are algebraic; and nobody is overruled. */
static void left_alone(void **state)
{
    (void)state;
    const costate_options o = {.rtol = 1e-6, .atol = 1e-6}, none = {.rtol = 1e-6, .atol = 1e-6,
                                                                    .consistent = COSTATE_CONSISTENT_NONE};
    costate_problem two = dae;
    two.mass = mixed;
    two.rhs = (costate_map){.value = enzyme_mixed};
    const costate_options differences = {.rtol = 1e-6, .atol = 1e-6, .differences = 1}, both[] = {o, none};
    found a[2];
    for (int k = 0; k < 2; k++) a[k] = solve("radau2a", &dae, both[k], 0.5 + 1e-6);
    assert_true(a[0].y[0] == a[1].y[0] && a[0].mu == a[1].mu);
    for (int k = 0; k < 2; k++) {
        costate_options with = differences;
        with.consistent = both[k].consistent;
        a[k] = solve("rodas4", &two, with, 0.5 + 1e-6);
    }
    assert_true(a[0].status == COSTATE_OK && a[0].y[0] == a[1].y[0] && a[0].mu == a[1].mu);
    a[0] = solve("rodas4", &dae, none, 0.5);
    assert_true(a[0].lambda[1] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(far_and_near),
                                       cmocka_unit_test(left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
