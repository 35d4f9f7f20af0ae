/* test_likelihood.c - the likelihood of a list of measured values: J, its gradient, Jacobian, Hessian and Gauss-Newton
   products, and its estimated errors agree with formulas, with standard deviations that are outputs, logarithmic
   scales, Laplace's distribution, and parameters that are replaced for single values. */
#include <costate/pieces.h>
#include "common.h"

/* y' = -p_0 y, y(0) = 2.  Outputs: h_0 = p_1 y + p_2, h_1 = p_3 + p_4 y. */
enum { NP = 7, TIMES = 3, COUNT = 8 };
static const double TIME[TIMES] = {0, 0.6, 1.5}, P[NP] = {0.7, 1.3, 0.4, 0.2, 0.11, 0.9, 0.35};

static int rhs(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->p[0] * x->y[0], 0; }
static int rhs_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -(dx->y ? x->p[0] * dx->y[0] : 0) - (dx->p ? dx->p[0] * x->y[0] : 0);
    return 0;
}
static int rhs_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= x->p[0] * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return 0;
}
static int rhs_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                      void *ctx)
{
    (void)x, (void)ctx;
    if (g->y && dx->p) g->y[0] -= dx->p[0] * w[0];
    if (g->p && dx->y) g->p[0] -= dx->y[0] * w[0];
    return 0;
}

static int outputs(const costate_point *x, double *out, void *ctx)
{
    const double *p = x->p, y = x->y[0];
    return (void)ctx, out[0] = p[1] * y + p[2], out[1] = p[3] + p[4] * y, 0;
}
static int outputs_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double zero[NP] = {0}, *p = x->p, *d = dx->p ? dx->p : zero, dy = dx->y ? dx->y[0] : 0;
    (void)ctx;
    out[0] = d[1] * x->y[0] + p[1] * dy + d[2];
    out[1] = d[3] + d[4] * x->y[0] + p[4] * dy;
    return 0;
}
static int outputs_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += x->p[1] * w[0] + x->p[4] * w[1];
    if (g->p) g->p[1] += x->y[0] * w[0], g->p[2] += w[0], g->p[3] += w[1], g->p[4] += x->y[0] * w[1];
    return 0;
}
static int outputs_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                          void *ctx)
{
    (void)x, (void)ctx;
    if (g->y && dx->p) g->y[0] += dx->p[1] * w[0] + dx->p[4] * w[1];
    if (g->p && dx->y) g->p[1] += dx->y[0] * w[0], g->p[4] += dx->y[0] * w[1];
    return 0;
}
static const costate_problem decay = {.n = 1, .np = NP, .rhs = {.value = rhs, .tangent = rhs_tangent,
                                                               .adjoint = rhs_adjoint,
                                                               .adjoint_tangent = rhs_second}};

/* p_1 by p_5, p_3 by 0.25; p_3 by p_6; p_2 by p_2, which changes nothing */
static const costate_replaced REPLACED[] = {{1, 5, 0}, {3, -1, 0.25}, {3, 6, 0}, {2, 2, 0}};
static const costate_measured LIST[COUNT] = {
    {0, 0, 1, 0, 2.9, COSTATE_SCALE_LINEAR, COSTATE_NOISE_NORMAL, 0, 0},
    {0, 0, 1, 0, 2.2, COSTATE_SCALE_LOG, COSTATE_NOISE_NORMAL, 0, 0},
    {0, 0, 1, 0, 2.5, COSTATE_SCALE_LOG10, COSTATE_NOISE_NORMAL, 0, 2},
    {1, 0, 1, 0, 1.7, COSTATE_SCALE_LINEAR, COSTATE_NOISE_LAPLACE, 0, 2},
    {1, 0, 1, 0, 2.4, COSTATE_SCALE_LOG, COSTATE_NOISE_LAPLACE, 2, 1},
    {1, 1, -1, 0.2, 0.4, COSTATE_SCALE_LINEAR, COSTATE_NOISE_NORMAL, 2, 1},
    {2, 0, -1, 0.3, 0.8, COSTATE_SCALE_LOG10, COSTATE_NOISE_LAPLACE, 3, 1},
    {2, 0, 1, 0, 1.9, COSTATE_SCALE_LOG10, COSTATE_NOISE_NORMAL, 2, 1}};

