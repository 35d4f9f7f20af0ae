/* test_gradient_within.c - costate_gradient_within: gradients to a tolerance, in few rounds, by all methods; what it
   leaves behind; what it refuses and where it gives up. */
#include <costate/accuracy.h>
#include <unistd.h>
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
    return (costate_options){.rtol = 1e-6, .atol_vector = atol, .cost_error = 1, .max_steps = 200000,
                             .autonomous = b->autonomous};
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
    if (r->status == COSTATE_OK) assert_true(e.calls >= 2 * r->goal.rounds + 2);    /* also by runs that confirm */
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

/* Tighter tolerances keep their ratio, looser ones the atol of the caller, as a number and as a vector alike;
   newton_tol of the user stays, the default follows rtol. */
static void tolerances(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    const double rtol[] = {1e-4, 2e-4}, atol[] = {3e-5, 0}, factors[] = {1e-2, 3};
    for (int k = 0; k < 4; k++) {
        costate_options o = {.rtol = 1e-4, .atol = 3e-5}, finer = o;
        double fine_rtol[2], fine_atol[2], absolute = k < 2 ? factors[0] : 1;
        if (k % 2) o = (costate_options){.rtol_vector = rtol, .atol_vector = atol};
        costate *c = costate_new(costate_method_find("radau2a"), &b->P, &o);
        result r, direct;
        costate_tape *tape = costate_tape_new(), *other = costate_tape_new();
        within(c, b, (costate_goal){.tol = k < 2 ? 1e-6 : 0.1, .factor = factors[k / 2]}, tape, &r);
        if (r.status) fail_msg("%s", r.text);
        assert_true(k < 2 || r.goal.factor == factors[1]);
        if (k < 2) absolute = r.goal.factor;
        for (int i = 0; i < 2; i++) fine_rtol[i] = rtol[i] * r.goal.factor, fine_atol[i] = atol[i] * absolute;
        finer = (costate_options){.rtol = 1e-4 * r.goal.factor, .atol = 3e-5 * absolute};
        if (k % 2) finer = (costate_options){.rtol_vector = fine_rtol, .atol_vector = fine_atol};
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
    if (!strstr(r.text, "The largest error, that of ")) fail_msg("%s", r.text);
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
    const costate_options o = {.rtol = rtol, .atol = 1, .autonomous = 1};
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

/* aim at 0.3 with the power 1; then with that of the last two rounds, between 0.3 (also where errors grow) and 1.5; at
   most 1e-3 at once, or 1e-2 where the error is more than a tenth; five rounds */
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
    is_at(&g, 3, 0.3 / 4 * 1e-3);
    g = reach(far, 1e-6, 1e-2, 1, &status);
    is_at(&g, 2, 1e-3);
    g = reach(far, 1e-4, 1e-2, 1, &status);
    is_at(&g, 2, 1e-2);
    assert_int_equal(status, COSTATE_OK);
    g = reach(never, 1e-3, 1e-2, 1, &status);
    assert_int_equal(status, COSTATE_ACCURACY);
    is_at(&g, 5, 0.15 * pow(0.15, 3 / 0.3));
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
            assert_true(strstr(costate_message(c), "With halved steps other events occur") == costate_message(c));
        }
        costate_free(c);
    }
}

/* ---- rounds that fail, gradients that tolerances alone do not reach ---- */

typedef struct {
    const char *fails;              /* of each run of the solver, and of each with halved steps: '1' fails, 'c' fails as
                                       callbacks do */
    const double *worst, *gradient; /* pretended errors of completed rounds: of the value, of the gradient with respect
                                       to p; or NULL */
    double tol, t;
    int run, calls;
    long tangents, before[32];      /* evaluations: now, and before each run */
} script;

static int scripted(const costate_point *x, double *f, void *ctx)
{
    script *s = ctx;
    if (x->t == 0 && s->t > 0.3) s->before[++s->run] = s->tangents;
    s->t = x->t;
    char now = (size_t)s->run < strlen(s->fails) ? s->fails[s->run] : '0';
    if (now == 'c') return -1;
    decay(x, f, NULL);
    if (now == '1' && x->t > 0.5) f[0] = NAN;
    return 0;
}

static int scripted_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    ((script *)ctx)->tangents++;
    return decay_tangent(x, dx, f, NULL);
}

