/* test_check_run.c - costate_check_run finds each flaw of a model that is right otherwise, names it, finds no other. */
#include "line_heat.h"
#include "reviewed.h"

/* ---- callbacks ---- */

static void right_model(void **state)
{
    model b;
    (void)state;
    model_of(&b, (flaws){0});
    expect(of_model(&b), COSTATE_OK);
    alone(0, 0);
    found(COSTATE_RIGHT, "run", "succeeded");
    found(COSTATE_RIGHT, "callbacks", "6 points");
    found(COSTATE_RIGHT, "transposes", "are transposes");
    found(COSTATE_RIGHT, "remainders", "by 4.0");
    found(COSTATE_RIGHT, "accuracy", "is right to");
    found(COSTATE_RIGHT, "events", "(1)");
    found(COSTATE_RIGHT, "tolerances", "fits");
    assert_string_equal(message, "No error.");
}

static void jac_late(void **state)
{
    model b;
    costate_report r;
    (void)state;
    model_of(&b, (flaws){.jac_above = 0.35});
    b.method = "radau2a";
    const costate_point start = {.y = b.y, .p = b.p};
    assert_int_equal(costate_check_problem(&b.P, &start, &r, NULL), COSTATE_OK);
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    costate_finding f = found(COSTATE_WRONG, "callbacks", "rhs: jac WRONG: row 0 with respect to y[1]");
    assert_true(f.t > 0.2 && f.t <= b.t1 && f.number > 0.05);
    assert_non_null(strstr(message, "jac WRONG"));
    found(COSTATE_RIGHT, "remainders", "by 4.0");
}

/* at the very end of the run, and so not beside it */
static void jac_at_the_end(void **state)
{
    model b;
    double y[3];
    (void)state;
    model_of(&b, (flaws){0});
    b.method = "radau2a";
    b.t1 = 0.7;
    costate *c = costate_new(costate_method_find(b.method), &b.P, &b.o);
    memcpy(y, b.y, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, b.t1, y, b.p, NULL));
    costate_free(c);
    b.f.jac_above = (1 - 1e-6) * y[1];
    expect(of_model(&b), COSTATE_OK);
    assert_true(found(COSTATE_REMARK, "callbacks", "but not beside it").t == b.t1);
}

static void adjoint_in_a_mode(void **state)
{
    model b;
    costate_report r;
    (void)state;
    model_of(&b, (flaws){.adjoint_in_1 = 1e-3});
    const costate_point start = {.y = b.y, .p = b.p};
    assert_int_equal(costate_check_problem(&b.P, &start, &r, NULL), COSTATE_OK);
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    found(COSTATE_WRONG, "callbacks", "rhs: adjoint WRONG");
    found(COSTATE_WRONG, "transposes", "not transposes");
    found(COSTATE_RIGHT, "remainders", "by 4.0");
    alone(2, 0);
}

static void at_the_event(void **state)
{
    model b;
    (void)state;
    model_of(&b, (flaws){.guard_adjoint = 0.01});
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    costate_finding f = found(COSTATE_WRONG, "callbacks", "Where event 0 fired");
    assert_non_null(strstr(f.text, "event[0].guard: "));
    assert_non_null(strstr(f.text, "adjoint WRONG"));
    assert_int_equal(f.component, 0);
    alone(1, 0);                            /* in a gradient the size of a guard's derivative cancels */
}

static void both_products(void **state)
{
    model b;
    (void)state;
    model_of(&b, (flaws){.slope = 1e-3});
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    found(COSTATE_WRONG, "callbacks", "tangent WRONG");
    found(COSTATE_WRONG, "remainders", "is not the derivative");
    found(COSTATE_RIGHT, "transposes", "");
    alone(2, 0);
    model_of(&b, (flaws){.cost = 1e-3});
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    found(COSTATE_WRONG, "callbacks", "cost: adjoint WRONG");
    alone(2, 0);
}

/* Not everything that differences disagree with is wrong. */
static void not_smooth(void **state)
{
    model b;
    const double stops[] = {0};
    (void)state;
    model_of(&b, (flaws){.kink = 0.1});
    expect(of_model(&b), COSTATE_OK);
    found(COSTATE_REMARK, "callbacks", "but not beside it");
    model_of(&b, (flaws){.least_y1 = 0.1});
    expect(of_model(&b), COSTATE_OK);
    assert_true(found(COSTATE_REMARK, "callbacks", "is not defined").t == 0);
    model_of(&b, (flaws){.jumps = 0.1});
    b.P.nstops = 1;
    b.P.stops = stops;
    expect(of_model(&b), COSTATE_OK);
    alone(0, 0);
}

