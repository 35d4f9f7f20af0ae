/* test_second_bad.c - what is wrong with a Hessian product is said in a sentence: arguments (before anything is
   written), seeds, tapes, products that the problem lacks, memory for tangents; and what comes after is right. */
#include "alloc.h"
#include "common.h"
#include "hybrids.h"
#include "seconds.h"

enum { NS = 3, NQ = 2, N = NS + NQ, NP = 2, M = 2, COUNT = 3 };

/* ---- a problem in which everything depends on everything ---- */

static void problem_of_all(second *s)
{
    second_declare(s, "all", NS, NP, NQ, 1.5, 0, 0);
    graph *g = &s->rhs;
    for (int i = 0; i < NS; i++) {
        int product = graph_times(g, graph_y(g, (i + 1) % NS), graph_y(g, (i + 2) % NS));
        int forced = graph_plus(g, graph_times(g, graph_p(g, i % NP), product), 0.3, graph_sin(g, graph_t(g)));
        graph_row(g, graph_plus(g, forced, -1 - i, graph_y(g, i)));
    }
    g = &s->cost;
    graph_row(g, graph_times(g, graph_y(g, 0), graph_times(g, graph_y(g, 1), graph_p(g, 0))));
    graph_row(g, graph_times(g, graph_exp(g, graph_y(g, 2)), graph_p(g, 1)));
    g = &s->end;
    graph_row(g, graph_times(g, graph_y(g, 0), graph_times(g, graph_y(g, 2), graph_p(g, 1))));
}

/* ---- seeds that fail on demand ---- */

typedef struct { second *s; int code; double spoil; int where; } seeds;      /* where: 0: none, 1 + output to spoil */

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const seeds *z = ctx;
    double *out[] = {lambda, mu, lambda2, mu2}, grad[N] = {0}, grad_p[NP] = {0};
    second_seed(t1, y, p, m, V, Vp, lambda ? lambda : grad, lambda ? mu : grad_p, lambda2, mu2, z->s);
    if (z->where && out[z->where - 1]) out[z->where - 1][1] = z->spoil;
    return z->code;
}

static int observed(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    const seeds *z = ctx;
    (void)t;
    for (int i = 0; w && i < NS; i++) w[i] = y[i] * y[i] / 2;
    for (int i = 0; i < NS * m; i++) w2[i] = y[i % NS] * V[i];
    if (z->where == 5 && w) w[1] = z->spoil;
    if (z->where == 6) w2[1] = z->spoil;
    return k == 1 ? z->code : 0;
}

/* ---- a run, and what a call may write to ---- */

typedef struct {
    second s;
    costate *c;
    costate_tape *tape;
    double t[COUNT], y[N], p[NP];
    seeds end, inside;
    costate_observations at;
    costate_times along, times, times2;
    costate_second ask;
    union {
        struct {
            double V[M * N], Vp[M * NP], dt[2 * M];
            double lambda[N], mu[NP], lambda2[M * N], mu2[M * NP], out[2 + 2 * M];
        };
        double all[2 * M * (N + NP + 2) + N + NP + 2];
    };
} world;

static void fill(world *w)
{
    unsigned seed_of = 1;
    random_fill(&seed_of, sizeof w->all / sizeof *w->all, w->all);
}

/* everything asked for */
static void ask_for_all(world *w)
{
    fill(w);
    w->end = (seeds){.s = &w->s};
    w->inside = (seeds){.s = &w->s};
    w->along = (costate_times){.t0 = w->dt, .t1 = w->dt + M};
    w->times = (costate_times){.t0 = w->out, .t1 = w->out + 1};
    w->times2 = (costate_times){.t0 = w->out + 2, .t1 = w->out + 2 + M};
    w->at = (costate_observations){.count = COUNT, .t = w->t, .seed2 = observed, .ctx = &w->inside};
    w->ask = (costate_second){.m = M, .V = w->V, .Vp = w->Vp, .along = &w->along, .seed = seed, .ctx = &w->end,
                              .observations = &w->at, .lambda = w->lambda, .mu = w->mu, .times = &w->times,
                              .lambda2 = w->lambda2, .mu2 = w->mu2, .times2 = &w->times2};
}

static void start(world *w)
{
    static const double y0[N] = {0.4, -0.3, 0.8}, p0[NP] = {0.7, -0.6}, t[COUNT] = {0, 0.4, 1.1};
    memcpy(w->y, y0, sizeof y0);
    memcpy(w->p, p0, sizeof p0);
    memcpy(w->t, t, sizeof t);
}

