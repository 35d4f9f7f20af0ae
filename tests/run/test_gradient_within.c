/* test_gradient_within.c - costate_gradient_within: gradients to a tolerance, in few rounds, by all methods; what it
   leaves behind; what it refuses and where it gives up. */
#include <costate/accuracy.h>
#include "common.h"

enum { MOST = 16 };

typedef struct { int N, n, kout, calls; } ends;

/* y[kout] and the integral */
static int both(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                double *end,
                void *ctx)
{
    ends *e = ctx;
    (void)t1, (void)p, (void)mu, (void)end;
    assert_int_equal(m, 2);
    value[0] = y[e->kout];
    lambda[e->kout] = 1;
    value[1] = y[e->n];
    lambda[e->N + e->n] = 1;
    e->calls++;
    return 0;
}

static double off(int n, const double *a, const double *b)
{
    double sum = 0, size = 0;
    for (int i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(sum / size);
}

typedef struct { double value[2], y0[2 * MOST], p[2 * MOST], y[MOST]; costate_goal goal; int status; char text[512];
                } result;

static costate_options base_of(const problem *b, double *atol)
{
    for (int i = 0; i < b->P.n; i++) atol[i] = 1e-6 * fmax(1e-3 * fabs(b->reference->y[i]), 1e-10);
    return (costate_options){.rtol = 1e-6, .atol_vector = atol, .cost_error = 1, .max_steps = 200000};
}

static void within(costate *c, const problem *b, costate_goal goal, costate_tape *tape, result *r)
{
    ends e = {.N = b->P.n + b->P.nq, .n = b->P.n, .kout = b->reference->kout};
    const costate_functional F = {.m = 2, .at_end = both, .ctx = &e};
    memset(r, 0, sizeof *r);
    memcpy(r->y, b->y0, (size_t)b->P.n * sizeof *r->y);
    r->goal = goal;
    r->goal.estimate = (costate_estimate){.run = {.value = r->value, .y0 = r->y0,
                                           .p = strcmp(b->name, "detest_B2") ? r->p : NULL}};   /* there 2e-8 */
    r->status = costate_gradient_within(c, b->t0, b->t1, r->y, b->p0, &F, &r->goal, tape);
    snprintf(r->text, sizeof r->text, "%s", costate_message(c));
    if (r->status == COSTATE_OK) assert_int_equal(e.calls, 2 * r->goal.rounds);
}

/* the largest true error of what r holds, relative */
static double error_of(const problem *b, const result *r)
{
    const problem_reference *ref = b->reference;
    int n = b->P.n, N = n + b->P.nq;
    double worst = fmax(off(1, r->value, &ref->y[ref->kout]), off(1, r->value + 1, &ref->G));
    return fmax(worst, fmax(off(n, r->y0, ref->dyk_dy0), off(n, r->y0 + N, ref->dG_dy0)));
}

static int fits(const costate_method *m, const problem *b)
{
    costate_method_info i = method_info(m);
    int real = strcmp(b->name, "hires") == 0 || strcmp(b->name, "vdpol_mild") == 0;
    if (!b->reference || i.order < 3 || !i.embedded || strcmp(b->name, "orego") == 0) return 0;
    return !b->stiff || !is_explicit(m) || (is_stabilised(m) && real);
}

static void reaches(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const problem *b;
    int all = 0, good = 0, rounds = 0;
    for (int k = 0; (b = problem_at(k)); k++) {
        if (!fits(m, b)) continue;
        for (double tol = 1e-3; tol > (method_info(m).order < 5 ? 0.9e-5 : 0.9e-7); tol /= 100) {
            double atol[MOST];
            costate_options o = base_of(b, atol);
            costate *c = costate_new(m, &b->P, &o);
            result r;
            within(c, b, (costate_goal){.tol = tol}, NULL, &r);
            if (r.status) fail_msg("%s, %s, tol %.0e: %s", method_name(m), b->name, tol, r.text);
            assert_true(r.goal.worst <= 1 && r.goal.rounds <= 5);
            all++;
            rounds += r.goal.rounds;
            good += error_of(b, &r) <= 3 * tol;
            costate_free(c);
        }
    }
    if (all == 0) skip();
    if (good < 0.95 * all || rounds > 2 * all)
        fail_msg("%s: %d of %d within 3 times the tolerance, %d rounds", method_name(m), good, all, rounds);
}

/* The tape is that of the last run, and the solver can sweep it; another call with the factor needs one round; results
   do not depend on what was computed before. */
static void leaves(void **state)
{
    (void)state;
    const char *methods[] = {"dopri5", "radau2a", "rodas4", "sdirk4a"};
    const problem *b = problem_find("lv");
    for (int k = 0; k < 4; k++)
        for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage++) {
            costate_options o = {.rtol = 1e-4, .atol = 1e-5, .storage = storage};
            costate *c = costate_new(costate_method_find(methods[k]), &b->P, &o);
            costate_tape *tape = costate_tape_new();
            result r, again;
            double lambda[2 * MOST] = {0}, mu[2 * MOST] = {0};
            int N = b->P.n + b->P.nq;
            within(c, b, (costate_goal){.tol = 1e-5}, tape, &r);
            if (r.status) fail_msg("%s", r.text);
            assert_true(r.goal.rtol == r.goal.factor * 1e-4);
            lambda[b->reference->kout] = lambda[N + b->P.n] = 1;
            CHECK_OK(c, costate_adjoint(c, tape, 2, lambda, mu, NULL, NULL));
            assert_memory_equal(lambda, r.y0, (size_t)(2 * N) * sizeof *lambda);
            assert_memory_equal(mu, r.p, (size_t)(2 * b->P.np) * sizeof *mu);
            within(c, b, (costate_goal){.tol = 1e-5, .factor = r.goal.factor}, tape, &again);
            assert_int_equal(again.goal.rounds, 1);
            assert_memory_equal(again.y0, r.y0, sizeof r.y0);
            assert_memory_equal(again.y, r.y, sizeof r.y);
            within(c, b, (costate_goal){.tol = 1e-5}, NULL, &again);
            assert_memory_equal(again.y0, r.y0, sizeof r.y0);
            assert_int_equal(again.goal.rounds, r.goal.rounds);
            costate_tape_free(tape);
            costate_free(c);
        }
}