static int scripted_end(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                        double *end, void *ctx)
{
    script *s = ctx;
    (void)t1, (void)y, (void)p, (void)m, (void)lambda, (void)end;
    value[0] = 1 + (p[0] - 1);
    mu[0] = 1;
    if (s->calls % 2 && p[0] == 1) {
        double of_value = s->worst ? s->worst[s->calls / 2] : 0;
        double of_gradient = s->gradient ? s->gradient[s->calls / 2] : 0;
        value[0] /= 1 + of_value * s->tol * 31 / 32;
        mu[0] /= 1 + of_gradient * s->tol * 31 / 32;
    }
    return s->calls++, 0;
}

typedef struct {
    costate_goal goal;
    int status;
    double y[2], by_p;
    char text[800];
    long tangents, fourth, again;
} outcome;

static outcome follow(script s, costate_problem P, double factor, int given)
{
    outcome r = {.y = {1, 0}, .goal = {.tol = s.tol, .factor = factor}};
    const costate_options o = {.rtol = 1e-4, .atol = 1, .autonomous = 1, .gradient_control = given};
    const costate_functional F = {.m = 1, .at_end = scripted_end, .ctx = &s};
    double p = 1, y[] = {1, 0};
    P.ctx = &s;
    P.rhs.value = scripted;
    if (P.rhs.tangent) P.rhs.tangent = scripted_tangent;
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    s.t = 0;
    if (s.gradient) r.goal.estimate.run.p = &r.by_p;
    r.status = costate_gradient_within(c, 0, 1, r.y, &p, &F, &r.goal, NULL);
    strcpy(r.text, costate_message(c));
    r.tangents = costate_get_stats(c)->tangents;
    r.fourth = s.before[4] - s.before[3];           /* of the fourth run */
    s.fails = "";
    CHECK_OK(c, costate_integrate(c, 0, 1, y, &p, NULL));
    r.again = costate_get_stats(c)->tangents - r.tangents;
    costate_free(c);
    return r;
}

static void ends_at(const outcome *r, int status, int rounds, double factor, const char *words)
{
    if (r->status != status || r->goal.rounds != rounds || !(fabs(r->goal.factor / factor - 1) < 1e-6) ||
        !strstr(r->text, words))
        fail_msg("%d after %d rounds, factor %.9g: %s (%d, %d, %.9g, %s expected)", r->status, r->goal.rounds,
                 r->goal.factor, r->text, status, rounds, factor, words);
}

static void failures(void **state)
{
    (void)state;
    const double good[] = {0.9}, then[] = {20, 0.9}, thrice[] = {20, 10, 0.9},
                 same[] = {20, 20, 0.9}, never[] = {2, 2, 2, 2, 2, 2};
    outcome r = follow((script){"1", good, .tol = 1e-3}, decays, 10, 0);      /* looser: those of the caller follow */
    ends_at(&r, COSTATE_OK, 2, 1, "No error");
    r = follow((script){"01", good, .tol = 1e-3}, decays, 10, 0);             /* the same if the halved run fails */
    ends_at(&r, COSTATE_OK, 2, 1, "No error");
    r = follow((script){"1", good, .tol = 1e-3}, decays, 0.1, 0);             /* tighter: also */
    ends_at(&r, COSTATE_OK, 2, 1, "No error");
    r = follow((script){"1", good, .tol = 1e-3}, decays, 1, 0);
    ends_at(&r, COSTATE_OK, 2, 1e-2, "No error");
    r = follow((script){"11", good, .tol = 1e-3}, decays, 0.1, 0);            /* then tighter than all */
    ends_at(&r, COSTATE_OK, 3, 1e-3, "No error");
    r = follow((script){"111", good, .tol = 1e-3}, decays, 10, 0);
    ends_at(&r, COSTATE_OK, 4, 1e-4, "No error");
    r = follow((script){"1111", good, .tol = 1e-3}, decays, 10, 0);           /* three may fail */
    ends_at(&r, COSTATE_NOT_FINITE, 4, 1e-4, "NaN or Inf");
    r = follow((script){"001", then, .tol = 1e-3}, decays, 1, 0);             /* between those that failed and not */
    ends_at(&r, COSTATE_OK, 3, sqrt(0.3 / 20), "No error");
    r = follow((script){"001", thrice, .tol = 1e-3}, decays, 1, 0);           /* none is as tight as one that failed */
    ends_at(&r, COSTATE_OK, 4, sqrt(sqrt(0.3 / 20) * 0.3 / 20), "No error");
    r = follow((script){"001", then, .tol = 1e-3}, decays, 200, 0);           /* that was loose, and does not count */
    ends_at(&r, COSTATE_OK, 3, 1, "No error");
    r = follow((script){"001", same, .tol = 1e-3}, decays, 200, 0);           /* nor does it later */
    ends_at(&r, COSTATE_OK, 4, 1e-3, "No error");
    r = follow((script){"c", good, .tol = 1e-3}, decays, 10, 0);
    ends_at(&r, COSTATE_CALLBACK, 1, 10, "returned -1");
    r = follow((script){"001111", never, .tol = 1e-3}, decays, 1, 0);       /* the results of the last that was */
    ends_at(&r, COSTATE_ACCURACY, 5, 1, "Other tolerances fail: ");
    if (!strstr(r.text, "that of the value, is estimated as 2 times")) fail_msg("%s", r.text);
    assert_true(fabs(r.y[0] - exp(-1)) < 1e-2 && r.goal.rtol == 1e-4 && fabs(r.goal.worst - 2) < 1e-6);
    r = follow((script){"01111", never, .tol = 1e-3}, decays, 1, 0);        /* no estimate at all */
    ends_at(&r, COSTATE_ACCURACY, 4, 1, "The errors cannot be estimated.  Other tolerances fail: ");
    assert_true(fabs(r.y[0] - exp(-1)) < 1e-2);
}