static costate_measurements data(void)
{
    return (costate_measurements){.times = TIMES, .outputs = 2, .t = TIME, .count = COUNT, .list = LIST,
                                  .replaced = REPLACED, .nreplaced = 4,
                                  .output = {.value = outputs, .tangent = outputs_tangent, .adjoint = outputs_adjoint,
                                             .adjoint_tangent = outputs_second}};
}

/* ---- formulas ---- */

static double scaled(int scale, double x) { return scale == 0 ? x : scale == 1 ? log(x) : log10(x); }

/* output and sigma of value i */
static void computed(int i, const double *p, double *f, double *sigma)
{
    double q[NP], y = 2 * exp(-p[0] * TIME[LIST[i].time]);
    memcpy(q, p, sizeof q);
    for (int j = LIST[i].first; j < LIST[i].first + LIST[i].replaced; j++)
        q[REPLACED[j].parameter] = REPLACED[j].by < 0 ? REPLACED[j].value : p[REPLACED[j].by];
    double h[] = {q[1] * y + q[2], q[3] + q[4] * y};
    *f = h[LIST[i].output];
    *sigma = LIST[i].noise < 0 ? LIST[i].sigma : h[LIST[i].noise];
}

static double residual(int i, const double *p)
{
    double f, sigma;
    computed(i, p, &f, &sigma);
    return (scaled(LIST[i].scale, f) - scaled(LIST[i].scale, LIST[i].value)) / sigma;
}

/* -log of the densities, written as they are in textbooks */
static double sum(const double *p)
{
    double J = 0;
    for (int i = 0; i < COUNT; i++) {
        double f, s, r = residual(i, p), m = LIST[i].value;
        computed(i, p, &f, &s);
        double density = LIST[i].distribution ? exp(-fabs(r)) / (2 * s) : exp(-r * r / 2) / (s * sqrt(2 * acos(-1)));
        if (LIST[i].scale == COSTATE_SCALE_LOG) density /= m;
        if (LIST[i].scale == COSTATE_SCALE_LOG10) density /= m * log(10);
        J -= log(density);
    }
    return J;
}

static double moved(int i, double h, int j, double g)
{
    double p[NP];
    memcpy(p, P, sizeof p);
    p[i] += h;
    p[j] += g;
    return sum(p);
}

/* ---- the library ---- */

typedef struct { costate *c; costate_tape *tape; costate_misfit *misfit; costate_measurements data; } fit;

static fit *begin(double rtol, costate_measurements of)
{
    fit *z = calloc(1, sizeof *z);
    double y = 2;
    const costate_options o = {.rtol = rtol, .atol = rtol, .autonomous = 1};
    *z = (fit){costate_new(costate_method_find("dopri5"), &decay, &o), costate_tape_new(), NULL, of};
    z->misfit = costate_misfit_new(&decay, &z->data);
    CHECK_OK(z->c, costate_integrate(z->c, 0, 1.5, &y, P, z->tape));
    return z;
}

static void end(fit *z)
{
    costate_free(z->c);
    costate_tape_free(z->tape);
    costate_misfit_free(z->misfit);
    free(z);
}

static void near(const char *what, double a, double b, double tol)
{
    if (!(fabs(a - b) < tol * (1 + fabs(b)))) fail_msg("%s: %.12g instead of %.12g", what, a, b);
}

