/* test_lanes.c - members in lanes have the bits of runs alone: states, tangents, gradients, statuses and statistics,
   with all explicit and Rosenbrock methods that have an error estimate, sizes, options, widths and numbers of
   members. */
#include <stdio.h>
#include <stdlib.h>
#include <costate/ensemble.h>
#include "common.h"
#include "step/method.h"
#include "ring.h"

enum { OBSERVATIONS = 6, MEMBERS_MOST = 264, ROWS = RING_MOST + 1, D = 2, K = 2 };

typedef struct {
    double y[MEMBERS_MOST * ROWS], V[MEMBERS_MOST * ROWS * D], lambda[MEMBERS_MOST * ROWS * K];
    double mu[MEMBERS_MOST * 3 * K], lambda2[MEMBERS_MOST * ROWS * D], mu2[MEMBERS_MOST * 3 * D];
    int status[MEMBERS_MOST];
    char message[MEMBERS_MOST][COSTATE_ENSEMBLE_TEXT];
    costate_ensemble_report report;
} results;

typedef struct setting {
    const char *method;
    int n, nq, count, d, k, lanes, threads, same;
    double a, b, t0, t1;
    costate_options o;
    const char *what;
    void (*spoil)(const struct setting *, results *, double *p, double *ends);
    int (*progress)(int done, int failed, int count, void *ctx);
    int observations, second;
} setting;

static double uniform(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

static int seed_of(int member, double t1, const double *y, const double *p, int m, double *lambda, double *mu,
                   void *ctx)
{
    const setting *s = ctx;
    int N = s->n + s->nq;
    (void)t1;
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < N; i++) lambda[j * N + i] = (j ? 1 : y[i]) / (1 + i + member);
        for (int i = 0; mu && i < 3; i++) mu[j * 3 + i] += p[i];
    }
    return 0;
}

static int observe(int member, int k, double t, const double *y, int m, double *w, void *ctx)
{
    const setting *s = ctx;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < s->n; i++) w[j * s->n + i] = j ? y[i] * t : 1.0 / (1 + k + i) + member;
    return 0;
}

/* of sum y_i^2/2 + p_0^2/2, times 1 + member */
static int seed2_of(int member, double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                    double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const setting *s = ctx;
    int N = s->n + s->nq;
    (void)t1;
    for (int i = 0; i < N; i++) lambda[i] = (1 + member) * y[i];
    for (int k = 0; k < m * N; k++) lambda2[k] = (1 + member) * V[k];
    mu[0] += (1 + member) * p[0];
    for (int j = 0; j < m; j++) mu2[3 * j] += (1 + member) * Vp[3 * j];
    return 0;
}

static int observe2(int member, int k, double t, const double *y, int m, const double *V, double *w, double *w2,
                    void *ctx)
{
    const setting *s = ctx;
    for (int i = 0; i < s->n; i++) w[i] = y[i] * y[i] * t + member + k;
    for (int j = 0; j < m * s->n; j++) w2[j] = 2 * y[j % s->n] * V[j] * t;
    return 0;
}