/* Where a run takes more steps than max_steps, tighter ones would, too: nothing else is tried but the caller's. */
static void bounded(void **state)
{
    (void)state;
    const double never[] = {2, 2, 2, 2, 2};
    const struct { double factor; int steps, status, rounds; double last; } cases[] = {
        {1e-4, 10, COSTATE_MAX_STEPS, 2, 1}, {1, 30, COSTATE_ACCURACY, 2, 1}, {1e-4, 30, COSTATE_ACCURACY, 3, 1}};
    for (int k = 0; k < 3; k++) {
        pretended x = {never, 1e-6, 0};
        const costate_options o = {.rtol = 1e-5, .atol = 1e-5, .autonomous = 1, .max_steps = cases[k].steps};
        costate *c = costate_new(costate_method_find("bs32"), &decays, &o);
        double y[] = {1, 1}, p = 1;
        costate_goal g = {.tol = 1e-6, .factor = cases[k].factor};
        int status = costate_gradient_within(c, 0, 1, y, &p, &(costate_functional){.m = 1, .at_end = pretends,
                                                                                    .ctx = &x}, &g, NULL);
        if (status != cases[k].status || g.rounds != cases[k].rounds || g.factor != cases[k].last)
            fail_msg("%d: %d after %d rounds, factor %g: %s", k, status, g.rounds, g.factor, costate_message(c));
        costate_free(c);
    }
}

/* A gradient that is far outside where the value is within: tangents take part in the error test, at the same
   tolerances, and no longer after the call. */
static void controlled(void **state)
{
    (void)state;
    const double none[] = {0, 0, 0}, far[] = {11, 0.9}, near[] = {9, 0.9}, both[] = {2, 0.9}, still[] = {20, 20, 0.9},
                 first[] = {2, 0, 0, 0}, second[] = {0, 20, 2, 0.9};
    outcome without = follow((script){"", none, near, .tol = 1e-3}, decays, 1, 0),
            r = follow((script){"", none, far, .tol = 1e-3}, decays, 1, 0);
    ends_at(&r, COSTATE_OK, 2, 1, "No error");
    assert_true(r.tangents > 2 * without.tangents);
    long after = r.again;
    ends_at(&without, COSTATE_OK, 2, 0.3 / 9, "No error");
    r = follow((script){"", both, far, .tol = 1e-3}, decays, 1, 0);           /* the value is not within */
    ends_at(&r, COSTATE_OK, 2, 0.3 / 11, "No error");
    r = follow((script){"", none, still, .tol = 1e-3}, decays, 1, 0);         /* once */
    ends_at(&r, COSTATE_OK, 3, 0.3 / 20, "No error");
    r = follow((script){"001", none, far, .tol = 1e-3}, decays, 1, 0);        /* not where it fails */
    ends_at(&r, COSTATE_OK, 3, 0.3 / 11, "No error");
    assert_true(r.fourth < 2 * without.tangents);
    r = follow((script){"", first, second, .tol = 1e-3}, decays, 1, 0);       /* the power is that of rounds with it */
    ends_at(&r, COSTATE_OK, 4, 0.15 * 0.15, "No error");
    r = follow((script){"", none, far, .tol = 1e-3}, decays, 1, 2);           /* the caller's own stays */
    ends_at(&r, COSTATE_OK, 2, 0.3 / 11, "No error");
    assert_true(r.again > 3 * after);
    costate_problem P = decays;
    P.rhs.tangent = NULL;                                                     /* no products for it */
    r = follow((script){"", none, far, .tol = 1e-3}, P, 1, 0);
    ends_at(&r, COSTATE_OK, 2, 0.3 / 11, "No error");
}

