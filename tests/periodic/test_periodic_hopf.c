/* test_periodic_hopf.c - an orbit of the normal form of Hopf's bifurcation, its period, and first and second
   derivatives of functionals of the orbit are those of closed forms; tangents and adjoints agree, and Hessian products
   are symmetric. */
#include "hopf.h"

enum { NP = HOPF_NP, ROWS = HOPF_N + 2 };
static const double p[NP] = {0.7, 1.3, 0.4};
static const double identity[NP * NP] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

typedef struct { const char *name; double tol, value, first, second; } precision;
static const precision precisions[] = {
    {"dopri853", 1e-12, 1e-11, 1e-10, 1e-9}, {"dopri5", 1e-10, 1e-9, 1e-8, 1e-6},
    {"radau2a5", 1e-10, 1e-12, 1e-11, 1e-10},
    {"rodas5p", 1e-9, 1e-7, 1e-7, 1e-6}, {"sdirk4a", 1e-9, 1e-6, 1e-6, 1e-5}, {NULL, 1e-11, 1e-9, 1e-8, 1e-6}};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

static void near(const char *method, double got, double want, double tol)
{
    if (fabs(got - want) <= tol * fmax(1, fabs(want))) return;
    fail_msg("%s: %.15g, not %.15g: off by %.2g", method ? method : "auto", got, want, got - want);
}

static costate_periodic *orbit(const precision *k, double *y, double *T)
{
    const costate_method *m = k->name ? costate_method_find(k->name) : NULL;
    const costate_options o = {.rtol = k->tol, .atol = k->tol};
    costate_periodic *c = costate_periodic_new(m, &hopf_problem, &o, NULL);
    y[0] = 1;
    y[1] = 0.2;
    *T = 3;
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, T, p));
    return c;
}

/* ---- closed forms: W = w + b a, T = 2 pi/W, u = a T ---- */

typedef struct { double W, T, u, by[NP], T1[NP], T2[NP][NP], u1[NP], u2[NP][NP]; } truth;

static truth exact(void)
{
    truth x = {.W = p[1] + p[2] * p[0], .by = {p[2], 1, p[0]}};
    x.T = 2 * acos(-1) / x.W;
    x.u = p[0] * x.T;
    for (int i = 0; i < NP; i++) {
        x.T1[i] = -x.T * x.by[i] / x.W;
        x.u1[i] = (i == 0) * x.T + p[0] * x.T1[i];
    }
    for (int i = 0; i < NP; i++)
        for (int j = 0; j < NP; j++) {
            int mixed = (i == 0 && j == 2) || (i == 2 && j == 0);
            x.T2[i][j] = 2 * x.T * x.by[i] * x.by[j] / (x.W * x.W) - mixed * x.T / x.W;
            x.u2[i][j] = (i == 0) * x.T1[j] + (j == 0) * x.T1[i] + p[0] * x.T2[i][j];
        }
    return x;
}

/* J = T (x^2 + y^2) + q^2 + a w = u + u^2 + a w */
static int functional(const double *X, const double *q, int m, const double *V, const double *Vp, double *lambda,
                      double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)ctx;
    lambda[0] = 2 * X[2] * X[0];
    lambda[1] = 2 * X[2] * X[1];
    lambda[2] = X[0] * X[0] + X[1] * X[1];
    lambda[3] = 2 * X[3];
    mu[0] += q[1];
    mu[1] += q[0];
    for (int j = 0; j < m; j++) {
        const double *v = V + j * ROWS;
        double *l = lambda2 + j * ROWS;
        l[0] = 2 * (v[2] * X[0] + X[2] * v[0]);
        l[1] = 2 * (v[2] * X[1] + X[2] * v[1]);
        l[2] = 2 * (X[0] * v[0] + X[1] * v[1]);
        l[3] = 2 * v[3];
        mu2[j * NP] += Vp[j * NP + 1];
        mu2[j * NP + 1] += Vp[j * NP];
    }
    return 0;
}

/* ---- the claims ---- */