/* tolerances as vectors keep their ratio; newton_tol of the user stays, the default follows rtol */
static void tolerances(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    const double rtol[] = {1e-4, 2e-4}, atol[] = {3e-5, 0};
    costate_options vectors = {.rtol_vector = rtol, .atol_vector = atol}, finer = vectors;
    double fine_rtol[2], fine_atol[2];
    costate *c = costate_new(costate_method_find("radau2a"), &b->P, &vectors);
    result r, direct;
    costate_tape *tape = costate_tape_new(), *other = costate_tape_new();
    within(c, b, (costate_goal){.tol = 1e-6, .factor = 1e-2}, tape, &r);
    if (r.status) fail_msg("%s", r.text);
    for (int i = 0; i < 2; i++) fine_rtol[i] = rtol[i] * r.goal.factor, fine_atol[i] = atol[i] * r.goal.factor;
    finer.rtol_vector = fine_rtol;
    finer.atol_vector = fine_atol;
    costate *d = costate_new(costate_method_find("radau2a"), &b->P, &finer);
    memset(direct.y, 0, sizeof direct.y);
    memcpy(direct.y, b->y0, 2 * sizeof *b->y0);
    CHECK_OK(d, costate_integrate(d, b->t0, b->t1, direct.y, b->p0, other));
    assert_memory_equal(direct.y, r.y, sizeof r.y);
    assert_int_equal(costate_tape_steps(tape), costate_tape_steps(other));
    costate_tape_free(tape);
    costate_tape_free(other);
    costate_free(c);
    costate_free(d);
}

static void refused(costate_goal goal, costate_options o, int expected, const char *words)
{
    const problem *b = problem_find("lv");
    costate *c = costate_new(costate_method_find("dopri5"), &b->P, &o);
    result r;
    double steps[10];
    within(c, b, goal, NULL, &r);
    if (r.status != expected || !strstr(r.text, words)) fail_msg("%s: %d: %s", words, r.status, r.text);
    ends e = {.N = 3, .n = 2};
    const costate_functional F = {.m = 2, .at_end = both, .ctx = &e};
    costate_goal bad = {.tol = 0.1, .estimate = {.steps = steps}};
    assert_int_equal(costate_gradient_within(c, b->t0, b->t1, r.y, b->p0, &F, &bad, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_gradient_within(c, b->t0, b->t1, r.y, b->p0, &F, NULL, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_gradient_within(c, b->t0, b->t1, r.y, b->p0, NULL, &goal, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_gradient_within(NULL, b->t0, b->t1, r.y, b->p0, &F, &goal, NULL), COSTATE_BAD_ARGUMENT);
    costate_free(c);
}

static void refusals(void **state)
{
    (void)state;
    const costate_options fixed = {.controller = COSTATE_FIXED, .h0 = 0.1}, usual = {.rtol = 1e-6};
    refused((costate_goal){.tol = 0}, usual, COSTATE_BAD_ARGUMENT, "goal.tol = 0");
    refused((costate_goal){.tol = NAN}, usual, COSTATE_BAD_ARGUMENT, "goal.tol = ");
    refused((costate_goal){.tol = 0.1, .factor = -1}, usual, COSTATE_BAD_ARGUMENT, "factor is negative");
    refused((costate_goal){.tol = 0.1, .value_atol = -1}, usual, COSTATE_BAD_ARGUMENT, "is negative");
    refused((costate_goal){.tol = 0.1}, fixed, COSTATE_BAD_ARGUMENT, "do not follow a tolerance");
}

/* a tolerance below round-off: the results of the last run are there, with their estimated errors */
static void gives_up(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    costate *c = costate_new(costate_method_find("verner98"), &b->P, &(costate_options){.rtol = 1e-6});
    result r;
    within(c, b, (costate_goal){.tol = 1e-17}, NULL, &r);
    assert_int_equal(r.status, COSTATE_ACCURACY);
    if (!strstr(r.text, "The largest error is estimated as")) fail_msg("%s", r.text);
    assert_true(r.goal.worst > 1 && r.goal.rounds <= 5 && r.goal.rtol >= 0.9e-14);
    assert_true(error_of(b, &r) < 1e-10);
    within(c, b, (costate_goal){.tol = 1e-17, .value_atol = 1, .gradient_atol = 100}, NULL, &r);
    assert_int_equal(r.status, COSTATE_OK);                         /* errors that are allowed in any case */
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(leaves), cmocka_unit_test(tolerances),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(gives_up)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("reaches", reaches);
}
