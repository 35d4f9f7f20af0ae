/* test_difference_units.c - options.differences: parameters, memory and times may have any unit, and f is asked for
   times of the step alone. */
#include "maps/differences.h"      /* before cmocka, which has a macro fail */
#include "common.h"

/* ---- products of a map whose inputs have units ---- */

/* F = exp(z), z = 0.2 y + 0.6 p/P - 0.8 m/M + 0.4 (t - start)/T */
static const double A_Y = 0.2, A_P = 0.6, A_M = -0.8, A_T = 0.4;
typedef struct { double P, M, T, start; double first, last; int side; } units;

static int value(const costate_point *x, double *out, void *ctx)
{
    units *u = ctx;
    u->first = fmin(u->first, x->t);
    u->last = fmax(u->last, x->t);
    out[0] = exp(A_Y * x->y[0] + A_P * x->p[0] / u->P + A_M * x->m[0] / u->M + A_T * (x->t - u->start) / u->T);
    return 0;
}

static double relative(double x, double exact) { return fabs(x / exact - 1); }

/* all products at a part c of a step from `start`, of length T, in units u; the worst relative error of first and
   second derivatives */
static void errors_of(units *u, double c, double *one, double *two)
{
    costate_stats count = {0};
    verdict v = {0};
    const costate_problem P = {.n = 1, .np = 1, .nm = 1, .rhs = {.value = value}, .ctx = u};
    const double y = 0.7, p = 0.9 * u->P, m = -0.4 * u->M, w = 1, ones[1] = {1};
    maps a = maps_of(&P);
    cursor at = {0};
    a.count = &count;
    a.method = "of this test";
    a.v = a.space.v = &v;
    a.differences = 1;
    assert_int_equal(maps_init(&a, 0, 1), 0);
    maps_layout(&a, &at);
    double *work = calloc(at.used, sizeof *work);
    assert_non_null(work);
    at = (cursor){work, 0};
    maps_layout(&a, &at);
    maps_bind(&a, &p);
    a.bound.w = ones;
    maps_bind_step(&a, &m, 0);
    maps_bind_time(&a, u->start, u->T);
    u->first = u->last = u->start + c * u->T;
    costate_point x = point(&a, u->first, &y);
    x.side = u->side;
    const double dp = 1.1 * u->P, dm = 0.6 * u->M, A[3] = {A_P / u->P, A_M / u->M, A_T / u->T};
    const costate_point d = {.t = 0.5 * u->T, .p = &dp, .m = &dm};
    double F, out, alone[3] = {0}, g[3] = {0}, along = A_P * 1.1 + A_M * 0.6 + A_T * 0.5;
    const costate_point by[3] = {{.p = &(double){1}}, {.m = &(double){1}}, {.t = 1}};
    value(&x, &F, u);
    *one = *two = 0;
    assert_int_equal(map_tangent(&a, &a.rhs, &x, &d, &out), 0);
    *one = larger_of(*one, relative(out, F * along));
    costate_gradient first = {.p = alone, .m = alone + 1, .t = alone + 2}, second = {.p = g, .m = g + 1, .t = g + 2};
    assert_int_equal(map_adjoint(&a, &a.rhs, &x, &w, &first), 0);
    for (int i = 0; i < 3; i++) *one = larger_of(*one, relative(alone[i], F * A[i]));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(map_tangent2(&a, &a.rhs, &x, &d, &by[i], &out), 0);
        *two = larger_of(*two, relative(out, F * along * A[i]));
    }
    assert_int_equal(map_adjoint_tangent(&a, &a.rhs, &x, &d, &w, &second), 0);
    for (int i = 0; i < 3; i++) *two = larger_of(*two, relative(g[i], F * along * A[i]));
    maps_free(&a);
    free(work);
}

