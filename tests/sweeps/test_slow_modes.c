/* test_slow_modes.c - a sweep estimates the error of gradients that a matrix of the user's makes which is not exact on
   slow modes, however short the run is, and names it; it estimates nothing where the matrix is exact on them. */
#include "departing.h"

static const char *const METHODS[] = {"ros2", "rosi2pw", "ros34pw2", "w6s4os", "rodas4pw", "w9s5"};
enum { COUNT = sizeof METHODS / sizeof *METHODS };

typedef struct { double estimate, error; int solves; char said[512]; } result;

typedef struct {
    const char *method;         /* NULL: auto */
    double h, t1, rtol;         /* h > 0: fixed steps */
    const double *seed;         /* m functionals; NULL: one, the sum of y */
    int m, estimate;
} asked;

/* the gradient by y0 at t1 against exp(-a t1) seed */
static result swept(departing *d, asked how)
{
    static const double sum[] = {1, 1, 1};
    const costate_problem P = departing_problem(d);
    costate_preconditioner p = departing_preconditioner(d);
    int m = how.seed ? how.m : 1;
    double y[DEPARTING] = {1, 1, 1}, lambda[2 * DEPARTING], exact[2 * DEPARTING];
    result r = {.estimate = NAN};
    p.splits = !how.method;
    costate_options o = {.solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p, .autonomous = 1,
                         .gradient_estimate = how.estimate, .rtol = how.rtol > 0 ? how.rtol : 1e-4};
    if (how.h > 0) o.controller = COSTATE_FIXED, o.h0 = how.h;
    costate *c = costate_new(how.method ? costate_method_find(how.method) : NULL, &P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, how.t1, y, NULL, tape));
    memcpy(lambda, how.seed ? how.seed : sum, (size_t)(m * DEPARTING) * sizeof *lambda);
    d->solves = 0;
    for (int k = 0; k < m * DEPARTING; k++) exact[k] = lambda[k] * exp(-d->a[k % DEPARTING] / d->m * how.t1);
    CHECK_OK(c, costate_adjoint(c, tape, m, lambda, NULL, NULL, NULL));
    r.solves = d->solves;
    r.estimate = costate_get_stats(c)->gradient_error;
    for (int k = 0; k < m; k++)
        r.error = fmax(r.error, relative_error(DEPARTING, lambda + k * DEPARTING, exact + k * DEPARTING));
    snprintf(r.said, sizeof r.said, "%s", costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

static departing like(double x, double a) { return (departing){.a = {a, a, a}, .x = {x, x, x}, .m = 1}; }

static void near(result r, double factor, const char *what)
{
    if (!(r.estimate > r.error / factor && r.estimate < r.error * factor))
        fail_msg("%s: the estimate is %.2e, the error %.2e", what, r.estimate, r.error);
}

/* of all W-methods, with steps of 0.1 to 0.005: the error does not become smaller with h */
static void wrong_rates(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT; k++)
        for (int steps = 10; steps <= 200; steps *= 20) {
            departing d = like(0.4, 1);
            result r = swept(&d, (asked){.method = METHODS[k], .h = 1.0 / steps, .t1 = 1});
            assert_true(r.error > 0.03);
            near(r, 2, METHODS[k]);
            assert_true((strstr(r.said, "not exact enough on slow modes") != NULL) == (r.estimate > 0.03));
        }
}

/* with a mass matrix, and with auto, which takes w6s4os */
static void others(void **state)
{
    (void)state;
    departing d = like(0.3, 2);
    d.m = 2;
    near(swept(&d, (asked){.method = "w6s4os", .h = 0.05, .t1 = 1}), 2, "mass matrix");
    departing e = like(0.3, 1);
    near(swept(&e, (asked){.h = 0.05, .t1 = 1}), 2, "auto");
}

/* one step tells nothing; two do */
static void short_runs(void **state)
{
    (void)state;
    for (int steps = 1; steps <= 5; steps++) {
        departing d = like(0.3, 1);
        result r = swept(&d, (asked){.method = "w6s4os", .h = 0.2, .t1 = 0.2 * steps});
        if (steps == 1) assert_true(r.estimate < 1e-10);
        else near(r, 1.3, "short");
    }
}

