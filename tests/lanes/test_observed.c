/* test_observed.c - members.observations and members.lambda2: gradients and Hessian products of an ensemble are those
   of costate_adjoint and costate_hessian over each member's tape, one by one and in lanes, at the same times for all
   members and at times of their own; arguments and callbacks that fail. */
#include <costate/ensemble.h>
#include "common.h"
#include "ring.h"

enum { MEMBERS = 9, N = 4, M = 2, TIMES = 4 };

static const double OBSERVED[TIMES] = {0, 0.3, 0.301, 1};

typedef struct { double y[MEMBERS * N], lambda[MEMBERS * N * M], mu[MEMBERS * 3 * M]; int status[MEMBERS]; } results;

static ring three = {N - 1};
static double p[MEMBERS * 3], y0[MEMBERS * N];
static double own[MEMBERS * TIMES], end[MEMBERS];       /* member k has k mod 5 times of its own, and its own end */
static int has_own;

static int observe(int member, int k, double t, const double *y, int m, double *w, void *ctx)
{
    (void)ctx;
    for (int j = 0; j < m; j++) for (int i = 0; i < N - 1; i++) w[j * (N - 1) + i] = (j + 1) * y[i] * t + member * k;
    return 0;
}

static int observe_one(int k, double t, const double *y, int m, double *w, void *ctx)
{
    return observe(*(const int *)ctx, k, t, y, m, w, NULL);
}

static void given(void)
{
    for (int k = 0; k < MEMBERS; k++) {
        for (int i = 0; i < N; i++) y0[k * N + i] = i < N - 1 ? 0.3 + 0.1 * ((k + i) % 5) : 0;
        for (int i = 0; i < 3; i++) p[3 * k + i] = 1 + 0.1 * ((k + i) % 7);
        end[k] = 1 + 0.1 * k;
        int count = k % (TIMES + 1);
        for (int i = 0; i < TIMES; i++)
            own[k * TIMES + i] = i >= count ? NAN : i + 1 == count && i > 0 ? end[k] : 0.31 * i * end[k];
    }
}

static double end_of(int k) { return has_own ? end[k] : 1; }

static costate_observations seen_by(int *k)
{
    if (!has_own) return (costate_observations){.count = TIMES, .t = OBSERVED, .ctx = k};
    return (costate_observations){.count = *k % (TIMES + 1), .t = own + *k * TIMES, .ctx = k};
}

static costate_members members_of(results *r)
{
    memset(r, 0, sizeof *r);
    memcpy(r->y, y0, sizeof y0);
    for (int k = 0; k < MEMBERS * N * M; k++) r->lambda[k] = k % 3;
    return (costate_members){.count = MEMBERS, .threads = 1, .t1 = 1, .y = r->y, .p = p, .m = M, .lambda = r->lambda,
                             .mu = r->mu, .status = r->status, .observations = TIMES,
                             .observed = has_own ? own : OBSERVED, .same = has_own ? COSTATE_OWN_OBSERVED : 0,
                             .t1_each = has_own ? end : NULL, .observe = observe};
}

/* member by member, with calls of costate.h alone */
static void by_hand(const char *method, results *r)
{
    costate_problem P = ring_problem(&three, 1);
    const costate_options o = {.gradient_estimate = COSTATE_ESTIMATE_OFF};
    costate *c = costate_new(costate_method_find(method), &P, &o);
    costate_tape *tape = costate_tape_new();
    members_of(r);
    for (int k = 0; k < MEMBERS; k++) {
        costate_observations seen = seen_by(&k);
        seen.seed = observe_one;
        CHECK_OK(c, costate_integrate(c, 0, end_of(k), r->y + k * N, p + 3 * k, tape));
        CHECK_OK(c, costate_adjoint(c, tape, M, r->lambda + k * N * M, r->mu + k * 3 * M, NULL, &seen));
    }
    costate_tape_free(tape);
    costate_free(c);
}

/* calls of products, of which a run alone makes more where a step has observations */
static void same_calls(const costate_stats *alone, const costate_stats *beside)
{
    assert_int_equal(alone->f, beside->f);
    assert_int_equal(alone->tangents, beside->tangents);
    assert_int_equal(alone->adjoints, beside->adjoints);
    assert_int_equal(alone->adjoints2, beside->adjoints2);
}

