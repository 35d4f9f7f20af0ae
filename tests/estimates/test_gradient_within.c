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
    double worst = fmax(relative_error(1, r->value, &ref->y[ref->kout]), relative_error(1, r->value + 1, &ref->G));
    return fmax(worst, fmax(relative_error(n, r->y0, ref->dyk_dy0), relative_error(n, r->y0 + N, ref->dG_dy0)));
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
    costate_estimate unknown[] = {{.steps = steps}, {.run = {.events = steps}}, {.error = {.events = steps}},
                                  {.better = {.events = steps}}};
    for (int k = 0; k < 4; k++) {
        costate_goal bad = {.tol = 0.1, .estimate = unknown[k]};
        assert_int_equal(costate_gradient_within(c, b->t0, b->t1, r.y, b->p0, &F, &bad, NULL), COSTATE_BAD_ARGUMENT);
    }
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
    refused((costate_goal){.tol = 1}, usual, COSTATE_BAD_ARGUMENT, "goal.tol = 1");
    refused((costate_goal){.tol = 0.1, .factor = HUGE_VAL}, usual, COSTATE_BAD_ARGUMENT, "factor is negative");
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
    assert_true(r.goal.worst > 1 && r.goal.rounds == 1);
    assert_true(r.goal.rtol >= 0.99e-14 && r.goal.rtol <= 1.01e-14);
    assert_true(error_of(b, &r) < 1e-10);
    within(c, b, (costate_goal){.tol = 1e-17, .value_atol = 1, .gradient_atol = 100}, NULL, &r);
    assert_int_equal(r.status, COSTATE_OK);                         /* errors that are allowed in any case */
    costate_free(c);
}

/* ---- decisions, with errors that the functional pretends ---- */

static int decay(const costate_point *x, double *f, void *ctx)
{
    return (void)ctx, f[0] = -x->y[0], f[1] = -2 * x->p[0] * x->y[1], 0;
}
static int decay_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    (void)ctx;
    f[0] = dx->y ? -dx->y[0] : 0;
    f[1] = -2 * ((dx->y ? x->p[0] * dx->y[1] : 0) + (dx->p ? dx->p[0] * x->y[1] : 0));
    return 0;
}
static int decay_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= w[0], g->y[1] -= 2 * x->p[0] * w[1];
    if (g->p) g->p[0] -= 2 * x->y[1] * w[1];
    return 0;
}
static const costate_problem decays = {.n = 2, .np = 1, .rhs = {decay, decay_tangent, .adjoint = decay_adjoint}};

typedef struct { const double *worst; double tol; int calls; } pretended;

/* The halved run, which comes first, has the value 1; the run such a value that its error is worst times what tol
   allows, with r/(r - 1) for the order 5. */
static int pretends(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                    double *end, void *ctx)
{
    pretended *x = ctx;
    (void)t1, (void)y, (void)p, (void)m, (void)lambda, (void)mu, (void)end;
    double part = x->worst[x->calls / 2] * x->tol * 31 / 32;
    value[0] = x->calls % 2 ? 1 / (1 + part) : 1;
    return x->calls++, 0;
}

static costate_goal reach(const double *worst, double tol, double rtol, double factor, int *status)
{
    pretended x = {worst, tol, 0};
    const costate_options o = {.rtol = rtol, .atol = 1};
    costate *c = costate_new(costate_method_find("dopri5"), &decays, &o);
    double y[] = {1, 1}, p = 1;
    costate_goal g = {.tol = tol, .factor = factor};
    *status = costate_gradient_within(c, 0, 1, y, &p, &(costate_functional){.m = 1, .at_end = pretends, .ctx = &x}, &g,
                                      NULL);
    assert_int_equal(x.calls, 2 * g.rounds);
    assert_true(fabs(g.rtol - fmin(rtol * g.factor, 1)) <= 1e-15 * g.rtol);
    costate_free(c);
    return g;
}

static void is_at(const costate_goal *g, int rounds, double factor)
{
    if (g->rounds != rounds || fabs(g->factor / factor - 1) > 1e-6)
        fail_msg("%d rounds, factor %.9g; %d, %.9g expected", g->rounds, g->factor, rounds, factor);
}