static int relaxes(const costate_point *x, double *f, void *ctx)
{
    const double *y = x->y;
    return (void)ctx, f[0] = y[1], f[1] = x->p[0] * (1 - y[0] * y[0]) * y[1] - y[0], 0;
}
static int relaxes_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    const double *y = x->y, *d = dx->y, mu = x->p[0];
    (void)ctx;
    f[0] = d ? d[1] : 0;
    f[1] = (d ? mu * ((1 - y[0] * y[0]) * d[1] - 2 * y[0] * y[1] * d[0]) - d[0] : 0) +
           (dx->p ? dx->p[0] * (1 - y[0] * y[0]) * y[1] : 0);
    return 0;
}
static int relaxes_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, mu = x->p[0];
    (void)ctx;
    if (g->y) g->y[0] -= (2 * mu * y[0] * y[1] + 1) * w[1], g->y[1] += w[0] + mu * (1 - y[0] * y[0]) * w[1];
    if (g->p) g->p[0] += (1 - y[0] * y[0]) * y[1] * w[1];
    return 0;
}

/* The tape of a run with tangents in its error test: the solver sweeps it afterwards, in memory and from a file. */
static void swept(void **state)
{
    (void)state;
    char path[80];
    snprintf(path, sizeof path, "gradient_within_%ld.tape", (long)getpid());
    const costate_problem P = {.n = 2, .np = 1, .rhs = {relaxes, relaxes_tangent, .adjoint = relaxes_adjoint}};
    const double w[] = {1, 0, 0};
    for (int k = 0; k < 8; k++) {
        costate_options o = {.storage = k / 2 < 3 ? k / 2 : 0};
        costate *c = costate_new(costate_method_find(k % 2 ? "dopri5" : "tsit5"), &P, &o);
        costate_tape *tape = k / 2 < 3 ? costate_tape_new() : costate_tape_open(path), *again = costate_tape_new();
        double y[] = {2, 0}, start[] = {2, 0}, lambda[] = {1, 0}, by_y[2], p = 3, V[] = {1, 0.5};
        costate_goal g = {.tol = 1e-3, .estimate = {.run = {.y0 = by_y}}};
        CHECK_OK(c, costate_gradient_within(c, 0, 11.2, y, &p,
                                            &(costate_functional){.m = 1, .at_end = sum, .ctx = (void *)w}, &g, tape));
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
        assert_memory_equal(lambda, by_y, sizeof by_y);
        CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
        double product = lambda[0] + 0.5 * lambda[1];
        assert_true(fabs(V[0] - product) <= 1e-11 * (fabs(lambda[0]) + fabs(lambda[1])));
        CHECK_OK(c, costate_integrate(c, 0, 11.2, start, &p, again));
        if (costate_tape_steps(again) == costate_tape_steps(tape)) fail_msg("%d: gradient_control was not used", k);
        if (k >= 6) {
            double read[] = {1, 0};
            costate_tape_free(tape);
            CHECK_OK(c, costate_tape_read(c, tape = costate_tape_open(path)));
            CHECK_OK(c, costate_adjoint(c, tape, 1, read, NULL, NULL, NULL));
            assert_memory_equal(read, by_y, sizeof by_y);
            remove(path);
        }
        costate_tape_free(tape);
        costate_tape_free(again);
        costate_free(c);
    }
}

/* ---- what a failure says ---- */

typedef struct { double value, by_y, by_p, by_end, error; int which, calls; } parts;

static int part(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                double *end, void *ctx)
{
    parts *x = ctx;
    (void)t1, (void)y, (void)p;
    double off = x->calls % 2 ? 0 : x->error;
    for (int j = 0; j < m; j++) {
        value[j] = x->value * (1 + (x->which == 0 && j == m - 1 ? off : 0));
        lambda[2 * j] = x->by_y + (x->which == 1 && j == m - 1 ? off * (x->by_y != 0 ? x->by_y : 1) : 0);
        mu[j] = x->by_p * (1 + (x->which == 2 && j == m - 1 ? off : 0));
        end[j] = x->by_end * (1 + (x->which == 3 && j == m - 1 ? off : 0));
    }
    return x->calls++, 0;
}

