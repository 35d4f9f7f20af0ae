/* test_advice.c - what README.md, choosing.md ("Which method") and fast-components.md say is so, for the methods they
   name.  Bounds are the numbers of the documents, or lie half-way between two. */
#include "step/method.h"
#include "common.h"
#include "formula.h"
#include "../examples/pollu.h"

enum { MOST = 16 };

static const costate_method *find(const char *name)
{
    const costate_method *m = costate_method_find(name);
    if (!m) fail_msg("the documents name %s, which is not there", name);
    return m;
}

/* ---- how errors follow the tolerance ---- */

static const char *const smooth[] = {"lv", "detest_A3", "rotor"};      /* not stiff, with known solutions */
enum { SMOOTH = sizeof smooth / sizeof *smooth };

/* Largest error at t1, relative to the largest component; what it took. */
static double error_and_work(const costate_method *m, const problem *b, double rtol, costate_stats *work)
{
    double y[MOST] = {0}, exact[MOST];
    costate_options o = {.rtol = rtol, .atol = rtol, .max_steps = 1000000};
    costate *c = costate_new(m, &b->P, &o);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    if (b->reference) memcpy(exact, b->reference->y, (size_t)b->P.n * sizeof *exact);
    else assert_true(problem_exact(b, b->t0, b->y0, b->p0, b->t1, exact, NULL, NULL, NULL, NULL));
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
    *work = *costate_get_stats(c);
    costate_free(c);
    return relative_gap(b->P.n, y, exact);
}

static double error_of(const costate_method *m, const problem *b, double rtol, long *steps)
{
    costate_stats work;
    double error = error_and_work(m, b, rtol, &work);
    *steps = work.steps;
    return error;
}

/* rtol = 1e-7 .. 1e-9 at the tight end */
static int tightest(const costate_method *m)
{
    int order = method_info(m).order;
    return order == 1 ? -7 : order <= 3 ? -8 : -9;
}

/* Least squares of log error against log rtol, over three decades; where the steps are short enough for an order to
   show, which takes the tighter a tolerance the higher it is. */
static double slope_of(const costate_method *m, const problem *b)
{
    int first = tightest(m) + 3;
    double sum = 0, squares = 0;
    long steps;
    for (int k = 0; k < 4; k++) {
        double x = 1.5 - k;
        sum += x * log10(error_of(m, b, pow(10, first - k), &steps));
        squares += x * x;
    }
    return sum / squares;
}

/* Methods of order p with an estimate of at least that order: rtol^(p/(p+1)), as the estimate is of size h^(p+1) and
   the error of size h^p.  All others: nearer to rtol itself than to rtol^(2/3), or better.  By the middle one of the
   problems: at one time errors may cancel, as those of esdirk32i5 on detest_A3 do at rtol = 1e-5. */
static void slopes(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    if (10 * m->about.rounding > pow(10, tightest(m))) skip();       /* a table of few digits has no errors so small */
    double of[SMOOTH], p = info.order;
    for (int k = 0; k < SMOOTH; k++) of[k] = slope_of(m, problem_find(smooth[k]));
    double slope = fmax(fmin(of[0], of[1]), fmin(fmax(of[0], of[1]), of[2]));         /* the middle one of three */
    print_message("           errors like rtol^%.2f\n", slope);
    if (info.embedded >= info.order) assert_true(fabs(slope - p / (p + 1)) < 0.1);
    else assert_true(slope > 5.0 / 6);
}

/* verner65 against dopri5 at rtol = 1e-6 .. 1e-10: geometric means of errors and of steps. */
static void verner_is_looser(void **state)
{
    double errors = 0, steps = 0;
    int count = 0;
    (void)state;
    for (int k = 0; k < SMOOTH; k++)
        for (int e = -6; e >= -10; e--, count++) {
            long steps5, steps6;
            double error5 = error_of(find("dopri5"), problem_find(smooth[k]), pow(10, e), &steps5);
            errors += log(error_of(find("verner65"), problem_find(smooth[k]), pow(10, e), &steps6) / error5);
            steps += log((double)steps6 / (double)steps5);
        }
    errors = exp(errors / count);
    steps = exp(steps / count);
    print_message("           errors %.1f times, steps %.2f times those of dopri5\n", errors, steps);
    assert_true(errors > 3 && errors < 25 && steps > 0.5 && steps < 0.8);
}

