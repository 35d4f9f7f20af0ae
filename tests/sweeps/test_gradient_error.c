/* test_gradient_error.c - what a sweep says of its own gradients, costate_stats.gradient_error and a sentence: large
   where they are wrong though y is right, nothing where they are right, and not a bit of them differs for it.

   Oscillators: 12 of them with the frequencies 1, 4, .., 40, of which y shows the slowest alone, and the functional is
   a component of the fastest; the gradient is a rotation.  Forced: sin(t) acts on the slowest.  Heat: the functional
   has all modes, most of which die out.  Van der Pol, mu = 5: the phase of a relaxation oscillation. */
#include <costate/accuracy.h>
#include "solver/solver.h"     /* before cmocka */
#include "line_heat.h"

enum { PAIRS = 12, OSCILLATORS = 2 * PAIRS, POINTS = 30, MOST = OSCILLATORS + POINTS, COLUMNS = 3 };
#define COUNT(a) (sizeof (a) / sizeof *(a))
enum { VDPOL_T1 = 50 };
static const double T1 = 20, MU = 5;
static const int points = POINTS;

static double frequency(int k) { return k == 0 ? 1 : 40.0 * k / (PAIRS - 1); }

static int rotate(const double *y, double *out)
{
    for (int k = 0; k < PAIRS; k++) {
        out[2 * k] = frequency(k) * y[2 * k + 1];
        out[2 * k + 1] = -frequency(k) * y[2 * k];
    }
    return 0;
}
static int oscillators(const costate_point *x, double *out, void *ctx) { return (void)ctx, rotate(x->y, out); }
static int forced(const costate_point *x, double *out, void *ctx)
{
    oscillators(x, out, ctx);
    out[0] += sin(x->t);
    return 0;
}
static int along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    memset(out, 0, OSCILLATORS * sizeof *out);
    if (dx->y) rotate(dx->y, out);
    return (void)x, (void)ctx, 0;
}
static int forced_along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    along(x, dx, out, ctx);
    out[0] += cos(x->t) * dx->t;
    return 0;
}
static int back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int k = 0; g->y && k < PAIRS; k++) {
        g->y[2 * k] -= frequency(k) * w[2 * k + 1];
        g->y[2 * k + 1] += frequency(k) * w[2 * k];
    }
    return (void)x, (void)ctx, 0;
}
static int forced_back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->t) *g->t += cos(x->t) * w[0];
    return back(x, w, g, ctx);
}

/* second derivatives of the linear ones */
static int nothing(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                   void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;
}

static int none(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    memset(out, 0, (size_t)(ctx ? POINTS : OSCILLATORS) * sizeof *out);
    return (void)x, (void)a, (void)b, 0;
}

static int vdpol(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y;
    out[0] = y[1];
    out[1] = MU * (1 - y[0] * y[0]) * y[1] - y[0];
    return (void)ctx, 0;
}
static int vdpol_along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *y = x->y, *d = dx->y;
    out[0] = d ? d[1] : 0;
    out[1] = d ? MU * (1 - y[0] * y[0]) * d[1] - (2 * MU * y[0] * y[1] + 1) * d[0] : 0;
    return (void)ctx, 0;
}
static int vdpol_back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y;
    if (g->y) {
        g->y[0] -= (2 * MU * y[0] * y[1] + 1) * w[1];
        g->y[1] += w[0] + MU * (1 - y[0] * y[0]) * w[1];
    }
    return (void)ctx, 0;
}

static const costate_problem
    free_oscillators = {.n = OSCILLATORS, .rhs = {.value = oscillators, .tangent = along, .adjoint = back,
                                                .tangent2 = none, .adjoint_tangent = nothing}},
    forced_oscillators = {.n = OSCILLATORS, .rhs = {.value = forced, .tangent = forced_along, .adjoint = forced_back,
                                                  .tangent2 = none, .adjoint_tangent = nothing}},
    heat = {.n = POINTS, .rhs = {.value = line_heat, .tangent = line_heat_tangent, .adjoint = line_heat_adjoint,
                              .tangent2 = none, .adjoint_tangent = nothing},
            .ctx = (void *)(size_t)&points},
    relaxation = {.n = 2, .rhs = {.value = vdpol, .tangent = vdpol_along, .adjoint = vdpol_back}};

typedef struct { const costate_problem *P; double t1; int component; costate_options o; const char *method; } task;
typedef struct { double lambda[MOST]; double error; int says, steps; costate_stats s; } found;

static void start(const task *k, double *y)
{
    memset(y, 0, MOST * sizeof *y);
    if (k->P == &heat) for (int i = 0; i < POINTS; i++) y[i] = sin(3.14159265358979323846 * (i + 1) / (POINTS + 1));
    else if (k->P == &relaxation) y[0] = 2;
    else y[0] = 1;
}

