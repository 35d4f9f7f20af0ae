/* test_default_method.c - what users of the default method meet beside errors of y: gradients through layers between
   slow phases, and steps that Newton's iteration does not solve. */
#include "common.h"

/* ---- y0' = y1, p y1' = (1 - y0^2) y1 - y0, p = 1e-6: two layers until t = 2 ---- */

static int value(const costate_point *x, double *o, void *ctx)
{
    const double *y = x->y;
    (void)ctx;
    o[0] = y[1];
    o[1] = ((1 - y[0] * y[0]) * y[1] - y[0]) / x->p[0];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *d, double *o, void *ctx)
{
    const double *y = x->y, a = d->y ? d->y[0] : 0, b = d->y ? d->y[1] : 0, e = x->p[0], q = d->p ? d->p[0] : 0;
    (void)ctx;
    o[0] = b;
    o[1] = ((1 - y[0] * y[0]) * b - (2 * y[0] * y[1] + 1) * a - ((1 - y[0] * y[0]) * y[1] - y[0]) / e * q) / e;
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, e = x->p[0];
    (void)ctx;
    if (g->y) g->y[0] -= (2 * y[0] * y[1] + 1) / e * w[1], g->y[1] += w[0] + (1 - y[0] * y[0]) / e * w[1];
    if (g->p) g->p[0] -= ((1 - y[0] * y[0]) * y[1] - y[0]) / e / e * w[1];
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, e = x->p[0];
    (void)ctx;
    J[0] = 0, J[1] = -(2 * y[0] * y[1] + 1) / e, J[2] = 1, J[3] = (1 - y[0] * y[0]) / e;
    return 0;
}

typedef struct { double y0[2], p; } slopes;

static slopes gradient(const char *method, costate_options o)
{
    const costate_problem P = {.n = 2, .np = 1, .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint},
                               .jac = jacobian};
    const double p = 1e-6;
    double y[] = {2, 0};
    o.autonomous = 1;
    slopes g = {{1, 0}, 0};
    costate *c = costate_new(costate_method_find(method), &P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, 2, y, &p, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, g.y0, &g.p, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return g;
}

/* Explicit steps through the layers made the gradient 3 times as large at 1e-6, and wrong by 1e-2 at 1e-8.  By the
   equations of the tangents, solved with SciPy's Radau at 1e-9, dy0/dy0 is 1.339215 and dy0/dp is 412.8894. */
static void through_layers(void **state)
{
    slopes exact = gradient("radau2a7", (costate_options){.rtol = 1e-11, .atol = 1e-11});
    (void)state;
    assert_true(fabs(exact.y0[0] / 1.339215 - 1) < 1e-5 && fabs(exact.p / 412.8894 - 1) < 1e-5);
    for (int k = 6; k <= 9; k++) {
        costate_options o = {.rtol = pow(10, -k), .atol = pow(10, -k)};
        slopes g = gradient("auto", o);
        double by_y = fabs(g.y0[0] / exact.y0[0] - 1), by_p = fabs(g.p / exact.p - 1), most = k < 8 ? 0.05 : 1e-3;
        if (!(by_y <= most && by_p <= most)) fail_msg("1e-%d: dy/dy0 off by %.1e, dy/dp by %.1e", k, by_y, by_p);
    }
}

/* ---- a pendulum of index 2 (Gear, Gupta, Leimkuhler) ---- */

static int pendulum(const costate_point *x, double *o, void *ctx)
{
    const double *y = x->y;
    (void)ctx;
    o[0] = y[2] - y[4] * y[0];
    o[1] = y[3] - y[4] * y[1];
    o[2] = -y[5] * y[0];
    o[3] = -9.81 - y[5] * y[1];
    o[4] = (y[0] * y[0] + y[1] * y[1] - 1) / 2;
    o[5] = y[0] * y[2] + y[1] * y[3];
    return 0;
}

static int pendulum_jacobian(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y;
    const struct { int row, column; double value; } all[] = {
        {0, 0, -y[4]}, {0, 2, 1}, {0, 4, -y[0]}, {1, 1, -y[4]}, {1, 3, 1}, {1, 4, -y[1]}, {2, 0, -y[5]}, {2, 5, -y[0]},
        {3, 1, -y[5]}, {3, 5, -y[1]}, {4, 0, y[0]}, {4, 1, y[1]}, {5, 0, y[2]}, {5, 1, y[3]}, {5, 2, y[0]},
        {5, 3, y[1]}};
    (void)ctx;
    memset(J, 0, 36 * sizeof *J);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) J[all[k].row + 6 * all[k].column] = all[k].value;
    return 0;
}

static int pendulum_mass(double *M, void *ctx)
{
    (void)ctx;
    memset(M, 0, 36 * sizeof *M);
    for (int i = 0; i < 4; i++) M[7 * i] = 1;
    return 0;
}

/* Each step was tried once in vain: with the h for which the iteration had failed in the step before. */
static void failures(void **state)
{
    static const char *const names[] = {"auto", "radau", "radau2a7"};
    static const int index[] = {0, 0, 0, 0, 2, 2};
    const costate_problem P = {.n = 6, .rhs = {.value = pendulum}, .jac = pendulum_jacobian, .mass = pendulum_mass,
                               .index = index};
    (void)state;
    for (int m = 0; m < 3; m++)
        for (int k = 4; k <= 12; k += 2) {
            const costate_options o = {.rtol = pow(10, -k), .atol = pow(10, -k)};
            double y[] = {1, 0, 0, 0, 0, 0};
            costate *c = costate_new(costate_method_find(names[m]), &P, &o);
            CHECK_OK(c, costate_integrate(c, 0, 5, y, NULL, NULL));
            const costate_stats *s = costate_get_stats(c);
            if (2 * s->newton_failures > s->accepted)
                fail_msg("%s, 1e-%d: %ld failures in %ld steps", names[m], k, s->newton_failures, s->accepted);
            costate_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(through_layers), cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