/* Values of f and geometric means of errors on these problems, as the table has them. */
static void orders_of_explicit_methods(void **state)
{
    static const struct { const char *name; double rtol; long f; double error; } rows[] = {
        {"tsit5", 1e-5, 801, 2.2e-5}, {"dopri5", 1e-5, 843, 1.6e-5}, {"bs54", 1e-5, 674, 3.5e-5},
        {"verner76", 1e-5, 932, 4.4e-6}, {"dopri853", 1e-5, 949, 2.2e-5}, {"verner87", 1e-5, 942, 6.9e-6},
        {"verner98", 1e-5, 926, 1.4e-6}, {"tsit5", 1e-10, 6327, 8.7e-11}, {"dopri5", 1e-10, 6207, 1.4e-10},
        {"bs54", 1e-10, 4839, 3.3e-10}, {"verner76", 1e-10, 3670, 4.7e-11}, {"dopri853", 1e-10, 3121, 3.9e-10},
        {"verner87", 1e-10, 3067, 6.9e-11}, {"verner98", 1e-10, 2814, 1.5e-11}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double error = 1;
        long f = 0;
        for (int k = 0; k < SMOOTH; k++) {
            costate_stats work;
            error *= error_and_work(find(rows[i].name), problem_find(smooth[k]), rows[i].rtol, &work);
            f += work.f;
        }
        error = cbrt(error);
        print_message("           %s, rtol %.0e: f %ld, error %.1e\n", rows[i].name, rows[i].rtol, f, error);
        assert_true(labs(f - rows[i].f) < rows[i].f / 20);
        assert_true(error < 1.5 * rows[i].error && error > rows[i].error / 1.5);
    }
}

/* ---- stiff photochemistry: species that atol sees ---- */

static long pollu_steps(const char *name, double rtol)
{
    double y[POLLU_SPECIES], k[POLLU_REACTIONS];
    costate_options o = {.rtol = rtol, .atol = 1e-6 * rtol, .autonomous = 1};
    costate *c = costate_new(find(name), &pollu_problem, &o);
    memcpy(y, pollu_start, sizeof y);
    pollu_constants(k);
    CHECK_OK(c, costate_integrate(c, 0, 60, y, k, NULL));
    long steps = costate_get_stats(c)->accepted;
    costate_free(c);
    return steps;
}

/* At 1e-4 sdirk4a and sdirk4b need less than one and a half times the steps of radau2a, at 1e-10 more than four times:
   an estimate of order 3 multiplies steps by 10^(6/4) = 32 in between, theirs by 100 and more. */
static void sdirk_loses_order(void **state)
{
    (void)state;
    long radau[2] = {pollu_steps("radau2a", 1e-4), pollu_steps("radau2a", 1e-10)};
    static const char *const names[] = {"sdirk4a", "sdirk4b"};
    for (int k = 0; k < 2; k++) {
        long loose = pollu_steps(names[k], 1e-4), tight = pollu_steps(names[k], 1e-10);
        print_message("           %s %ld, %ld steps, radau2a %ld, %ld\n", names[k], loose, tight, radau[0], radau[1]);
        assert_true(2 * loose < 3 * radau[0]);
        assert_true(tight > 4 * radau[1] && tight > 100 * loose && radau[1] < 32 * radau[0]);
    }
}

/* ---- no damping at infinity ---- */

/* Robertson's problem to 4e7: the least component at the end. */
static double robertson(const char *name, double rtol, long *steps)
{
    const problem *b = problem_find("rober_4e7");
    double y[MOST] = {1, 0, 0};
    costate_options o = {.rtol = rtol, .atol = 1e-2 * rtol, .max_steps = 1000000};
    costate *c = costate_new(find(name), &b->P, &o);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
    *steps = costate_get_stats(c)->steps;
    costate_free(c);
    return fmin(y[0], fmin(y[1], y[2]));
}

/* gauss3 follows what alternates, with thousands of steps; radau2a takes at most 150. */
static void gauss_does_not_damp(void **state)
{
    (void)state;
    for (int k = -3; k >= -4; k--) {
        long steps, of_radau;
        double least = robertson("gauss3", pow(10, k), &steps);
        double damped = robertson("radau2a", pow(10, k), &of_radau);
        print_message("           rtol 1e%d: gauss3 %ld steps, least %.1e; radau2a %ld, %.1e\n", k, steps, least,
                      of_radau, damped);
        assert_true(damped > 0 && of_radau <= 150 && steps > 100000);
    }
}

/* ---- the gradient by a component that the step jumps over ---- */

/* The state at t, to a tight tolerance. */
static void pollu_state(double t, double *y, const double *k)
{
    costate_options o = {.rtol = 1e-12, .atol = 1e-24};
    costate *c = costate_new(find("radau2a5"), &pollu_problem, &o);
    memcpy(y, pollu_start, sizeof pollu_start);
    CHECK_OK(c, costate_integrate(c, 0, t, y, k, NULL));
    costate_free(c);
}

