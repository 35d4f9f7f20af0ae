/* test_control.c - step size controllers: each is the formula of its source, within its limits; so is the estimate of
   DOP853.

   next_factor is compared with the published exponents through its logarithmic derivatives, so that no formula of
   control.c is repeated here:  DOPRI5's PI controller err^(-0.17) err_old^(0.04) (Hairer, Norsett & Wanner I, II.4),
   Gustafsson's (h/h_old) (err_old/err^2)^(1/k) (Hairer & Wanner II, IV.8), RADAU5's safety
   (2 newton_max + 1)/(2 newton_max + newton). */
#include "run/control.h"     /* before cmocka, whose fail is a macro */
#include "common.h"

static int decay(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->y[0];
    return 0;
}
static int decay_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x;
    (void)ctx;
    J[0] = -1;
    return 0;
}
static const costate_problem PROBLEM = {.n = 1, .rhs = {.value = decay}, .jac = decay_jac};

static costate *solver(const char *method, int controller)
{
    costate_options o = {.controller = controller, .safety = 0.9, .fac_min = 1e-6, .fac_max = 1e6, .newton_max = 7};
    costate *c = costate_new(costate_method_find(method), &PROBLEM, &o);
    assert_true(c->whole);
    return c;
}

typedef struct { double err, err_old, h, h_old; int rejected, newton; } tried;

static double factor(const costate *c, tried a)
{
    control k = control_of(&c->st);
    k.log_old = log2(a.err_old);
    k.h_old = a.h_old;
    k.rejected = a.rejected;
    return next_factor(&c->st, &k, a.newton, log_of_error(a.err), a.h);
}

/* d log(factor) / d log(x), x the member of a at this offset */
static double exponent(const costate *c, tried a, size_t member)
{
    tried b = a;
    double *x = (double *)((char *)&b + member);
    *x *= 1.2;
    return log(factor(c, b) / factor(c, a)) / log(1.2);
}

static void near(const char *what, double x, double expected)
{
    if (!(fabs(x - expected) < 1e-12)) fail_msg("%s: %.15g instead of %.15g", what, x, expected);
}

/* exponents of err, err_old, h, h_old */
static void exponents_are(const costate *c, tried a, double err, double err_old, double h, double h_old)
{
    near("err", exponent(c, a, offsetof(tried, err)), err);
    near("err_old", exponent(c, a, offsetof(tried, err_old)), err_old);
    near("h", exponent(c, a, offsetof(tried, h)), h);
    near("h_old", exponent(c, a, offsetof(tried, h_old)), h_old);
}

static const tried SMOOTH = {.err = 0.1, .err_old = 0.02, .h = 1, .h_old = 2};

static void elementary(void **state)
{
    (void)state;
    costate *c = solver("dopri5", COSTATE_ELEMENTARY);
    exponents_are(c, SMOOTH, -0.2, 0, 0, 0);
    near("err = 1", factor(c, (tried){.err = 1, .err_old = 1, .h = 1, .h_old = 1}), 0.9);
    costate_free(c);
}

/* HNW: DOPRI5 has 0.2 - 0.75 * 0.04 and 0.04; implicit methods 0.7/k and 0.4/k (k = 4 of radau2a's estimate) */
static void proportional_integral(void **state)
{
    (void)state;
    costate *c = solver("dopri5", COSTATE_PI);
    exponents_are(c, SMOOTH, -0.17, 0.04, 0, 0);
    costate_free(c);
    c = solver("radau2a", COSTATE_PI);
    exponents_are(c, SMOOTH, -0.7 / 4, 0.4 / 4, 0, 0);
    costate_free(c);
}

static void gustafsson(void **state)
{
    (void)state;
    costate *c = solver("radau2a", COSTATE_GUSTAFSSON);
    exponents_are(c, SMOOTH, -0.5, 0.25, 1, -1);
    /* the elementary rule where that is smaller: errors that fall, or steps that grew */
    exponents_are(c, (tried){.err = 0.1, .err_old = 0.9, .h = 1, .h_old = 1}, -0.25, 0, 0, 0);
    exponents_are(c, (tried){.err = 0.1, .err_old = 0.1, .h = 2, .h_old = 1}, -0.25, 0, 0, 0);
    costate_free(c);
}

/* A rejected try, and the first step, know no step before; after a rejection PI waits, Gustafsson predicts. */
static void without_memory(void **state)
{
    static const int all[] = {COSTATE_ELEMENTARY, COSTATE_PI, COSTATE_GUSTAFSSON};
    (void)state;
    for (int i = 0; i < 3; i++) {
        costate *c = solver("radau2a", all[i]);
        exponents_are(c, (tried){.err = 3, .err_old = 0.02, .h = 1, .h_old = 2}, -0.25, 0, 0, 0);
        near("first", factor(c, (tried){.err = 0.0625, .err_old = 0, .h = 1, .h_old = 0}), 1.8);
        costate_free(c);
    }
    tried after = SMOOTH;
    after.rejected = 1;
    after.err = 0.8;
    costate *c = solver("radau2a", COSTATE_GUSTAFSSON);
    exponents_are(c, after, -0.5, 0.25, 1, -1);
    costate_free(c);
    c = solver("radau2a", COSTATE_PI);
    exponents_are(c, after, -0.25, 0, 0, 0);
    costate_free(c);
}