static void value_and_gradient(void **state)
{
    (void)state;
    fit *z = begin(1e-11, data());
    double lambda = 0, mu[NP] = {0};
    mu[2] = 3;                                  /* J is added to another functional */
    assert_int_equal(costate_misfit_gradient(z->misfit, z->c, z->tape, P, &lambda, mu), COSTATE_OK);
    near("J", costate_misfit_sum(z->misfit), sum(P), 1e-9);
    for (int i = 0; i < NP; i++)
        near("gradient", mu[i] - (i == 2 ? 3 : 0), (moved(i, 1e-5, i, 0) - moved(i, -1e-5, i, 0)) / 2e-5, 1e-7);
    for (int i = 0; i < COUNT; i++) {
        double f, sigma;
        computed(i, P, &f, &sigma);
        near("output", costate_misfit_outputs(z->misfit)[i], f, 1e-9);
        near("residual", costate_misfit_residuals(z->misfit)[i], residual(i, P), 1e-9);
    }
    end(z);
}

static void jacobian(void **state)
{
    (void)state;
    fit *z = begin(1e-11, data());
    double V[NP] = {0}, Vp[NP * NP] = {0}, R[NP * COUNT], up[NP], down[NP];
    for (int i = 0; i < NP; i++) Vp[i * NP + i] = 1;
    assert_int_equal(costate_misfit_jacobian(z->misfit, z->c, z->tape, P, NP, V, Vp, R), COSTATE_OK);
    near("J", costate_misfit_sum(z->misfit), sum(P), 1e-9);
    for (int j = 0; j < NP; j++) {
        memcpy(up, P, sizeof up);
        memcpy(down, P, sizeof down);
        up[j] += 1e-5;
        down[j] -= 1e-5;
        for (int i = 0; i < COUNT; i++)
            near("Jacobian", R[j * COUNT + i], (residual(i, up) - residual(i, down)) / 2e-5, 1e-7);
    }
    end(z);
}

static void hessian(void **state)
{
    (void)state;
    fit *z = begin(1e-12, data());
    double V[NP] = {0}, Vp[NP * NP] = {0}, lambda = 0, mu[NP] = {0}, lambda2[NP] = {0}, mu2[NP * NP] = {0}, h = 1e-4;
    for (int i = 0; i < NP; i++) Vp[i * NP + i] = 1;
    const costate_second along = {.m = NP, .V = V, .Vp = Vp, .lambda = &lambda, .mu = mu, .lambda2 = lambda2,
                                  .mu2 = mu2};
    assert_int_equal(costate_misfit_hessian(z->misfit, z->c, z->tape, P, &along), COSTATE_OK);
    near("J", costate_misfit_sum(z->misfit), sum(P), 1e-9);
    for (int i = 0; i < NP; i++) {
        near("gradient", mu[i], (moved(i, 1e-5, i, 0) - moved(i, -1e-5, i, 0)) / 2e-5, 1e-7);
        for (int j = 0; j < NP; j++) {
            double up = moved(i, h, j, h) - moved(i, h, j, -h), down = moved(i, -h, j, h) - moved(i, -h, j, -h);
            near("Hessian", mu2[j * NP + i], (up - down) / (4 * h * h), 2e-5);
        }
    }
    end(z);
}

/* Fisher information: f' f' s'(f)^2/sigma^2, and sigma' sigma'/sigma^2 times 2, or of Laplace's distribution 1 */
static void gauss_newton(void **state)
{
    (void)state;
    fit *z = begin(1e-12, data());
    double V[NP] = {0}, Vp[NP * NP] = {0}, lambda2[NP] = {0}, mu2[NP * NP] = {0}, h = 1e-5, F[NP * NP] = {0};
    for (int i = 0; i < NP; i++) Vp[i * NP + i] = 1;
    const costate_second along = {.m = NP, .V = V, .Vp = Vp, .lambda2 = lambda2, .mu2 = mu2};
    assert_int_equal(costate_misfit_gauss_newton(z->misfit, z->c, z->tape, P, &along), COSTATE_OK);
    for (int k = 0; k < COUNT; k++) {
        double df[NP], ds[NP], f, s, slope;
        for (int i = 0; i < NP; i++) {
            double p[NP], f1, s1, f2, s2;
            memcpy(p, P, sizeof p);
            p[i] = P[i] + h;
            computed(k, p, &f1, &s1);
            p[i] = P[i] - h;
            computed(k, p, &f2, &s2);
            df[i] = (f1 - f2) / (2 * h);
            ds[i] = (s1 - s2) / (2 * h);
        }
        computed(k, P, &f, &s);
        slope = LIST[k].scale == 0 ? 1 : LIST[k].scale == 1 ? 1 / f : 1 / (f * log(10));
        for (int i = 0; i < NP * NP; i++)
            F[i] += (df[i % NP] * df[i / NP] * slope * slope +
                     ds[i % NP] * ds[i / NP] * (LIST[k].distribution ? 1 : 2)) / (s * s);
    }
    for (int i = 0; i < NP * NP; i++) near("Fisher information", mu2[i], F[i], 1e-7);
    end(z);
}

