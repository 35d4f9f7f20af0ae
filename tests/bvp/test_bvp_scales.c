/* test_bvp_scales.c - boundary value problems in any units: times from 1.7e12 on, intervals of 1e-9 and 1e12, states of
   1e-160 and 1e150; modes that grow and decay as e^(t/1e-9); b < a; and the same bits from the same start. */
#include "bvp_common.h"

/* ---- u0' = k u1, u1' = k u0, u0(0) = 1, u0(1) = 2: u0 = (2 sinh(k x) + sinh(k (1 - x)))/sinh k, q = int u0 dx;
   y = S u((t - t0)/L) ---- */

typedef struct { double t0, L, S[2]; } units;

static const double RATE = 2.5;

static void exact(double x, double *u)
{
    double s = sinh(RATE);
    u[0] = (2 * sinh(RATE * x) + sinh(RATE * (1 - x))) / s;
    u[1] = (2 * cosh(RATE * x) - cosh(RATE * (1 - x))) / s;
    u[2] = (2 * (cosh(RATE * x) - 1) + cosh(RATE) - cosh(RATE * (1 - x))) / (RATE * s);
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const units *s = ctx;
    out[0] = RATE / s->L * (s->S[0] * (x->y[1] / s->S[1]));
    out[1] = RATE / s->L * (s->S[1] * (x->y[0] / s->S[0]));
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    const units *s = ctx;
    (void)x, J[0] = J[3] = 0;
    J[1] = RATE / s->L * (s->S[1] / s->S[0]);
    J[2] = RATE / s->L * (s->S[0] / s->S[1]);
    return 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double J[4];
    jac(x, J, ctx);
    if (g->y) g->y[0] += J[1] * w[1], g->y[1] += J[2] * w[0];
    return 0;
}
static int cost(const costate_point *x, double *out, void *ctx)
{
    const units *s = ctx;
    out[0] = x->y[0] / s->L;
    return 0;
}
static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x;
    if (g->y) g->y[0] += w[0] / ((units *)ctx)->L;
    return 0;
}
static int ends(const costate_point *x, double *out, void *ctx)
{
    const units *s = ctx;
    out[0] = x->y[0] / s->S[0] - 1;
    out[1] = x->y[2] / s->S[0] - 2;
    return 0;
}
static int ends_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const units *s = ctx;
    (void)x;
    if (g->y) g->y[0] += w[0] / s->S[0], g->y[2] += w[1] / s->S[0];
    return 0;
}

/* the largest error of y in units of S, and of the gradient of y0(middle) by both conditions' c in those of S */
static void in_units(const costate_method *m, const units *s, double tol)
{
    const costate_problem P = {.n = 2, .nq = 1, .ctx = (void *)(uintptr_t)s, .jac = jac,
                               .rhs = {.value = value, .adjoint = adjoint},
                               .cost = {.value = cost, .adjoint = cost_adjoint}};
    const costate_conditions C = {.map = {.value = ends, .adjoint = ends_adjoint}, .count = 2};
    const double atol[] = {1e-8 * fabs(s->S[0]), 1e-8 * fabs(s->S[1]), 1e-8 * fabs(s->S[0])};
    const costate_bvp_options o = {.rtol = 1e-8, .atol_vector = atol};
    double b = s->t0 + s->L, Y[3], u[3], c[2], scale[3] = {s->S[0], s->S[1], s->S[0]};
    costate_bvp *solver = costate_bvp_new(m, &P, &C, &o);
    CHECK_BVP(solver, costate_bvp_solve(solver, s->t0, b, NULL));
    for (int k = 0; k <= 8; k++) {
        double t = k == 8 ? b : s->t0 + k / 8.0 * s->L;
        CHECK_BVP(solver, costate_bvp_eval(solver, t, Y));
        exact((t - s->t0) / s->L, u);
        for (int i = 0; i < 3; i++)
            if (!(fabs(Y[i] / scale[i] - u[i]) <= tol))
                fail_msg("%s: t0 = %g, L = %g, S = %g, %g: error %.2e of component %d", method_name(m), s->t0, s->L,
                         s->S[0], s->S[1], Y[i] / scale[i] - u[i], i);
    }
    double t = s->t0 + 0.5 * s->L, lambda[3] = {1 / s->S[0], 0, 0}, half = 0.5 / cosh(RATE / 2);
    CHECK_BVP(solver, costate_bvp_adjoint(solver, &(costate_bvp_adjoints){.m = 1, .points = 1, .t = &t,
                                                                         .lambda = lambda, .c = c}));
    for (int i = 0; i < 2; i++)                          /* u0(1/2) = (u0(0) + u0(1))/(2 cosh(k/2)) */
        if (!(fabs(c[i] - half) <= tol))
            fail_msg("%s: t0 = %g, L = %g, S = %g, %g: dy/dc %.9g, not %.9g", method_name(m), s->t0, s->L, s->S[0],
                     s->S[1], c[i], half);
    costate_bvp_free(solver);
}