static const costate_options loose = {.rtol = 1e-3, .atol = 1e-3};

static void open_world(world *w, const costate_method *m, const costate_options *o)
{
    problem_of_all(&w->s);
    w->c = new_for_test(m, &w->s.P, o);
    w->tape = costate_tape_new();
    start(w);
    CHECK_OK(w->c, costate_integrate(w->c, 0, 1.5, w->y, w->p, w->tape));
    start(w);
    ask_for_all(w);
}

static void close_world(world *w)
{
    costate_tape_free(w->tape);
    costate_free(w->c);
}

static void says(const costate *c, int got, int wanted, const char *word)
{
    if (got == wanted && costate_status(c) == wanted && strstr(costate_message(c), word) &&
        strlen(costate_message(c)) > 10) return;
    fail_msg("wanted %s and the word \"%s\", got %s: %s", costate_status_name(wanted), word, costate_status_name(got),
             costate_message(c));
}

static int product(world *w, int exact)
{
    return (exact ? costate_hessian : costate_gauss_newton)(w->c, w->tape, &w->ask);
}

/* ---- arguments: nothing is written ---- */

#define REFUSED(change, exact, status, word) do { \
    double before_[sizeof w.all / sizeof *w.all]; \
    ask_for_all(&w); \
    change; \
    memcpy(before_, w.all, sizeof before_); \
    says(w.c, product(&w, exact), status, word); \
    assert_memory_equal(before_, w.all, sizeof before_); } while (0)
#define FAILS(change, exact, status, word) do { \
    ask_for_all(&w); \
    change; \
    says(w.c, product(&w, exact), status, word); } while (0)
#define REFUSED_BOTH(change, status, word) do { \
    REFUSED(change, 1, status, word); \
    REFUSED(change, 0, status, word); } while (0)

static void arguments(void **state)
{
    static world w;
    open_world(&w, *state, &loose);
    REFUSED_BOTH(w.ask.m = 0, COSTATE_BAD_ARGUMENT, "m = 0");
    REFUSED_BOTH(w.ask.m = -3, COSTATE_BAD_ARGUMENT, "m = -3");
    REFUSED_BOTH((w.ask.V = w.ask.Vp = NULL, w.ask.along = NULL), COSTATE_BAD_ARGUMENT, "direction");
    REFUSED_BOTH((w.ask.V = w.ask.Vp = NULL, w.along = (costate_times){0}), COSTATE_BAD_ARGUMENT, "direction");
    REFUSED_BOTH((w.ask.seed = NULL, w.ask.observations = NULL), COSTATE_MISSING, "seed");
    REFUSED_BOTH(w.at.seed2 = NULL, COSTATE_MISSING, "seed2");
    REFUSED_BOTH(w.at.count = -1, COSTATE_BAD_ARGUMENT, "observations");
    REFUSED_BOTH(w.at.t = NULL, COSTATE_BAD_ARGUMENT, "observations");
    REFUSED(w.ask.lambda = NULL, 1, COSTATE_BAD_ARGUMENT, "lambda");
    REFUSED_BOTH(w.ask.lambda2 = NULL, COSTATE_BAD_ARGUMENT, "lambda2");
    double old[sizeof w.all / sizeof *w.all];
    memcpy(old, w.all, sizeof old);
    ask_for_all(&w);
    says(w.c, costate_hessian(w.c, w.tape, NULL), COSTATE_BAD_ARGUMENT, "second is NULL");
    says(w.c, costate_gauss_newton(w.c, w.tape, NULL), COSTATE_BAD_ARGUMENT, "second is NULL");
    says(w.c, costate_hessian(w.c, NULL, &w.ask), COSTATE_BAD_ARGUMENT, "tape");
    says(w.c, costate_gauss_newton(w.c, NULL, &w.ask), COSTATE_BAD_ARGUMENT, "tape");
    assert_int_equal(costate_hessian(NULL, w.tape, &w.ask), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_gauss_newton(NULL, w.tape, &w.ask), COSTATE_BAD_ARGUMENT);
    assert_memory_equal(old, w.all, sizeof old);
    CHECK_OK(w.c, product(&w, 1));
    close_world(&w);
}