static void estimated_errors(void **state)
{
    (void)state;
    fit *z = begin(1e-4, data());
    costate_functional F = {0};
    double value, error, p[NP], p_error[NP];
    costate_estimate e = {.run = {.value = &value, .p = p}, .error = {.value = &error, .p = p_error}};
    assert_int_equal(costate_misfit_functional(z->misfit, &F), COSTATE_OK);
    CHECK_OK(z->c, costate_accuracy(z->c, z->tape, &F, &e));
    double true_error = sum(P) - value;
    if (!(error / true_error > 0.5 && error / true_error < 2)) fail_msg("%g, not %g", error, true_error);
    for (int i = 0; i < NP; i++) {
        double by = (moved(i, 1e-5, i, 0) - moved(i, -1e-5, i, 0)) / 2e-5, off = by - p[i];
        if (fabs(off) > 1e-6 && !(p_error[i] / off > 0.4 && p_error[i] / off < 2.5))
            fail_msg("p[%d] is wrong by %g, estimated as %g", i, off, p_error[i]);
    }
    end(z);
}

/* a state that is no point of a run; and the misfit of least squares as a functional */
static void terms_alone(void **state)
{
    (void)state;
    fit *z = begin(1e-8, data());
    costate_functional F = {0};
    double y = 2, value = 1, w = 0, mu[NP] = {0};
    assert_int_equal(costate_misfit_functional(z->misfit, &F), COSTATE_OK);
    assert_int_equal(F.at_time_p(0, 0, &y, P, 1, &value, NULL, NULL, F.ctx), 0);
    double alone = value - 1;
    value = 0;
    assert_int_equal(F.at_time_p(0, 0, &y, P, 1, &value, &w, mu, F.ctx), 0);
    near("a term", alone, value, 1e-14);
    assert_true(w != 0 && mu[5] != 0 && mu[6] == 0);
    const double values[] = {3, NAN, 2, 1, 1.5, NAN}, sigma[] = {0.5, 0.1};
    costate_measurements squares = {.times = TIMES, .outputs = 2, .t = TIME, .value = values, .sigma = sigma,
                                    .output = data().output};
    fit *q = begin(1e-8, squares);
    double sum_of = 0, lambda = 0, direct[NP] = {0}, p[NP];
    assert_int_equal(costate_misfit_gradient(q->misfit, q->c, q->tape, P, &lambda, direct), COSTATE_OK);
    sum_of = costate_misfit_sum(q->misfit);
    near("an output", costate_misfit_outputs(q->misfit)[1], P[3] + P[4] * 2, 1e-12);
    assert_int_equal(costate_misfit_functional(q->misfit, &F), COSTATE_OK);
    CHECK_OK(q->c, costate_accuracy(q->c, q->tape, &F, &(costate_estimate){.run = {.value = &value, .p = p}}));
    near("least squares", value, sum_of, 1e-12);
    for (int i = 0; i < NP; i++) near("their gradient", p[i], direct[i], 1e-12);
    assert_true(isnan(costate_misfit_sum(q->misfit)));          /* no sweep of the misfit's own */
    assert_int_equal(costate_misfit_functional(q->misfit, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_misfit_functional(NULL, &F), COSTATE_NO_MEMORY);
    end(q);
    end(z);
}

static void refused(costate_measurements of, const char *words)
{
    costate_functional F = {0};
    costate_misfit *s = costate_misfit_new(&decay, &of);
    assert_int_equal(costate_misfit_status(s), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_misfit_functional(s, &F), COSTATE_BAD_ARGUMENT);
    if (!strstr(costate_misfit_message(s), words)) fail_msg("\"%s\" is not in: %s", words, costate_misfit_message(s));
    costate_misfit_free(s);
}

#define WRONG(member, words) do { costate_measurements d = data(); d.member; refused(d, words); } while (0)
#define WRONG_ITEM(i, member, words) do { costate_measured a[COUNT]; memcpy(a, LIST, sizeof a); a[i].member; \
        costate_measurements d = data(); d.list = a; refused(d, words); } while (0)

