/* test_periodic_forced.c - a forced oscillator and repeated doses reach the periodic states of their closed forms, with
   derivatives; the multipliers of the oscillator are a complex pair, whose gradient is known. */
#include <complex.h>
#include "hopf.h"

#define near(a, b, c) near_at(__LINE__, a, b, c)
static void near_at(int line, double got, double want, double tol)
{
    if (fabs(got - want) > tol * fmax(1, fabs(want)))
        fail_msg("line %d: %.15g, not %.15g: off by %.2g", line, got, want, got - want);
}

/* ---- x'' + 2 d x' + k x = F cos(t): p = (d, k, F) ---- */

static int force(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *p = x->p;
    out[0] = y[1];
    out[1] = -2 * p[0] * y[1] - p[1] * y[0] + p[2] * cos(x->t);
    return (void)ctx, 0;
}
static int force_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double *y = x->y, *p = x->p, zero[3] = {0}, *v = d->y ? d->y : zero, *q = d->p ? d->p : zero;
    out[0] = v[1];
    out[1] = -2 * p[0] * v[1] - p[1] * v[0] - 2 * q[0] * y[1] - q[1] * y[0] + q[2] * cos(x->t)
             - p[2] * sin(x->t) * d->t;
    return (void)ctx, 0;
}
static int force_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *p = x->p;
    if (g->y) {
        g->y[0] -= p[1] * w[1];
        g->y[1] += w[0] - 2 * p[0] * w[1];
    }
    if (g->p) {
        g->p[0] -= 2 * y[1] * w[1];
        g->p[1] -= y[0] * w[1];
        g->p[2] += cos(x->t) * w[1];
    }
    if (g->t) *g->t -= p[2] * sin(x->t) * w[1];
    return (void)ctx, 0;
}
static int force_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                                 const costate_gradient *g, void *ctx)
{
    const double zero[3] = {0}, *v = d->y ? d->y : zero, *q = d->p ? d->p : zero;
    (void)x;
    if (g->y) {
        g->y[0] -= q[1] * w[1];
        g->y[1] -= 2 * q[0] * w[1];
    }
    if (g->p) {
        g->p[0] -= 2 * v[1] * w[1];
        g->p[1] -= v[0] * w[1];
    }
    return (void)ctx, 0;
}
static const costate_problem forced = {.n = 2, .np = 3, .rhs = {
    .value = force, .tangent = force_tangent, .adjoint = force_adjoint, .adjoint_tangent = force_adjoint_tangent}};

/* x(t) = Re z e^{it}: z = F/(k - 1 + 2 d i) */
static double complex response(const double *p) { return p[2] / (p[1] - 1 + 2 * p[0] * I); }

/* J = x(0) x'(0), where x'(0) = -Im z */
static int product(const double *X, const double *p, int m, const double *V, const double *Vp, double *lambda,
                   double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)p, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    lambda[0] = X[1];
    lambda[1] = X[0];
    for (int j = 0; j < m; j++) {
        lambda2[j * 3] = V[j * 3 + 1];
        lambda2[j * 3 + 1] = V[j * 3];
    }
    return 0;
}

static void oscillator(void **state)
{
    const double p[3] = {0.2, 2.5, 1.7}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, T = 2 * acos(-1);
    const double complex z = response(p), dz[3] = {-z * 2 * I / (p[1] - 1 + 2 * p[0] * I),
                                                   -z / (p[1] - 1 + 2 * p[0] * I), z / p[2]};
    const double w = sqrt(p[1] - p[0] * p[0]);
    const double complex rho = cexp((-p[0] + w * I) * T);
    const double complex drho[2] = {rho * T * (-1 - p[0] / w * I), rho * T / (2 * w) * I};
    double y[2] = {0}, V[9], re[3], im[3], mu[3] = {0}, mu2[9] = {0};
    costate_orbit o;
    (void)state;
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri853"), &forced,
        &(costate_options){.rtol = 1e-12, .atol = 1e-12}, &(costate_periodic_options){.period = T});
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, NULL, p));
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
    near(y[0], creal(z), 1e-11);
    near(y[1], -cimag(z), 1e-11);
    near(o.multiplier, cabs(rho), 1e-11);
    assert_true(o.stable && o.period == T && o.iterations <= 1);            /* linear: one correction */
    CHECK_PERIODIC(c, costate_periodic_tangent(c, 3, identity, V));
    CHECK_PERIODIC(c, costate_periodic_hessian(c, 3, identity, product, NULL, mu, mu2));
    for (int i = 0; i < 3; i++) {
        near(V[3 * i], creal(dz[i]), 1e-10);
        near(V[3 * i + 1], -cimag(dz[i]), 1e-10);
        assert_true(V[3 * i + 2] == 0);                                     /* T is given */
        near(mu[i], -creal(dz[i]) * cimag(z) - creal(z) * cimag(dz[i]), 1e-10);
        for (int j = 0; j < 3; j++) near(mu2[3 * i + j], mu2[3 * j + i], 1e-10);
    }
    near(mu2[8], 2 * -creal(z) * cimag(z) / (p[2] * p[2]), 1e-10);          /* J is F^2 times a function of d and k */
    near(mu2[6], 2 / p[2] * mu[0], 1e-10);
    for (int k = 0; k < 2; k++) {
        CHECK_PERIODIC(c, costate_periodic_multipliers(c, re, im));
        double sign = k == 0 ? 1 : -1;
        int first = cimag(rho) * sign > 0;                                  /* im > 0 comes first */
        near(re[k], creal(rho), 1e-11);
        near(im[k], (first ? 1 : -1) * cimag(rho), 1e-11);
        CHECK_PERIODIC(c, costate_periodic_multiplier_gradient(c, k, re, im));
        for (int i = 0; i < 2; i++) {
            near(re[i], creal(drho[i]), 1e-9);
            near(im[i], (first ? 1 : -1) * cimag(drho[i]), 1e-9);
        }
        near(hypot(re[2], im[2]), 0, 1e-10);
    }
    costate_periodic_free(c);
}

