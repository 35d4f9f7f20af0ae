/* test_gradient_error_decisions.c - what the estimate of a gradient's error in a sweep leaves out, each with a run that
   it would mislead: gradients that are right have small estimates, and one that is wrong has not.

   From reference values: modes that die out after one more step or two, or are never damped by the method; steps whose
   own local errors are large; a gradient that decays; the second error estimate of dopri853.  From closed forms, lambda
   being a rotation: a push at a given time, and a mass matrix, both of which change lambda^T f(y) though the gradient
   is right. */
#include "common.h"

typedef struct { double error, estimate; int says; } found;

/* lambda: n + nq by m, in and out */
static found sweep(const char *name, const costate_problem *P, const costate_options *o, double t0, double t1,
                   const double *y0, const double *p, int m, double *lambda)
{
    found z = {0, 0, 0};
    double y[32] = {0};
    costate *c = costate_new(costate_method_find(name), P, o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, y0, (size_t)P->n * sizeof *y);
    if (costate_integrate(c, t0, t1, y, p, tape) || costate_adjoint(c, tape, m, lambda, NULL, NULL, NULL))
        fail_msg("%s: %s", name, costate_message(c));
    z.estimate = costate_get_stats(c)->gradient_error;
    z.says = strstr(costate_message(c), "relative error of the gradient") != NULL;
    costate_tape_free(tape);
    costate_free(c);
    return z;
}

/* ---- problems with reference values ---- */

static const struct { const char *problem, *method; double rtol, least, most; const char *why; } runs[] = {
    {"rober_4e7", "w6s4os", 1e-2, 0, 1e-3, "modes that the second step after damps"},
    {"rober_4e7", "gauss2", 1e-3, 0, 1e-3, "modes that the method does not damp"},
    {"rober_4e7", "gauss3", 1e-3, 0, 1e-3, "modes that the method does not damp"},
    {"lv", "sdirk3a", 1e-3, 0, 0.03, "local errors of lambda that are those of y"},
    {"lv", "ros2", 1e-3, 0, 0.03, "local errors of lambda that are those of y"},
    {"orego", "rodas6p", 1e-2, 2, HUGE_VAL, "local errors that are large beside those of y"},
    {"hires", "sdirk4a", 1e-6, 0, 1e-4, "a gradient that forgets"},
    {"hires", "radau2a2", 1e-6, 0, 1e-4, "a gradient that forgets"},
};

static found by_reference(const problem *b, const char *method, double rtol)
{
    double atol[16], lambda[32] = {0};
    const problem_reference *z = b->reference;
    int n = b->P.n, N = n + b->P.nq;
    for (int i = 0; i < n; i++) atol[i] = rtol * fmax(1e-3 * fabs(z->y[i]), 1e-10);
    const costate_options o = {.rtol = rtol, .atol_vector = atol, .cost_error = 1, .autonomous = b->autonomous};
    lambda[z->kout] = lambda[N + n] = 1;
    found w = sweep(method, &b->P, &o, b->t0, b->t1, b->y0, b->p0, 2, lambda);
    w.error = fmax(relative_error(n, lambda, z->dyk_dy0), relative_error(n, lambda + N, z->dG_dy0));
    return w;
}

static void modes_and_local_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (!costate_method_find(runs[i].method)) continue;
        found w = by_reference(problem_find(runs[i].problem), runs[i].method, runs[i].rtol);
        print_message("           %s, %s, %g: error %.2g, estimated %.2g (%s)\n", runs[i].problem, runs[i].method,
                      runs[i].rtol, w.error, w.estimate, runs[i].why);
        int wrong = runs[i].least > 0;
        assert_true(wrong ? w.error > 0.1 : w.error < 0.03);
        assert_true(w.estimate >= runs[i].least && w.estimate <= runs[i].most);
        assert_int_equal(w.says, wrong);
    }
}

/* ---- rotations ---- */

static const double RATE[] = {1, 3};        /* of two oscillators */

static int rotate(const costate_point *x, double *out, void *ctx)
{
    const double *mass = ctx;
    for (int k = 0; k < 2; k++) {
        out[2 * k] = mass[2 * k] * RATE[k] * x->y[2 * k + 1];
        out[2 * k + 1] = -mass[2 * k + 1] * RATE[k] * x->y[2 * k];
    }
    return 0;
}
static int rotate_back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *mass = ctx;
    for (int k = 0; g->y && k < 2; k++) {
        g->y[2 * k] -= mass[2 * k + 1] * RATE[k] * w[2 * k + 1];
        g->y[2 * k + 1] += mass[2 * k] * RATE[k] * w[2 * k];
    }
    return (void)x, 0;
}