static found sweep(const task *k)
{
    found z = {{0}, 0, 0, 0, {0}};
    double y[MOST];
    costate *c = costate_new(costate_method_find(k->method), k->P, &k->o);
    costate_tape *tape = costate_tape_new();
    start(k, y);
    if (costate_integrate(c, 0, k->t1, y, NULL, tape)) fail_msg("%s: %s", k->method, costate_message(c));
    z.lambda[k->component] = 1;
    z.s.adjoints = -costate_get_stats(c)->adjoints;
    if (costate_adjoint(c, tape, 1, z.lambda, NULL, NULL, NULL)) fail_msg("%s: %s", k->method, costate_message(c));
    z.s.adjoints += costate_get_stats(c)->adjoints;
    z.error = costate_get_stats(c)->gradient_error;
    z.says = strstr(costate_message(c), "relative error of the gradient") != NULL;
    z.steps = costate_tape_steps(tape);
    costate_tape_free(tape);
    costate_free(c);
    return z;
}

static double distance(int n, const double *a, const double *b)
{
    double sum = 0, size = 0;
    for (int i = 0; i < n; i++) { sum += (a[i] - b[i]) * (a[i] - b[i]); size += b[i] * b[i]; }
    return sqrt(sum / size);
}

static double true_error(const task *k, const found *z)
{
    double exact[MOST] = {0};
    if (k->P == &heat) line_heat_exact(POINTS, k->t1, exact);
    else if (k->P == &relaxation) {
        task tight = {k->P, k->t1, k->component, {.rtol = 1e-12, .atol = 1e-12}, "verner98"};
        memcpy(exact, sweep(&tight).lambda, sizeof exact);
    } else {
        int pair = k->component / 2;
        exact[2 * pair] = cos(frequency(pair) * k->t1);
        exact[2 * pair + 1] = sin(frequency(pair) * k->t1);
    }
    return distance(k->P->n, z->lambda, exact);
}

static found judged(const char *title, const task *k, double *error)
{
    found z = sweep(k);
    *error = true_error(k, &z);
    print_message("           %s, %s, rtol %g: %d steps, error %.2g, estimated %.2g%s\n", title, k->method, k->o.rtol,
                  z.steps, *error, z.error, z.says ? ", said" : "");
    return z;
}

static int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    static const int component[COLUMNS] = {OSCILLATORS - 2, 0, 4};
    for (int j = 0; j < m; j++) w[j * OSCILLATORS + component[j]] = 1 + 0.1 * k;
    return (void)t, (void)y, (void)ctx, 0;
}

/* ---- local errors ---- */

static void wrong_gradients(void **state)
{
    static const char *const methods[] = {"dopri5", "bs54", "tsit5", "bs32", "rk43", "verner76", "dopri853", "sdirk4a",
                                          "kvaerno43", "radau2a", "rodas4"};
    (void)state;
    for (size_t i = 0; i < COUNT(methods); i++) {
        if (!costate_method_find(methods[i])) continue;
        double error;
        for (int timed = 0; timed < 2; timed++) {
            task k = {timed ? &forced_oscillators : &free_oscillators, T1, OSCILLATORS - 2,
                      {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.1}, methods[i]};
            found z = judged(timed ? "forced oscillators" : "oscillators", &k, &error);
            if (!(error > 0.03 && z.says && z.error > 0.2 * error))
                fail_msg("%s: error %g, estimated as %g", methods[i], error, z.error);
        }
    }
}

static void right_gradients(void **state)
{
    static const char *const methods[] = {"dopri5", "bs54", "bs32", "verner76", "dopri853", "rkc2d", "sdirk4a",
                                          "kvaerno43", "radau2a", "rodas4", "ros34pw3", "auto"};
    (void)state;
    for (size_t i = 0; i < COUNT(methods); i++) {
        if (!costate_method_find(methods[i])) continue;
        double error;
        const task tasks[] = {
            {&free_oscillators, T1, 0, {.rtol = 1e-4, .atol = 1e-4}, methods[i]},
            {&forced_oscillators, T1, 0, {.rtol = 1e-4, .atol = 1e-4}, methods[i]},
            {&free_oscillators, T1 / 10, OSCILLATORS - 2, {.rtol = 1e-6, .atol = 1e-6, .gradient_control = 1},
             methods[i]},
            {&heat, 0.3, 0, {.rtol = 1e-4, .atol = 1e-4}, methods[i]},
            {&heat, 0.3, 0, {.rtol = 1e-4, .atol = 1e-4, .hmax = 1e-3}, methods[i]}};
        static const char *const titles[] = {"the slowest", "the slowest, forced", "controlled", "heat",
                                             "heat, h < 1e-3"};
        for (size_t j = 0; j < COUNT(tasks); j++) {
            found z = judged(titles[j], &tasks[j], &error);
            if (error < 0.03 && z.says) fail_msg("%s: error %g, estimated as %g", methods[i], error, z.error);
        }
    }
}