/* ---- two compartments: c' = -(e + a) c + b s, s' = a c - b s; c += D at t = 0.3, 1.3, ..: p = (e, a, b, D) ---- */

static int exchange(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *p = x->p;
    out[0] = -(p[0] + p[1]) * y[0] + p[2] * y[1];
    out[1] = p[1] * y[0] - p[2] * y[1];
    return (void)ctx, 0;
}
static int exchange_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double *y = x->y, *p = x->p, zero[4] = {0}, *v = d->y ? d->y : zero, *q = d->p ? d->p : zero;
    out[0] = -(p[0] + p[1]) * v[0] + p[2] * v[1] - (q[0] + q[1]) * y[0] + q[2] * y[1];
    out[1] = p[1] * v[0] - p[2] * v[1] + q[1] * y[0] - q[2] * y[1];
    return (void)ctx, 0;
}
static int exchange_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *p = x->p;
    if (g->y) {
        g->y[0] += -(p[0] + p[1]) * w[0] + p[1] * w[1];
        g->y[1] += p[2] * (w[0] - w[1]);
    }
    if (g->p) {
        g->p[0] -= y[0] * w[0];
        g->p[1] += y[0] * (w[1] - w[0]);
        g->p[2] += y[1] * (w[0] - w[1]);
    }
    return (void)ctx, 0;
}
static int dose(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0] + x->p[3];
    out[1] = x->y[1];
    return (void)ctx, 0;
}
static int dose_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)x;
    for (int i = 0; i < 2; i++) out[i] = (d->y ? d->y[i] : 0) + (i == 0 && d->p ? d->p[3] : 0);
    return (void)ctx, 0;
}
static int dose_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x;
    for (int i = 0; g->y && i < 2; i++) g->y[i] += w[i];
    if (g->p) g->p[3] += w[0];
    return (void)ctx, 0;
}
static const double when[] = {0.3};
static const costate_event dosing = {.ntimes = 1, .times = when, .jump = {
    .value = dose, .tangent = dose_tangent, .adjoint = dose_adjoint}};
static const costate_problem compartments = {.n = 2, .np = 4, .nevents = 1, .event = &dosing, .rhs = {
    .value = exchange, .tangent = exchange_tangent, .adjoint = exchange_adjoint}};

/* E = exp(A t) = e^{m t} (cosh(r t) I + sinh(r t)/r (A - m I)), m and r: half the sum and difference of eigenvalues;
   complex, so that derivatives with respect to p are imaginary parts of a small step */