/* aim at 0.3 with the power 1; then with that of the last two rounds, between 0.3 and 1.5; at most 1e-3 at once, or
   1e-2 where the error is more than a tenth; five rounds */
static void steps_of_the_goal(void **state)
{
    (void)state;
    const double once[] = {0.9}, twice[] = {20, 0.9}, thrice[] = {20, 2, 0.9}, slow[] = {2, 1.9, 0.9},
                 fast[] = {3, 1.01, 0.9}, worse[] = {4, 5, 0.9},
                 steep[] = {1e6, 1.1, 0.9}, far[] = {5000, 0.9}, never[] = {2, 2, 2, 2, 2, 2, 2};
    int status;
    costate_goal g = reach(once, 1e-3, 1e-2, 1, &status);
    is_at(&g, 1, 1);
    g = reach(twice, 1e-3, 1e-2, 1, &status);
    is_at(&g, 2, 0.3 / 20);
    g = reach(thrice, 1e-3, 1e-2, 1, &status);
    double f = 0.3 / 20;
    is_at(&g, 3, f * pow(0.3 / 2, log(f) / log(2.0 / 20)));
    g = reach(slow, 1e-3, 1e-2, 1, &status);
    is_at(&g, 3, 0.15 * pow(0.3 / 1.9, 1 / 0.3));
    g = reach(fast, 1e-3, 1e-2, 1, &status);
    is_at(&g, 3, 0.1 * pow(0.3 / 1.01, log(0.1) / log(1.01 / 3)));
    g = reach(steep, 1e-8, 1e-2, 1, &status);
    is_at(&g, 3, 1e-3 * pow(0.3 / 1.1, 1 / 1.5));
    g = reach(worse, 1e-3, 1e-2, 1, &status);
    is_at(&g, 3, 0.3 / 4 * 0.3 / 5);
    g = reach(far, 1e-6, 1e-2, 1, &status);
    is_at(&g, 2, 1e-3);
    g = reach(far, 1e-4, 1e-2, 1, &status);
    is_at(&g, 2, 1e-2);
    assert_int_equal(status, COSTATE_OK);
    g = reach(never, 1e-3, 1e-2, 1, &status);
    assert_int_equal(status, COSTATE_ACCURACY);
    is_at(&g, 5, pow(0.15, 4));
}

/* the first rtol: a tenth of tol, at most 1e-2, at least 1e-14; at most 1 with a factor of the user */
static void first_tolerances(void **state)
{
    (void)state;
    const double none[] = {0}, never[] = {2, 2, 2, 2, 2};
    int status;
    costate_goal g = reach(none, 1e-2, 1e-6, 0, &status);
    is_at(&g, 1, 1e-3 / 1e-6);
    g = reach(none, 0.5, 1e-6, 0, &status);
    is_at(&g, 1, 1e-2 / 1e-6);
    g = reach(none, 1e-13, 1e-6, 0, &status);
    is_at(&g, 1, 1e-14 / 1e-6);
    g = reach(none, 0.1, 1e-6, 1e8, &status);
    assert_true(status == COSTATE_OK && g.rtol == 1);
    g = reach(never, 1e-2, 1e-6, 1e-7, &status);        /* 1e-13, then 1.5e-14, then 1e-14, which is the least */
    assert_int_equal(status, COSTATE_ACCURACY);
    is_at(&g, 3, 1e-8);
}

static int sum(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
               double *end, void *ctx)
{
    (void)p, (void)m, (void)mu;
    const double *weight = ctx;
    value[0] = weight[0] * y[0] + weight[1] * y[1] + weight[2] * t1;
    lambda[0] = weight[0], lambda[1] = weight[1], end[0] = weight[2];
    return 0;
}

static double norm(int n, const double *x)
{
    double all = 0;
    for (int i = 0; i < n; i++) all = hypot(all, x[i]);
    return all;
}

