/* test_dense_output.c - values between steps: options.accurate_inside makes those of composite methods as accurate as
   the tolerances, calls that know beforehand set it, and without it, or for algebraic unknowns, messages say what they
   lack. */
#include "solver/members.h"     /* before cmocka, which has a macro fail */
#include "common.h"
#include <costate/accuracy.h>
#include <costate/ensemble.h>

enum { MOST = 9, VERNER76 = 1 };        /* VERNER76: the member of auto that is weak inside */

static const char INSIDE_STEPS[] = "options.accurate_inside = 1", ALGEBRAIC[] = "Algebraic unknowns between steps";

/* ---- how far values inside steps are from a run with rtol 1e-12 ---- */

typedef struct {
    const problem *b;
    costate *c;
    costate_tape *tape;
    double rtol, atol, worst;
} truth;

static double atol_of(const problem *b) { return strcmp(b->name, "hires") == 0 ? 1e-4 : 1; }    /* over rtol */

static int look_inside(const costate_step *step, void *ctx)
{
    truth *x = ctx;
    double y[MOST], z[MOST], t0 = costate_step_start(step), t1 = costate_step_end(step);
    for (int k = 1; k < 8; k++) {
        double t = t0 + k * (t1 - t0) / 8, sum = 0;
        assert_int_equal(costate_step_eval(step, t, y), COSTATE_OK);
        CHECK_OK(x->c, costate_tape_eval(x->c, x->tape, t, z));
        for (int i = 0; i < x->b->P.n; i++) {
            double e = (y[i] - z[i]) / (x->atol + x->rtol * fabs(z[i]));
            sum += e * e / x->b->P.n;
        }
        x->worst = larger_of(x->worst, sqrt(sum));
    }
    return 0;
}

/* in tolerances */
static double farthest(const char *method, const char *name, double rtol, int inside)
{
    const problem *b = problem_find(name);
    double y[MOST + 2] = {0}, scale = atol_of(b);
    truth x = {.b = b, .rtol = rtol, .atol = rtol * scale, .tape = costate_tape_new()};
    x.c = costate_new(costate_method_find("radau2a7"), &b->P, &(costate_options){.rtol = 1e-12, .atol = 1e-12 * scale});
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(x.c, costate_integrate(x.c, b->t0, b->t1, y, b->p0, x.tape));
    const costate_options o = {.rtol = rtol, .atol = x.atol, .accurate_inside = inside, .on_step = look_inside,
                               .on_step_ctx = &x};
    costate *c = costate_new(costate_method_find(method), &b->P, &o);
    memset(y, 0, sizeof y);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
    costate_free(c);
    costate_free(x.c);
    costate_tape_free(x.tape);
    return x.worst;
}

static void within_tolerances(void **state)
{
    static const char *const methods[] = {"auto", "radau"};
    static const char *const names[] = {"lv", "detest_A3", "rotor", "rotor_dae", "hires"};
    static const double tolerances[] = {1e-4, 1e-6, 1e-8};
    (void)state;
    for (int m = 0; m < 2; m++)
        for (int b = 0; b < 5; b++)
            for (int k = 0; k < 3; k++) {
                double worst = farthest(methods[m], names[b], tolerances[k], 1);
                if (!(worst < 10))
                    fail_msg("%s, %s, rtol %g: %.2g tolerances", methods[m], names[b], tolerances[k], worst);
            }
    assert_true(farthest("radau", "lv", 1e-8, 0) > 20);     /* at 0.1 rtol^(4/7) */
    assert_true(farthest("radau", "lv", 1e-8, 1) < 0.3);
}

/* ---- runs of lv ---- */

typedef struct { costate *c; costate_tape *tape; double y[4]; } session;

static const double TIMES[] = {3.3, 7.1};

static session run_of(const char *name, const char *method, costate_options o)
{
    const problem *b = problem_find(name);
    session s = {costate_new(costate_method_find(method), &b->P, &o), costate_tape_new(), {0}};
    memcpy(s.y, b->y0, (size_t)b->P.n * sizeof *s.y);
    CHECK_OK(s.c, costate_integrate(s.c, b->t0, b->t1, s.y, b->p0, s.tape));
    return s;
}

static void close_session(session *s)
{
    costate_tape_free(s->tape);
    costate_free(s->c);
}