static void gradients(void)
{
    const char *const methods[] = {"tsit5", "rodas4", "sdirk4a"};
    static results expected, r;
    costate_problem P = ring_problem(&three, 1);
    costate_stats stats;
    given();
    for (int k = 0; k < 3; k++) {
        by_hand(methods[k], &expected);
        for (int in_lanes = 0; in_lanes < 2; in_lanes++) {
            costate_members all = members_of(&r);
            all.lanes = in_lanes ? ring_lanes : NULL;
            all.threads = 1 + has_own;
            costate_ensemble_report report;
            assert_int_equal(costate_ensemble(costate_method_find(methods[k]), &P, NULL, &all, &report), COSTATE_OK);
            assert_int_equal(report.in_lanes, in_lanes && k < 2 && costate_lanes() > 1 ? MEMBERS : 0);
            if (!in_lanes) stats = report.stats;
            else same_calls(&stats, &report.stats);
            assert_memory_equal(&r, &expected, sizeof r);
        }
    }
}

static void test_gradients(void **state)
{
    (void)state;
    for (has_own = 0; has_own < 2; has_own++) gradients();
    has_own = 0;
}

/* ---- Hessian products ---- */

enum { D = 2 };
typedef struct { double lambda2[MEMBERS * N * D], mu2[MEMBERS * 3 * D]; } products;

static double V[MEMBERS * N * D], Vp[MEMBERS * 3 * D];

static int seed2(int member, double t1, const double *y, const double *p_of, int m, const double *W, const double *Wp,
                 double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)ctx;
    for (int i = 0; i < N; i++) lambda[i] = y[i] * y[i] + member;
    for (int k = 0; k < m * N; k++) lambda2[k] = 2 * y[k % N] * W[k];
    mu[1] += p_of[1] * p_of[1];
    for (int j = 0; j < m; j++) mu2[3 * j + 1] += 2 * p_of[1] * Wp[3 * j + 1];
    return 0;
}

static int observe2(int member, int k, double t, const double *y, int m, const double *W, double *w, double *w2,
                    void *ctx)
{
    (void)ctx;
    for (int i = 0; i < N - 1; i++) w[i] = y[i] * y[i] * t + member * k;
    for (int i = 0; i < m * (N - 1); i++) w2[i] = 2 * y[i % (N - 1)] * W[i] * t;
    return 0;
}

static int seed2_one(double t1, const double *y, const double *p_of, int m, const double *W, const double *Wp,
                     double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    return seed2(*(const int *)ctx, t1, y, p_of, m, W, Wp, lambda, mu, lambda2, mu2, NULL);
}

static int observe2_one(int k, double t, const double *y, int m, const double *W, double *w, double *w2, void *ctx)
{
    return observe2(*(const int *)ctx, k, t, y, m, W, w, w2, NULL);
}

static costate_members second_members_of(results *r, products *h)
{
    costate_members all = members_of(r);
    for (int k = 0; k < MEMBERS * N * D; k++) V[k] = (k * 7 % 5) - 2;
    for (int k = 0; k < MEMBERS * 3 * D; k++) Vp[k] = (k * 3 % 7) - 3;
    for (int k = 0; k < MEMBERS * 3 * D; k++) h->mu2[k] = k;
    memset(h->lambda2, 0, sizeof h->lambda2);
    all.m = 1;
    all.directions = D;
    all.V = V;
    all.Vp = Vp;
    all.lambda2 = h->lambda2;
    all.mu2 = h->mu2;
    all.seed2 = seed2;
    all.observe2 = observe2;
    return all;
}

static void products_by_hand(const char *method, results *r, products *h)
{
    costate_problem P = ring_problem(&three, 1);
    costate *c = costate_new(costate_method_find(method), &P, NULL);
    costate_tape *tape = costate_tape_new();
    second_members_of(r, h);
    for (int k = 0; k < MEMBERS; k++) {
        costate_observations seen = seen_by(&k);
        seen.seed2 = observe2_one;
        costate_second s = {.m = D, .V = V + k * N * D, .Vp = Vp + k * 3 * D, .seed = seed2_one, .ctx = &k,
                            .observations = &seen, .lambda = r->lambda + k * N, .mu = r->mu + k * 3,
                            .lambda2 = h->lambda2 + k * N * D, .mu2 = h->mu2 + k * 3 * D};
        CHECK_OK(c, costate_integrate(c, 0, end_of(k), r->y + k * N, p + 3 * k, tape));
        CHECK_OK(c, costate_hessian(c, tape, &s));
    }
    costate_tape_free(tape);
    costate_free(c);
}