/* `worst` is the largest error of value, y0, p and times (t0 and t1 together) in units of tol |x| + atol */
static void worst_of_all(void **state)
{
    (void)state;
    const double weights[][3] = {{1, 1, 0}, {1, -2, 0.5}, {0, 1, 3}, {0, 0, 0}};
    for (int k = 0; k < 4 * 16; k++) {
        double w[3], v, y0[2], p, t0 = 0, t1 = 0, e[6], value_atol = k & 1 ? 10 : 0, atol = k & 2 ? 1e-4 : 0,
               tol = 0.9,
               start[] = {1, 1}, one = 1, worst;
        memcpy(w, weights[k / 16], sizeof w);
        int of_y0 = k & 4, of_times = k & 8, of_p = !of_times;
        costate *c = costate_new(costate_method_find("dopri5"), &decays,
                                 &(costate_options){.rtol = 1e-3, .atol = 1e-3});
        costate_derivatives run = {.value = &v, .y0 = of_y0 ? y0 : NULL, .p = of_p ? &p : NULL,
                                   .t0 = of_times ? &t0 : NULL, .t1 = of_times ? &t1 : NULL},
                            error = {.value = e, .y0 = of_y0 ? e + 1 : NULL, .p = of_p ? e + 3 : NULL,
                                     .t0 = of_times ? e + 4 : NULL, .t1 = of_times ? e + 5 : NULL};
        costate_goal g = {.tol = tol, .factor = 1, .value_atol = value_atol, .gradient_atol = atol,
                          .estimate = {.run = run, .error = error}};
        const costate_functional F = {.m = 1, .at_end = sum, .ctx = w};
        CHECK_OK(c, costate_gradient_within(c, 0, 2, start, &one, &F, &g, NULL));
        const double times[] = {t0, t1};
        worst = fabs(e[0]) / (tol * fabs(v) + value_atol);
        if (!(worst > 0)) worst = 0;
        if (of_y0) worst = fmax(worst, norm(2, e + 1) / (tol * norm(2, y0) + atol));
        if (of_p) worst = fmax(worst, fabs(e[3]) / (tol * fabs(p) + atol));
        if (of_times) worst = fmax(worst, norm(2, e + 4) / (tol * norm(2, times) + atol));
        if (!(fabs(g.worst - worst) <= 1e-10 * worst)) fail_msg("%d: %.9g, not %.9g", k, g.worst, worst);
        costate_free(c);
    }
}

/* ---- runs whose errors cannot be estimated ---- */

typedef struct { int runs, odd; double y; } appearing;

/* A guard that some runs meet and others do not: an even run meets it, and so do all from run `odd` on. */
static int appears(const costate_point *x, double *e, void *ctx)
{
    appearing *a = ctx;
    if (x->t == 0 && a->y != 0) a->runs++, a->y = 0;
    if (x->t > 0) a->y = 1;
    return e[0] = x->y[0] - (a->runs % 2 == 0 || a->runs >= a->odd ? 0.5 : -1), 0;
}

static void other_events(void **state)
{
    (void)state;
    for (int odd = 3; odd < 1000; odd += 100) {
        appearing a = {.runs = -1, .odd = odd - 1, .y = 1};
        const double w[] = {1, 1, 0};
        const costate_event e = {.guard = {.value = appears}, .ctx = &a, .from = COSTATE_ANY_MODE,
                                 .to = COSTATE_SAME_MODE};
        costate_problem P = decays;
        P.event = &e;
        P.nevents = 1;
        costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
        double y[] = {1, 1}, p = 1, value;
        costate_goal g = {.tol = 1e-2, .factor = 1, .estimate = {.run = {.value = &value}}};
        int status = costate_gradient_within(c, 0, 2, y, &p, &(costate_functional){.m = 1, .at_end = sum,
                                                                                    .ctx = (void *)w}, &g, NULL);
        if (odd == 3) {
            if (status) fail_msg("%s", costate_message(c));
            is_at(&g, 2, 1e-2);
            assert_true(fabs(value - exp(-2) - exp(-4)) < 1e-2 * value);
        } else {
            assert_int_equal(status, COSTATE_ACCURACY);
            is_at(&g, 5, 1e-8);
            assert_non_null(strstr(costate_message(c), "With halved steps other events occur"));
        }
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(leaves), cmocka_unit_test(tolerances),
                                       cmocka_unit_test(refusals), cmocka_unit_test(gives_up),
                                       cmocka_unit_test(steps_of_the_goal), cmocka_unit_test(first_tolerances),
                                       cmocka_unit_test(worst_of_all), cmocka_unit_test(other_events)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("reaches", reaches);
}
