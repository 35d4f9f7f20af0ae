/* test_terms_of_parameters.c - terms of a functional at times that depend on p directly, such as scale factors and
   standard deviations (at_time_p): their gradients and the estimated errors of these agree with formulas. */
#include <costate/accuracy.h>
#include <math.h>
#include "common.h"

/* y' = -p_0 y, y = 1 at t = 0.  Two functionals, j = 0 and 1, of y at the times t_k:

       J_j = (j + 1) sum_k ((p_1 y(t_k) - d_k)^2/(2 p_2^2) + log p_2) */
enum { NP = 3, M = 2, TIMES = 3 };
static const double TIME[TIMES] = {0.5, 1.3, 2}, DATA[TIMES] = {1.1, 0.9, 0.2}, P[NP] = {0.8, 1.6, 0.3};

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->p[0] * x->y[0], 0; }
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= x->p[0] * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -(dx->y ? x->p[0] * dx->y[0] : 0) - (dx->p ? dx->p[0] * x->y[0] : 0);
    return 0;
}
static const costate_problem decay = {.n = 1, .np = NP, .rhs = {.value = f, .adjoint = f_adjoint,
                                                               .tangent = f_tangent}};

typedef struct { int calls, fails_at, spoils; } behaviour;

static int terms(int k, double t, const double *y, const double *p, int m, double *value, double *w, double *mu,
                 void *ctx)
{
    behaviour *b = ctx;
    double r = p[1] * y[0] - DATA[k], s = p[2];
    assert_true(t == TIME[k] && m == M);
    for (int j = 0; j < m; j++) {
        assert_true(value[j] == 0 && w[j] == 0 && mu[j * NP + 1] == 0 && mu[j * NP + 2] == 0);
        value[j] = (j + 1) * (r * r / (2 * s * s) + log(s));
        w[j] = (j + 1) * r * p[1] / (s * s);
        mu[j * NP + 1] = (j + 1) * r * y[0] / (s * s);
        mu[j * NP + 2] = (j + 1) * (1 / s - r * r / (s * s * s));
    }
    if (b->spoils) mu[1] = NAN;
    return ++b->calls == b->fails_at ? 7 : 0;
}

/* J_0 and its gradient with respect to p and y(0) */
static void formula(double *value, double *by_p, double *by_y0)
{
    *value = *by_y0 = 0;
    memset(by_p, 0, NP * sizeof *by_p);
    for (int k = 0; k < TIMES; k++) {
        double e = exp(-P[0] * TIME[k]), r = P[1] * e - DATA[k], s = P[2];
        *value += r * r / (2 * s * s) + log(s);
        *by_y0 += r * P[1] * e / (s * s);
        by_p[0] -= r * P[1] * TIME[k] * e / (s * s);
        by_p[1] += r * e / (s * s);
        by_p[2] += 1 / s - r * r / (s * s * s);
    }
}

typedef struct { costate *c; costate_tape *tape; } ran;

static ran begin(void)
{
    double y = 1;
    const costate_options o = {.rtol = 1e-5, .atol = 1e-5, .autonomous = 1};
    ran r = {costate_new(costate_method_find("bs32"), &decay, &o), costate_tape_new()};
    CHECK_OK(r.c, costate_integrate(r.c, 0, 2, &y, P, r.tape));
    return r;
}

static void end(ran r)
{
    costate_free(r.c);
    costate_tape_free(r.tape);
}

static costate_functional of(behaviour *b)
{
    return (costate_functional){.m = M, .count = TIMES, .t = TIME, .at_time_p = terms, .ctx = b};
}

typedef struct { double value[M], p[M * NP], y0[M]; } numbers;
static costate_derivatives into(numbers *x) { return (costate_derivatives){.value = x->value, .p = x->p, .y0 = x->y0}; }

static void compared(const char *what, int j, double run, double error, double exact)
{
    double factor = error / (exact - run);
    if (!(fabs(run - exact) < 1e-3 * (1 + fabs(exact)) && factor > 0.5 && factor < 2))
        fail_msg("%s of functional %d: %.10g, exact %.10g, error %.2e estimated as %.2e", what, j, run, exact,
                 exact - run, error);
}

static void gradient_and_error(void **state)
{
    (void)state;
    ran r = begin();
    behaviour b = {0};
    const costate_functional F = of(&b);
    numbers run, error;
    double value, by_p[NP], by_y0;
    costate_estimate e = {.run = into(&run), .error = into(&error)};
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &F, &e));
    formula(&value, by_p, &by_y0);
    for (int j = 0; j < M; j++) {
        compared("value", j, run.value[j], error.value[j], (j + 1) * value);
        compared("y0", j, run.y0[j], error.y0[j], (j + 1) * by_y0);
        for (int i = 0; i < NP; i++) compared("p", j, run.p[j * NP + i], error.p[j * NP + i], (j + 1) * by_p[i]);
    }
    CHECK_OK(r.c, costate_accuracy(r.c, r.tape, &F, &(costate_estimate){.run = {.value = run.value}}));
    compared("value alone", 0, run.value[0], error.value[0], value);
    end(r);
}

/* runs from p + d and p - d confirm the gradient: their terms are those of the moved p */
static void within(void **state)
{
    (void)state;
    ran r = begin();
    behaviour b = {0};
    const costate_functional F = of(&b);
    numbers run;
    double y = 1, value, by_p[NP], by_y0;
    costate_goal goal = {.tol = 1e-6, .estimate = {.run = into(&run)}};
    CHECK_OK(r.c, costate_gradient_within(r.c, 0, 2, &y, P, &F, &goal, NULL));
    formula(&value, by_p, &by_y0);
    for (int i = 0; i < NP; i++) assert_true(fabs(run.p[NP + i] - 2 * by_p[i]) < 1e-5 * (1 + fabs(by_p[i])));
    end(r);
}

static void refused(ran r, const costate_functional *F, costate_estimate *e, int status, const char *words)
{
    assert_int_equal(costate_accuracy(r.c, r.tape, F, e), status);
    if (!strstr(costate_message(r.c), words)) fail_msg("\"%s\" is not in: %s", words, costate_message(r.c));
}

static int without_p(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    (void)k, (void)t, (void)y, (void)m, (void)value, (void)w, (void)ctx;
    return 0;
}

static void refusals(void **state)
{
    (void)state;
    ran r = begin();
    behaviour fails = {.fails_at = 2}, spoils = {.spoils = 1}, b = {0};
    numbers run;
    double product[NP], direction[NP] = {1};
    const costate_observations at = {.count = TIMES, .t = TIME};
    const costate_second second = {.m = 1, .Vp = direction, .observations = &at};
    costate_estimate e = {.run = into(&run)}, value = {.run = {.value = run.value}},
                     h = {.products = {.run = {.p = product}}};
    costate_functional F = of(&fails), both = of(&b), one = of(&b), spoiled = of(&spoils);
    refused(r, &F, &e, COSTATE_CALLBACK, "functional.at_time_p returned 7");
    fails.calls = 0;
    refused(r, &F, &value, COSTATE_CALLBACK, "functional.at_time_p returned 7");
    refused(r, &spoiled, &e, COSTATE_BAD_ARGUMENT, "at_time_p set a gradient to NaN");
    both.at_time = without_p;
    refused(r, &both, &e, COSTATE_BAD_ARGUMENT, "set one of them");
    one.m = 1;
    one.second = &second;
    refused(r, &one, &h, COSTATE_MISSING, "no second derivatives with respect to p of terms");
    end(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradient_and_error), cmocka_unit_test(within),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