/* runs s with these lanes, or NULL: one by one */
static void run(const setting *s, const costate_lane_maps *lanes, results *to)
{
    static double p[MEMBERS_MOST * 3], Vp[MEMBERS_MOST * 3 * D], ends[MEMBERS_MOST];
    ring r = {s->n};
    costate_problem P = ring_problem(&r, s->nq);
    double span = s->t1 - s->t0, times[OBSERVATIONS] = {s->t0, s->t0, s->t0 + 0.01 * span, s->t0 + 0.1 * span,
                                                        s->t0 + 0.11 * span, s->t0 + 0.25 * span};
    unsigned seed = 7;
    int N = s->n + s->nq;
    memset(to, 0, sizeof *to);
    for (int m = 0; m < s->count; m++) {
        for (int i = 0; i < N; i++) to->y[m * N + i] = i < s->n ? 0.2 + uniform(&seed) : 0;
        p[3 * m] = s->a * (0.5 + uniform(&seed));
        p[3 * m + 1] = (s->b != 0 ? s->b : 1) * (0.5 + uniform(&seed));
        p[3 * m + 2] = fabs(s->t0) > 1e6 ? 0 : uniform(&seed);
        ends[m] = s->t0 + (s->t1 - s->t0) * (0.25 + uniform(&seed));
        for (int i = 0; i < N * s->d; i++) to->V[m * N * s->d + i] = uniform(&seed) - 0.5;
        for (int i = 0; i < 3 * s->d; i++) Vp[m * 3 * s->d + i] = uniform(&seed) - 0.5;
        for (int i = 0; i < 3 * s->k; i++) to->mu[m * 3 * s->k + i] = uniform(&seed);
    }
    if (s->spoil) s->spoil(s, to, p, ends);
    costate_members all = {.count = s->count, .threads = s->threads, .t0 = s->t0, .t1_each = ends, .y = to->y, .p = p,
                           .same = s->same, .directions = s->d, .V = to->V, .Vp = Vp, .m = s->k, .lambda = to->lambda,
                           .mu = to->mu, .seed = seed_of, .status = to->status, .message = to->message,
                           .progress = s->progress, .lanes = lanes, .observations = s->observations, .observed = times,
                           .observe = observe, .lambda2 = s->second ? to->lambda2 : NULL, .mu2 = to->mu2,
                           .seed2 = seed2_of, .observe2 = observe2};
    setting own = *s;
    all.ctx = &own;
    costate_ensemble(costate_method_find(s->method), &P, &s->o, &all, &to->report);
}

static const costate_lane_maps *only(int lanes)
{
    static costate_lane_maps list[2];
    list[0] = ring_lanes[lanes == 2 ? 0 : lanes == 4 ? 1 : 2];
    list[1] = (costate_lane_maps){.lanes = 0};
    return list;
}

/* A backend of the user's, the dense one with solutions one by one, whose bits do not depend on how many there are, and
   functions of the maps for it that leave it all to this backend. */
static int own_n;
static int solve_one_by_one(void *self, int transpose, int nrhs, double *X)
{
    int status = COSTATE_LS_OK;
    for (int j = 0; j < nrhs && !status; j++)
        status = costate_backend_find("dense")->solve(self, transpose, 1, X + (size_t)j * (size_t)own_n);
    return status;
}
static int factor_none(const double *A, double *LU) { return (void)A, (void)LU, (1 << COSTATE_LANES_MOST) - 1; }
static void solve_none(const double *LU, int transpose, double *x) { (void)LU, (void)transpose, (void)x; }

static costate_backend own_backend(void)
{
    costate_backend own = *costate_backend_find("dense");
    own.name = "own";
    own.solve = solve_one_by_one;
    return own;
}

static const costate_lane_maps *maps_for(const setting *s)
{
    static costate_lane_maps list[2];
    memcpy(list, only(s->lanes), sizeof list);
    if (!s->o.backend) return list;
    list[0].backend = s->o.backend;
    list[0].entries = 1;
    list[0].factor = factor_none;
    list[0].solve = solve_none;
    return list;
}

static void same(const setting *s, const char *name, const void *a, const void *b, size_t size)
{
    if (memcmp(a, b, size))
        fail_msg("%s, n = %d, nq = %d, %d members, %d lanes, %s: %s differs", s->method, s->n, s->nq, s->count,
                 s->lanes, s->what, name);
}

static void same_statistics(const setting *s, const costate_stats *a, const costate_stats *b)
{
#define COUNTER(name) if (a->name != b->name) fail_msg("%s, %d lanes, d = %d, k = %d, %s: %ld and %ld " #name, \
                                                       s->method, s->lanes, s->d, s->k, s->what, a->name, b->name)
    COUNTER(steps); COUNTER(accepted); COUNTER(rejected); COUNTER(newton_failures); COUNTER(f); COUNTER(jac);
    COUNTER(tangents); COUNTER(adjoints); COUNTER(tangents2); COUNTER(adjoints2); COUNTER(decompositions);
    COUNTER(solves); COUNTER(power); COUNTER(adjoints3);
#undef COUNTER
}

static results alone, beside;