static void hessian_products(void)
{
    const char *const methods[] = {"tsit5", "rodas4", "sdirk4a"};
    static results expected, r;
    static products expected2, h;
    costate_problem P = ring_problem(&three, 1);
    costate_stats stats;
    given();
    for (int k = 0; k < 3; k++) {
        products_by_hand(methods[k], &expected, &expected2);
        for (int in_lanes = 0; in_lanes < 2; in_lanes++) {
            costate_members all = second_members_of(&r, &h);
            all.lanes = in_lanes ? ring_lanes : NULL;
            all.threads = 1 + has_own;
            costate_ensemble_report report;
            assert_int_equal(costate_ensemble(costate_method_find(methods[k]), &P, NULL, &all, &report), COSTATE_OK);
            assert_int_equal(report.in_lanes, in_lanes && k < 2 && costate_lanes() > 1 ? MEMBERS : 0);
            if (!in_lanes) stats = report.stats;
            else same_calls(&stats, &report.stats);
            assert_memory_equal(&r.y, &expected.y, sizeof r.y);
            assert_memory_equal(r.lambda, expected.lambda, MEMBERS * N * sizeof *r.lambda);
            assert_memory_equal(r.mu, expected.mu, MEMBERS * 3 * sizeof *r.mu);
            assert_memory_equal(&h, &expected2, sizeof h);
            for (int i = 0; i < MEMBERS * N * D; i++) assert_true(V[i] == (i * 7 % 5) - 2);
        }
    }
}

static void test_hessian_products(void **state)
{
    (void)state;
    for (has_own = 0; has_own < 2; has_own++) hessian_products();
    has_own = 0;
}

static void refused(costate_members all, int status, const char *what)
{
    costate_problem P = ring_problem(&three, 1);
    costate_ensemble_report report;
    for (int in_lanes = 0; in_lanes < 2; in_lanes++) {
        all.lanes = in_lanes ? ring_lanes : NULL;
        assert_int_equal(costate_ensemble(costate_method_find("rodas4"), &P, NULL, &all, &report), status);
        if (!strstr(report.text, what)) fail_msg("\"%s\" does not say \"%s\"", report.text, what);
    }
}

static int fails(int member, int k, double t, const double *y, int m, double *w, void *ctx)
{
    return member == 5 && k == 2 ? 3 : observe(member, k, t, y, m, w, ctx);
}

static void test_faults(void **state)
{
    static const double LATE[] = {0.5, 1.5}, MIXED[] = {0.5, 0.25};
    static results r;
    (void)state;
    given();
    costate_members all = members_of(&r);
    all.m = 0;
    refused(all, COSTATE_BAD_ARGUMENT, "members.observations are terms of functionals, but members.m is 0");
    all = members_of(&r);
    all.observed = NULL;
    refused(all, COSTATE_BAD_ARGUMENT, "members.observed is NULL");
    all = members_of(&r);
    all.observe = NULL;
    refused(all, COSTATE_MISSING, "members.observe is missing");
    all = members_of(&r);
    all.observations = -1;
    refused(all, COSTATE_BAD_ARGUMENT, "members.observations = -1");
    all = members_of(&r);
    all.observations = 2;
    all.observed = LATE;
    refused(all, COSTATE_OUT_OF_RANGE, "observations.t[1] = 1.5 lies outside the run");
    all.observed = MIXED;
    refused(all, COSTATE_OUT_OF_RANGE, "observations.t[1] = 0.25 lies outside the run or out of order");
    all = members_of(&r);
    static products h;
    all = second_members_of(&r, &h);
    all.m = 2;
    refused(all, COSTATE_BAD_ARGUMENT, "needs directions and m = 1; they are 2 and 2");
    all = second_members_of(&r, &h);
    all.directions = 0;
    refused(all, COSTATE_BAD_ARGUMENT, "needs directions and m = 1; they are 0 and 1");
    all = second_members_of(&r, &h);
    all.observe2 = NULL;
    refused(all, COSTATE_MISSING, "members.observe2 is missing");
    all = second_members_of(&r, &h);
    all.observations = 0;
    all.seed2 = NULL;
    refused(all, COSTATE_MISSING, "members.seed2 is missing");
    all = second_members_of(&r, &h);
    all.times = &(costate_times){.t1 = r.mu};
    refused(all, COSTATE_BAD_ARGUMENT, "no derivatives with respect to times");
    all = members_of(&r);
    all.observe = fails;
    refused(all, COSTATE_CALLBACK, "returned 3");
    assert_int_equal(r.status[5], COSTATE_CALLBACK);
    assert_int_equal(r.status[4], COSTATE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_hessian_products),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
