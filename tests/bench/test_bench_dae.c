/* test_bench_dae.c - heat and food web of the benchmark are those whose gradients were made elsewhere, in every form.

   The references are of |y(t1)|^2, the benchmark's functional is half of it. */
#include "common.h"
#include "ivp.h"

/* by_start: by y_at(0), 0: smaller than 1e-40; t1 0: the problem's */
typedef struct { const char *name; int at; double g, by_p[2], by_start, t1; } truth;

static double half(double x) { return x / 2; }

static void agrees(void **state)
{
    const truth *T = *state;
    ivp b;
    assert_int_equal(ivp_new(&b, T->name, 0, 0), COSTATE_OK);
    size_t n = (size_t)b.P.n;
    double *y = malloc(2 * n * sizeof *y), *lambda = y + n, mu[2] = {0}, g = 0;
    costate_options o = {.rtol = 1e-8, .atol = 1e-8};
    costate *c = costate_new(costate_method_find("radau2a"), &b.P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b.y0, n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, 0, T->t1 > 0 ? T->t1 : b.t1, y, b.p, tape));
    for (size_t i = 0; i < n; i++) g += y[i] * y[i];
    ivp_seed(&b, y, lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    const double error[] = {g / T->g - 1, mu[0] / half(T->by_p[0]) - 1, mu[1] / half(T->by_p[1]) - 1,
                            T->by_start != 0 ? lambda[T->at] / half(T->by_start) - 1 : lambda[T->at]};
    for (int k = 0; k < 4; k++)
        if (!(fabs(error[k]) <= 1e-6)) fail_msg("%s: number %d is wrong by %.2e", T->name, k, error[k]);
    costate_tape_free(tape);
    costate_free(c);
    free(y);
    ivp_free(&b);
}

/* Fekete's points: what the race measures errors in, log V and its gradient by eight numbers, and the points */
static void fekete(void **state)
{
    static const double log_V = 5.36581032791699800e+01, by_a[] = {
        -3.73669921741740425e+00, -3.38401585297040042e-02, -1.69288931494110344e+00, 2.16462597112006384e-01,
        9.89434215180579209e+00, -1.86876360224924199e-01, -3.51351462031008955e+00, 4.25392164262181830e-03};
    static const double p1_p20_q1[] = {
        -3.49978279373252528e-01, 3.68855763471987322e-01, 8.61081081966405152e-01,
        1.13299668273234288e-01, -4.93548267000921295e-01, -8.62306960026162825e-01,
        -2.26393400751924908e-02, 4.03712706524458575e-02, -2.64951276044803894e-02};
    static const double lambda1_20[] = {-4.75142218549995548e+00, -4.75009302152682494e+00};
    ivp b;
    (void)state;
    assert_int_equal(ivp_new(&b, "fekete", 0, 0), COSTATE_OK);
    assert_int_equal(b.P.n, 160);
    assert_int_equal(ivp_before_index2(&b), 120);
    double y[160], lambda[160], gradient[8];
    costate_options o = {.rtol = 1e-9, .atol = 1e-9, .autonomous = 1};
    costate *c = costate_new(costate_method_find("radau2a5"), &b.P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b.y0, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, b.t1, y, b.p, tape));
    double V = ivp_seed(&b, y, lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    ivp_by_a(&b, lambda, gradient);
    const double points[] = {y[0], y[1], y[2], y[57], y[58], y[59], y[60], y[61], y[62]}, forces[] = {y[140], y[159]};
    assert_true(fabs(V / log_V - 1) <= 1e-9);
    assert_true(relative_gap(9, points, p1_p20_q1) <= 1e-9);
    assert_true(relative_gap(2, forces, lambda1_20) <= 1e-7);
    assert_true(relative_gap(8, gradient, by_a) <= 1e-8);
    costate_tape_free(tape);
    costate_free(c);
    ivp_free(&b);
}

/* At t = 1000 they are where RADAU5 left them at tolerances of 1e-12 (IVP test set, fekete.f): log V is that of its
   points, at a maximum.  At rest lambda is -(20 - 1)/4: p_i.(p_i - p_j) is |p_i - p_j|^2 / 2 on the sphere. */
static void fekete_at_rest(void **state)
{
    static const double log_V = 54.01112997458417, p1_p2[] = {
        -0.4070263380333202, 0.3463758772791802, 0.8451942450030429,
        0.07752934752521549, -0.2628662719972299, 0.9617122871829146};
    ivp b;
    (void)state;
    assert_int_equal(ivp_new(&b, "fekete", 0, 1), COSTATE_OK);
    double y[160], lambda[160], gradient[8];
    costate_options o = {.rtol = 1e-9, .atol = 1e-9, .autonomous = 1};
    costate *c = costate_new(costate_method_find("radau2a5"), &b.P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b.y0, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, 1000, y, b.p, tape));
    double V = ivp_seed(&b, y, lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    ivp_by_a(&b, lambda, gradient);
    assert_true(fabs(V - log_V) <= 1e-12 * log_V);
    assert_true(relative_gap(6, y, p1_p2) <= 1e-6);
    for (int i = 0; i < 20; i++) assert_true(fabs(y[140 + i] + 4.75) <= 1e-9);
    for (int i = 0; i < 8; i++) assert_true(fabs(gradient[i]) <= 1e-9);
    costate_tape_free(tape);
    costate_free(c);
    o.rtol = o.atol = 1e-4;                     /* there y' is round-off: consistent values at the end are found */
    o.solver = COSTATE_LS_SPARSE;
    c = costate_new(costate_method_find("radau2a5"), &b.P, &o);
    memcpy(y, b.y0, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, 1000, y, b.p, NULL));
    assert_true(fabs(ivp_seed(&b, y, lambda) - log_V) <= 1e-6 * log_V);
    costate_free(c);
    ivp_free(&b);
}

int main(void)
{
    static truth all[] = {
        {"heat_dae", 20 * 42 + 20, 0.863792474592583054991875, {-2.72675828331648437357241, -2.72675828331648437357241},
         0.003853838162497642079540253, 0},
        {"heat_mass", 5 * 42 + 7, 0.863792474592583054991875, {-2.72675828331648437357241, -2.72675828331648437357241},
         0.0007372707437513866530017195, 0},
        {"foodweb", 0, 2.36313393520239892e+05, {6.19839686164873434e+03, 3.04839476575518973e+03},
         4.39995949052619915, 0},
        {"foodweb", 0, 2.70726843033059340e+05, {6.46701571535234575e+03, 3.28773286667779953e+03}, 0, 5}};
    const struct CMUnitTest tests[] = {{"heat as a residual", agrees, NULL, NULL, &all[0]},
                                       {"heat as M y' = f", agrees, NULL, NULL, &all[1]},
                                       {"food web", agrees, NULL, NULL, &all[2]},
                                       {"food web, at rest", agrees, NULL, NULL, &all[3]},
                                       {"Fekete's points", fekete, NULL, NULL, NULL},
                                       {"Fekete's points, at rest", fekete_at_rest, NULL, NULL, NULL}};
    return cmocka_run_group_tests_name("references of the benchmark's DAEs", tests, NULL, NULL);
}
