/* test_slow_modes_of_y.c - the message of a run says by how many tolerances y is off because a matrix of the user's is
   not exact on slow modes; it says nothing of modes that have decayed, and of tries that were rejected. */
#include "departing.h"

typedef struct { double tolerances, off; long rejected; int solves; char said[512]; } result;
typedef struct { double h, t1, atol, rtol; int adaptive; } asked;

/* y of y' = -a y at t1 */
static result ran(departing *d, asked how)
{
    const costate_problem P = departing_problem(d);
    const costate_preconditioner p = departing_preconditioner(d);
    double y[DEPARTING] = {1, 1, 1};
    result r = {.tolerances = 0};
    costate_options o = {.solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p, .h0 = how.h, .atol = how.atol,
                         .rtol = how.rtol, .controller = how.adaptive ? COSTATE_AUTO : COSTATE_FIXED};
    costate *c = costate_new(costate_method_find("w6s4os"), &P, &o);
    CHECK_OK(c, costate_integrate(c, 0, how.t1, y, NULL, NULL));
    for (int i = 0; i < DEPARTING; i++) {
        double e = (y[i] - exp(-d->a[i] / d->m * how.t1)) / (how.atol + how.rtol * fabs(y[i]));
        r.off += e * e / DEPARTING;
    }
    r.off = sqrt(r.off);
    r.solves = d->solves;
    r.rejected = costate_get_stats(c)->rejected;
    snprintf(r.said, sizeof r.said, "%s", costate_message(c));
    const char *at = strstr(r.said, "and y by about ");
    if (at) sscanf(at, "and y by about %lf", &r.tolerances);
    costate_free(c);
    return r;
}

static departing like(double x, double a) { return (departing){.a = {a, a, a}, .x = {x, x, x}, .m = 1}; }

static void near(result r)
{
    if (!(r.tolerances > r.off / 1.5 && r.tolerances < 1.5 * r.off)) fail_msg("%.2e: %s", r.off, r.said);
}

/* with 20 to 200 steps, of which every tenth is measured, and after 2 to 4 half-lives */
static void tolerances(void **state)
{
    (void)state;
    for (int steps = 20; steps <= 200; steps *= 10)
        for (int t1 = 1; t1 <= 3; t1++) {
            departing d = like(0.5, 1);
            near(ran(&d, (asked){.h = (double)t1 / steps, .t1 = t1, .atol = 1e-4, .rtol = 1e-12}));
        }
    departing part = {.a = {1, 1, 1}, .x = {0.3, 1, 1}, .m = 1};
    near(ran(&part, (asked){.h = 0.05, .t1 = 1, .atol = 1e-4, .rtol = 1e-12}));
    departing heavy = like(0.5, 2);
    heavy.m = 2;
    near(ran(&heavy, (asked){.h = 0.05, .t1 = 1, .atol = 1e-4, .rtol = 1e-12}));
}

/* 6 solves a step, and three for each measurement: of steps 1, 21 and 41 */
static void measurements(void **state)
{
    (void)state;
    departing few = like(0.5, 1), more = like(0.5, 1);
    int with = ran(&few, (asked){.h = 0.01, .t1 = 0.15, .atol = 1e-4, .rtol = 1e-4}).solves;
    assert_int_equal(ran(&more, (asked){.h = 0.01, .t1 = 0.45, .atol = 1e-4, .rtol = 1e-4}).solves, with + 30 * 6 + 6);
}

/* less than five tolerances are not said */
static void few(void **state)
{
    (void)state;
    departing d = like(0.5, 1);
    result all = ran(&d, (asked){.h = 0.05, .t1 = 1, .atol = 1e-6, .rtol = 1e-12});
    assert_true(all.tolerances > 0);
    double off = all.tolerances * 1e-6;
    assert_true(ran(&d, (asked){.h = 0.05, .t1 = 1, .atol = off / 7, .rtol = 1e-12}).tolerances > 0);
    assert_string_equal(ran(&d, (asked){.h = 0.05, .t1 = 1, .atol = off / 3, .rtol = 1e-12}).said, "No error.");
}

/* The fast mode departs and decays, and the slow one is exact. */
static void decayed(void **state)
{
    (void)state;
    departing d = {.a = {1, 40, 40}, .x = {1, 0.5, 0.5}, .m = 1};
    assert_string_equal(ran(&d, (asked){.h = 0.01, .t1 = 1, .atol = 1e-5, .rtol = 1e-5}).said, "No error.");
}

/* x is about 1 for the steps that are accepted, and not for a first try that is rejected */
static void rejected(void **state)
{
    (void)state;
    departing d = {.a = {1, 1, 1}, .reach = 20, .m = 1};
    result r = ran(&d, (asked){.h = 1, .t1 = 1, .atol = 1e-6, .rtol = 1e-6, .adaptive = 1});
    assert_true(r.rejected > 0);
    assert_string_equal(r.said, "No error.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tolerances), cmocka_unit_test(measurements),
                                       cmocka_unit_test(few), cmocka_unit_test(decayed),
                                       cmocka_unit_test(rejected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