/* the members that lanes ran */
static int compare(const setting *s)
{
    run(s, NULL, &alone);
    run(s, maps_for(s), &beside);
    if (beside.report.lanes != s->lanes) fail_msg("%s, n = %d: no lanes: %s", s->method, s->n, beside.report.alone);
    same(s, "y", alone.y, beside.y, sizeof alone.y);
    same(s, "V", alone.V, beside.V, sizeof alone.V);
    same(s, "lambda", alone.lambda, beside.lambda, sizeof alone.lambda);
    same(s, "mu", alone.mu, beside.mu, sizeof alone.mu);
    same(s, "lambda2", alone.lambda2, beside.lambda2, sizeof alone.lambda2);
    same(s, "mu2", alone.mu2, beside.mu2, sizeof alone.mu2);
    same(s, "status", alone.status, beside.status, sizeof alone.status);
    same(s, "message", alone.message, beside.message, sizeof alone.message);
    same_statistics(s, &alone.report.stats, &beside.report.stats);
    assert_int_equal(alone.report.done, beside.report.done);
    assert_int_equal(alone.report.failed, beside.report.failed);
    assert_int_equal(alone.report.first, beside.report.first);
    return beside.report.in_lanes;
}

static void all_in_lanes(const setting *s)
{
    int in_lanes = compare(s);
    if (in_lanes != s->count || beside.report.failed)
        fail_msg("%s, n = %d, %d lanes, %s: %d of %d members in lanes; %s", s->method, s->n, s->lanes, s->what,
                 in_lanes, s->count, beside.report.text);
}

/* under sanitizers the widest alone */
static int narrowest(void) { return how_much() < TESTS_USUAL && costate_lanes() > 2 ? costate_lanes() : 2; }

#define EACH_WIDTH(lanes) (int lanes = narrowest(); lanes <= costate_lanes(); lanes *= 2)

static int served(const costate_method *m)
{
    return !m->of && m->est.e && (m->family == COSTATE_ERK || m->family == COSTATE_ROS);
}

static void test_every_method(void **state)
{
    int served_ones = 0;
    (void)state;
    for (int k = 0; k < costate_method_count(); k++) {
        const costate_method *m = costate_method_at(k);
        if (!served(m)) continue;
        served_ones++;
        if (!is_tested("lanes", m, 0)) continue;
        for EACH_WIDTH(lanes)
            for (int mode = 0; mode < 4; mode++) {
                setting s = {.method = m->name, .n = 3 + k % 5, .nq = k % 2, .count = 2 * lanes + 3, .lanes = lanes,
                             .d = mode & 1 ? D : 0, .k = mode & 2 ? K : 0, .threads = 1, .t1 = 2,
                             .a = m->family == COSTATE_ROS ? 1e3 : 3, .what = "every method"};
                all_in_lanes(&s);
            }
    }
    assert_true(served_ones > 30);
}

static setting stiff(int lanes)
{
    return (setting){.method = "rodas4", .n = 5, .nq = 1, .count = 2 * lanes + 3, .d = D, .k = K, .lanes = lanes,
                     .threads = 1, .a = 1e3, .t1 = 2, .what = ""};
}

static setting explicit(int lanes)
{
    setting s = stiff(lanes);
    s.method = "tsit5";
    s.a = 3;
    return s;
}

static void test_sizes(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes)
        for (int n = 1; n <= RING_MOST; n += n < 10 ? 1 : 5) {
            setting s = explicit(lanes), r = stiff(lanes);
            s.n = r.n = n;
            s.what = r.what = "sizes";
            all_in_lanes(&s);
            if (n <= 32) all_in_lanes(&r);
            s.nq = 0;
            s.method = "dopri853";
            all_in_lanes(&s);
        }
}

/* fewer members than half of the lanes: one by one */
static int run_few(const setting *s)
{
    run(s, only(s->lanes), &beside);
    assert_string_equal(beside.report.alone, "there are less than half as many members as lanes");
    return beside.report.in_lanes;
}

static void test_counts_and_threads(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes)
        for (int count = 1; count <= 64; count += count < 18 ? 1 : 23)
            for (int threads = 1; threads <= 3; threads++) {
                setting s = count & 1 ? explicit(lanes) : stiff(lanes);
                s.count = count;
                s.threads = threads;
                s.k = count % 3 ? K : 0;
                s.same = count & 2 ? COSTATE_SAME_P | COSTATE_SAME_VP : 0;
                s.what = "counts";
                if (2 * count >= lanes) all_in_lanes(&s);
                else assert_int_equal(run_few(&s), 0);
            }
}