static void no_products(void **state)
{
    model b;
    (void)state;
    model_of(&b, (flaws){0});
    b.P.nevents = 0;
    b.P.jac = NULL;
    b.P.rhs.adjoint = NULL;
    expect(of_model(&b), COSTATE_OK);
    found(COSTATE_REMARK, "transposes", "rhs.adjoint is missing");
    found(COSTATE_RIGHT, "accuracy", "Gradients lack products");
    alone(0, 1);
}

/* ---- numbers ---- */

static void small_component(void **state)
{
    model b;
    (void)state;
    model_of(&b, (flaws){.small = 1e-8});
    b.P.nevents = 0;
    b.o.atol = 1e-6;
    expect(of_model(&b), COSTATE_OK);
    costate_finding f = found(COSTATE_REMARK, "tolerances", "atol is 1e-06 for y[1], whose largest value is");
    assert_int_equal(f.component, 1);
    assert_true(f.number > 2e-9 && f.number < 1e-8);
    const double atol[] = {1e-6, 1e-15};
    b.o.atol_vector = atol;
    expect(of_model(&b), COSTATE_OK);
    found(COSTATE_RIGHT, "tolerances", "");
    const double none[] = {0, 0}, tiny[] = {1e-17, 1e-25};
    b.o.rtol_vector = none;
    b.o.atol_vector = tiny;
    of_model(&b);
    assert_int_equal(found(COSTATE_REMARK, "tolerances", "y[0] (and 1 other), rtol |y| + atol").component, 0);
}

static int rests(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->y[0];
    out[1] = 0;
    return 0;
}

static void zero_component(void **state)
{
    const costate_problem P = {.n = 2, .rhs = {.value = rests}};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    const double y[] = {1, 0};
    (void)state;
    expect(reviewed("dopri5", &P, &o, 0, 1, y, NULL), COSTATE_OK);
    found(COSTATE_RIGHT, "tolerances", "fits");
}

static const int POINTS = 40;

static costate_problem heat(void)
{
    return (costate_problem){.n = POINTS, .ctx = (void *)&POINTS,
                             .rhs = {.value = line_heat, .tangent = line_heat_tangent, .adjoint = line_heat_adjoint}};
}

static void stiff(void **state)
{
    const costate_problem P = heat();
    costate_options o = {.rtol = 1e-4, .atol = 1e-6};
    double y[64];
    (void)state;
    line_heat_start(POINTS, y);
    expect(reviewed("dopri5", &P, &o, 0, 0.2, y, NULL), COSTATE_OK);
    found(COSTATE_REMARK, "stiffness", "h was as long as stability allows");
    alone(0, 1);
}

/* Steps beyond stability: y shows the slowest mode alone, a gradient all of them. */
static void useless_gradient(void **state)
{
    const costate_problem P = heat();
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .stability = COSTATE_STABILITY_OFF};
    double y[64];
    (void)state;
    line_heat_start(POINTS, y);
    expect(reviewed("dopri5", &P, &o, 0, 0.05, y, NULL), COSTATE_CHECK_FAILED);
    costate_finding f = found(COSTATE_WRONG, "accuracy", "cannot be trusted");
    assert_true(f.number > 0.1);
    assert_non_null(strstr(f.text, "gradient_control"));
    found(COSTATE_REMARK, "stiffness", "times what stability allows");
}

/* An unstable problem: errors of steps grow by exp(30). */
static int growing(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = 30 * (x->y[0] - sin(x->t)) + cos(x->t);
    return 0;
}

static void far_outside(void **state)
{
    const costate_problem P = {.n = 1, .rhs = {.value = growing}};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    double y = 0;
    (void)state;
    expect(reviewed("dopri5", &P, &o, 0, 1, &y, NULL), COSTATE_OK);
    costate_finding f = found(COSTATE_REMARK, "accuracy", "times its tolerance");
    assert_int_equal(f.component, 0);
    assert_true(f.number > 1e-3 && f.t == 1);
}

/* a switch that is no event */
static int switching(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = sin(60 * x->t) > 0 ? 1 : -1;
    return 0;
}

static void rejected(void **state)
{
    const costate_problem P = {.n = 1, .rhs = {.value = switching}};
    costate_options o = {.rtol = 1e-8, .atol = 1e-8};
    double y = 0;
    (void)state;
    expect(reviewed("dopri5", &P, &o, 0, 1, &y, NULL), COSTATE_OK);
    assert_true(found(COSTATE_REMARK, "run", "were rejected").number > 20);
}

