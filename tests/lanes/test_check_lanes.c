/* test_check_lanes.c - costate_check_lanes accepts maps with the bits of the problem, and names what differs: the map,
   the lane, the number. */
#include <costate/ensemble.h>
#include "common.h"
#include "ring.h"

static const double Y[] = {0.3, 0.7, 1.1, 0.2}, P_[] = {3, 1.5, 0.25};
static const costate_point AT = {.t = 0.5, .y = Y, .p = P_};

static int check(const costate_lane_maps *list, costate_report *r)
{
    ring four = {4};
    costate_problem P = ring_problem(&four, 1);
    return costate_check_lanes(&P, list, &AT, r);
}

static void test_the_same_bits(void **state)
{
    costate_report r;
    (void)state;
    assert_int_equal(check(ring_lanes, &r), COSTATE_OK);
    assert_non_null(strstr(r.text, "all with the same bits"));
    assert_non_null(strstr(r.text, costate_lanes() == 8 ? "2, 4, 8 lanes" : "lanes: they were not compared"));
}

/* ---- faults ---- */

static int last_bit(const costate_lane_point *x, double *out, void *ctx)
{
    int code = ring_value_2(x, out, ctx);
    out[2 * 3 + 1] *= 1 + 2e-16;
    return code;
}

static int not_defined(const costate_lane_point *x, double *out, void *ctx) { return ring_value_2(x, out, ctx), 1; }

static int sets(const costate_lane_point *x, const double *w, const costate_lane_gradient *g, void *ctx)
{
    if (g->y) for (int i = 0; i < 8; i++) g->y[i] = 0;
    return ring_adjoint_2(x, w, g, ctx);
}

static int forgets_t(const costate_lane_point *x, const costate_lane_point *d, double *out, void *ctx)
{
    costate_lane_point a = *d;
    a.t = NULL;
    return ring_tangent_2(x, &a, out, ctx);
}

static int forgets_p(const costate_lane_point *x, const costate_lane_point *d, const double *w,
                     const costate_lane_gradient *g, void *ctx)
{
    costate_lane_gradient to = *g;
    to.p = NULL;
    return energy_adjoint_tangent_2(x, d, w, &to, ctx);
}

static int unset(const costate_lane_point *x, const costate_lane_point *d, const costate_lane_point *e, double *out,
                 void *ctx)
{
    return (void)x, (void)d, (void)e, (void)out, (void)ctx, 0;
}

static int transposed_jac(const costate_lane_point *x, double *J, void *ctx)
{
    ring_jac_2(x, J, ctx);
    double swap = J[2 * 1];
    J[2 * 1] = J[2 * 4];
    J[2 * 4] = swap;
    return 0;
}

static int gives_up(const costate_lane_point *x, double *J, void *ctx) { return (void)x, (void)J, (void)ctx, -7; }

static void finds(const costate_lane_maps *faulty, const char *what)
{
    costate_lane_maps list[] = {*faulty, {.lanes = 0}};
    costate_report r;
    assert_int_equal(check(list, &r), COSTATE_CHECK_FAILED);
    if (!strstr(r.text, what)) fail_msg("\"%s\" does not say \"%s\"", r.text, what);
}

static void test_faults(void **state)
{
    (void)state;
#define FAULT(member, function, what) \
    do { costate_lane_maps a = ring_lanes[0]; a.member = function; finds(&a, what); } while (0)
    FAULT(rhs.value, last_bit, "2 lanes: rhs.value, lane 1: out[3] is ");
    FAULT(rhs.value, last_bit, "-ffp-contract=off");
    FAULT(rhs.value, not_defined, "rhs.value, lane 0: the map is not defined there, but it is by the problem");
    FAULT(rhs.adjoint, sets, "rhs.adjoint, lane 0: g->y[0] is ");
    FAULT(rhs.tangent, forgets_t, "rhs.tangent, lane ");
    FAULT(cost.adjoint_tangent, forgets_p, "cost.adjoint_tangent, lane 0: g->p[1] is ");
    FAULT(rhs.tangent2, unset, "rhs.tangent2, lane 0: out[0] is nan");
    FAULT(jac, transposed_jac, "problem.jac, lane 0: J[1] is ");
    FAULT(jac, gives_up, "problem.jac returned -7");
    FAULT(rhs.value, NULL, "rhs.value is missing");
}

static void test_arguments(void **state)
{
    costate_report r;
    costate_problem P = {.n = 1};
    (void)state;
    assert_int_equal(check(NULL, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_lanes(NULL, ring_lanes, &AT, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_lanes(&P, ring_lanes, &AT, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "rhs.value"));
    assert_int_equal(costate_check_lanes(&P, ring_lanes, &AT, NULL), COSTATE_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_bits),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