static long weak_steps(const costate *c) { return costate_get_stats(c)->member_steps[VERNER76]; }
static int says(const costate *c, const char *what) { return strstr(costate_message(c), what) != NULL; }

static void members_that_take_steps(void **state)
{
    const costate_options o = {.rtol = 1e-8, .atol = 1e-8}, all = {.rtol = 1e-8, .atol = 1e-8, .accurate_inside = 1},
                          none = {.members = "verner76", .accurate_inside = 1};
    (void)state;
    session plain = run_of("lv", "auto", o), inside = run_of("lv", "auto", all);
    assert_true(weak_steps(plain.c) > 0 && weak_steps(inside.c) == 0);
    for (int k = 0; k < members_count(&inside.c->st); k++)          /* explicit members with a quarter of rtol */
        assert_true(inside.c->st.members[k].looser == (k <= VERNER76 ? 0.25 : 1));
    double lambda[3] = {1, 0, 0};
    CHECK_OK(inside.c, costate_adjoint(inside.c, plain.tape, 1, lambda, NULL, NULL, NULL));     /* sweeps do */
    costate *c = costate_new(NULL, &problem_find("lv")->P, &none);
    assert_int_equal(costate_status(c), COSTATE_BAD_ARGUMENT);
    assert_true(says(c, "options.accurate_inside"));
    costate_free(c);
    for (int k = 0; k < members_count(&plain.c->st); k++) plain.c->works[k].usable = k == VERNER76;
    members_inside(plain.c);
    assert_int_equal(plain.c->o.accurate_inside, 0);        /* a weak member is better than none */
    close_session(&plain);
    close_session(&inside);
}

/* ---- what messages say ---- */

static int value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    return (void)k, (void)t, (void)y, (void)m, (void)V, (void)ctx, 0;
}
static int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    return (void)k, (void)t, (void)y, (void)m, (void)ctx, w[0] = 1, 0;
}
static int seed2(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    (void)k, (void)t, (void)m, (void)ctx;
    if (w) w[0] = y[0];
    w2[0] = V[0];
    return 0;
}

/* bits: tape_eval, tangent, adjoint, Hessian product, Gauss-Newton product */
static int which_say(session *s, const double *times, const char *what)
{
    double V[4] = {1, 0, 0, 0}, lambda[4], lambda2[4], y[4];
    const costate_observations o = {.count = 2, .t = times, .value = value, .seed = seed, .seed2 = seed2};
    const costate_second two = {.m = 1, .V = V, .lambda = lambda, .lambda2 = lambda2, .observations = &o};
    int found = 0;
    CHECK_OK(s->c, costate_tape_eval(s->c, s->tape, times[1], y));
    found |= says(s->c, what);
    CHECK_OK(s->c, costate_hessian(s->c, s->tape, &two));
    found |= says(s->c, what) << 3;
    CHECK_OK(s->c, costate_gauss_newton(s->c, s->tape, &two));
    found |= says(s->c, what) << 4;
    CHECK_OK(s->c, costate_tangent(s->c, s->tape, 1, V, NULL, NULL, &o));
    found |= says(s->c, what) << 1;
    memset(lambda, 0, sizeof lambda);
    CHECK_OK(s->c, costate_adjoint(s->c, s->tape, 1, lambda, NULL, NULL, &o));
    return found | says(s->c, what) << 2;
}