static int fast(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -50 * (x->y[0] - cos(x->t));
    return 0;
}
static int not_its_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    J[0] = 300;
    return 0;
}

static void newton_fails(void **state)
{
    const costate_problem P = {.n = 1, .rhs = {.value = fast}, .jac = not_its_jac};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    double y = 0;
    (void)state;
    expect(reviewed("radau2a", &P, &o, 0, 1, &y, NULL), COSTATE_CHECK_FAILED);
    assert_true(found(COSTATE_REMARK, "run", "Newton's iteration failed").number > 5);
    found(COSTATE_WRONG, "callbacks", "jac WRONG");
}

/* Gradients between right and useless, with values like them or not; a few rejected steps are no remark. */
static void rough_gradient(void **state)
{
    static const struct { const char *name, *advice; } of[] = {{"rotor", "0.029.  Set smaller tolerances"},
                                                              {"vdpol_mild", "suit gradients: set options"}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const problem *b = problem_find(of[k].name);
        costate_options o = {.rtol = 1e-4, .atol = 1e-8, .autonomous = b->autonomous};
        double y[4] = {0};
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        expect(reviewed("trbdf2", &b->P, &o, b->t0, b->t1, y, b->p0), COSTATE_OK);
        assert_true(found(COSTATE_REMARK, "accuracy", "is rough").number > 0.01);
        found(COSTATE_REMARK, "accuracy", of[k].advice);
        alone(0, 1);
    }
    model b;
    model_of(&b, (flaws){0});
    b.P.nevents = 0;
    b.t1 = 4;
    b.o = (costate_options){.rtol = 1e-4, .atol = 1e-4, .h0 = 40, .hmax = 40, .fac_min = 0.7,
                            .fac_reject = 0.7};
    expect(of_model(&b), COSTATE_OK);
    alone(0, 0);
}

/* ---- events ---- */

static void rippled(model *b, double rtol)
{
    model_of(b, (flaws){.ripples = 40});
    b->event.to = COSTATE_SAME_MODE;
    b->event.direction = 0;
    b->o.rtol = b->o.atol = rtol;
}

static void missed_events(void **state)
{
    model b;
    (void)state;
    rippled(&b, 1e-3);
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    costate_finding f = found(COSTATE_WRONG, "events", "event[0] also fires at t = ");
    assert_true(fabs(f.t - 0.78126) < 1e-4);
    assert_int_equal(f.component, 0);
    b.o.event_samples = 600;
    b.o.hmax = 0.02;
    expect(of_model(&b), COSTATE_OK);
    found(COSTATE_RIGHT, "events", "(17)");
    rippled(&b, 1e-7);
    b.o.atol = 1e-9;
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    assert_true(fabs(found(COSTATE_WRONG, "events", "but not in a run").t - 1.94406) < 1e-4);
}

/* y = sin(t) + c exp(30 t), where c is mostly the start and partly an error of the first steps */
static int late(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[0] - 2;
    return 0;
}

static void moved_event(void **state)
{
    const costate_event e = {.guard = {.value = late}, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE,
                             .direction = 0};
    const costate_problem P = {.n = 1, .rhs = {.value = growing}, .nevents = 1, .event = &e};
    costate_options o = {.rtol = 3e-3, .atol = 3e-3};
    double y = 1e-3;
    (void)state;
    expect(reviewed("dopri5", &P, &o, 0, 0.3, &y, NULL), COSTATE_OK);
    costate_finding f = found(COSTATE_REMARK, "events", "its time depends on the steps");
    assert_true(fabs(f.t - 0.25) < 0.01 && f.number > 1e-3);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_model), cmocka_unit_test(jac_late), cmocka_unit_test(jac_at_the_end),
        cmocka_unit_test(adjoint_in_a_mode),
        cmocka_unit_test(at_the_event), cmocka_unit_test(both_products), cmocka_unit_test(not_smooth),
        cmocka_unit_test(no_products), cmocka_unit_test(small_component),
        cmocka_unit_test(zero_component), cmocka_unit_test(stiff),
        cmocka_unit_test(useless_gradient), cmocka_unit_test(far_outside), cmocka_unit_test(rejected),
        cmocka_unit_test(missed_events), cmocka_unit_test(moved_event),
        cmocka_unit_test(newton_fails), cmocka_unit_test(rough_gradient),
    };
    return cmocka_run_group_tests_name("a review finds what is wrong", tests, new_review, free_review);
}