static void scales(void **state)
{
    static const double S[][2] = {{1, 1}, {1e-160, 1e-160}, {1e150, 1e150}, {1e-12, 1e6}, {-1e8, 1e-8}};
    for (int k = 0; k < 5; k++) {
        in_units(*state, &(units){0, 1, {S[k][0], S[k][1]}}, 1e-7);
        in_units(*state, &(units){0, 1e-9, {S[k][0], S[k][1]}}, 1e-7);
        in_units(*state, &(units){3, -1e12, {S[k][0], S[k][1]}}, 1e-7);
    }
}

/* time rounds to 2.4e-4 there: an interval of 1000 is known to 2.4e-7 */
static void large_times(void **state)
{
    in_units(*state, &(units){1.7e12, 1e3, {1, 1}}, 1e-6);
    in_units(*state, &(units){1.7e12, 1e9, {1, 1}}, 1e-7);
    in_units(*state, &(units){1.7e12, -1e9, {1, 1}}, 1e-7);
    in_units(*state, &(units){-1.7e12, 1e3, {1e-20, 1e-20}}, 1e-6);
}

/* ---- a smooth solution among modes e^(2e9 t) and e^(-1.5e9 t) ---- */

static void stiff(void **state)
{
    for (double rate = 1; rate < 2e9; rate *= 1e3) {
        bvps *s = bvps_closed(rate, 1, (bvps_kind){.jac = 1});
        assert_non_null(s);
        const costate_bvp_options o = bvps_options(s, 1e-7);
        costate_bvp *c = costate_bvp_new(*state, &s->P, &s->C, &o);
        double Y[4], truth[4], start[12] = {0}, by_p[12], V[12], worst = 0, far = 0;
        const double Vp[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        for (int k = 0; k < 4; k++) {                    /* a guess near the solution: v is small, f is not linear */
            bvps_exact(s, s->a + k * (s->b - s->a) / 3, truth, NULL, NULL);
            memcpy(start + 3 * k, truth, 3 * sizeof *truth);
        }
        CHECK_BVP(c, costate_bvp_guess(c, 4, NULL, start));
        CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
        for (int k = 0; k <= 40; k++) {
            double t = k == 40 ? s->b : s->a + k * (s->b - s->a) / 40;
            CHECK_BVP(c, costate_bvp_eval(c, t, Y));
            CHECK_BVP(c, costate_bvp_tangent(c, &(costate_bvp_tangents){.m = 3, .points = 1, .t = &t, .Vp = Vp,
                                                                       .V = V}));
            bvps_exact(s, t, truth, by_p, NULL);
            worst = larger_of(worst, largest_gap(4, Y, truth));
            far = larger_of(far, largest_gap(12, V, by_p));
        }
        print_message("           rate %.0e: %d intervals, error %.1e, of gradients %.1e\n", rate,
                      costate_bvp_intervals(c), worst, far);
        if (!(worst <= 1e-6 && far <= 1e-5))
            fail_msg("%s, rate %.0e: error %.1e, of gradients %.1e", method_name(*state), rate, worst, far);
        costate_bvp_free(c);
        bvps_free(s);
    }
}

/* ---- b < a: the same solution, and the opposite of gradients by nothing but q ---- */

static void backwards(void **state)
{
    bvps_spec spec = {.seed = 8, .n = 4, .np = 2, .pieces = 3, .kind = {.jac = 1}};
    bvps *s[2];
    costate_bvp *c[2];
    double Y[2][6], end[6], mu[2][2] = {{0}}, lambda[2][6] = {{1, -2, 0.5, 1, 1, 2}, {1, -2, 0.5, 1, -1, -2}};
    costate_bvp_options o[2];
    for (int i = 0; i < 2; i++, spec.backwards = 1) {
        s[i] = bvps_tangled(&spec);
        assert_non_null(s[i]);
        o[i] = bvps_options(s[i], 1e-9);
        c[i] = costate_bvp_new(*state, &s[i]->P, &s[i]->C, &o[i]);
        CHECK_BVP(c[i], costate_bvp_solve(c[i], s[i]->a, s[i]->b, s[i]->p));
    }
    CHECK_BVP(c[0], costate_bvp_eval(c[0], s[0]->b, end));
    for (int k = 0; k <= 20; k++) {
        double t = k == 20 ? s[0]->b : s[0]->a + k * (s[0]->b - s[0]->a) / 20;
        for (int i = 0; i < 2; i++) CHECK_BVP(c[i], costate_bvp_eval(c[i], t, Y[i]));
        for (int l = 4; l < 6; l++) Y[1][l] += end[l];   /* q from b on is q - q(b) */
        if (!(largest_gap(6, Y[0], Y[1]) <= 1e-8))
            fail_msg("%s: backwards y differs by %.1e at t = %g", method_name(*state), largest_gap(6, Y[0], Y[1]), t);
    }
    /* y(t) at 0.9, and the integrals over all: q(b) forwards, -q(a) backwards */
    for (int i = 0; i < 2; i++) {
        double t[2] = {0.9, s[i]->b}, l[12] = {0};
        memcpy(l, lambda[i], 4 * sizeof *l);
        memcpy(l + 10, lambda[i] + 4, 2 * sizeof *l);
        CHECK_BVP(c[i], costate_bvp_adjoint(c[i], &(costate_bvp_adjoints){.m = 1, .points = 2, .t = t, .lambda = l,
                                                                         .mu = mu[i]}));
    }
    if (!(relative_gap(2, mu[1], mu[0]) <= 1e-7))
        fail_msg("%s: backwards gradients differ by %.1e", method_name(*state), relative_gap(2, mu[1], mu[0]));
    for (int i = 0; i < 2; i++) {
        costate_bvp_free(c[i]);
        bvps_free(s[i]);
    }
}

/* ---- bits ---- */

enum { RUN_N = 5, RUN = 3 };
typedef struct { int intervals; double Y[21 * RUN_N], V[RUN_N], mu[2], ends[4]; } run;

static void values(costate_bvp *c, const bvps *s, run *r)
{
    static const double one[4] = {1, 1, 1, 1};
    double t = 0.8, lambda[RUN_N] = {1, 1, 1, 1, 1};
    memset(r, 0, sizeof *r);
    r->intervals = costate_bvp_intervals(c);
    for (int k = 0; k <= 20; k++)
        CHECK_BVP(c, costate_bvp_eval(c, k == 20 ? s->b : s->a + k * (s->b - s->a) / 20, r->Y + k * RUN_N));
    CHECK_BVP(c, costate_bvp_tangent(c, &(costate_bvp_tangents){.m = 1, .points = 1, .t = &t, .Vp = one, .Vends = one,
                                                               .V = r->V}));
    CHECK_BVP(c, costate_bvp_adjoint(c, &(costate_bvp_adjoints){.m = 1, .points = 1, .t = &t, .lambda = lambda,
                                                               .mu = r->mu, .ends = r->ends}));
}

/* one after the other, one by one in turn, and the same solver asked again with the same guess */
static void bits(void **state)
{
    bvps *s = bvps_tangled(&(bvps_spec){.seed = 3, .n = 3, .np = 2, .pieces = 3, .kind = {.jac = 1}});
    assert_non_null(s);
    const costate_bvp_options o = bvps_options(s, 1e-6);
    costate_bvp *c[RUN];
    run alone, r;
    double p[2] = {s->p[0], s->p[1]}, guess[6] = {0.2, 0.1, 0, -0.1, 0.3, 0.1};
    for (int k = 0; k < RUN; k++) c[k] = costate_bvp_new(*state, &s->P, &s->C, &o);
    for (int step = 0; step < 3; step++) {
        p[0] = s->p[0] + 0.2 * step;
        for (int k = 0; k < RUN; k++) {
            CHECK_BVP(c[k], costate_bvp_solve(c[k], s->a, s->b, p));
            values(c[k], s, k ? &r : &alone);
            if (k) assert_memory_equal(&r, &alone, sizeof r);
        }
    }
    for (int k = 0; k < 3; k++) {                        /* what was there before does not matter to a guess */
        p[0] = s->p[0] - 0.3 * k;
        CHECK_BVP(c[1], costate_bvp_solve(c[1], s->a, s->b, p));
        CHECK_BVP(c[1], costate_bvp_guess(c[1], 2, NULL, guess));
        CHECK_BVP(c[1], costate_bvp_solve(c[1], s->a, s->b, s->p));
        values(c[1], s, k ? &r : &alone);
        if (k) assert_memory_equal(&r, &alone, sizeof r);
    }
    for (int k = 0; k < RUN; k++) costate_bvp_free(c[k]);
    bvps_free(s);
}

int main(void)
{
    static const struct { const char *claim; CMUnitTestFunction test; int damps; } claims[] = {
        {"units", scales, 1}, {"times", large_times, 1}, {"growth and decay", stiff, 0}, {"backwards", backwards, 1},
        {"bits", bits, 1}};
    static const char *const names[] = {"gauss3", "gauss4", "lobatto3a4", "lobatto3a5", "radau2a", "radau2a5"};
    enum { NAMES = sizeof names / sizeof *names, SMOOTH = 4, CLAIMS = sizeof claims / sizeof *claims };
    static char title[CLAIMS * NAMES][64];
    struct CMUnitTest tests[CLAIMS * NAMES];
    size_t count = 0;
    for (int l = 0; l < CLAIMS; l++)
        for (int k = 0; k < (claims[l].damps ? NAMES : SMOOTH); k++) {   /* Radau IIA damps what grows */
            snprintf(title[count], sizeof title[count], "%s: %s", claims[l].claim, names[k]);
            tests[count] = (struct CMUnitTest){title[count], claims[l].test, NULL, NULL,
                                               (void *)(uintptr_t)costate_method_find(names[k])};
            count++;
        }
    return _cmocka_run_group_tests("scales of boundary value problems", tests, count, NULL, NULL);
}
