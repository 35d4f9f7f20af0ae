/* bvp_common.h - what tests of boundary value problems share: failed calls, the loop over methods, meshes. */
#ifndef TESTS_BVP_COMMON_H
#define TESTS_BVP_COMMON_H

#include "bvps.h"
#include "common.h"

#define CHECK_BVP(c, call) do { \
    int s_ = (call); \
    if (s_ != COSTATE_OK) fail_msg("%s: %s: %s", #call, costate_status_name(s_), costate_bvp_message(c)); } while (0)

enum { BVPS_MOST = BVPS_N + 2 };          /* N of the problems of bvps.h */

/* a call returned this status, and its message has the word */
static inline void says(const costate_bvp *c, int got, int wanted, const char *word)
{
    if (got == wanted && strstr(costate_bvp_message(c), word) && strlen(costate_bvp_message(c)) >= 10) return;
    fail_msg("wanted %s and the word \"%s\", got %s: %s", costate_status_name(wanted), word, costate_status_name(got),
             costate_bvp_message(c));
}

/* One cmocka test a method of bvp.h, named "claim: method"; *state is the method. */
static inline int run_by_bvp_method(const char *claim, CMUnitTestFunction test)
{
    enum { MOST = 128 };
    static struct CMUnitTest tests[MOST];
    static char names[MOST][96];
    int all = costate_bvp_method_count(), count = 0;
    if (all > MOST || all < 1) return 1;
    for (int k = 0; k < all; k++) {
        const costate_method *m = costate_bvp_method_at(k);
        if (!is_tested(claim, m, 0)) continue;
        snprintf(names[count], sizeof names[count], "%s: %s", claim, method_name(m));
        tests[count] = (struct CMUnitTest){names[count], test, NULL, NULL, (void *)(uintptr_t)m};
        count++;
    }
    return _cmocka_run_group_tests(claim, tests, (size_t)count, NULL, NULL);
}

/* fraction (k/intervals)^1.3 of [a, b], with both ends to the bit: uneven, and the same at half as many intervals */
static inline double uneven(double a, double b, int k, int intervals)
{
    return k == intervals ? b : a + (b - a) * pow((double)k / intervals, 1.3);
}

static inline void solve_on(costate_bvp *c, const bvps *s, int intervals)
{
    double t[512];
    assert_true(intervals < 512);
    for (int k = 0; k <= intervals; k++) t[k] = uneven(s->a, s->b, k, intervals);
    CHECK_BVP(c, costate_bvp_mesh(c, intervals + 1, t));
    CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
}

#endif