static int still(const costate_point *x, double *f, void *ctx) { return (void)x, (void)ctx, f[0] = f[1] = 0, 0; }
static int still_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return (void)x, (void)dx, (void)ctx, f[0] = f[1] = 0, 0;
}
static int still_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return (void)x, (void)w, (void)g, (void)ctx, 0;
}

static void says(parts x, int m, double start, const char *words)
{
    const costate_problem P = {.n = 2, .np = 1, .rhs = {still, still_tangent, .adjoint = still_adjoint}};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.autonomous = 1});
    double y[] = {start, 0}, p = 1, by_y[4], by_p[2], t1[2];
    costate_goal g = {.tol = 1e-2, .estimate = {.run = {.y0 = by_y, .p = by_p, .t1 = t1}}};
    int status = costate_gradient_within(c, 0, 1, y, &p, &(costate_functional){.m = m, .at_end = part, .ctx = &x}, &g,
                                         NULL);
    if (status != COSTATE_ACCURACY || !strstr(costate_message(c), words))
        fail_msg("%d: %s (%s)", status, costate_message(c), words);
    costate_free(c);
}

static void messages(void **state)
{
    (void)state;
    says((parts){1, 1, 1, 1, 0.5, 0, 0}, 1, 1, "that of the value, is estimated");
    says((parts){1, 1, 1, 1, 0.5, 1, 0}, 1, 1, "that of the gradient with respect to y0, is estimated");
    says((parts){1, 1, 1, 1, 0.5, 2, 0}, 2, 1, "that of the gradient with respect to p of functional 1, is estimated");
    says((parts){1, 1, 1, 1, 0.5, 3, 0}, 1, 1, "that of the gradient with respect to t0 and t1, is estimated");
    says((parts){0.9e-12, 1, 1, 1, 0.5, 0, 0}, 1, 1, "Of the value only round-off is left, or 0");
    says((parts){0.9e-12, 1, 1, 1, 0.5, 0, 0}, 1, 1, "Set goal.value_atol");
    says((parts){1.1e-12, 1, 1, 1, 0.5, 0, 0}, 1, 1, "that of the value, is estimated");
    says((parts){1, 0.9e-12, 1, 1, 0.5, 1, 0}, 1, 1, "Of the gradient with respect to y0 only round-off");
    says((parts){1, 0.9e-12, 1, 1, 0.5, 1, 0}, 1, 0, "that of the gradient with respect to y0, is estimated");
    says((parts){1, 0, 1, 1, 0.5, 1, 0}, 1, 0, "Of the gradient with respect to y0 only round-off");
    says((parts){1, 1, 0.9e-12, 1, 0.5, 2, 0}, 1, 1, "Set goal.gradient_atol");
    says((parts){1, 1e3, 0.9e-9, 1, 0.5, 2, 0}, 1, 1, "Set goal.gradient_atol");
    says((parts){1, 1, 1, 1e-13, 0.5, 3, 0}, 1, 1, "that of the gradient with respect to t0 and t1, is estimated");
}

/* ---- runs that fail with a looser atol, or with the first tolerances: what the options reach is reached ---- */

static void reached_by_options(void **state)
{
    (void)state;
    const problem *b = problem_find("rober_4e7");
    const double atol[] = {1e-9, 1e-13, 1e-9}, last[] = {1e4, 1e11};
    for (int k = 0; k < 2; k++)
        for (double tol = 1e-2; tol > 1e-5; tol /= 100) {
            costate *c = costate_new(NULL, &b->P, &(costate_options){.rtol = 1e-6, .atol_vector = atol});
            double y[] = {1, 0, 0, 0}, y0[4], p[3];
            costate_goal g = {.tol = tol, .estimate = {.run = {.y0 = y0, .p = p}}};
            const double w[] = {1, 0, 0};
            CHECK_OK(c, costate_gradient_within(c, 0, last[k], y, b->p0,
                                                &(costate_functional){.m = 1, .at_end = sum, .ctx = (void *)w}, &g,
                                                NULL));
            costate_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(leaves), cmocka_unit_test(tolerances),
                                       cmocka_unit_test(refusals), cmocka_unit_test(gives_up),
                                       cmocka_unit_test(steps_of_the_goal), cmocka_unit_test(first_tolerances),
                                       cmocka_unit_test(worst_of_all), cmocka_unit_test(other_events),
                                       cmocka_unit_test(failures), cmocka_unit_test(bounded),
                                       cmocka_unit_test(controlled),
                                       cmocka_unit_test(swept), cmocka_unit_test(messages),
                                       cmocka_unit_test(reached_by_options)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("reaches", reaches);
}