static void messages(void **state)
{
    static const struct { const char *problem, *method, *what; int inside, all; } rows[] = {
        {"lv", "auto", INSIDE_STEPS, 0, 31}, {"lv", "auto", INSIDE_STEPS, 1, 0},
        {"lv", "radau", INSIDE_STEPS, 0, 31}, {"lv", "radau", INSIDE_STEPS, 1, 0},
        {"lv", "verner76", INSIDE_STEPS, 0, 0}, {"lv", "radau", ALGEBRAIC, 0, 0},
        {"rotor_dae", "radau", ALGEBRAIC, 1, 31}, {"rotor_dae", "radau2a", INSIDE_STEPS, 0, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const problem *b = problem_find(rows[k].problem);
        const costate_options o = {.rtol = 1e-8, .atol = 1e-8, .accurate_inside = rows[k].inside};
        session s = run_of(rows[k].problem, rows[k].method, o);
        const double times[] = {b->t0 + 0.33 * (b->t1 - b->t0), b->t0 + 0.71 * (b->t1 - b->t0)};
        const double ends[] = {b->t0, b->t1};
        assert_int_equal(which_say(&s, ends, rows[k].what), 0);
        int found = which_say(&s, times, rows[k].what);
        if (found != rows[k].all) fail_msg("row %zu: %d say so, not %d", k, found, rows[k].all);
        close_session(&s);
    }
}

static int ask(const costate_step *step, void *ctx)
{
    double y[3], t0 = costate_step_start(step), t1 = costate_step_end(step);
    return costate_step_eval(step, t0 + *(double *)ctx * (t1 - t0), y);
}

static void messages_of_runs(void **state)
{
    static const double parts[] = {0, 0.5, 1};
    (void)state;
    for (int k = 0; k < 3; k++) {
        double part = parts[k];
        session s = run_of("lv", "auto", (costate_options){.rtol = 1e-8, .on_step = ask, .on_step_ctx = &part});
        assert_int_equal(says(s.c, INSIDE_STEPS), k == 1);
        part = 1;
        CHECK_OK(s.c, costate_integrate(s.c, 0, 1, s.y, problem_find("lv")->p0, NULL));
        assert_false(says(s.c, INSIDE_STEPS));
        close_session(&s);
    }
}

/* ---- calls that know that values inside steps will be asked for ---- */

static int at_time(int k, double t, const double *y, int m, double *term, double *w, void *ctx)
{
    (void)k, (void)t, (void)m, (void)ctx;
    term[0] = y[0];
    w[0] = 1;
    return 0;
}
static int at_end(double t1, const double *y, const double *p, int m, double *values, double *lambda, double *mu,
                  double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    values[0] = y[0];
    lambda[0] = 1;
    return 0;
}

static long weak_steps_to_goal(int count, const char *members)
{
    const problem *b = problem_find("lv");
    const costate_functional F = {.m = 1, .count = count, .t = TIMES, .at_time = at_time, .at_end = at_end};
    double y[3] = {1, 1, 0}, value_ = 0, by_y0[3];
    costate_goal g = {.tol = 1e-7, .estimate = {.run = {.value = &value_, .y0 = by_y0}}};
    costate *c = costate_new(NULL, &b->P, &(costate_options){.members = members});
    CHECK_OK(c, costate_gradient_within(c, b->t0, b->t1, y, b->p0, &F, &g, NULL));
    long steps = weak_steps(c);
    costate_free(c);
    return steps;
}

static void goals(void **state)
{
    (void)state;
    assert_int_equal(weak_steps_to_goal(2, NULL), 0);
    assert_true(weak_steps_to_goal(0, NULL) > 0);
    assert_true(weak_steps_to_goal(2, "bs54 verner76") > 0);        /* the user's list stands */
}

static int observe(int member, int k, double t, const double *y, int m, double *w, void *ctx)
{
    return (void)member, (void)k, (void)t, (void)y, (void)m, (void)ctx, w[0] = 1, 0;
}

static long weak_steps_of_ensemble(int observations, const char *members, double *y)
{
    const problem *b = problem_find("lv");
    const costate_options o = {.rtol = 1e-8, .atol = 1e-8, .members = members};
    double lambda[3] = {0};
    costate_ensemble_report report;
    costate_members a = {.count = 1, .threads = 1, .t1 = b->t1, .y = y, .p = b->p0, .m = 1, .lambda = lambda,
                         .observations = observations, .observed = TIMES, .observe = observe};
    y[0] = y[1] = 1;
    y[2] = 0;
    assert_int_equal(costate_ensemble(NULL, &b->P, &o, &a, &report), COSTATE_OK);
    return report.stats.member_steps[VERNER76];
}

static void ensembles(void **state)
{
    double y[3];
    (void)state;
    session s = run_of("lv", "auto", (costate_options){.rtol = 1e-8, .atol = 1e-8, .accurate_inside = 1});
    assert_int_equal(weak_steps_of_ensemble(2, NULL, y), 0);
    assert_memory_equal(y, s.y, sizeof y);
    assert_true(weak_steps_of_ensemble(0, NULL, y) > 0);
    assert_true(weak_steps_of_ensemble(2, "verner76", y) > 0);
    close_session(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_tolerances), cmocka_unit_test(members_that_take_steps), cmocka_unit_test(messages),
        cmocka_unit_test(messages_of_runs), cmocka_unit_test(goals), cmocka_unit_test(ensembles),
    };
    return cmocka_run_group_tests_name("values between steps", tests, NULL, NULL);
}