/* An error below 1/100 is 1/100 for the step after it. */
static void kept(void **state)
{
    static const double errors[] = {0, 1e-30, 1e-4, 0.0099, 0.0101, 0.3, 1};
    (void)state;
    for (int i = 0; i < 7; i++) near("the error kept", log_kept(log_of_error(errors[i])), log2(fmax(errors[i], 0.01)));
}

static void limits(void **state)
{
    (void)state;
    costate *c = solver("radau2a", COSTATE_ELEMENTARY);
    tried good = {.err = 1e-6, .err_old = 1e-6, .h = 1, .h_old = 1};
    near("Newton, 3 of 7", factor(c, (tried){.err = 1, .err_old = 1, .h = 1, .h_old = 1, .newton = 3}),
         0.9 * 15 / 17);
    exponents_are(c, (tried){.err = 1e-11, .err_old = 1, .h = 1, .h_old = 1}, 0, 0, 0, 0);  /* below 1e-10 all is one */
    good.rejected = 1;
    near("after a rejection", factor(c, good), 1);
    good.rejected = 0;
    c->o.fac_max = 3;
    near("fac_max", factor(c, good), 3);
    c->o.fac_min = 0.25;
    near("fac_min", factor(c, (tried){.err = 1e9, .err_old = 1, .h = 1, .h_old = 1}), 0.25);
    costate_free(c);
}

/* ---- DOP853's error estimate ------------------------------------------------------------------------------------ */

static int rates(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = exp(3 * x->t);
    out[1] = cos(40 * x->t);
    return 0;
}

/* |err5|^2 / sqrt(|err5|^2 + 0.01 |err3|^2), Hairer, Norsett & Wanner I, II.10, of y' = f(t), whose slopes are known */
static void combined_estimate(void **state)
{
    (void)state;
    static const double lengths[] = {0.02, 0.2, 1};
    for (int l = 0; l < 3; l++) {
        const costate_problem P = {.n = 2, .rhs = {.value = rates}};
        const costate_options o = {.atol = 1, .rtol = 1e-300};
        costate *c = costate_new(costate_method_find("dopri853"), &P, &o);
        const costate_method *m = c->st.m;
        double y[2] = {0}, y1[2], err[2], X[2 * 32], h = lengths[l], sum5[2] = {0}, sum3[2] = {0}, a = 0, b = 0, norm;
        record r = {.h = h, .end = h, .y = y, .X = X};
        trial t = {.cautious = 1, .estimate = 1, .to = {.X = X}, .y1 = y1, .err = err};
        assert_true(m->s <= 32);
        assert_int_equal(c->st.F->forward(&c->st, &r, &t), 0);
        assert_int_equal(error_norm(&c->st, y, y1, err, &norm), 0);
        for (int j = 0; j < m->s; j++) {
            const double at = m->c[j] * h, K[2] = {exp(3 * at), cos(40 * at)};
            for (int i = 0; i < 2; i++) { sum5[i] += h * m->est.e[j] * K[i]; sum3[i] += h * m->est.e2[j] * K[i]; }
        }
        for (int i = 0; i < 2; i++) { a += sum5[i] * sum5[i] / 2; b += sum3[i] * sum3[i] / 2; }
        double expected = a / sqrt(a + 0.01 * b);
        if (!(fabs(norm / expected - 1) < 1e-6)) fail_msg("h = %g: %g instead of %g", h, norm, expected);
        costate_free(c);
    }
}

/* ---- the filter of implicit methods ---------------------------------------------------------------------- */

/* For y' = f(t), whose J is 0, the filtered estimate Re sigma (sigma M - J)^-1 est is est itself:
   h e0 f + sum e_j Z_j.  gauss2 has a complex sigma alone, gauss3 a real one. */
static void filter_of_nothing(void **state)
{
    static const char *const names[] = {"gauss2", "gauss3", "gauss4", "radau2a", "sdirk4a"};
    (void)state;
    for (size_t l = 0; l < sizeof names / sizeof *names; l++) {
        const costate_problem P = {.n = 2, .rhs = {.value = rates}};
        const costate_options o = {.atol = 1, .rtol = 1e-12};
        costate *c = costate_new(costate_method_find(names[l]), &P, &o);
        const costate_method *m = c->st.m;
        double y[2] = {0}, y1[2], err[2], X[2 * 32], h = 0.2, f0[2] = {1, 1};
        unsigned char iterations[32];
        record r = {.h = h, .end = h, .y = y, .X = X, .iterations = iterations};
        trial t = {.cautious = 1, .estimate = 1, .to = {.X = X, .iterations = iterations}, .y1 = y1, .err = err,
                   .serial = 1};
        weights(&c->st, y, c->st.w);
        maps_bind(&c->maps, NULL);
        assert_int_equal(c->st.F->forward(&c->st, &r, &t), 0);
        for (int i = 0; i < 2; i++) {
            double raw = h * m->est.e0 * f0[i];
            for (int j = 0; j < m->s; j++) raw += m->est.e[j] * X[2 * j + i];
            if (!(fabs(err[i] - raw) < 1e-8 * fabs(raw))) fail_msg("%s: %g instead of %g", names[l], err[i], raw);
        }
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementary), cmocka_unit_test(proportional_integral), cmocka_unit_test(gustafsson),
        cmocka_unit_test(without_memory), cmocka_unit_test(kept), cmocka_unit_test(limits),
        cmocka_unit_test(combined_estimate),
        cmocka_unit_test(filter_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