static void any_unit(void **state)
{
    static const double sizes[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1, 1e6, 1e15}, parts[] = {0, 0.3, 1};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    (void)state;
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < 3; k++)
            for (int back = 0; back < 2; back++) {
                units u = {.P = sizes[i], .M = sizes[(i + 3) % SIZES], .T = sizes[(i + 5) % SIZES]};
                double one, two;
                if (back) u.T = -u.T;
                errors_of(&u, parts[k], &one, &two);
                if (!(one < 1e-9 && two < 1e-3))
                    fail_msg("P %g, M %g, T %g, c = %g: wrong by %.1e, second derivatives by %.1e", u.P, u.M, u.T,
                             parts[k], one, two);
                double low = fmin(0, u.T), high = fmax(0, u.T);
                if (u.first < low || u.last > high)
                    fail_msg("T %g, c = %g: t from %.17g to %.17g", u.T, parts[k], u.first, u.last);
            }
}

/* Times far from zero are multiples of their round-off, 2.4e-4 here. */
static void far_from_zero(void **state)
{
    (void)state;
    for (double T = 10; T < 1e9; T *= 10)
        for (int k = 0; k <= 2; k++) {
            units u = {.P = 1, .M = 1, .T = T, .start = 1.7e12};
            double one, two;
            errors_of(&u, k / 2.0, &one, &two);
            if (!(one < 1e-7 && two < 1e-3)) fail_msg("T %g: wrong by %.1e, %.1e", T, one, two);
            assert_true(u.first >= u.start && u.last <= u.start + T);
        }
}

/* A point beside a stop within the run, as of an event: no time beyond the stop is asked for. */
static void beside_a_stop(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        units u = {.P = 1, .M = 1, .T = k < 2 ? 2 : -2, .side = k % 2 ? 1 : -1};
        double one, two, stop = 0.3 * u.T;
        errors_of(&u, 0.3, &one, &two);
        if (!(one < 1e-9 && two < 1e-3)) fail_msg("side %d: wrong by %.1e, %.1e", u.side, one, two);
        if (u.side > 0 ? u.first < stop : u.last > stop)
            fail_msg("side %d of %g: t from %.17g to %.17g", u.side, stop, u.first, u.last);
    }
}

/* A small parameter beside what is large: its size is not its value, and first steps show nothing. */
static int offset(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    return out[0] = cos(1 + x->p[0]), 0;
}