static int at_two(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->t - 2, 0; }
static int at_two_along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = dx->t, 0;
}
static int at_two_back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->t) *g->t += w[0];
    return (void)x, (void)ctx, 0;
}
static int push(const costate_point *x, double *out, void *ctx)
{
    memcpy(out, x->y, 4 * sizeof *out);
    out[3] += 5;
    return (void)ctx, 0;
}
static int push_along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    for (int i = 0; i < 4; i++) out[i] = dx->y ? dx->y[i] : 0;
    return (void)x, (void)ctx, 0;
}
static int push_back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < 4; i++) g->y[i] += w[i];
    return (void)x, (void)ctx, 0;
}

static int rotate_along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    static const double zero[4] = {0};
    return (void)x, rotate(&(costate_point){.y = dx->y ? dx->y : zero}, out, ctx);
}

static int diagonal(double *M, void *ctx)
{
    const double *mass = ctx;
    for (int i = 0; i < 4; i++) M[5 * i] = mass[i];
    return 0;
}

/* second derivatives */
static int none(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    memset(out, 0, 4 * sizeof *out);
    return (void)x, (void)a, (void)b, (void)ctx, 0;
}
static int nothing(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                   void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;
}

static const costate_event pushed = {
    .guard = {.value = at_two, .tangent = at_two_along, .adjoint = at_two_back},
    .jump = {.value = push, .tangent = push_along, .adjoint = push_back}};

static found rotation(const char *method, const costate_problem *P)
{
    const costate_options o = {.rtol = 1e-7, .atol = 1e-7, .autonomous = 1};
    const double y0[] = {1, 0, 1, 0}, t1 = 5, end = RATE[1] * t1;
    double lambda[4] = {0, 0, 1, 0}, exact[] = {0, 0, cos(end), sin(end)};
    found z = sweep(method, P, &o, 0, t1, y0, NULL, 1, lambda);
    z.error = relative_error(4, lambda, exact);
    return z;
}

static void pushes_and_masses(void **state)
{
    static double ones[] = {1, 1, 1, 1}, masses[] = {1, 8, 2, 1};
    static const char *const methods[] = {"dopri5", "radau2a", "rodas4"};
    (void)state;
    const costate_map f = {.value = rotate, .tangent = rotate_along, .adjoint = rotate_back,
                           .tangent2 = none, .adjoint_tangent = nothing};
    const costate_problem at_a_time = {.n = 4, .rhs = f, .event = &pushed, .nevents = 1, .ctx = ones},
                          with_mass = {.n = 4, .rhs = f, .mass = diagonal, .ctx = masses};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!costate_method_find(methods[i])) continue;
        for (int mass = 0; mass < 2; mass++) {
            if (mass && i == 0) continue;                       /* explicit methods take no mass matrix */
            found z = rotation(methods[i], mass ? &with_mass : &at_a_time);
            print_message("           %s, %s: error %.2g, estimated %.2g\n", mass ? "mass matrix" : "push", methods[i],
                          z.error, z.estimate);
            assert_true(z.error < 1e-4 && z.estimate < 1e-3 && !z.says);
        }
    }
}

/* ---- a quarter of the run ---- */

enum { STEPS = 480 };
static const double LENGTH = 0.08, FASTER = 15;

/* one oscillator, which is fast in the middle quarter of the run */
static double rate_at(double t) { return fabs(t / (STEPS * LENGTH) - 0.5) < 0.125 ? FASTER : 1; }

static int turn(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = rate_at(x->t) * x->y[1];
    out[1] = -rate_at(x->t) * x->y[0];
    return 0;
}
static int turn_back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) { g->y[0] -= rate_at(x->t) * w[1]; g->y[1] += rate_at(x->t) * w[0]; }
    return 0;
}

/* With steps of one length the gradient is wrong where the oscillator is fast, though y, which rests, is right: there
   must be enough places. */
static void a_quarter_of_the_run(void **state)
{
    (void)state;
    const double end = STEPS * LENGTH, angle = end * (0.75 + 0.25 * FASTER), y0[] = {0, 0};
    const costate_problem P = {.n = 2, .rhs = {.value = turn, .adjoint = turn_back}};
    const costate_options o = {.controller = COSTATE_FIXED, .h0 = LENGTH};
    double lambda[2] = {1, 0}, exact[2] = {cos(angle), sin(angle)};
    found w = sweep("dopri5", &P, &o, 0, end, y0, NULL, 1, lambda);
    w.error = relative_error(2, lambda, exact);
    print_message("           a quarter of the run: error %.2g, estimated %.2g\n", w.error, w.estimate);
    assert_true(w.error > 0.03 && w.estimate > 0.03 && w.says);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(modes_and_local_errors), cmocka_unit_test(pushes_and_masses),
                                       cmocka_unit_test(a_quarter_of_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