/* what is read: NaN, Inf */
static void spoilt(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    static world w;
    open_world(&w, *state, &loose);
    for (int k = 0; k < 3; k++) {
        REFUSED_BOTH(w.V[N + 1] = bad[k], COSTATE_BAD_ARGUMENT, "V holds");
        REFUSED_BOTH(w.Vp[3] = bad[k], COSTATE_BAD_ARGUMENT, "Vp holds");
        REFUSED_BOTH(w.dt[1] = bad[k], COSTATE_BAD_ARGUMENT, "t0 holds");
        REFUSED_BOTH(w.dt[M] = bad[k], COSTATE_BAD_ARGUMENT, "t1 holds");
        REFUSED(w.mu[0] = bad[k], 1, COSTATE_BAD_ARGUMENT, "mu holds");
        REFUSED(w.mu2[3] = bad[k], 1, COSTATE_BAD_ARGUMENT, "mu2 holds");
    }
    close_world(&w);
}

/* ---- seeds ---- */

static void bad_seeds(void **state)
{
    static world w;
    open_world(&w, *state, &loose);
    for (int exact = 0; exact <= 1; exact++) {
        for (int code = -1; code <= 1; code += 2) {
            FAILS(w.end.code = code, exact, COSTATE_CALLBACK, "seed");
            FAILS(w.inside.code = code, exact, COSTATE_CALLBACK, "seed2");
        }
        for (int k = 0; k < 2; k++) {
            const double bad = k ? INFINITY : NAN;
            for (int of = exact ? 1 : 3; of <= 4; of++)
                FAILS((w.end.where = of, w.end.spoil = bad), exact, COSTATE_BAD_ARGUMENT, "seed");
            for (int of = exact ? 5 : 6; of <= 6; of++)          /* as of seed in an adjoint sweep */
                FAILS((w.inside.where = of, w.inside.spoil = bad), exact, COSTATE_NOT_FINITE, "NaN or Inf");
        }
    }
    ask_for_all(&w);
    CHECK_OK(w.c, product(&w, 1));
    close_world(&w);
}

/* ---- tapes ---- */

static void bad_tapes(void **state)
{
    static world w, other;
    int explicit = method_info(*state).family == COSTATE_ERK;
    const costate_method *another = costate_method_find(explicit ? "rodas4" : "dopri5");
    open_world(&w, *state, &loose);
    open_world(&other, another, &loose);
    costate_tape *own = w.tape, *none = costate_tape_new();
    REFUSED_BOTH(w.tape = other.tape, COSTATE_BAD_TAPE, "tape");
    REFUSED_BOTH(w.tape = none, COSTATE_BAD_TAPE, "tape");
    w.tape = own;
    close_world(&other);
    other.s.P.nq = 0;                                    /* another problem */
    other.s.P.cost = (costate_map){0};
    other.c = new_for_test(*state, &other.s.P, &loose);
    CHECK_OK(other.c, costate_integrate(other.c, 0, 1.5, other.y, other.p, none));
    REFUSED_BOTH(w.tape = none, COSTATE_BAD_TAPE, "tape");
    costate_free(other.c);
    costate_tape_free(none);
    w.tape = own;
    close_world(&w);
}

/* t0 = t1: what seed sets, and nothing else */
static void no_steps(void **state)
{
    static world w;
    open_world(&w, *state, &loose);
    start(&w);
    CHECK_OK(w.c, costate_integrate(w.c, 0.5, 0.5, w.y, w.p, w.tape));
    ask_for_all(&w);
    w.ask.observations = NULL;
    memset(w.mu, 0, sizeof w.mu);
    memset(w.mu2, 0, sizeof w.mu2);
    CHECK_OK(w.c, product(&w, 1));
    double lambda[N] = {0}, mu[NP] = {0}, lambda2[M * N] = {0}, mu2[M * NP] = {0};
    second_seed(0.5, w.y, w.p, M, w.V, w.Vp, lambda, mu, lambda2, mu2, &w.s);
    assert_memory_equal(lambda, w.lambda, sizeof lambda);
    assert_memory_equal(lambda2, w.lambda2, sizeof lambda2);
    assert_memory_equal(mu, w.mu, sizeof mu);
    assert_memory_equal(mu2, w.mu2, sizeof mu2);
    close_world(&w);
}

/* ---- products that are not there ---- */

static void lacks(const costate_method *m, int cost, size_t member, const char *word)
{
    static world w;
    static const costate_options anyhow = {.rtol = 1e-3, .atol = 1e-3, .differences = 1};
    open_world(&w, m, &loose);
    CHECK_OK(w.c, product(&w, 1));
    assert_int_equal(costate_get_stats(w.c)->differences, 0);
    double exact[M * N];
    memcpy(exact, w.lambda2, sizeof exact);
    for (int differences = 0; differences <= 1; differences++) {
        costate_problem P = w.s.P;
        memset((char *)(cost ? &P.cost : &P.rhs) + member, 0, sizeof(void (*)(void)));
        costate *all = w.c;
        w.c = new_for_test(m, &P, differences ? &anyhow : &loose);
        if (!differences) REFUSED(w.ask.m = M, 1, COSTATE_MISSING, word);
        else {
            ask_for_all(&w);
            CHECK_OK(w.c, product(&w, 1));
            assert_true(costate_get_stats(w.c)->differences > 0);
            double gap = relative_gap(M * N, w.lambda2, exact);
            if (!(gap <= 1e-4)) fail_msg("%s: %s by differences: %.1e", method_name(m), word, gap);
        }
        costate_free(w.c);
        w.c = all;
    }
    close_world(&w);
}