/* ---- lambda^T y' ---- */

/* The estimate of a gradient that was stretched is (1 - 1/stretched).  By the first of dopri853's two error estimates
   alone, the local errors of lambda would be a hundred times as large in the last run. */
static void phases(void **state)
{
    static const struct { const char *method; double rtol, t1; } runs[] = {
        {"dopri5", 1e-4, VDPOL_T1}, {"dopri5", 1e-5, VDPOL_T1}, {"dopri5", 1e-6, VDPOL_T1}, {"dopri5", 1e-8, VDPOL_T1},
        {"dopri853", 1e-4, VDPOL_T1}, {"dopri853", 1e-6, VDPOL_T1}, {"dopri853", 1e-7, VDPOL_T1 / 5}};
    (void)state;
    for (size_t i = 0; i < COUNT(runs); i++) {
        if (!costate_method_find(runs[i].method)) continue;
        double error, rtol = runs[i].rtol;
        task k = {&relaxation, runs[i].t1, 0, {.rtol = rtol, .atol = rtol}, runs[i].method};
        found z = judged("van der Pol", &k, &error);
        double least = error / (1 + error) / 3, most = 3 * error;
        if (!(z.error > least && z.error < most)) fail_msg("error %g, estimated as %g", error, z.error);
        assert_int_equal(z.says, z.error > 0.03 && z.error > 50 * rtol);
    }
}

/* ---- what it costs, and what it must not change ---- */

typedef struct { double lambda[COLUMNS * OSCILLATORS], error, products; int says; } sums;

/* the gradients of sums over observations of three components; few: of the last one alone */
static sums observed(const task *k, int few)
{
    sums z = {{0}, 0, 0, 0};
    double y[MOST], t[60];
    costate *c = costate_new(costate_method_find(k->method), k->P, &k->o);
    costate_tape *tape = costate_tape_new();
    for (int i = 0; i < 60; i++) t[i] = k->t1 * (i + 1) / 60;
    const costate_observations seen = {.count = 60, .t = t, .seed = seed, .ctx = &few};
    start(k, y);
    if (costate_integrate(c, 0, k->t1, y, NULL, tape)) fail_msg("%s: %s", k->method, costate_message(c));
    z.products = -(double)costate_get_stats(c)->adjoints;
    if (costate_adjoint(c, tape, few ? 1 : COLUMNS, z.lambda, NULL, NULL, &seen))
        fail_msg("%s: %s", k->method, costate_message(c));
    z.products += (double)costate_get_stats(c)->adjoints;
    z.error = costate_get_stats(c)->gradient_error;
    z.says = strstr(costate_message(c), "relative error of the gradient") != NULL;
    costate_tape_free(tape);
    costate_free(c);
    return z;
}

/* Of three functionals the worst counts.  Observations change lambda^T y', which is no error. */
static void observations(void **state)
{
    (void)state;
    const task right = {&free_oscillators, T1, 0, {.rtol = 1e-6, .atol = 1e-6, .gradient_control = 1}, "dopri5"},
               wrong = {&free_oscillators, T1, 0, {.rtol = 1e-6, .atol = 1e-6}, "dopri5"};
    sums a = observed(&right, 0), b = observed(&wrong, 0), one = observed(&wrong, 1);
    print_message("           observed: right %g, wrong %g, one of three %g\n", a.error, b.error, one.error);
    assert_true(a.error < 0.02 && !a.says);
    assert_true(b.error > 0.2 && b.says);
    assert_true(one.error == b.error);
}

static void bits_and_products(void **state)
{
    static const char *const methods[] = {"dopri5", "dopri853", "rkc2", "sdirk4a", "radau2a", "rodas4", "auto"};
    static const int storages[] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS};
    (void)state;
    for (size_t i = 0; i < COUNT(methods); i++)
        for (size_t j = 0; j < COUNT(storages); j++) {
            if (!costate_method_find(methods[i])) continue;
            task k = {&forced_oscillators, T1, 0, {.rtol = 1e-6, .atol = 1e-6, .hmax = 0.05, .storage = storages[j],
                                                   .checkpoints = 20}, methods[i]};
            sums on = observed(&k, 0);
            k.o.gradient_estimate = COSTATE_ESTIMATE_OFF;
            sums off = observed(&k, 0);
            double more = on.products / off.products - 1;
            if (memcmp(on.lambda, off.lambda, sizeof on.lambda) != 0) fail_msg("%s: gradients differ", methods[i]);
            if (!(more > 0 && more < 0.065)) fail_msg("%s: %g of the products more", methods[i], more);
            assert_true(off.error == 0 && !off.says);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_gradients), cmocka_unit_test(right_gradients),
                                       cmocka_unit_test(phases),
                                       cmocka_unit_test(observations), cmocka_unit_test(bits_and_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
