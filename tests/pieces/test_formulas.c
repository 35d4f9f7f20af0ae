/* test_formulas.c - guards, jumps and costs made of terms: their values, all their derivatives, runs with them, and a
   sentence for each wrong term. */
#include <costate/pieces.h>
#include "ball.h"
#include "common.h"

enum { N = BALL_N, NP = BALL_NP, NQ = 2, ALL = N + NQ + 1, M0 = N };

/* ---- maps ---- */

#define Y(k) COSTATE_STATE, k
#define P(k) COSTATE_PARAMETER, k
#define M(k) COSTATE_MEMORY, k
#define T COSTATE_TIME, 0
#define ONE COSTATE_ONE, 0

static const costate_term every_jump[] = {
    {0, 100, ONE, 0, ONE, 0, 0},             {0, -2, P(1), 0, ONE, 0, 0},         {1, -0.9, Y(1), 0, P(0), 0.25, 1},
    {2, 3, M(0), 1, M(1), 2, 0},             {3, 25, ONE, 0, ONE, 0, 1},          {3, 0.5, T, 1, Y(0), 0, 1},
};
static const costate_term every_guard[] = {{0, 1, Y(0), 2, ONE, 0, 0}, {0, -1, P(2), 0, M(1), 0, 0}};
static const costate_term every_cost[] = {{1, 3, Y(1), 2, Y(1), 2, 0}, {0, 1, T, 0, T, 0, 0},
                                          {1, -1, M(0), 0, P(0), 0, 0}};

static costate_formulas every(void)
{
    return (costate_formulas){.guard = {2, every_guard}, .jump = {6, every_jump}, .cost = {3, every_cost}};
}

static void values(void **state)
{
    const costate_problem whole = {.n = 2, .np = 3, .nq = 2, .nm = 2};
    const double y[] = {1.5, -2}, p[] = {0.75, 3, 5}, m[] = {7, 11};
    const costate_point x = {.t = 4, .y = y, .p = p, .m = m};
    costate_formulas f = every();
    costate_event e = {.direction = 1, .to = 3};
    costate_report report;
    double out[4];
    (void)state;
    assert_int_equal(costate_formulas_event(&f, &whole, &e, &report), COSTATE_OK);
    assert_string_equal(report.text, "");
    assert_true(e.ctx == &f && e.direction == 1 && e.to == 3 && e.ntimes == 0);
    e.guard.value(&x, out, &f);
    assert_true(out[0] == (1.5 - 2) - 5 * 11);
    e.jump.value(&x, out, &f);
    assert_true(out[0] == 1.5 + 100 - 2 * 3 && out[1] == -0.9 * -2.0 * (0.75 - 0.25));
    assert_true(out[2] == 7 + 3 * 6.0 * 9 && out[3] == 25 + 0.5 * 3 * 1.5);
    e.cost.value(&x, out, &f);
    assert_true(out[0] == 16 && out[1] == 3 * 16 - 7 * 0.75);
}

/* against differences, with all components of the maps: also those of memory, by costate_check_problem */
static int no_motion(const costate_point *x, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = out[1] = 0, 0;
}