/* several in one step, at the start, at the ends of steps; members that end before the last one run alone, and fail */
static void test_observations(void **state)
{
    (void)state;
    for (int k = 0; k < costate_method_count(); k++) {
        const costate_method *m = costate_method_at(k);
        if (!served(m) || !is_tested("lanes", m, 0)) continue;
        for EACH_WIDTH(lanes)
            for (int mode = 0; mode < 3; mode++) {
                setting s = m->family == COSTATE_ROS ? stiff(lanes) : explicit(lanes);
                s.method = m->name;
                s.n = 2 + k % 4;
                s.d = mode == 1 ? D : 0;
                s.t0 = mode == 2 ? 1 : 0;
                s.t1 = mode == 2 ? 0.9 : 2;
                s.a = mode == 2 ? 1 : s.a;
                s.observations = OBSERVATIONS;
                s.what = "observations";
                all_in_lanes(&s);
            }
    }
}

static void test_hessian_products(void **state)
{
    (void)state;
    for (int k = 0; k < costate_method_count(); k++) {
        const costate_method *m = costate_method_at(k);
        if (!served(m) || !is_tested("lanes", m, 0)) continue;
        for EACH_WIDTH(lanes)
            for (int mode = 0; mode < 2; mode++) {
                setting s = m->family == COSTATE_ROS ? stiff(lanes) : explicit(lanes);
                s.method = m->name;
                s.n = 2 + k % 4;
                s.nq = k % 2;
                s.k = s.second = 1;
                s.observations = mode ? OBSERVATIONS : 0;
                s.what = mode ? "Hessian products with observations" : "Hessian products";
                all_in_lanes(&s);
            }
    }
}

/* more members than a chunk has places, or steps than its tape should have */
static void test_many_chunks(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes) {
        setting s = stiff(lanes);
        s.n = 30;
        s.nq = 0;
        s.count = 64;
        s.o.rtol = 1e-9;
        s.what = "long tapes";
        all_in_lanes(&s);
        s = explicit(lanes);
        s.n = 2;
        s.count = MEMBERS_MOST;
        s.what = "many members";
        all_in_lanes(&s);
    }
}

static void test_options(void **state)
{
    static double rtols[RING_MOST], atols[RING_MOST];
    (void)state;
    for (int i = 0; i < RING_MOST; i++) { rtols[i] = pow(10, -3 - i % 4); atols[i] = pow(10, -5 - i % 3); }
    const costate_options all[] = {
        {.rtol = 1e-3, .atol = 1e-8}, {.rtol = 1e-10, .atol = 1e-12}, {.rtol_vector = rtols}, {.atol_vector = atols},
        {.rtol_vector = rtols, .atol_vector = atols, .cost_error = 1}, {.cost_error = 1},
        {.controller = COSTATE_ELEMENTARY}, {.controller = COSTATE_PI}, {.controller = COSTATE_GUSTAFSSON},
        {.h0 = 1e-9}, {.h0 = 0.5}, {.hmax = 0.01}, {.hmin = 1e-5, .rtol = 1e-3}, {.fac_min = 0.5, .fac_max = 2},
        {.fac_reject = 0.01, .h0 = 1}, {.safety = 0.7}, {.stability = COSTATE_STABILITY_OFF}, {.spectral_bound = 400},
        {.solver = COSTATE_LS_DENSE}, {.keep_factors = -1}, {.warm = 1}, {.autonomous = 1},
    };
    for EACH_WIDTH(lanes)
        for (size_t k = 0; k < 2 * sizeof all / sizeof *all; k++) {
            char what[40];
            setting s = k & 1 ? explicit(lanes) : stiff(lanes);
            s.o = all[k / 2];
            s.n = 4 + (int)k % 7;
            snprintf(what, sizeof what, "options %zu", k / 2);
            s.what = what;
            all_in_lanes(&s);
        }
}

/* remarks on gradients of methods that damp little; and on steps that stability limits (test_options) */
static void test_remarks(void **state)
{
    int remarks = 0;
    (void)state;
    for EACH_WIDTH(lanes)
        for (int k = 0; k < 3; k++) {
            setting s = stiff(lanes);
            s.method = "grk4a";
            s.n = 1 + k;
            s.a = 1e7;
            s.o.rtol = 1e-3;
            s.o.h0 = 0.1;
            s.what = "remarks";
            all_in_lanes(&s);
            for (int m = 0; m < s.count; m++) remarks += strstr(beside.message[m], "Fast modes") != NULL;
        }
    assert_true(remarks > 0);
}