static void transition(const double complex *p, double t, double complex E[2][2])
{
    double complex A[2][2] = {{-(p[0] + p[1]), p[2]}, {p[1], -p[2]}}, m = (A[0][0] + A[1][1]) / 2;
    double complex r = csqrt((A[0][0] - m) * (A[0][0] - m) + A[0][1] * A[1][0]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            E[i][j] = cexp(m * t) * ((i == j) * ccosh(r * t) + csinh(r * t) / r * (A[i][j] - (i == j) * m));
}

/* y = (I - e^A)^-1 e^{0.7 A} (D, 0) */
static void repeated(const double complex *p, double complex *y)
{
    double complex E[2][2], L[2][2];
    transition(p, 1, E);
    transition(p, 1 - when[0], L);
    double complex a = 1 - E[0][0], b = -E[0][1], c = -E[1][0], d = 1 - E[1][1], u = L[0][0] * p[3], v = L[1][0] * p[3];
    y[0] = (d * u - b * v) / (a * d - b * c);
    y[1] = (a * v - c * u) / (a * d - b * c);
}

static void doses(void **state)
{
    const double p[4] = {0.8, 0.5, 0.1, 3}, identity[16] = {[0] = 1, [5] = 1, [10] = 1, [15] = 1};
    const char *const methods[] = {"dopri853", "radau2a7"};
    double complex q[4], want[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        double y[2] = {0}, V[12], at[2];
        costate_periodic *c = costate_periodic_new(costate_method_find(methods[k]), &compartments,
            &(costate_options){.rtol = 1e-13, .atol = 1e-13}, &(costate_periodic_options){.period = 1});
        CHECK_PERIODIC(c, costate_periodic_solve(c, y, NULL, p));
        CHECK_PERIODIC(c, costate_periodic_tangent(c, 4, identity, V));
        for (int i = -1; i < 4; i++) {
            for (int j = 0; j < 4; j++) q[j] = p[j] + (i == j) * 1e-30 * I;
            repeated(q, want);
            for (int j = 0; j < 2; j++) {
                if (i < 0) near(y[j], creal(want[j]), 1e-12);
                else near(V[3 * i + j], cimag(want[j]) / 1e-30, 1e-11);
            }
        }
        CHECK_PERIODIC(c, costate_periodic_eval(c, 7.0, at));
        near(at[0], y[0], 1e-13);
        costate_periodic_free(c);
    }
}

/* ---- with an algebraic unknown: x' = -x + z, 0 = z - k cos(t): x = k (cos t + sin t)/2; p = (k) ---- */

static int constrained_force(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1] - x->y[0];
    out[1] = x->y[1] - x->p[0] * cos(x->t);
    return (void)ctx, 0;
}
static int constrained_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double zero[2] = {0}, *v = d->y ? d->y : zero;
    out[0] = v[1] - v[0];
    out[1] = v[1] - (d->p ? d->p[0] : 0) * cos(x->t) + x->p[0] * sin(x->t) * d->t;
    return (void)ctx, 0;
}
static int constrained_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) {
        g->y[0] -= w[0];
        g->y[1] += w[0] + w[1];
    }
    if (g->p) g->p[0] -= cos(x->t) * w[1];
    if (g->t) *g->t += x->p[0] * sin(x->t) * w[1];
    return (void)ctx, 0;
}
static int one_of_two(double *M, void *ctx)
{
    for (int i = 0; i < 4; i++) M[i] = i == 0;
    return (void)ctx, 0;
}

static void algebraic(void **state)
{
    const costate_problem P = {.n = 2, .np = 1, .mass = one_of_two, .rhs = {
        .value = constrained_force, .tangent = constrained_tangent, .adjoint = constrained_adjoint}};
    const double k = 3, one = 1, lambda[3] = {1, 2, 0};
    double y[2] = {0, 1}, V[3], mu = 0;
    costate_orbit o;
    (void)state;
    costate_periodic *c = costate_periodic_new(costate_method_find("radau2a5"), &P,
        &(costate_options){.rtol = 1e-10, .atol = 1e-10, .consistent = COSTATE_CONSISTENT_START},
        &(costate_periodic_options){.period = 2 * acos(-1)});
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, NULL, &k));
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
    CHECK_PERIODIC(c, costate_periodic_tangent(c, 1, &one, V));
    CHECK_PERIODIC(c, costate_periodic_adjoint(c, 1, lambda, &mu));
    near(y[0], k / 2, 1e-8);
    near(y[1], k, 1e-12);
    near(o.multiplier, exp(-2 * acos(-1)), 1e-8);
    near(V[0], 0.5, 1e-8);
    near(V[1], 1, 1e-12);
    near(mu, V[0] + 2 * V[1], 1e-12);
    costate_periodic_free(c);
}

/* critically damped: the multiplier is double, with one eigenvector, and has no gradient */
static void defective(void **state)
{
    const double p[3] = {0.5, 0.25, 1}, T = 2 * acos(-1);
    double y[2] = {0}, re[3], im[3];
    (void)state;
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri853"), &forced,
        &(costate_options){.rtol = 1e-10, .atol = 1e-10}, &(costate_periodic_options){.period = T, .settle = 1.5});
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, NULL, p));
    near(y[0], creal(response(p)), 1e-9);
    CHECK_PERIODIC(c, costate_periodic_multipliers(c, re, im));
    near(re[0], exp(-p[0] * T), 1e-5);
    assert_int_equal(costate_periodic_multiplier_gradient(c, 0, re, im), COSTATE_SINGULAR);
    assert_non_null(strstr(costate_periodic_message(c), "simple"));
    costate_periodic_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(oscillator), cmocka_unit_test(defective),
                                       cmocka_unit_test(doses), cmocka_unit_test(algebraic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