static void missing(void **state)
{
    int ros = method_info(*state).family == COSTATE_ROS;
    lacks(*state, 0, offsetof(costate_map, adjoint_tangent), "rhs.adjoint_tangent");
    lacks(*state, 1, offsetof(costate_map, adjoint_tangent), "cost.adjoint_tangent");
    if (!ros) return;
    lacks(*state, 0, offsetof(costate_map, adjoint_tangent2), "rhs.adjoint_tangent2");
    lacks(*state, 1, offsetof(costate_map, adjoint_tangent2), "cost.adjoint_tangent2");
}

static int first_state(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                       double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, (void)ctx;
    lambda[0] = 1;
    return 0;
}

/* what events need */
static void missing_of_events(void **state)
{
    static const struct { int event; size_t map; const char *word; } cases[] = {
        {0, offsetof(costate_event, guard), "event[0].guard.adjoint_tangent"},
        {1, offsetof(costate_event, jump), "event[1].jump.adjoint_tangent"},
        {3, offsetof(costate_event, cost), "event[3].cost.adjoint_tangent"}};
    const hybrid *h = hybrid_find("everything");
    double y[HYBRID_LONGEST], V[HYBRID_LONGEST] = {1}, lambda[HYBRID_LONGEST], lambda2[HYBRID_LONGEST];
    const costate_second ask = {.m = 1, .V = V, .seed = first_state, .lambda = lambda, .lambda2 = lambda2};
    for (int k = -1; k < 3; k++) {
        costate_event events[HYBRID_EVENTS];
        costate_problem P = hybrid_problem(h);
        memcpy(events, P.event, (size_t)P.nevents * sizeof *events);
        P.event = events;
        if (k >= 0) {
            char *map = (char *)&events[cases[k].event] + cases[k].map;
            memset(map + offsetof(costate_map, adjoint_tangent), 0, sizeof(void (*)(void)));
        }
        costate *c = new_for_test(*state, &P, &loose);
        costate_tape *tape = costate_tape_new();
        hybrid_start(h, h->p, y, NULL);
        CHECK_OK(c, costate_integrate(c, h->t0, h->t1, y, h->p, tape));
        if (k < 0) CHECK_OK(c, costate_hessian(c, tape, &ask));
        else says(c, costate_hessian(c, tape, &ask), COSTATE_MISSING, cases[k].word);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- memory for tangents ---- */

static void expect_same(const world *w, const double *all, const char *what)
{
    if (memcmp(w->all, all, sizeof w->all) != 0) fail_msg("%s: not the same bits", what);
}

static void limits(void **state)
{
    static world w, small;
    static const costate_options many = {.controller = COSTATE_FIXED, .h0 = 0.01, .rtol = 1e-3, .atol = 1e-3};
    open_world(&w, *state, &many);
    CHECK_OK(w.c, product(&w, 1));
    size_t tape = costate_tape_bytes(w.tape), full = costate_get_stats(w.c)->tape_bytes;
    assert_true(full >= tape + sizeof(double) * M * N * (size_t)costate_tape_steps(w.tape));
    assert_int_equal(costate_get_stats(w.c)->tangents_again, 0);
    const size_t limit[] = {full, tape + (full - tape) / 2, tape + (full - tape) / 3, tape};
    for (int k = 0; k < 4; k++) {
        costate_options o = many;
        o.tape_limit = limit[k];
        open_world(&small, *state, &o);
        int status = product(&small, 1);
        const costate_stats *found = costate_get_stats(small.c);
        if (k == 3) says(small.c, status, COSTATE_TAPE_LIMIT, "tape_limit");
        else {
            CHECK_OK(small.c, status);
            expect_same(&small, w.all, "within a limit");
            assert_true((found->tangents_again > 0) == (k > 0));
            if (!(found->tape_bytes <= limit[k]))
                fail_msg("%s: %zu bytes, %zu allowed", method_name(*state), found->tape_bytes, limit[k]);
        }
        close_world(&small);
    }
    close_world(&w);
}

static void no_memory(void **state)
{
    static world w, again;
    open_world(&again, *state, &loose);
    CHECK_OK(again.c, product(&again, 1));
    for (long k = 1, failures = 1; failures > 0; k++) {
        open_world(&w, *state, &loose);
        alloc_fail_at(k);
        int status = product(&w, 1);
        failures = alloc_failures();
        alloc_fail_at(0);
        if (failures) says(w.c, status, COSTATE_NO_MEMORY, "o memory");
        ask_for_all(&w);
        CHECK_OK(w.c, product(&w, 1));
        expect_same(&w, again.all, "after no memory");
        close_world(&w);
    }
    close_world(&again);
}

/* ---- callbacks that fail at call k ---- */

static struct { costate_map of[2]; long left; int code; } failing;        /* of rhs, of cost */

static int fails(void) { return --failing.left == 0; }

#define FAILING(name, k) \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
{ \
    return fails() ? failing.code : failing.of[k].tangent(x, dx, out, ctx); \
} \
static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
{ \
    return fails() ? failing.code : failing.of[k].adjoint(x, w, g, ctx); \
} \
static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                           void *ctx) \
{ \
    return fails() ? failing.code : failing.of[k].tangent2(x, a, b, out, ctx); \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                  const costate_gradient *g, void *ctx) \
{ \
    return fails() ? failing.code : failing.of[k].adjoint_tangent(x, dx, w, g, ctx); \
} \
static int name##_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, \
                                   const double *w, const costate_gradient *g, void *ctx) \
{ \
    return fails() ? failing.code : failing.of[k].adjoint_tangent2(x, a, b, w, g, ctx); \
}
FAILING(rhs, 0)
FAILING(cost, 1)
#define FAILING_MAP(name, value_of) \
    {.value = value_of, .tangent = name##_tangent, .adjoint = name##_adjoint, .tangent2 = name##_tangent2, \
     .adjoint_tangent = name##_adjoint_tangent, .adjoint_tangent2 = name##_adjoint_tangent2}

static void callbacks(void **state)
{
    static world w;
    open_world(&w, *state, &loose);
    CHECK_OK(w.c, product(&w, 1));
    double right[sizeof w.all / sizeof *w.all];
    memcpy(right, w.all, sizeof right);
    failing.of[0] = w.s.P.rhs, failing.of[1] = w.s.P.cost;
    costate_problem P = w.s.P;
    P.rhs = (costate_map)FAILING_MAP(rhs, P.rhs.value);
    P.cost = (costate_map)FAILING_MAP(cost, P.cost.value);
    costate_free(w.c);
    w.c = new_for_test(*state, &P, &loose);
    start(&w);
    failing.left = 0;
    CHECK_OK(w.c, costate_integrate(w.c, 0, 1.5, w.y, w.p, w.tape));
    for (int code = -1; code <= 1; code += 2)
        for (long k = 1, reached = 1; reached; k += 1 + k / 10) {
            failing.code = code;
            ask_for_all(&w);
            failing.left = k;
            int status = product(&w, 1);
            reached = failing.left <= 0;
            if (reached) says(w.c, status, COSTATE_CALLBACK, "callback");
            else CHECK_OK(w.c, status);
            failing.left = 0;
            ask_for_all(&w);
            CHECK_OK(w.c, product(&w, 1));
            expect_same(&w, right, "after a callback failed");
        }
    close_world(&w);
}

int main(void)
{
    static const char *const names[] = {"dopri5", "sdirk4a", "trbdf2", "radau2a", "rodas4", "rock4"};
    static const struct { const char *name; CMUnitTestFunction test; } of_kinds[] = {
        {"products that are missing", missing}, {"products of events", missing_of_events},
        {"memory for tangents", limits}, {"no memory", no_memory}, {"callbacks that fail", callbacks}};
    int failed = run_by_method("arguments", arguments) + run_by_method("NaN and Inf", spoilt) +
                 run_by_method("seeds", bad_seeds) + run_by_method("tapes", bad_tapes) +
                 run_by_method("no steps", no_steps);
    for (int t = 0; t < 5; t++) {
        enum { NAMES = sizeof names / sizeof *names };
        struct CMUnitTest tests[NAMES];
        for (int k = 0; k < NAMES; k++)
            tests[k] = (struct CMUnitTest){names[k], of_kinds[t].test, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k])};
        failed += _cmocka_run_group_tests(of_kinds[t].name, tests, NAMES, NULL, NULL);
    }
    return failed;
}
