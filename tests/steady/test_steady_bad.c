/* test_steady_bad.c - wrong arguments, callbacks that fail, events on the way, calls from callbacks and lack of memory:
   a status and a sentence, nothing leaked, and the solver goes on as if nothing had been asked. */
#include "alloc.h"
#include "steady_models.h"

enum { N = 2, NP = 2 };
static const double p_at[NP] = {2, 0.3};

static void pair(model *m)
{
    const reaction list[] = {{0, "A", "B"}, {1, "B", "A"}};
    model_mass_action(m, N, NP, 2, list);
}

static void refused_run(const costate_problem *P, const costate_options *run, const costate_steady_options *o,
                        int wanted, const char *word)
{
    double y[N] = {1, 0}, V[N] = {1, 0};
    costate_steady *s = costate_steady_new(NULL, P, run, o);
    const costate_map F = costate_steady_map(s);
    const struct { const char *call; int status; } calls[] = {
        {"solve", costate_steady_solve(s, y, p_at)}, {"tangent", costate_steady_tangent(s, 1, V, NULL)},
        {"adjoint", costate_steady_adjoint(s, 1, V, NULL)},
        {"the map", F.value(&(costate_point){.y = y, .p = p_at}, V, s)},
    };
    for (int k = 0; k < 4; k++)
        if (calls[k].status != wanted || !strstr(costate_steady_message(s), word))
            fail_msg("%s: %s, not %s with \"%s\": %s", calls[k].call, costate_status_name(calls[k].status),
                     costate_status_name(wanted), word, costate_steady_message(s));
    assert_null(costate_steady_invariants(s));
    costate_steady_free(s);
}

static void refused(const costate_problem *P, const costate_steady_options *o, int wanted, const char *word)
{
    refused_run(P, NULL, o, wanted, word);
}

static int jump(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[0] + 1, out[1] = x->y[1], 0;
}

static int falls(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - 0.5, 0; }
static int watched(int event, double t, const double *before, const double *after, void *ctx)
{
    return (void)event, (void)t, (void)before, (void)after, (void)ctx, 0;
}
static int sums(int count, double *x, void *ctx) { return (void)count, (void)x, (void)ctx, 0; }
static int none(const costate_point *x, double *out, void *ctx) { return (void)x, (void)out, (void)ctx, 0; }

static void at_creation(void **state)
{
    static model m;
    const double times[1] = {0.5};
    const costate_event given = {.ntimes = 1, .times = times, .jump = {.value = jump}};
    (void)state;
    pair(&m);
    refused(NULL, NULL, COSTATE_BAD_ARGUMENT, "problem is NULL");
    costate_problem P = m.P;
    P.nstops = 1, P.stops = times;
    refused(&P, NULL, COSTATE_BAD_ARGUMENT, "problem.nstops");
    P = m.P;
    P.nevents = 1, P.event = &given;
    refused(&P, NULL, COSTATE_BAD_ARGUMENT, "event[0] occurs at given times");
    P = m.P;
    P.after_step.map.value = jump;
    refused(&P, NULL, COSTATE_BAD_ARGUMENT, "problem.after_step");
    P = m.P;
    P.jac_is_w = 1, P.jac = none;
    refused(&P, NULL, COSTATE_BAD_ARGUMENT, "jac_is_w");
    const struct { costate_steady_options o; int status; const char *word; } wrong[] = {
        {{.t0 = NAN}, COSTATE_BAD_ARGUMENT, "options.t0"}, {{.longest = -1}, COSTATE_BAD_ARGUMENT, "options.longest"},
        {{.longest = NAN}, COSTATE_BAD_ARGUMENT, "options.longest"},
        {{.nfixed = 1}, COSTATE_BAD_ARGUMENT, "options.fixed or"},
        {{.nfixed = 1, .fixed = (const int[]){2}, .values = times}, COSTATE_BAD_ARGUMENT, "options.fixed[0] = 2"},
        {{.nfixed = 1, .fixed = (const int[]){-1}, .values = times}, COSTATE_BAD_ARGUMENT, "options.fixed[0] = -1"},
        {{.nfixed = 1, .fixed = (const int[]){0}, .values = (const double[]){NAN}}, COSTATE_BAD_ARGUMENT, "finite"},
        {{.invariants = 1}, COSTATE_BAD_ARGUMENT, "options.invariants = 1"},
        {{.invariants = -2}, COSTATE_BAD_ARGUMENT, "options.invariants = -2"},
        {{.invariant.value = falls}, COSTATE_BAD_ARGUMENT, "options.invariants = 0"},
        {{.invariant.value = falls, .invariants = 3}, COSTATE_BAD_ARGUMENT, "options.invariants = 3"},
        {{.invariant.value = falls, .invariants = 1}, COSTATE_MISSING, "tangent or adjoint"},
    };
    refused_run(&m.P, &(costate_options){.on_event = watched}, NULL, COSTATE_BAD_ARGUMENT, "run.on_event");
    refused_run(&m.P, &(costate_options){.sum = sums}, NULL, COSTATE_BAD_ARGUMENT, "run.sum");
    refused_run(&m.P, &(costate_options){.rtol = -1}, NULL, COSTATE_BAD_ARGUMENT, "options.rtol");
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refused(&m.P, &wrong[k].o, wrong[k].status, wrong[k].word);
}