static void small_is_not_its_size(void **state)
{
    (void)state;
    for (double p = 1e-15; p < 1e-3; p *= 10) {
        costate_problem P = {.n = 1, .np = 1, .rhs = {.value = offset}};
        const costate_options o = {.rtol = 1e-9, .atol = 1e-9, .differences = 1, .controller = COSTATE_FIXED,
                                   .h0 = 0.1};
        costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
        costate_tape *tape = costate_tape_new();
        double y = 0, lambda = 1, mu = 0, V = 0, dp = 1, exact = -sin(1 + p);
        CHECK_OK(c, costate_integrate(c, 0, 1, &y, &p, tape));
        CHECK_OK(c, costate_adjoint(c, tape, 1, &lambda, &mu, NULL, NULL));
        CHECK_OK(c, costate_tangent(c, tape, 1, &V, &dp, NULL, NULL));
        if (!(relative(mu, exact) < 1e-6 && relative(V, exact) < 1e-6))
            fail_msg("p = %g: gradient %.10g, tangent %.10g, exact %.10g", p, mu, V, exact);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- runs ---- */

/* a capacitor C that is charged through R: V = 5 (1 - exp(-t/(R C))), p = {R, C} */
static int charges(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    return out[0] = (5 - x->y[0]) / (x->p[0] * x->p[1]), 0;
}

static void circuits_of_all_sizes(void **state)
{
    static const char *const methods[] = {"dopri5", "rodas5p", "radau2a5", "esdirk54i8"};
    (void)state;
    for (double C = 1e-15; C < 1e15; C *= 1e5)
        for (int k = 0; k < 4; k++) {
            const costate_problem P = {.n = 1, .np = 2, .rhs.value = charges};
            const costate_options o = {.rtol = 1e-8, .atol = 1e-8, .differences = 1};
            costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
            costate_tape *tape = costate_tape_new();
            double y = 0, p[] = {1e3, C}, lambda = 1, mu[] = {0, 0}, V = 0, dp[] = {0, C}, exact = -5 * exp(-1);
            CHECK_OK(c, costate_integrate(c, 0, 1e3 * C, &y, p, tape));
            CHECK_OK(c, costate_adjoint(c, tape, 1, &lambda, mu, NULL, NULL));
            CHECK_OK(c, costate_tangent(c, tape, 1, &V, dp, NULL, NULL));
            const double most = 1e-4;                       /* rodas5p: by differences of differences */
            if (!(relative(mu[1] * C, exact) < most && relative(mu[0] * 1e3, exact) < most &&
                  relative(V, exact) < most))
                fail_msg("%s, C = %g: %.10g, %.10g, %.10g instead of %.10g", methods[k], C, mu[0] * 1e3, mu[1] * C, V,
                         exact);
            costate_tape_free(tape);
            costate_free(c);
        }
}

static const double PI = 3.14159265358979323846;

/* y' = -L (y - sin(w t)) + w cos(w t), two periods T = 2 pi/w, L T = 1e4: y = sin(w t) */
typedef struct { double T, start, first, last; } forcing;

static int forced(const costate_point *x, double *out, void *ctx)
{
    forcing *u = ctx;
    double w = 2 * PI / u->T, s = (x->t - u->start) * w;
    u->first = fmin(u->first, x->t);
    u->last = fmax(u->last, x->t);
    return out[0] = -1e4 / u->T * (x->y[0] - sin(s)) + w * cos(s), 0;
}
static int forced_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x;
    return J[0] = -1e4 / ((forcing *)ctx)->T, 0;
}
static int forced_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    forcing *u = ctx;
    double w = 2 * PI / u->T, s = (x->t - u->start) * w;
    out[0] = (1e4 / u->T * w * cos(s) - w * w * sin(s)) * dx->t - (dx->y ? 1e4 / u->T * dx->y[0] : 0);
    return 0;
}

/* steps of a run over two periods; the slopes in t by differences, or not */
static long steps_of(const char *method, forcing *u, int by_differences)
{
    costate_problem P = {.n = 1, .rhs = {.value = forced, .tangent = by_differences ? NULL : forced_tangent},
                         .jac = forced_jac, .ctx = u};
    const costate_options o = {.rtol = 1e-6, .atol = 1e-9, .differences = by_differences};
    costate *c = costate_new(costate_method_find(method), &P, &o);
    double y = 0, end = u->start + 2 * u->T;
    u->first = u->last = u->start;
    CHECK_OK(c, costate_integrate(c, u->start, end, &y, NULL, NULL));
    long steps = (long)costate_get_stats(c)->steps;
    if (!(fabs(y) < 1e-5)) fail_msg("%s, T = %g: wrong by %.1e", method, u->T, y);
    if (u->first < fmin(u->start, end) || u->last > fmax(u->start, end))
        fail_msg("%s, T = %g: f was asked for t from %.17g to %.17g", method, u->T, u->first, u->last);
    costate_free(c);
    return steps;
}

static void forcing_of_all_periods(void **state)
{
    static const char *const methods[] = {"rodas5p", "rodas4", "rodas3"};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (double T = 1e-15; T < 1e16; T *= 1e5)
            for (int back = 0; back < 2; back++) {
                forcing u = {.T = back ? -T : T};
                long exact = steps_of(methods[k], &u, 0), steps = steps_of(methods[k], &u, 1);
                if (labs(steps - exact) > 1 + exact / 20)
                    fail_msg("%s, T = %g: %ld steps, %ld by exact slopes", methods[k], u.T, steps, exact);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_unit), cmocka_unit_test(far_from_zero), cmocka_unit_test(beside_a_stop),
        cmocka_unit_test(small_is_not_its_size), cmocka_unit_test(circuits_of_all_sizes),
        cmocka_unit_test(forcing_of_all_periods)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