static void refusals(void **state)
{
    (void)state;
    double one = 1;
    costate_replaced wrong[4];
    WRONG(count = -1, "count is negative");
    WRONG(list = NULL, "list is NULL");
    WRONG(value = &one, "a list and value");
    WRONG(sigma = &one, "a list and sigma");
    WRONG(t = NULL, "t is NULL");
    WRONG(replaced = NULL, "replaced is NULL");
    WRONG(nreplaced = -1, "nreplaced is negative");
    WRONG(nreplaced = 3, "list[6]: first = 3, replaced = 1");
    WRONG_ITEM(3, time = 3, "list[3].time = 3");
    WRONG_ITEM(6, time = 0, "list[6].time = 0");
    WRONG_ITEM(0, time = -1, "list[0].time = -1");
    WRONG_ITEM(1, output = 2, "output = 2");
    WRONG_ITEM(1, output = -1, "output = -1");
    WRONG_ITEM(1, noise = 2, "noise = 2");
    WRONG_ITEM(1, noise = -2, "noise = -2");
    WRONG_ITEM(5, sigma = 0, "list[5].sigma = 0");
    WRONG_ITEM(5, sigma = INFINITY, "list[5].sigma = inf");
    WRONG_ITEM(2, scale = 3, "scale = 3");
    WRONG_ITEM(2, scale = -1, "scale = -1");
    WRONG_ITEM(2, distribution = 6, "distribution = 6");
    WRONG_ITEM(2, distribution = -1, "distribution = -1");
    WRONG_ITEM(2, value = 0, "list[2].value = 0");
    WRONG_ITEM(0, value = NAN, "list[0].value");
    WRONG_ITEM(2, first = -1, "first = -1");
    WRONG_ITEM(2, replaced = -1, "replaced = -1");
    for (int k = 0; k < 4; k++) {
        memcpy(wrong, REPLACED, sizeof wrong);
        wrong[1] = (costate_replaced[]){{-1, 0, 0}, {NP, 0, 0}, {0, NP, 0}, {0, -1, INFINITY}}[k];
        WRONG(replaced = wrong, "replaced[1]");
    }
}

static void sigma_of_zero(void **state)
{
    (void)state;
    fit *z = begin(1e-6, data());
    double lambda = 0, mu[NP] = {0}, p[NP];
    memcpy(p, P, sizeof p);
    p[3] = -2 * p[4];
    assert_int_not_equal(costate_misfit_gradient(z->misfit, z->c, z->tape, p, &lambda, mu), COSTATE_OK);
    assert_non_null(strstr(costate_misfit_message(z->misfit), "sigma of measurements.list[0] is 0"));
    end(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_and_gradient), cmocka_unit_test(jacobian), cmocka_unit_test(hessian),
        cmocka_unit_test(gauss_newton), cmocka_unit_test(estimated_errors), cmocka_unit_test(terms_alone),
        cmocka_unit_test(refusals), cmocka_unit_test(sigma_of_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