/* d O3(60) / d OH(from) */
static double pollu_gradient(const char *name, double from, double rtol, double atol)
{
    double y[POLLU_SPECIES], k[POLLU_REACTIONS], lambda[POLLU_SPECIES] = {[POLLU_O3] = 1};
    costate_options o = {.rtol = rtol, .atol = atol, .h0 = rtol < 1e-9 ? 1e-12 : 0, .autonomous = 1};
    costate *c = costate_new(find(name), &pollu_problem, &o);
    costate_tape *tape = costate_tape_new();
    pollu_constants(k);
    pollu_state(from, y, k);
    CHECK_OK(c, costate_integrate(c, from, 60, y, k, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return lambda[POLLU_OH];
}

/* The gradient of a second run, at a tenth of the tolerances, tells the error of the first: between a half and twice;
   from nothing (t = 0) and from equilibrium (t = 10). */
static void second_run_tells(void **state)
{
    (void)state;
    for (int from = 0; from <= 10; from += 10) {
        double exact = pollu_gradient("radau2a5", from, 1e-12, 1e-24);
        assert_true(fabs(pollu_gradient("lobatto3c", from, 1e-7, 1e-14) / exact - 1) < 1e-5);
        for (int k = -3; k >= -6; k--) {
            double rtol = pow(10, k), first = pollu_gradient("rodas4", from, rtol, rtol);
            double second = pollu_gradient("rodas4", from, rtol / 10, rtol / 10);
            double error = fabs(first / exact - 1), told = fabs((first - second) / exact);
            print_message("           t = %d, rtol 1e%d: error %.1e, difference %.1e\n", from, k, error, told);
            assert_true(told > error / 2 && told < 2 * error);
        }
    }
}

#define RATE 1e6
#define CHANGE 0.03

/* e' = -RATE e, s' = exp(-t/CHANGE) e, e(0) = 0:  ds/de(0) = 1/(RATE + 1/CHANGE), once e is gone */
static void side_product(const formula *s, num t, const num *y, const num *p, num *f)
{
    (void)s, (void)p;
    f[0] = times(-RATE, y[0]);
    f[1] = mul(y[0], exponential(times(-1 / CHANGE, t)));
}
static const formula side_product_formula = {.n = 2, .f = side_product};

/* The error that a method with an explicit first stage makes.  Where e is fast, its stages are

       E_1 = 1,   E_i = -g_i,   g = A^-1 a  (a: the column of the explicit stage),

   whatever the step, as 0 = a_i + sum_j a_ij E_j; with d(t) = exp(-t/CHANGE), ds/de(0) is off by

       h (b_0 - sum_i b_i g_i d(c_i h)),

   but for terms like the derivative itself, 1/RATE.  (It would be 0 for d = 1: R(infinity) = 0.) */
static double undamped(const costate_method *m, double h)
{
    double sum = m->b0;
    for (int i = 0; i < m->s; i++) sum -= m->b[i] * m->g[i] * exp(-m->c[i] * h / CHANGE);
    return fabs(h * sum * RATE);
}

/* ros: the same of its stages E_i, u_i of e and s.  With d_i = d(alpha_i h), d(0) = 1, d'(0) = -1/CHANGE, and with z =
   h RATE finite, as the coefficients c_ij magnify what is left of 1/z:

       Y_i = 1 + sum_j a_ij E_j,   (1/gamma + z) E_i = -z Y_i + sum_j c_ij E_j,
       u_i / gamma = h (d_i Y_i + E_i + gamma_i h d'(0)) + sum_j c_ij u_j,    ds/de(0) = sum_i m_i u_i. */
static double tableau_of_ros(const costate_method *m, double h)
{
    double E[STAGES_MOST], u[STAGES_MOST], z = h * RATE, sum = 0;
    for (int i = 0; i < m->s; i++) {
        double Y = 1, e = 0, v = h * m->gi[i] * h * -1 / CHANGE;
        for (int j = 0; j < i; j++) {
            Y += m->A[i * m->s + j] * E[j];
            e += m->C[i * m->s + j] * E[j];
            v += m->C[i * m->s + j] * u[j];
        }
        E[i] = (e - z * Y) / (1 / m->gamma + z);
        u[i] = m->gamma * (v + h * (exp(-m->c[i] * h / CHANGE) * Y + E[i]));
        sum += m->d[i] * u[i];
    }
    return fabs(sum * (RATE + 1 / CHANGE) - 1);
}

/* One step of 0.01, ten thousand times the time of e and a third of that in which its coefficient changes: methods
   whose stages damp e get the derivative within its size; methods with an explicit first stage and ros are off by what
   their tableau says, ros by 10 times its size and more. */
static void fast_component(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    if (is_explicit(m)) skip();
    costate_problem P = {.n = 2, .ctx = (void *)&side_product_formula, .rhs = FORMULA_RHS, .jac = formula_jac};
    costate_options o = {.h0 = 0.01, .controller = COSTATE_FIXED};
    costate *c = costate_new(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[2] = {0, 0}, lambda[2] = {0, 1};
    CHECK_OK(c, costate_integrate(c, 0, 0.01, y, NULL, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    double error = fabs(lambda[0] * (RATE + 1 / CHANGE) - 1);
    print_message("           relative error %.1e\n", error);
    if (info.family == COSTATE_ROS) assert_true(error > 10 && fabs(error / tableau_of_ros(m, 0.01) - 1) < 1e-6);
    else if (info.properties & COSTATE_EXPLICIT_FIRST) assert_true(fabs(error - undamped(m, 0.01)) < 2);
    else assert_true(error < 1);
    costate_tape_free(tape);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verner_is_looser),
        cmocka_unit_test(orders_of_explicit_methods),
        cmocka_unit_test(sdirk_loses_order),
        cmocka_unit_test(gauss_does_not_damp),
        cmocka_unit_test(second_run_tells),
    };
    int failed = cmocka_run_group_tests_name("advice", tests, NULL, NULL);
    failed += run_by_method("errors follow the tolerance", slopes);
    return failed + run_by_method("gradient by a fast component", fast_component);
}