/* five solves at every twentieth step, at four steps at least and at 16 at most */
static void measurements(void **state)
{
    (void)state;
    static const struct { int steps, places; } all[] = {{2, 1}, {5, 4}, {20, 4}, {100, 5}, {400, 16}};
    for (int k = 0; k < 5; k++) {
        departing d = like(0.3, 1);
        asked how = {.method = "w6s4os", .h = 1.0 / all[k].steps, .t1 = 1, .estimate = COSTATE_ESTIMATE_LOCAL};
        int with = swept(&d, how).solves;
        how.estimate = COSTATE_ESTIMATE_OFF;
        int more = with - swept(&d, how).solves;
        if (more != 5 * all[k].places) fail_msg("%d steps: %d solves more", all[k].steps, more);
    }
}

/* what is said, by rtol: 0.15 is 30 times 5e-3, and 7 times 2e-2 */
static void tolerances(void **state)
{
    (void)state;
    departing d = like(0.4, 1);
    assert_non_null(strstr(swept(&d, (asked){.method = "w6s4os", .h = 0.05, .t1 = 1, .rtol = 5e-3}).said, "gradient"));
    assert_null(strstr(swept(&d, (asked){.method = "w6s4os", .h = 0.05, .t1 = 1, .rtol = 2e-2}).said, "gradient"));
}

/* A part of lambda departs: the gradient has its share of the error, or nothing if it has decayed.  Fast modes alone
   err by no more than they are. */
static void parts(void **state)
{
    (void)state;
    static const double seed[] = {1, 2, 2};
    departing d = {.a = {1, 1, 1}, .x = {0.3, 1, 1}, .m = 1};
    near(swept(&d, (asked){.method = "w6s4os", .h = 0.02, .t1 = 1, .seed = seed, .m = 1}), 2, "a part");
    departing decays = {.a = {20, 1, 1}, .x = {0.3, 1, 1}, .m = 1};
    result r = swept(&decays, (asked){.method = "w6s4os", .h = 0.02, .t1 = 2});
    if (!(r.error < 1e-6 && r.estimate < 1e-6)) fail_msg("%.2e, %.2e", r.estimate, r.error);
    departing fast = like(0.7, 1e4);
    r = swept(&fast, (asked){.method = "w6s4os", .h = 0.05, .t1 = 1});
    if (!(r.estimate < 1)) fail_msg("%.2e", r.estimate);
}

/* The step size, and with it x, changes by a factor of 1e3 in a run: what one measurement finds counts only for steps
   near it. */
static void changing_steps(void **state)
{
    (void)state;
    departing d = {.a = {1, 1, 1}, .reach = 40, .m = 1};
    result r = swept(&d, (asked){.method = "w6s4os", .t1 = 2, .rtol = 1e-3});
    near(r, 4, "changing steps");
}

/* Each functional has its error, and the largest counts.  The second one sees the first unknown alone. */
static void functionals(void **state)
{
    (void)state;
    static const double seeds[] = {0, 1, 1, 1, 0, 0};
    departing d = {.a = {1, 1, 1}, .x = {0.3, 1, 1}, .m = 1};
    near(swept(&d, (asked){.method = "w6s4os", .h = 0.02, .t1 = 1, .seed = seeds, .m = 2}), 2, "two functionals");
    result r = swept(&d, (asked){.method = "w6s4os", .h = 0.02, .t1 = 1, .seed = seeds, .m = 1});
    assert_true(r.estimate < 1e-9);
    assert_null(strstr(r.said, "gradient"));
}

/* a seed with fast modes for which the matrix is too stiff, and which decay; and without an estimate */
static void silence(void **state)
{
    (void)state;
    departing d = {.a = {1, 1e5, 1e7}, .x = {1, 0.7, 0.7}, .m = 1};
    result r = swept(&d, (asked){.method = "w6s4os", .h = 0.02, .t1 = 1});
    if (!(r.estimate < 1e-3)) fail_msg("%.2e", r.estimate);
    assert_string_equal(r.said, "No error.");
    departing wrong = like(0.3, 1);
    r = swept(&wrong, (asked){.method = "w6s4os", .h = 0.05, .t1 = 1, .estimate = COSTATE_ESTIMATE_OFF});
    assert_true(!(r.estimate > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_rates), cmocka_unit_test(others),
                                       cmocka_unit_test(short_runs), cmocka_unit_test(measurements),
                                       cmocka_unit_test(tolerances), cmocka_unit_test(parts),
                                       cmocka_unit_test(changing_steps), cmocka_unit_test(functionals),
                                       cmocka_unit_test(silence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