static void derivatives(void **state)
{
    costate_problem whole = {.n = 2, .np = 3, .nq = 2, .nm = 2, .rhs = {.value = no_motion}, .nevents = 1};
    const double y[] = {1.5, -2}, p[] = {0.75, 3, 5}, m[] = {7, 11};
    const costate_point x = {.t = 4, .y = y, .p = p, .m = m};
    costate_formulas f = every();
    costate_event e = {.from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    costate_report rhs, cost;
    (void)state;
    assert_int_equal(costate_formulas_event(&f, &whole, &e, NULL), COSTATE_OK);
    assert_int_equal(costate_formulas_cost(&f, &whole, NULL), COSTATE_OK);
    assert_true(whole.ctx == &f);
    whole.event = &e;
    if (costate_check_problem(&whole, &x, &rhs, &cost) != COSTATE_OK) fail_msg("%s\n%s", rhs.text, cost.text);
    const costate_map *const maps[] = {&e.guard, &e.jump, &e.cost, &whole.cost};
    const int rows[] = {1, 4, 2, 2};
    for (int k = 0; k < 4; k++) {
        costate_report r;
        if (costate_check_map(maps[k], 2, 3, rows[k], &x, &f, &r) != COSTATE_OK) fail_msg("map %d: %s", k, r.text);
        assert_true(r.tangent < 1e-9 && r.adjoint < 1e-12);
        assert_false(isnan(r.tangent2 + r.adjoint_tangent + r.adjoint_tangent2));
    }
}

/* one state, one term; a list that is empty is a map that is missing */
static void smallest(void **state)
{
    const costate_problem whole = {.n = 1};
    const costate_term dose = {.factor = 100};
    costate_formulas f = {.jump = {1, &dose}};
    costate_event e = {0};
    const double y[] = {1}, w[] = {3};
    const costate_point x = {.y = y}, nowhere = {0};
    double out[1], g = 1;
    (void)state;
    assert_int_equal(costate_formulas_event(&f, &whole, &e, NULL), COSTATE_OK);
    assert_true(!e.guard.value && !e.cost.value && e.jump.value(&x, out, &f) == 0 && out[0] == 101);
    assert_true(e.jump.tangent(&x, &nowhere, out, &f) == 0 && out[0] == 0);
    assert_true(e.jump.adjoint(&x, w, &(costate_gradient){.y = &g}, &f) == 0 && g == 4);
    assert_true(e.jump.adjoint(&x, w, &(costate_gradient){0}, &f) == 0);
}

/* ---- runs ---- */

static const costate_term bounce[] = {{1, -1, Y(1), 0, P(2), 0, 1}}, ground[] = {{0, 1, Y(0), 0, ONE, 0, 0}};
static const costate_term loss[] = {{0, 0.5, Y(1), 0, Y(1), 0, 0}};
static const costate_term lift[] = {{0, 0.3, ONE, 0, ONE, 0, 0}, {M0, 1, P(3), 0, ONE, 0, 1}};
static const costate_term off[] = {{1, 0.1, M(0), 0, ONE, 0, 0}, {M0, 0, ONE, 0, ONE, 0, 1}};
static const costate_term running[] = {{0, 2, Y(0), 0.5, Y(0), 0.5, 0}, {1, 1, Y(1), 0, M(0), 0, 0}};
static const double lifted[] = {0.7}, ended[] = {1.1};

typedef struct {
    costate_formulas cost, at[3];            /* cost first: it is the ctx of the problem */
    costate_event event[3];
    costate_problem P;
} ball;

static void drop(ball *b)
{
    *b = (ball){.cost = {.cost = {2, running}},
                .at = {{.guard = {1, ground}, .jump = {1, bounce}, .cost = {1, loss}}, {.jump = {2, lift}},
                       {.jump = {2, off}}},
                .event = {{.direction = -1, .to = COSTATE_SAME_MODE},
                          {.ntimes = 1, .times = lifted, .to = COSTATE_SAME_MODE},
                          {.ntimes = 1, .times = ended, .to = COSTATE_SAME_MODE}},
                .P = {.n = N, .np = NP, .nq = NQ, .nm = 1, .rhs = ball_rhs, .nevents = 3}};
    b->P.event = b->event;
    assert_int_equal(costate_formulas_cost(&b->cost, &b->P, NULL), COSTATE_OK);
    for (int k = 0; k < 3; k++) assert_int_equal(costate_formulas_event(&b->at[k], &b->P, &b->event[k], NULL), 0);
}

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    lambda[0] = y[0];
    lambda[N] = 1;
    lambda[N + 1] = 0.5;
    for (int j = 0; j < m; j++) lambda2[j * ALL] = V[j * ALL];
    return 0;
}

/* tangents and adjoints are transposes, and Hessian products symmetric, through all events */
static void exact(void **state)
{
    const double y0[ALL] = {1, 0, 0, 0, 0}, p[NP] = {9.81, 0.3, 0.8, 2};
    const costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    ball b;
    costate_report r;
    drop(&b);
    costate *c = new_for_test(*state, &b.P, &o);
    int status = costate_check_adjoint(c, 0, 1.5, y0, p, &r);
    if (status != COSTATE_OK || !(r.transpose < 1e-12)) fail_msg("%s: %s", costate_message(c), r.text);
    status = costate_check_hessian(c, 0, 1.5, y0, p, seed, NULL, &r);
    if (status != COSTATE_OK || !(r.symmetry < 3e-11)) fail_msg("%s: %s", costate_message(c), r.text);
    costate_free(c);
}

