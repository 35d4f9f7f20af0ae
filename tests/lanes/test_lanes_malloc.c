/* test_lanes_malloc.c - malloc fails from call k on, for every k: members in lanes are as ever, or run alone, or say
   that there is no memory; nothing is leaked; and after its first members an ensemble in lanes allocates nothing. */
#include <costate/ensemble.h>
#include "alloc.h"
#include "common.h"
#include "ring.h"

enum { MEMBERS = 11, N = 4, MANY = 1200 };

typedef struct { double y[MANY * N], lambda[MANY * N], mu[MANY * 3]; int status[MANY]; } results;

static int run(const char *method, int count, int m, double rtol, results *r, costate_ensemble_report *report)
{
    static double p[MANY * 3];
    ring three = {N - 1};
    costate_problem P = ring_problem(&three, 1);
    costate_options o = {.rtol = rtol, .atol = 1e-6};
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < N; i++) r->y[k * N + i] = i < N - 1 ? 0.3 + 0.1 * ((k + i) % 5) : 0;
        for (int i = 0; i < N; i++) r->lambda[k * N + i] = i;
        for (int i = 0; i < 3; i++) { p[3 * k + i] = 1 + 0.1 * (k % 7); r->mu[3 * k + i] = 0; }
    }
    costate_members a = {.count = count, .threads = 1, .t1 = 1, .y = r->y, .p = p, .m = m, .lambda = r->lambda,
                         .mu = r->mu, .status = r->status, .lanes = ring_lanes};
    return costate_ensemble(costate_method_find(method), &P, &o, &a, report);
}

static void every_call_fails(void **state)
{
    const char *method = *state;
    for (int m = 0; m < 2; m++) {
        static results truth, r;
        costate_ensemble_report report;
        assert_int_equal(run(method, MEMBERS, m, 1e-3, &truth, &report), COSTATE_OK);
        assert_int_equal(report.in_lanes, MEMBERS);
        long before = alloc_live(), failures = 1;
        for (long k = 1; failures > 0; k++) {
            alloc_fail_at(k);
            int status = run(method, MEMBERS, m, 1e-3, &r, &report);
            failures = alloc_failures();
            alloc_fail_at(0);
            assert_int_equal(alloc_live(), before);
            if (status) assert_int_equal(status, COSTATE_NO_MEMORY);
            for (int j = 0; j < MEMBERS; j++) {
                if (r.status[j] == COSTATE_NO_MEMORY) continue;
                assert_memory_equal(r.y + j * N, truth.y + j * N, N * sizeof *r.y);
                assert_memory_equal(r.lambda + j * N, truth.lambda + j * N, N * sizeof *r.y);
                assert_memory_equal(r.mu + j * 3, truth.mu + j * 3, 3 * sizeof *r.y);
            }
        }
    }
}

static void no_allocation_a_member(void **state)
{
    static results r;
    costate_ensemble_report report;
    for (int m = 0; m < 2; m++) {
        long calls[2];
        for (int many = 0; many < 2; many++) {
            alloc_fail_at(0);
            assert_int_equal(run(*state, many ? MANY : MANY / 2, m, 1e-3, &r, &report), COSTATE_OK);
            calls[many] = alloc_calls();
        }
        assert_int_equal(calls[1], calls[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"every call fails: tsit5", every_call_fails, NULL, NULL, "tsit5"},
        {"every call fails: rodas4", every_call_fails, NULL, NULL, "rodas4"},
        {"no allocation a member: tsit5", no_allocation_a_member, NULL, NULL, "tsit5"},
        {"no allocation a member: rodas4", no_allocation_a_member, NULL, NULL, "rodas4"},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