static void values(void **state)
{
    const truth x = exact();
    (void)state;
    for (int k = 0; k < PRECISIONS; k++) {
        const precision *r = precisions + k;
        double y[2], T, X[ROWS], at[2], re[2], im[2];
        costate_orbit o;
        costate_periodic *c = orbit(r, y, &T);
        CHECK_PERIODIC(c, costate_periodic_get(c, X));
        CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
        CHECK_PERIODIC(c, costate_periodic_multipliers(c, re, im));
        near(r->name, hypot(y[0], y[1]), sqrt(p[0]), r->value);
        near(r->name, T, x.T, r->value);
        near(r->name, X[3], x.u, r->value);
        assert_true(X[0] == y[0] && X[1] == y[1] && X[2] == T && o.period == T);
        near(r->name, re[0], 1, 100 * r->value);
        near(r->name, re[1], exp(-2 * p[0] * x.T), r->value);
        assert_true(im[0] == 0 && im[1] == 0 && o.multiplier == re[1] && o.stable);
        assert_true(o.residual < 1e-13 && o.frozen > 0 && o.steps > 1);
        for (double t = -20; t < 20; t += 3.7) {
            CHECK_PERIODIC(c, costate_periodic_eval(c, t, at));
            near(r->name, at[0], y[0] * cos(x.W * t) - y[1] * sin(x.W * t), 1e-5);
            near(r->name, at[1], y[1] * cos(x.W * t) + y[0] * sin(x.W * t), 1e-5);
        }
        costate_periodic_free(c);
    }
}

static void derivatives(void **state)
{
    const truth x = exact();
    (void)state;
    for (int k = 0; k < PRECISIONS; k++) {
        const precision *r = precisions + k;
        double y[2], T, V[NP * ROWS], mu[NP] = {0}, mu2[NP * NP] = {0};
        costate_periodic *c = orbit(r, y, &T);
        CHECK_PERIODIC(c, costate_periodic_tangent(c, NP, identity, V));
        CHECK_PERIODIC(c, costate_periodic_hessian(c, NP, identity, functional, NULL, mu, mu2));
        for (int i = 0; i < NP; i++) {
            near(r->name, V[i * ROWS + 2], x.T1[i], r->first);
            near(r->name, V[i * ROWS + 3], x.u1[i], r->first);
            double amplitude = (y[0] * V[i * ROWS] + y[1] * V[i * ROWS + 1]) / hypot(y[0], y[1]);
            near(r->name, amplitude, i == 0 ? 0.5 / sqrt(p[0]) : 0, r->first);
            double along = -y[1] * V[i * ROWS] + y[0] * V[i * ROWS + 1];
            near(r->name, along, 0, 1e-2);      /* the start moves across the flow, in units of the sizes of x, y */
            near(r->name, mu[i], x.u1[i] * (1 + 2 * x.u) + (i == 0 ? p[1] : i == 1 ? p[0] : 0), 20 * r->first);
            for (int j = 0; j < NP; j++) {
                int direct = (i == 0 && j == 1) || (i == 1 && j == 0);
                near(r->name, mu2[j * NP + i], x.u2[i][j] * (1 + 2 * x.u) + 2 * x.u1[i] * x.u1[j] + direct,
                     20 * r->second);
                near(r->name, mu2[j * NP + i], mu2[i * NP + j], 1e-10);
            }
        }
        costate_periodic_free(c);
    }
}

/* lambda^T V = mu^T Vp for several columns at once */
static void transposes(void **state)
{
    enum { M = 3 };
    unsigned seed = 7;
    (void)state;
    for (int k = 0; k < PRECISIONS; k++) {
        double y[2], T, V[M * ROWS], Vp[M * NP], lambda[M * ROWS], mu[M * NP] = {0};
        costate_periodic *c = orbit(precisions + k, y, &T);
        random_fill(&seed, M * NP, Vp);
        random_fill(&seed, M * ROWS, lambda);
        CHECK_PERIODIC(c, costate_periodic_tangent(c, M, Vp, V));
        CHECK_PERIODIC(c, costate_periodic_adjoint(c, M, lambda, mu));
        for (int i = 0; i < M; i++)
            for (int j = 0; j < M; j++) {
                double forward = 0, back = 0;
                for (int l = 0; l < ROWS; l++) forward += lambda[i * ROWS + l] * V[j * ROWS + l];
                for (int l = 0; l < NP; l++) back += mu[i * NP + l] * Vp[j * NP + l];
                near(precisions[k].name, back, forward, 1e-12);
            }
        CHECK_PERIODIC(c, costate_periodic_adjoint(c, 1, lambda, mu));         /* it adds */
        double twice = mu[0];
        memset(mu, 0, sizeof mu);
        CHECK_PERIODIC(c, costate_periodic_adjoint(c, 1, lambda, mu));
        assert_true(fabs(twice - 2 * mu[0]) <= 1e-13 * fabs(twice));
        costate_periodic_free(c);
    }
}

