/* test_bench_values.c - problems of the race end at the values that the Test Set for IVP Solvers gives, and are those
   that have parameters elsewhere. */
#include "common.h"
#include "ivp.h"

/* Test Set for IVP Solvers: problem RINGMOD at t = 1e-3, PLEIADES at 3 */
static const double ring[] = {
    -0.2339057358486745e-1, -0.7367485485540825e-2, 0.2582956709291169, -0.4064465721283450, -0.4039455665149794,
    0.2607966765422943, 0.1106761861269975, 0.2939904342435596e-6, -0.2840029933642329e-7, 0.7267198267264553e-3,
    0.7929487196960840e-3, -0.7255283495698965e-3, -0.7941401968526521e-3, 0.7088495416976114e-4, 0.2390059075236570e-4
};
static const double pleiades[] = {
    0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.6597091455775310, 0.3425581707156584,
    1.562172101400631, -0.7003092922212495, -3.943437585517392, -3.271380973972550, 5.225081843456543,
    -2.590612434977470, 1.198213693392275, -0.2429682344935824, 1.091449240428980, 3.417003806314313,
    1.354584501625501, -2.590065597810775, 2.025053734714242, -1.155815100160448, -0.8072988170223021,
    0.5952396354208710, -3.741244961234010, 0.3773459685750630, 0.9386858869551073, 0.3667922227200571,
    -0.3474046353808490, 2.344915448180937, -1.947020434263292
};

/* rtol = 1e-10: errors grow to some hundred times that */
static void ends_at(const char *name, const char *method, double t1, const double *y1)
{
    ivp b;
    assert_int_equal(ivp_new(&b, name, 0, 0), COSTATE_OK);
    costate_options options = {.rtol = 1e-10, .atol = 1e-10 * b.atol, .autonomous = !b.timed, .max_steps = 1000000};
    costate *c = costate_new(costate_method_find(method), &b.P, &options);
    double y[32];
    assert_true(b.P.n <= 32);
    memcpy(y, b.y0, (size_t)b.P.n * sizeof *y);
    assert_int_equal(costate_integrate(c, 0, t1, y, b.p, NULL), COSTATE_OK);
    assert_true(relative_error(b.P.n, y, y1) < 1e-7);
    costate_free(c);
    ivp_free(&b);
}

static void ring_modulator(void **state)
{
    (void)state;
    ends_at("ring", "radau2a7", 1e-3, ring);
}

static void stars(void **state)
{
    (void)state;
    ends_at("pleiades", "verner98", 3, pleiades);
}

static void populations_and_oregonator(void **state)
{
    (void)state;
    ends_at("lv", "verner98", 10, problem_find("lv")->reference->y);
    ends_at("orego", "radau2a7", 360, problem_find("orego")->reference->y);
}

/* the start and f are those of the formula, in another order of operations */
static void brusselator_on_a_line(void **state)
{
    enum { POINTS = 20, N = 2 * POINTS };
    problem *with_p = problem_brusselator(POINTS);
    ivp b;
    double f[N], g[N];
    (void)state;
    assert_non_null(with_p);
    assert_int_equal(ivp_new(&b, "brusselator1d", POINTS, 0), COSTATE_OK);
    assert_true(relative_error(N, b.y0, with_p->y0) < 1e-14);
    assert_int_equal(with_p->P.rhs.value(&(costate_point){.y = b.y0, .p = with_p->p0}, f, with_p->P.ctx), 0);
    assert_int_equal(b.P.rhs.value(&(costate_point){.y = b.y0}, g, b.P.ctx), 0);
    assert_true(relative_error(N, g, f) < 1e-13);
    ivp_free(&b);
    problem_free(with_p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ring_modulator), cmocka_unit_test(stars),
                                       cmocka_unit_test(populations_and_oregonator),
                                       cmocka_unit_test(brusselator_on_a_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