/* to and fro, from a late start, and members whose lengths differ by 1e4 */
static void turn_times(const setting *s, results *to, double *p, double *ends)
{
    (void)p;
    (void)to;
    for (int m = 0; m < s->count; m++)
        ends[m] = s->t0 + (m % 3 == 1 ? -1 : 1) * (m % 5 == 2 ? 1e-4 : 1) * (ends[m] - s->t0);
}

static void test_times(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes)
        for (int k = 0; k < 4; k++) {
            setting s = k & 1 ? explicit(lanes) : stiff(lanes);
            s.a = k & 1 ? 2 : 5;
            s.t0 = k & 2 ? 1.7e12 : -0.5;
            s.t1 = s.t0 + 1;
            s.spoil = turn_times;
            s.what = "times";
            compare(&s);
        }
}

/* ---- members that leave the lanes ---- */

/* some are not defined or NaN at the start, some become so, some have no length, some are not finite */
static void spoil(const setting *s, results *to, double *p, double *ends)
{
    int N = s->n + s->nq;
    for (int m = 0; m < s->count; m++) {
        if (m % 6 == 1) to->y[m * N] = 2e3;
        if (m % 6 == 2) p[3 * m + 1] = -3;
        if (m % 6 == 3) ends[m] = s->t0;
        if (m % 6 == 4 && m % 4 == 0) p[3 * m] = NAN;
        if (m % 6 == 5 && m % 4 == 1) to->V[m * N * s->d] = INFINITY;
    }
}

static void test_members_leave(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes)
        for (int k = 0; k < 4; k++) {
            setting s = k & 1 ? explicit(lanes) : stiff(lanes);
            s.count = 40;
            s.d = k & 2 ? D : 0;
            s.t1 = 4;
            s.spoil = spoil;
            s.what = "members leave";
            int in_lanes = compare(&s);
            assert_in_range(in_lanes, 5, s.count - 10);
            assert_true(alone.report.failed > 3);
        }
}

static void test_too_many_steps(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes) {
        setting s = explicit(lanes);
        s.count = 30;
        s.o.max_steps = 20;
        s.what = "max_steps";
        int in_lanes = compare(&s);
        assert_true(alone.report.failed > 0 && in_lanes == s.count - alone.report.failed);
    }
}

/* E is singular to working precision: its pivots are judged, or factored by the solver of runs alone */
static void test_doubtful_pivots(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes)
        for (double a = 1e13; a < 1e19; a *= 10)
            for (int n = 2; n < 12; n += 3) {
                setting s = stiff(lanes);
                s.n = n;
                s.a = a;
                s.nq = 0;
                s.o.rtol = 1e-3;
                s.o.max_steps = 200;
                s.what = "doubtful pivots";
                compare(&s);
            }
}

/* Unknowns that are all alike stay so, a < 0 or not, so that steps are as long as their decay allows, and off-diagonal
   entries of sigma I - J are larger than diagonal ones, in some lanes. */
static void alike(const setting *s, results *to, double *p, double *ends)
{
    int N = s->n + s->nq;
    for (int m = 0; m < s->count; m++) {
        for (int i = 0; i < s->n; i++) to->y[m * N + i] = 1;
        p[3 * m] *= m % 3 ? -1 : 1;
        p[3 * m + 2] = 0;
        ends[m] = s->t0 + (1 + 0.1 * (m % 4)) * (s->t1 - s->t0);
    }
}

static void test_pivots_of_each_lane(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes)
        for (int n = 2; n < 12; n++) {
            setting s = stiff(lanes);
            s.n = n;
            s.a = 20;
            s.t1 = 0.3;
            s.o.rtol = 1e-3;
            s.o.h0 = 0.1;
            s.spoil = alike;
            s.what = "pivots of each lane";
            all_in_lanes(&s);
        }
}