static void says(costate_steady *s, int status, int wanted, const char *word)
{
    if (status != wanted || !strstr(costate_steady_message(s), word))
        fail_msg("%s, not %s with \"%s\": %s", costate_status_name(status), costate_status_name(wanted), word,
                 costate_steady_message(s));
}

static void in_calls(void **state)
{
    static model m;
    double y[N] = {1, 0}, nan[N] = {NAN, 0}, V[N] = {1, 0};
    (void)state;
    pair(&m);
    costate_steady *s = costate_steady_new(NULL, &m.P, NULL, NULL);
    says(s, costate_steady_tangent(s, 1, V, NULL), COSTATE_BAD_ARGUMENT, "costate_steady_solve comes first");
    says(s, costate_steady_solve(s, NULL, p_at), COSTATE_BAD_ARGUMENT, "y is NULL");
    says(s, costate_steady_solve(s, nan, p_at), COSTATE_BAD_ARGUMENT, "y holds a NaN");
    says(s, costate_steady_solve(s, y, NULL), COSTATE_BAD_ARGUMENT, "p is NULL");
    says(s, costate_steady_solve(s, y, nan), COSTATE_BAD_ARGUMENT, "p holds a NaN");
    CHECK_STEADY(s, costate_steady_solve(s, y, p_at));
    const double *w = costate_steady_invariants(s);
    assert_true(w && w[0] == 1 && w[1] == 1);
    says(s, costate_steady_tangent(s, 0, V, NULL), COSTATE_BAD_ARGUMENT, "m = 0");
    says(s, costate_steady_tangent(s, 1, nan, NULL), COSTATE_BAD_ARGUMENT, "V holds a NaN");
    says(s, costate_steady_tangent(s, 1, V, nan), COSTATE_BAD_ARGUMENT, "Vp holds a NaN");
    says(s, costate_steady_adjoint(s, 1, NULL, NULL), COSTATE_BAD_ARGUMENT, "lambda is NULL");
    CHECK_STEADY(s, costate_steady_adjoint(s, 1, V, NULL));
    costate_steady_free(s);
    assert_int_equal(costate_steady_solve(NULL, y, p_at), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_steady_message(NULL), "NULL"));
    costate_steady_free(NULL);
}

static void at_an_event(void **state)
{
    static model m;
    const costate_event event = {.guard = {.value = falls}, .direction = -1, .from = COSTATE_ANY_MODE,
                                 .to = COSTATE_SAME_MODE};
    double y[N] = {1, 0}, low[N] = {0.1, 0.2};
    (void)state;
    pair(&m);
    m.P.nevents = 1, m.P.event = &event;
    costate_steady *s = costate_steady_new(NULL, &m.P, NULL, NULL);
    says(s, costate_steady_solve(s, y, p_at), COSTATE_BAD_ARGUMENT, "event[0] fired");
    assert_true(y[0] == 1 && y[1] == 0);
    CHECK_STEADY(s, costate_steady_solve(s, low, p_at));
    costate_steady_free(s);
}