/* of the multiplier exp(-2 a T) */
static void multiplier(void **state)
{
    const truth x = exact();
    const double rho = exp(-2 * x.u);
    (void)state;
    for (int k = 0; k < PRECISIONS; k++) {
        const precision *r = precisions + k;
        double y[2], T, re[NP], im[NP] = {1, 1, 1};
        costate_periodic *c = orbit(r, y, &T);
        CHECK_PERIODIC(c, costate_periodic_multiplier_gradient(c, 1, re, im));
        for (int i = 0; i < NP; i++) {
            near(r->name, re[i], -2 * x.u1[i] * rho, r->second);
            assert_true(im[i] == 0);
        }
        costate_periodic_free(c);
    }
}

/* The derivatives are those of the orbit for other parameters: differences, not of runs but of orbits */
static void neighbours(void **state)
{
    const precision *r = precisions + 2;                    /* an orbit to round-off */
    double y[2], T, V[NP * ROWS], h = 1e-4;
    (void)state;
    costate_periodic *c = orbit(r, y, &T);
    CHECK_PERIODIC(c, costate_periodic_tangent(c, NP, identity, V));
    for (int i = 0; i < NP; i++) {
        double end[2];
        for (int side = 0; side < 2; side++) {
            double q[NP] = {p[0], p[1], p[2]}, u[2] = {y[0], y[1]};
            q[i] += side ? h : -h;
            end[side] = T;
            CHECK_PERIODIC(c, costate_periodic_solve(c, u, end + side, q));
        }
        near(r->name, (end[1] - end[0]) / (2 * h), V[i * ROWS + 2], 1e-6);
    }
    costate_periodic_free(c);
}

/* At a loose tolerance, too, the orbit is a fixed point to round-off: frozen steps begin far from it. */
static void loose(void **state)
{
    double y[2] = {1, 0.2}, T = 3;
    costate_orbit o;
    (void)state;
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri5"), &hopf_problem,
        &(costate_options){.rtol = 1e-4, .atol = 1e-4}, NULL);
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, p));
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
    near("dopri5", T, exact().T, 1e-2);
    assert_true(o.residual < 1e-14 && o.frozen > 2);
    costate_periodic_free(c);
}

/* An orbit that attracts slowly: 1 - rho is 1e-5, so that runs with new steps, which differ by their tolerance, do not
   come nearer than many tolerances; with frozen steps the iteration goes to round-off. */
static void slow(void **state)
{
    const double q[NP] = {1e-6, 1, 1}, want = 2 * acos(-1) / (q[1] + q[2] * q[0]);
    double y[2] = {0.00095, 0.0001}, T = 6.28;
    costate_orbit o;
    (void)state;
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri5"), &hopf_problem,
        &(costate_options){.rtol = 1e-10, .atol = 1e-15}, NULL);
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, q));
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));
    near("dopri5", T, want, 1e-7);
    near("dopri5", o.multiplier, exp(-2 * q[0] * want), 1e-6);
    near("dopri5", hypot(y[0], y[1]), 0.001, 1e-6);
    assert_true(o.residual < 1e-14 && o.sensitivity > 1e4 && o.stable);
    costate_periodic_free(c);
}

/* Half a period is followed, and the orbit begins there. */
static void half(void **state)
{
    const truth x = exact();
    double y[2] = {sqrt(p[0]), 0}, T = x.T;
    (void)state;
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri5"), &hopf_problem, NULL,
                                               &(costate_periodic_options){.settle = 0.5});
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, p));
    near("dopri5", y[0], -sqrt(p[0]), 1e-2);
    costate_periodic_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values), cmocka_unit_test(derivatives), cmocka_unit_test(transposes),
        cmocka_unit_test(multiplier), cmocka_unit_test(neighbours), cmocka_unit_test(loose), cmocka_unit_test(slow),
        cmocka_unit_test(half)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