/* sums of vectors of more than 32 numbers are in another order; the maps ask the backend for all factors */
static void test_more_states(void **state)
{
    (void)state;
    const costate_backend own = own_backend();
    for EACH_WIDTH(lanes)
        for (int n = 32; n <= 33; n++) {
            setting s = stiff(lanes);
            s.n = own_n = n;
            s.count = lanes + 1;
            s.a = 10;
            s.t1 = 0.3;
            s.o.backend = &own;
            s.what = "more states";
            all_in_lanes(&s);
        }
}

/* the first matrices are singular, and their last pivots round-off: such tries are rejected */
static void test_no_pivots(void **state)
{
    long failures = 0;
    (void)state;
    for EACH_WIDTH(lanes)
        for (double a = 0.1; a < 10; a *= 1.6) {
            setting s = stiff(lanes);
            s.n = 3;
            s.a = a;
            s.b = 1e17;
            s.nq = 0;
            s.o.rtol = 1e-3;
            s.o.h0 = 10;
            s.t1 = 100;
            s.o.max_steps = 400;
            s.what = "no pivots";
            compare(&s);
            failures += alone.report.stats.newton_failures;
        }
    assert_true(failures > 0);
}

static int stop_at_9(int done, int failed, int count, void *ctx)
{
    (void)failed, (void)count, (void)ctx;
    return done >= 9;
}

static void test_stop(void **state)
{
    (void)state;
    for EACH_WIDTH(lanes) {
        setting s = stiff(lanes);
        s.count = 64;
        s.k = 0;
        s.progress = stop_at_9;
        run(&s, only(lanes), &beside);
        assert_in_range(beside.report.done, 9, 9 + lanes);
        assert_int_equal(beside.status[s.count - 1], COSTATE_STOPPED);
        s.k = K;
        run(&s, only(lanes), &beside);
        assert_in_range(beside.report.done, 9, s.count);
    }
}

/* ---- what lanes do not serve ---- */

static void refused(setting s, const char *why)
{
    s.count = 3;
    run(&s, NULL, &alone);
    run(&s, only(2), &beside);
    assert_int_equal(beside.report.lanes, 1);
    assert_int_equal(beside.report.in_lanes, 0);
    assert_string_equal(beside.report.alone, why);
    assert_memory_equal(alone.y, beside.y, sizeof alone.y);
    assert_memory_equal(alone.lambda, beside.lambda, sizeof alone.lambda);
    assert_string_equal(alone.report.alone, "");
}

static int on_step(const costate_step *step, void *ctx) { return (void)step, (void)ctx, 0; }

static void test_not_served(void **state)
{
    setting s = stiff(2);
    (void)state;
    s.n = 33;
    refused(s, "there are more than 32 states");
    s = stiff(2);
    s.method = "radau2a5";
    refused(s, "the method is neither explicit nor Rosenbrock");
    s.method = "auto";
    refused(s, "the method is composite");
    s = stiff(2);
    s.o.solver = COSTATE_LS_GMRES;
    refused(s, "the linear solver needs no exact Jacobian");
    s = stiff(2);
    s.o = (costate_options){.controller = COSTATE_FIXED, .h0 = 0.01};
    refused(s, "lanes do not follow options.controller");
    s.o = (costate_options){.tangent_error = 1};
    refused(s, "lanes do not follow options.tangent_error");
    s.o = (costate_options){.gradient_control = 1};
    refused(s, "lanes do not follow options.gradient_control");
    s.o = (costate_options){.on_step = on_step};
    refused(s, "lanes do not follow options.on_step");
    s.o = (costate_options){.storage = COSTATE_STATES_ONLY};
    refused(s, "lanes do not follow options.storage");
    s.o = (costate_options){.keep_factors = 1};
    refused(s, "lanes do not follow options.keep_factors");
    s.o = (costate_options){.tape_limit = 1 << 24};
    refused(s, "lanes do not follow options.tape_limit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_counts_and_threads),
        cmocka_unit_test(test_observations),
        cmocka_unit_test(test_hessian_products),
        cmocka_unit_test(test_many_chunks),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_remarks),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_members_leave),
        cmocka_unit_test(test_too_many_steps),
        cmocka_unit_test(test_doubtful_pivots),
        cmocka_unit_test(test_pivots_of_each_lane),
        cmocka_unit_test(test_more_states),
        cmocka_unit_test(test_no_pivots),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_not_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