/* an elastic ball without drag comes back to its height: half a period is sqrt(2/g) */
static void returns(void **state)
{
    double y[ALL] = {1, 0, 0, 0, 0}, p[NP] = {8, 0, 1, 0};
    ball b;
    (void)state;
    drop(&b);
    b.P.nevents = 1;
    costate *c = costate_new(costate_method_find("dopri5"), &b.P, &(costate_options){.rtol = 1e-10, .atol = 1e-10});
    CHECK_OK(c, costate_integrate(c, 0, 1, y, p, NULL));
    assert_true(fabs(y[0] - 1) < 1e-9 && fabs(y[1]) < 1e-9);
    costate_free(c);
}

/* ---- what is wrong ---- */

static void refused(void **state)
{
    static const struct { int list; costate_term term; const char *word; } wrong[] = {
        {0, {1, 1, ONE, 0, ONE, 0, 0}, "guard.term[0].row = 1, but a guard of this problem has 1 row."},
        {1, {3, 1, ONE, 0, ONE, 0, 0}, "jump.term[0].row = 3, but a jump of this problem has 3 rows."},
        {1, {-1, 1, ONE, 0, ONE, 0, 0}, "row = -1"},
        {2, {2, 1, ONE, 0, ONE, 0, 0}, "cost.term[0].row = 2"},
        {1, {0, NAN, ONE, 0, ONE, 0, 0}, "factor = "},
        {1, {0, 1, 7, 0, 0, ONE, 0, 0}, "a = 7 is not an enum costate_quantity"},
        {1, {0, 1, Y(2), 0, ONE, 0, 0}, "term[0].i = 2, but this problem has 2 states"},
        {1, {0, 1, ONE, 0, P(4), 0, 0}, "term[0].j = 4, but this problem has 4 parameters"},
        {1, {0, 1, M(-1), 0, ONE, 0, 0}, "i = -1, but this problem has 1 memory variables"},
        {1, {0, 1, Y(0), HUGE_VAL, ONE, 0, 0}, "a0 = inf is not finite"},
        {1, {0, 1, ONE, 0, ONE, 2, 0}, "b0 = 2, but b is COSTATE_ONE"},
        {1, {0, 1, ONE, 0, ONE, 0, 2}, "set = 2: it is 0 or 1"},
        {0, {0, 1, Y(0), 0, ONE, 0, 1}, "set = 1: it is for jumps"},
    };
    const costate_problem whole = {.n = 2, .np = 4, .nq = 2, .nm = 1};
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        costate_formulas f = {0};
        costate_terms *const lists[] = {&f.guard, &f.jump, &f.cost};
        costate_event e = {.direction = 1}, before = e;
        costate_report r;
        *lists[wrong[k].list] = (costate_terms){1, &wrong[k].term};
        assert_int_equal(costate_formulas_event(&f, &whole, &e, &r), COSTATE_BAD_ARGUMENT);
        if (!strstr(r.text, wrong[k].word)) fail_msg("%s\nwithout: %s", r.text, wrong[k].word);
        assert_int_equal(costate_formulas_event(&f, &whole, &e, NULL), COSTATE_BAD_ARGUMENT);
        assert_memory_equal(&e, &before, sizeof e);
    }
}

static void refused_arguments(void **state)
{
    costate_problem whole = {.n = 1, .nq = 1}, none = {0};
    const costate_term one = {.factor = 1};
    costate_formulas f = {.cost = {1, &one}}, empty = {0}, torn = {.jump = {1, NULL}}, odd = {.jump = {-1, &one}};
    costate_event e;
    costate_report r;
    (void)state;
    assert_int_equal(costate_formulas_event(NULL, &whole, &e, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_formulas_event(&f, NULL, &e, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_formulas_event(&f, &none, &e, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "n = 0"));
    assert_int_equal(costate_formulas_event(&f, &whole, NULL, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "event is NULL"));
    assert_int_equal(costate_formulas_event(&empty, &whole, &e, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "no terms."));
    assert_int_equal(costate_formulas_cost(&empty, &whole, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "no terms in cost"));
    assert_int_equal(costate_formulas_event(&torn, &whole, &e, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "term is NULL"));
    assert_int_equal(costate_formulas_event(&odd, &whole, &e, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "negative"));
    whole.ctx = &e;
    assert_int_equal(costate_formulas_cost(&f, &whole, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "first member"));
    assert_true(whole.ctx == &e && !whole.cost.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values), cmocka_unit_test(derivatives), cmocka_unit_test(smallest), cmocka_unit_test(returns),
        cmocka_unit_test(refused), cmocka_unit_test(refused_arguments),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + run_by_kind("events and costs of terms are differentiated exactly", exact);
}
