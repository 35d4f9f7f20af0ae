/* test_lanes_falling.c - Rosenbrock steps across a time where the problem is not stiff any more are judged alike in
   lanes and alone: states, statuses and statistics have the same bits.

       y_i' = -L_i(t) (y_i - 2 - sin t),  L_i = (1 + i) p_0 until p_1, then 1

   With most methods steps are rejected there by the matrix at their end. */
#include <costate/ensemble.h>
#include <costate/lanes.h>
#include "common.h"
#include "step/method.h"

enum { N = 3, MEMBERS = 19 };
#define INLINE static inline __attribute__((always_inline))

INLINE double rate(const int L, const costate_lane_point *x, int i, int l)
{
    return x->t[l] < x->p[L + l] ? (1 + i) * x->p[l] : 1;
}

INLINE int value(const int L, const costate_lane_point *x, double *out)
{
    for (int i = 0; i < N; i++)
        for (int l = 0; l < L; l++) out[i * L + l] = -rate(L, x, i, l) * (x->y[i * L + l] - 2 - sin(x->t[l]));
    return 0;
}

INLINE int tangent(const int L, const costate_lane_point *x, const costate_lane_point *d, double *out)
{
    for (int i = 0; i < N; i++)
        for (int l = 0; l < L; l++)
            out[i * L + l] = -rate(L, x, i, l) * ((d->y ? d->y[i * L + l] : 0) - (d->t ? d->t[l] * cos(x->t[l]) : 0));
    return 0;
}

INLINE int jacobian(const int L, const costate_lane_point *x, double *J)
{
    for (int i = 0; i < N * N; i++)
        for (int l = 0; l < L; l++) J[i * L + l] = i % (N + 1) ? 0 : -rate(L, x, i % N, l);
    return 0;
}

#define INSTANCES(L)                                                                                                  \
    COSTATE_LANES_##L static int value_##L(const costate_lane_point *x, double *out, void *ctx)                       \
    { (void)ctx; return value(L, x, out); }                                                                           \
    COSTATE_LANES_##L static int tangent_##L(const costate_lane_point *x, const costate_lane_point *d, double *out,   \
                                             void *ctx)                                                               \
    { (void)ctx; return tangent(L, x, d, out); }                                                                      \
    COSTATE_LANES_##L static int jacobian_##L(const costate_lane_point *x, double *J, void *ctx)                      \
    { (void)ctx; return jacobian(L, x, J); }
#define COSTATE_LANES_1
INSTANCES(1) INSTANCES(2) INSTANCES(4) INSTANCES(8)
#define OF(L) {.lanes = L, .rhs = {.value = value_##L, .tangent = tangent_##L}, .jac = jacobian_##L}
static const costate_lane_maps all_lanes[] = {OF(2), OF(4), OF(8), {.lanes = 0}};

static costate_lane_point one(const costate_point *x) { return (costate_lane_point){&x->t, x->y, x->p}; }

static int value_alone(const costate_point *x, double *out, void *ctx)
{
    costate_lane_point a = one(x);
    return value_1(&a, out, ctx);
}

static int tangent_alone(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    costate_lane_point a = one(x), d = one(dx);
    return tangent_1(&a, &d, out, ctx);
}

static int jacobian_alone(const costate_point *x, double *J, void *ctx)
{
    costate_lane_point a = one(x);
    return jacobian_1(&a, J, ctx);
}

typedef struct {
    double y[MEMBERS * N];
    int status[MEMBERS];
    costate_ensemble_report report;
} results;

static void run(const costate_method *m, double rtol, const costate_lane_maps *lanes, results *to)
{
    const costate_problem P = {.n = N, .np = 2, .jac = jacobian_alone,
                               .rhs = {.value = value_alone, .tangent = tangent_alone}};
    const costate_options o = {.rtol = rtol, .atol = rtol};
    double p[2 * MEMBERS], ends[MEMBERS];
    memset(to, 0, sizeof *to);
    for (int j = 0; j < MEMBERS; j++) {
        for (int i = 0; i < N; i++) to->y[j * N + i] = 2;
        p[2 * j] = pow(10, 3 + 3.0 * j / MEMBERS);
        p[2 * j + 1] = 0.4 + 0.05 * j;
        ends[j] = 2 + 0.1 * (j % 7);
    }
    const costate_members all = {.count = MEMBERS, .threads = 1, .t1_each = ends, .y = to->y, .p = p,
                                 .status = to->status, .lanes = lanes};
    costate_ensemble(m, &P, &o, &all, &to->report);
}

static void judged_alike(const costate_method *m, const costate_lane_maps *lanes, double rtol)
{
    static results alone, beside;
    const costate_lane_maps list[] = {*lanes, {.lanes = 0}};
    run(m, rtol, NULL, &alone);
    run(m, rtol, list, &beside);
    const costate_stats *a = &alone.report.stats, *b = &beside.report.stats;
    assert_int_equal(beside.report.in_lanes, MEMBERS);
    assert_memory_equal(alone.y, beside.y, sizeof alone.y);
    assert_memory_equal(alone.status, beside.status, sizeof alone.status);
    if (a->steps != b->steps || a->accepted != b->accepted || a->jac != b->jac || a->solves != b->solves ||
        a->decompositions != b->decompositions || a->f != b->f || a->tangents != b->tangents)
        fail_msg("%s, %d lanes, rtol %g: %ld steps, %ld J, %ld decompositions, %ld solutions; alone %ld, %ld, %ld, "
                 "%ld", m->name, lanes->lanes, rtol, b->steps, b->jac, b->decompositions, b->solves, a->steps, a->jac,
                 a->decompositions, a->solves);
}

static void test_every_method(void **state)
{
    int most = costate_lanes();
    (void)state;
    for (int i = 0; i < costate_method_count(); i++) {
        const costate_method *m = costate_method_at(i);
        if (m->of || m->family != COSTATE_ROS || !m->est.e || !is_tested("lanes", m, 0)) continue;
        for (int k = 0; all_lanes[k].lanes && all_lanes[k].lanes <= most; k++)
            for (double rtol = 1e-3; rtol > 1e-7; rtol /= 100) judged_alike(m, &all_lanes[k], rtol);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_method)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