/* ---- callbacks ---- */

typedef struct { int returns, stops; costate_steady *own; int status; } failing;

static int fails(const costate_point *x, double *out, void *ctx)
{
    failing *f = ctx;
    double y[1] = {1};
    out[0] = 1 - x->y[0];
    if (f->own) f->status = costate_steady_solve(f->own, y, NULL);
    return f->returns;
}

static int stops(const costate_step *step, void *ctx) { return (void)step, ((failing *)ctx)->stops; }

static void callbacks(void **state)
{
    failing f = {0};
    double y[1] = {0};
    const costate_options run = {.differences = 1, .on_step = stops, .on_step_ctx = &f};
    const costate_problem P = {.n = 1, .rhs = {.value = fails}, .ctx = &f};
    (void)state;
    costate_steady *s = costate_steady_new(costate_method_find("rodas4"), &P, &run, NULL);
    f.returns = -3;
    says(s, costate_steady_solve(s, y, NULL), COSTATE_CALLBACK, "-3");
    f.returns = 1;
    assert_int_not_equal(costate_steady_solve(s, y, NULL), COSTATE_OK);
    f.returns = 0, f.stops = 1;
    says(s, costate_steady_solve(s, y, NULL), COSTATE_STOPPED, "on_step");
    f.stops = 0, f.own = s;
    CHECK_STEADY(s, costate_steady_solve(s, y, NULL));
    assert_int_equal(f.status, COSTATE_BAD_ARGUMENT);
    assert_float_equal(y[0], 1, 1e-9);
    costate_steady_free(s);
}

/* a product that is not defined at the steady state: a status, and not the number */
static int undefined(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return (void)x, (void)w, (void)g, (void)ctx, 7;
}

static void undefined_products(void **state)
{
    static model m;
    double y[N] = {1, 0}, lambda[N] = {1, 0}, mu[NP] = {0};
    (void)state;
    pair(&m);
    m.P.rhs.adjoint = undefined;
    costate_steady *s = costate_steady_new(NULL, &m.P, NULL, NULL);
    CHECK_STEADY(s, costate_steady_solve(s, y, p_at));
    says(s, costate_steady_adjoint(s, 1, lambda, mu), COSTATE_CALLBACK, "where the steady state is required");
    costate_steady_free(s);
}

/* ---- memory ---- */

static int all_calls(const model *m, double *y, double *V, double *lambda, double *mu)
{
    int status = COSTATE_NO_MEMORY;
    costate_steady *s = costate_steady_new(costate_method_find("radau2a5"), &m->P, NULL, NULL);
    if (s) status = costate_steady_solve(s, y, p_at);
    if (status == COSTATE_OK) status = costate_steady_tangent(s, 1, V, p_at);
    if (status == COSTATE_OK) status = costate_steady_adjoint(s, 1, lambda, mu);
    if (s && status) assert_true(strlen(costate_steady_message(s)) > 10);
    costate_steady_free(s);
    return status;
}

static void without_memory(void **state)
{
    static model m;
    int status = COSTATE_NO_MEMORY;
    (void)state;
    pair(&m);
    long live = alloc_live(), k = 1;
    for (; status != COSTATE_OK; k++) {
        double y[N] = {1, 0}, V[N] = {1, 0}, lambda[N] = {1, 0}, mu[NP] = {0};
        alloc_fail_at(k);
        status = all_calls(&m, y, V, lambda, mu);
        alloc_fail_at(0);
        if (status && status != COSTATE_NO_MEMORY) fail_msg("malloc %ld: %s", k, costate_status_name(status));
        assert_int_equal(alloc_live(), live);
        assert_true(k < 1000);
    }
    assert_true(k > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_creation), cmocka_unit_test(in_calls), cmocka_unit_test(at_an_event),
        cmocka_unit_test(callbacks), cmocka_unit_test(undefined_products), cmocka_unit_test(without_memory)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
