/* test_second_scales.c - Hessian products where numbers are small, large or far away: states of 1e-160 and 1e160, times
   of 1.7e12; and where the equation is stiff to 1e9: random problems by costate_check_hessian. */
#include "common.h"
#include "random_case.h"

/* u_i' = (-u_i - u_0 u_1 + sin tau)/T of y = S u, tau = (t - t0)/T; J = |u(t1)|^2/2 S^2 */
enum { N = 2 };
typedef struct { double S, T, t0; } scales;

static int f(const costate_point *x, double *out, void *ctx)
{
    const scales *s = ctx;
    double drive = sin((x->t - s->t0) / s->T) * s->S, product = x->y[0] * (x->y[1] / s->S);
    for (int i = 0; i < N; i++) out[i] = (-x->y[i] - product + drive) / s->T;
    return 0;
}

/* of the product along dx */
static double bent(const costate_point *x, const costate_point *dx, const scales *s)
{
    return dx->y[0] * (x->y[1] / s->S) + x->y[0] * (dx->y[1] / s->S);
}

static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const scales *s = ctx;
    double drive = cos((x->t - s->t0) / s->T) * s->S * (dx->t / s->T);
    for (int i = 0; i < N; i++) out[i] = ((dx->y ? -dx->y[i] - bent(x, dx, s) : 0) + drive) / s->T;
    return 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const scales *s = ctx;
    double sum = (w[0] + w[1]) / s->T;
    if (g->t) *g->t += cos((x->t - s->t0) / s->T) * s->S / s->T * sum;
    for (int i = 0; g->y && i < N; i++) g->y[i] -= w[i] / s->T + x->y[1 - i] / s->S * sum;
    return 0;
}

static int f_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const scales *s = ctx;
    double product = 0, drive = -sin((x->t - s->t0) / s->T) * s->S * (a->t / s->T) * (b->t / s->T);
    if (a->y && b->y) product = a->y[0] * (b->y[1] / s->S) + b->y[0] * (a->y[1] / s->S);
    for (int i = 0; i < N; i++) out[i] = (drive - product) / s->T;
    return 0;
}

static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    const scales *s = ctx;
    double sum = (w[0] + w[1]) / s->T;
    if (g->t) *g->t -= sin((x->t - s->t0) / s->T) * s->S / s->T * (dx->t / s->T) * sum;
    for (int i = 0; g->y && dx->y && i < N; i++) g->y[i] -= dx->y[1 - i] / s->S * sum;
    return 0;
}

static int f_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                              const costate_gradient *g, void *ctx)
{
    const scales *s = ctx;
    double sum = (w[0] + w[1]) / s->T;
    if (g->t) *g->t -= cos((x->t - s->t0) / s->T) * s->S / s->T * (a->t / s->T) * (b->t / s->T) * sum;
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    const scales *s = ctx;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) J[j * N + i] = (-(i == j) - x->y[1 - j] / s->S) / s->T;
    return 0;
}

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    for (int i = 0; i < N; i++) lambda[i] = y[i];
    for (int i = 0; i < m * N; i++) lambda2[i] = V[i];
    return 0;
}

typedef struct { double lambda[N], product[N], t0, t1; } answer;       /* of u, tau: S = T = 1 */

