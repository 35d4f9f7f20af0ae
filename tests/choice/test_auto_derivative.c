/* test_auto_derivative.c - over runs whose member changes, and changes back, tangents and Hessian products are the
   derivatives of frozen runs: by differences of replays, and symmetric; and gradients are as accurate as estimated. */
#include <costate/accuracy.h>
#include "hybrid_seconds.h"
#include "turns.h"

static costate_options tight(double tol, int k)
{
    return (costate_options){.rtol = tol, .atol = tol, .derivative_mode = 1, .storage = k % 3, .checkpoints = 60,
                             .keep_factors = k & 1};
}

static session chatter(by_turns *b, double tol, int k)
{
    by_turns_make(b, CHATTER, 5, 2.1);
    session s = turns_ran(b, tight(tol, k), costate_tape_new(), 0);
    assert_true(costate_get_stats(s.c)->switches >= 3);
    return s;
}

static inputs without_times(void)
{
    inputs x = random_inputs();
    memset(x.t0, 0, sizeof x.t0);
    memset(x.t1, 0, sizeof x.t1);
    memset(x.events, 0, sizeof x.events);
    return x;
}

/* E: explicit steps are as long as stability allows, and the result of one is a polynomial of degree 5 or 7 in the
   rates: the run with frozen steps is less linear in them than the solution is. */
static const double TOLS[] = {1e-4, 1e-6, 1e-8}, E = 1e-4;

static void first(void **state)
{
    by_turns b;
    inputs x = without_times();
    (void)state;
    for (int k = 0; k < 3; k++) {
        session s = chatter(&b, TOLS[k], k);
        say(&s, "differences of replays", differ(&s, &x, E), 1e-9);
        session_close(&s);
    }
}

static void second(void **state)
{
    by_turns b;
    inputs x = without_times();
    (void)state;
    for (int k = 0; k < 3; k++) {
        session s = chatter(&b, TOLS[k], k);
        product_of r = hessian_over(&s, &x, s.tape, s.c, 0.01);
        inputs d;
        CHECK_OK(s.c, differences(&s, &x, E, 0.01, &d));
        say(&s, "products by y", relative_gap(s.N, r.H.V, d.V), 1e-7);
        say(&s, "products by p", relative_gap(s.h->np, r.H.p, d.p), 1e-7);
        say(&s, "products by t1", relative_gap(1, r.H.t1, d.t1), 1e-7);
        session_close(&s);
    }
}

static void symmetric(void **state)
{
    by_turns b;
    inputs x = random_inputs();
    (void)state;
    for (int k = 0; k < 6; k++) {
        by_turns_make(&b, k & 1, k & 1 ? 7 : 2.2, k & 1 ? 2.1 : -0.5);
        session s = turns_ran(&b, tight(TOLS[k / 2], k), costate_tape_new(), 0);
        product_of r = hessian_over(&s, &x, s.tape, s.c, 0);
        say(&s, "asymmetry", asymmetry(&s, &x, &r), 1e-12 * fmax(1, 0.05 / shortest_step(&s)));
        session_close(&s);
    }
}

/* ---- errors ---- */

static int at_end(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                  double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    value[0] = y[0] + y[1] + y[2];
    lambda[0] = lambda[1] = lambda[2] = 1;
    return 0;
}

typedef struct { double value, y0[6], p[3]; } gradient;

static const costate_functional END = {.m = 1, .at_end = at_end};

static gradient of_run(by_turns *b, double tol, gradient *error)
{
    costate_options o = {.rtol = tol, .atol = tol};
    session s = turns_ran(b, o, costate_tape_new(), 0);
    gradient g, e;
    costate_estimate est = {.run = {.value = &g.value, .y0 = g.y0, .p = g.p},
                            .error = {.value = &e.value, .y0 = e.y0, .p = e.p}};
    CHECK_OK(s.c, costate_accuracy(s.c, s.tape, &END, &est));
    if (error) *error = e;
    session_close(&s);
    return g;
}

/* The estimated error against that which a run with much smaller steps shows; below rtol, parts of it may cancel. */
static void estimated(void **state)
{
    by_turns b;
    gradient e;
    (void)state;
    by_turns_make(&b, CHATTER, 5, 2.1);
    gradient exact = of_run(&b, 1e-10, NULL);
    for (int k = 3; k <= 6; k++) {
        double tol = pow(10, -k), left = 0;
        gradient g = of_run(&b, tol, &e);
        double gap = largest_gap(3, g.p, exact.p);
        for (int i = 0; i < 3; i++) left = larger_of(left, fabs(g.p[i] + e.p[i] - exact.p[i]));
        if (!(left < 0.1 * gap + 2 * tol)) fail_msg("rtol 1e-%d: error %.2e, without its estimate %.2e", k, gap, left);
    }
}

static void within(void **state)
{
    by_turns b;
    (void)state;
    by_turns_make(&b, CHATTER, 5, 2.1);
    gradient exact = of_run(&b, 1e-10, NULL), g;
    session s = turns_begin(&b, (costate_options){.rtol = 1e-3, .atol = 1e-3}, costate_tape_new(), 0);
    costate_goal goal = {.tol = 1e-5, .estimate = {.run = {.value = &g.value, .y0 = g.y0, .p = g.p}}};
    CHECK_OK(s.c, costate_gradient_within(s.c, 0, b.h.t1, s.y, b.h.p, &END, &goal, s.tape));
    assert_true(costate_get_stats(s.c)->switches > 3 && goal.worst <= 1);
    if (!(relative_error(3, g.p, exact.p) < 2e-5)) fail_msg("%.2e", relative_error(3, g.p, exact.p));
    session_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first), cmocka_unit_test(second), cmocka_unit_test(symmetric),
                                       cmocka_unit_test(estimated), cmocka_unit_test(within)};
    if (!costate_method_find("auto")) return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