static answer ask(const costate_method *m, const scales *s, int solver)
{
    costate_problem P = {.n = N, .ctx = (void *)s, .jac = jac,
                         .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .tangent2 = f_tangent2,
                                 .adjoint_tangent = f_adjoint_tangent, .adjoint_tangent2 = f_adjoint_tangent2}};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6 * s->S, .controller = COSTATE_FIXED, .h0 = 0.125 * s->T,
                         .derivative_mode = 1, .solver = solver};
    double y[N] = {0.7 * s->S, -0.2 * s->S}, V[N] = {0.3 * s->S, 1.1 * s->S}, lambda[N], product[N], dt0 = 0.2 * s->T,
           dt1 = -0.1 * s->T, by[2];
    costate_times along = {.t0 = &dt0, .t1 = &dt1}, times2 = {.t0 = by, .t1 = by + 1};
    costate *c = costate_new(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, s->t0, s->t0 + 2 * s->T, y, NULL, tape));
    CHECK_OK(c, costate_hessian(c, tape, &(costate_second){.m = 1, .V = V, .along = &along, .seed = seed,
                                                           .lambda = lambda, .lambda2 = product, .times2 = &times2}));
    answer x = {.t0 = by[0] / s->S * s->T / s->S, .t1 = by[1] / s->S * s->T / s->S};
    for (int i = 0; i < N; i++) { x.lambda[i] = lambda[i] / s->S; x.product[i] = product[i] / s->S; }
    costate_tape_free(tape);
    costate_free(c);
    return x;
}

/* times: of J, which is S^2: only where numbers hold it */
static void same(const costate_method *m, const scales *s, const answer *x, const answer *one, int times, double bound)
{
    double gap = larger_of(relative_gap(N, x->lambda, one->lambda), relative_gap(N, x->product, one->product));
    /* beside the product, whose directions are as large: what comes by times cancels */
    if (times) gap = larger_of(gap, larger_of(fabs(x->t0 - one->t0), fabs(x->t1 - one->t1)) / fabs(one->product[0]));
    if (!(gap <= bound)) fail_msg("%s, S %.0e, T %.0e, t0 %.1e: %.2e", method_name(m), s->S, s->T, s->t0, gap);
}

static void scaled(void **state)
{
    static const scales all[] = {{1e-160, 1, 0}, {1e160, 1, 0}, {1e-150, 1e9, 0}, {1, 1e9, 1.7e12}, {1, 1e9, -1.7e12},
                                 {1e100, 1e-9, 0}};
    const scales plain = {1, 1, 0};
    for (int solver = 0; solver <= (is_explicit(*state) ? 0 : COSTATE_LS_GMRES); solver += COSTATE_LS_GMRES) {
        answer one = ask(*state, &plain, solver);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            if (skipped((int)k + solver + turn_of(*state), 3)) continue;
            answer x = ask(*state, &all[k], solver);
            /* 1.7e12 is known to 2e-4, which is 2e-13 of T, and counts 16 steps over */
            same(*state, &all[k], &x, &one, fabs(log10(all[k].S)) < 120, all[k].t0 == 0 ? 1e-12 : 1e-11);
        }
    }
}

/* ---- stiff ---- */

static int stiff_seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                      double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    int n = *(const int *)ctx;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < n; i++) lambda[i] = y[i];
    for (int i = 0; i < m * n; i++) lambda2[i] = V[i];
    return 0;
}

static void stiff(void **state)
{
    if (is_explicit(*state)) skip();
    NEEDS_ESTIMATE(*state);                     /* steps of one length are too long for Newton's iteration */
    for (int kind = 0; kind < RANDOM_KINDS; kind++)
        for (int n = 1; n <= 40; n += 39) {
            if (skipped(kind + turn_of(*state) + (n > 1), n > 1 ? 2 * RANDOM_KINDS : 2)) continue;
            random_case *b = random_case_new(&(random_spec){.seed = 3, .kind = kind, .n = n, .np = 1,
                                                            .stiffness = 1e9, .sparse = n > 1});
            costate_options o = {.rtol = 1e-3, .atol = 1e-3};
            costate_report r;
            assert_non_null(b);
            costate *c = new_for_test(*state, &b->P, &o);
            int status = costate_check_hessian(c, b->t0, b->t1, b->y0, b->p0, stiff_seed, &n, &r);
            if (status != COSTATE_OK) fail_msg("%s, kind %d, n %d: %s", method_name(*state), kind, n, r.text);
            costate_free(c);
            random_case_free(b);
        }
}

int main(void)
{
    return run_by_method("of any size, at any time", scaled) + run_by_kind("stiff to 1e9", stiff);
}
