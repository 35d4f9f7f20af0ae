/* test_misfit.c - the least-squares misfit of measurements: its sum and residuals, and gradient, Jacobian, Gauss-Newton
   and Hessian products that fit together to round-off; wrong measurements and failures are sentences. */
#include <costate/pieces.h>
#include "alloc.h"
#include "common.h"

enum { N = 2, NP = 3, TIMES = 5, OUTPUTS = 2, ROWS = TIMES * OUTPUTS, UNIT = N + NP };

/* ---- absorption and elimination: y0' = -p0 y0,  y1' = p0 y0 - p1 y1 ---- */

static double part(const double *v, int i) { return v ? v[i] : 0; }

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = -x->p[0] * x->y[0];
    out[1] = x->p[0] * x->y[0] - x->p[1] * x->y[1];
    return (void)ctx, 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double a = part(dx->p, 0) * x->y[0] + x->p[0] * part(dx->y, 0);
    out[0] = -a;
    out[1] = a - part(dx->p, 1) * x->y[1] - x->p[1] * part(dx->y, 1);
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += x->p[0] * (w[1] - w[0]);
    if (g->y) g->y[1] -= x->p[1] * w[1];
    if (g->p) g->p[0] += x->y[0] * (w[1] - w[0]);
    if (g->p) g->p[1] -= x->y[1] * w[1];
    return (void)ctx, 0;
}
static int f_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    double v = part(a->p, 0) * part(b->y, 0) + part(b->p, 0) * part(a->y, 0);
    out[0] = -v;
    out[1] = v - part(a->p, 1) * part(b->y, 1) - part(b->p, 1) * part(a->y, 1);
    return (void)x, (void)ctx, 0;
}
static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += part(dx->p, 0) * (w[1] - w[0]);
    if (g->y) g->y[1] -= part(dx->p, 1) * w[1];
    if (g->p) g->p[0] += part(dx->y, 0) * (w[1] - w[0]);
    if (g->p) g->p[1] -= part(dx->y, 1) * w[1];
    return (void)x, (void)ctx, 0;
}
static int f_third(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                   const costate_gradient *g, void *ctx)
{
    (void)x, (void)a, (void)b, (void)w, (void)g, (void)ctx;
    return 0;
}

static const costate_problem whole = {.n = N, .np = NP,
    .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .tangent2 = f_tangent2,
            .adjoint_tangent = f_adjoint_tangent, .adjoint_tangent2 = f_third}};

/* ---- what is measured: the concentration y1/p2, and y0 y1 ---- */

static int h(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1] / x->p[2];
    out[1] = x->y[0] * x->y[1];
    return ctx ? *(int *)ctx : 0;
}
static int h_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *y = x->y, V = x->p[2];
    out[0] = part(dx->y, 1) / V - y[1] / (V * V) * part(dx->p, 2);
    out[1] = part(dx->y, 0) * y[1] + y[0] * part(dx->y, 1);
    return (void)ctx, 0;
}
static int h_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, V = x->p[2];
    if (g->y) g->y[0] += y[1] * w[1];
    if (g->y) g->y[1] += w[0] / V + y[0] * w[1];
    if (g->p) g->p[2] -= y[1] / (V * V) * w[0];
    return (void)ctx, 0;
}
static int h_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    const double *y = x->y, V = x->p[2], d = part(dx->p, 2);
    if (g->y) g->y[0] += part(dx->y, 1) * w[1];
    if (g->y) g->y[1] += -d / (V * V) * w[0] + part(dx->y, 0) * w[1];
    if (g->p) g->p[2] += (-part(dx->y, 1) / (V * V) + 2 * y[1] / (V * V * V) * d) * w[0];
    return (void)ctx, 0;
}

static const double at[TIMES] = {0.1, 0.1, 0.4, 0.9, 1}, sigma[OUTPUTS] = {0.5, 2};
static const double measured[ROWS] = {0.3, 0.7, 0.2, NAN, 1, 0.5, 0.4, 0.1, NAN, NAN};
static const costate_measurements data = {.times = TIMES, .outputs = OUTPUTS, .t = at, .value = measured,
    .sigma = sigma, .output = {.value = h, .tangent = h_tangent, .adjoint = h_adjoint,
                               .adjoint_tangent = h_adjoint_tangent}};
static const double start[N] = {2, 0.5}, rates[NP] = {1.5, 0.7, 3};

#define FITS(s, call) do { int s_ = (call); \
    if (s_ != COSTATE_OK) fail_msg("%s: %s", #call, costate_misfit_message(s)); } while (0)

typedef struct { costate *c; costate_tape *tape; costate_misfit *s; } fit;

static fit begin(const costate_method *m, const costate_problem *P, const costate_measurements *given)
{
    fit x = {new_for_test(m, P, &(costate_options){.rtol = 1e-5, .atol = 1e-5, .autonomous = 1}), costate_tape_new(),
             costate_misfit_new(P, given)};
    double y[N] = {start[0], start[1]};
    assert_true(isnan(costate_misfit_sum(x.s)));
    CHECK_OK(x.c, costate_integrate(x.c, 0, 1, y, rates, x.tape));
    return x;
}

static void end(fit *x)
{
    costate_misfit_free(x->s);
    costate_tape_free(x->tape);
    costate_free(x->c);
}

/* R: ROWS by UNIT, along (y0, p) */
static void jacobian(fit *x, double *R)
{
    double V[N * UNIT] = {0}, Vp[NP * UNIT] = {0};
    for (int j = 0; j < N; j++) V[j * N + j] = 1;
    for (int j = 0; j < NP; j++) Vp[(N + j) * NP + j] = 1;
    FITS(x->s, costate_misfit_jacobian(x->s, x->c, x->tape, rates, UNIT, V, Vp, R));
}

static void gradient(fit *x, const costate_tape *tape, const double *p, double *g)
{
    memset(g, 0, UNIT * sizeof *g);
    FITS(x->s, costate_misfit_gradient(x->s, x->c, tape, p, g, g + N));
}

/* residuals as their definition has them; J; g = R^T r; Gauss-Newton products = R^T R */
static void together(void **state)
{
    fit x = begin(*state, &whole, &data);
    double R[ROWS * UNIT], g[UNIT], H[UNIT * UNIT], y[N], out[OUTPUTS], sum = 0, r[ROWS];
    jacobian(&x, R);
    memcpy(r, costate_misfit_residuals(x.s), sizeof r);
    for (int k = 0; k < TIMES; k++) {
        CHECK_OK(x.c, costate_tape_eval(x.c, x.tape, at[k], y));
        h(&(costate_point){.t = at[k], .y = y, .p = rates}, out, NULL);
        for (int j = 0; j < OUTPUTS; j++) {
            double e = (out[j] - measured[k * OUTPUTS + j]) / sigma[j];
            assert_true(isnan(e) ? r[k * OUTPUTS + j] == 0 : fabs(r[k * OUTPUTS + j] - e) < 1e-13);
            sum += r[k * OUTPUTS + j] * r[k * OUTPUTS + j] / 2;
        }
    }
    assert_true(sum > 0.1 && costate_misfit_sum(x.s) == sum);
    gradient(&x, x.tape, rates, g);
    assert_true(costate_misfit_sum(x.s) == sum);
    double V[N * UNIT] = {0}, Vp[NP * UNIT] = {0}, l2[N * UNIT], m2[NP * UNIT] = {0};
    for (int j = 0; j < N; j++) V[j * N + j] = 1;
    for (int j = 0; j < NP; j++) Vp[(N + j) * NP + j] = 1;
    costate_second of = {.m = UNIT, .V = V, .Vp = Vp, .lambda2 = l2, .mu2 = m2};
    FITS(x.s, costate_misfit_gauss_newton(x.s, x.c, x.tape, rates, &of));
    assert_true(costate_misfit_sum(x.s) == sum);
    for (int i = 0; i < UNIT; i++) {
        double by_R = 0;
        for (int l = 0; l < ROWS; l++) by_R += R[i * ROWS + l] * r[l];
        assert_true(fabs(by_R - g[i]) < 1e-12 * (1 + fabs(g[i])));
        for (int j = 0; j < UNIT; j++) {
            double product = 0, found = i < N ? l2[j * N + i] : m2[j * NP + i - N];
            for (int l = 0; l < ROWS; l++) product += R[i * ROWS + l] * R[j * ROWS + l];
            H[j * UNIT + i] = found;
            assert_true(fabs(product - found) < 1e-12 * (1 + fabs(found)));
        }
    }
    assert_true(H[4 * UNIT + 4] > 1e-3);                    /* the direct dependence on p2 */
    end(&x);
}

/* Hessian products: symmetric, the gradient on the way, and differences of gradients with frozen steps */
static void hessian(void **state)
{
    fit x = begin(*state, &whole, &data);
    double V[N * UNIT] = {0}, Vp[NP * UNIT] = {0}, l[N] = {0}, m[NP] = {0}, l2[N * UNIT] = {0}, m2[NP * UNIT] = {0};
    double g[2][UNIT], e = 1e-4;
    costate_tape *moved = costate_tape_new();
    for (int j = 0; j < N; j++) V[j * N + j] = 1;
    for (int j = 0; j < NP; j++) Vp[(N + j) * NP + j] = 1;
    costate_second of = {.m = UNIT, .V = V, .Vp = Vp, .lambda = l, .mu = m, .lambda2 = l2, .mu2 = m2};
    FITS(x.s, costate_misfit_hessian(x.s, x.c, x.tape, rates, &of));
    gradient(&x, x.tape, rates, g[0]);
    assert_true(relative_gap(N, l, g[0]) < 1e-12 && relative_gap(NP, m, g[0] + N) < 1e-12);
    for (int j = 0; j < UNIT; j++) {
        for (int side = 0; side < 2; side++) {
            double y[N], p[NP], by = side ? -e : e;
            for (int i = 0; i < N; i++) y[i] = start[i] + by * V[j * N + i];
            for (int i = 0; i < NP; i++) p[i] = rates[i] + by * Vp[j * NP + i];
            CHECK_OK(x.c, costate_replay_onto(x.c, x.tape, y, p, moved));
            gradient(&x, moved, p, g[side]);
        }
        for (int i = 0; i < UNIT; i++) {
            double found = i < N ? l2[j * N + i] : m2[j * NP + i - N];
            double other = i < N ? (j < N ? l2[i * N + j] : m2[i * NP + j - N])
                                 : j < N ? l2[i * N + j] : m2[i * NP + j - N];
            assert_true(fabs(found - other) < 1e-11);
            if (fabs((g[0][i] - g[1][i]) / (2 * e) - found) > 2e-5)
                fail_msg("H(%d, %d): %g, by differences %g", i, j, found, (g[0][i] - g[1][i]) / (2 * e));
        }
    }
    costate_tape_free(moved);
    end(&x);
}

/* components of y are the map that picks them; a sigma at each time */
static int second_state(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[1], 0; }
static int second_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[1] += w[0];
    return (void)x, (void)ctx, 0;
}

static int second_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = dx->y ? dx->y[1] : 0, 0;
}
static int second_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                         void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;       /* it is linear */
}

static void components(void **state)
{
    const int one = 1;
    const double each[TIMES] = {1, 2, 3, 4, 5};
    costate_measurements picked = {.times = TIMES, .outputs = 1, .t = at, .value = measured, .sigma = each,
                                   .sigma_at_times = 1, .component = &one}, by_map = picked;
    double g[2][UNIT], sum, V[N] = {1, 0}, l[N] = {0}, l2[N];
    (void)state;
    by_map.component = NULL;
    by_map.output = (costate_map){.value = second_state, .adjoint = second_adjoint};
    fit x = begin(costate_method_find("dopri5"), &whole, &picked);
    gradient(&x, x.tape, rates, g[0]);
    sum = costate_misfit_sum(x.s);
    for (int k = 0; k < TIMES; k++) {
        double y[N], e;
        CHECK_OK(x.c, costate_tape_eval(x.c, x.tape, at[k], y));
        e = (y[1] - measured[k]) / each[k];
        assert_true(isnan(e) || fabs(costate_misfit_residuals(x.s)[k] - e) < 1e-13);
    }
    costate_second of = {.m = 1, .V = V, .lambda = l, .lambda2 = l2};
    FITS(x.s, costate_misfit_hessian(x.s, x.c, x.tape, rates, &of));
    assert_true(relative_gap(N, l, g[0]) < 1e-12);
    of.correct = 1;
    assert_int_equal(costate_misfit_hessian(x.s, x.c, x.tape, rates, &of), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_misfit_message(x.s), "correct = 1"));
    end(&x);
    x = begin(costate_method_find("dopri5"), &whole, &by_map);
    gradient(&x, x.tape, rates, g[1]);
    assert_true(costate_misfit_sum(x.s) == sum);
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    double R[TIMES];
    of.correct = 0;
    assert_int_equal(costate_misfit_jacobian(x.s, x.c, x.tape, rates, 1, V, NULL, R), COSTATE_MISSING);
    assert_int_equal(costate_misfit_gauss_newton(x.s, x.c, x.tape, rates, &of), COSTATE_MISSING);
    assert_non_null(strstr(costate_misfit_message(x.s), "output.tangent is missing"));
    assert_int_equal(costate_misfit_hessian(x.s, x.c, x.tape, rates, &of), COSTATE_MISSING);
    assert_non_null(strstr(costate_misfit_message(x.s), "output.adjoint_tangent is missing"));
    memset(l, 0, sizeof l);
    CHECK_OK(x.c, costate_adjoint(x.c, x.tape, 1, l, NULL, NULL, costate_misfit_observations(x.s)));
    assert_memory_equal(l, g[1], sizeof l);
    end(&x);
}

/* Sweeps that the caller makes with these observations need products, too: one that is missing is named. */
static void observations_lack(void **state)
{
    static const double times[] = {0.3, 1.0}, values[] = {0.5, 0.4}, deviation = 0.1;
    const costate_map all = {.value = second_state, .tangent = second_tangent, .adjoint = second_adjoint,
                             .adjoint_tangent = second_second};
    const struct { const char *name; costate_map output; int gauss_newton, gradient; } cases[] = {
        {NULL, all, 0, 0},
        {"adjoint_tangent", {all.value, .tangent = all.tangent, .adjoint = all.adjoint}, 0, 0},
        {NULL, {all.value, .tangent = all.tangent, .adjoint = all.adjoint}, 1, 0},
        {"tangent", {all.value, .adjoint = all.adjoint, .adjoint_tangent = all.adjoint_tangent}, 0, 0},
        {"adjoint", {all.value, .tangent = all.tangent, .adjoint_tangent = all.adjoint_tangent}, 0, 0},
        {"adjoint", {all.value, .tangent = all.tangent}, 1, 0},
        {"adjoint", {all.value, .tangent = all.tangent}, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        costate_measurements given = {.times = 2, .outputs = 1, .t = times, .value = values, .sigma = &deviation,
                                      .output = cases[i].output};
        fit x = begin(costate_method_find("dopri5"), &whole, &given);
        double V[N] = {1, 0}, l[N] = {0}, l2[N] = {0};
        costate_second of = {.m = 1, .V = V, .lambda = cases[i].gauss_newton ? NULL : l, .lambda2 = l2,
                             .observations = costate_misfit_observations(x.s)};
        int status = cases[i].gradient ? costate_adjoint(x.c, x.tape, 1, l, NULL, NULL, of.observations)
                   : cases[i].gauss_newton ? costate_gauss_newton(x.c, x.tape, &of)
                                           : costate_hessian(x.c, x.tape, &of);
        char expected[64] = "No error.";
        if (cases[i].name) snprintf(expected, sizeof expected, "output.%s is missing", cases[i].name);
        assert_int_equal(status, cases[i].name ? COSTATE_CALLBACK : COSTATE_OK);
        if (cases[i].name && !strstr(costate_misfit_message(x.s), expected))
            fail_msg("case %zu: %s", i, costate_misfit_message(x.s));
        end(&x);
    }
}

/* ---- what is wrong ---- */

static void wrong(const costate_measurements *given, const char *word)
{
    costate_misfit *s = costate_misfit_new(&whole, given);
    double l[N] = {0};
    assert_int_equal(costate_misfit_status(s), COSTATE_BAD_ARGUMENT);
    if (!strstr(costate_misfit_message(s), word)) fail_msg("%s\nwithout: %s", costate_misfit_message(s), word);
    assert_int_equal(costate_misfit_gradient(s, NULL, NULL, rates, l, NULL), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_misfit_message(s), word));
    assert_true(isnan(costate_misfit_sum(s)) && !costate_misfit_observations(s));
    costate_misfit_free(s);
}

static void refused(void **state)
{
    const double zero[] = {1, 0}, nan[] = {NAN, 1}, infinite[ROWS] = {0, HUGE_VAL};
    const int beyond[] = {0, 2};
    costate_measurements g;
    (void)state;
    wrong(NULL, "measurements is NULL");
#define WRONG(change, word) do { g = data; g.change; wrong(&g, word); } while (0)
    WRONG(sigma = zero, "sigma[1] = 0: a standard deviation is positive");
    WRONG(sigma = nan, "sigma[0] = ");
    WRONG(sigma = NULL, "measurements.sigma is NULL");
    WRONG(t = NULL, "measurements.t is NULL");
    WRONG(value = NULL, "measurements.value is NULL");
    WRONG(value = infinite, "value[1] = inf is not finite");
    WRONG(times = 0, "times = 0");
    WRONG(outputs = -1, "outputs = -1");
    WRONG(outputs = 1 << 29, "2^30");
    WRONG(sigma_at_times = 2, "sigma_at_times = 2");
    WRONG(component = beyond, "components and an output map");
    WRONG(output.value = NULL, "neither components");
    g = data;
    g.output.value = NULL;
    g.component = beyond;
    wrong(&g, "component[1] = 2, but this problem has 2 states");
    costate_misfit *s = costate_misfit_new(NULL, &data);
    assert_int_equal(costate_misfit_status(s), COSTATE_BAD_ARGUMENT);
    costate_misfit_free(s);
    costate_misfit_free(NULL);
    assert_int_equal(costate_misfit_status(NULL), COSTATE_NO_MEMORY);
    assert_true(strlen(costate_misfit_message(NULL)) > 0 && isnan(costate_misfit_sum(NULL)));
    assert_int_equal(costate_misfit_gradient(NULL, NULL, NULL, NULL, NULL, NULL), COSTATE_NO_MEMORY);
}

/* a callback that fails, and a solver that does: the sentences, and all works afterwards */
static void failures(void **state)
{
    int code = 0;
    costate_measurements g = data;
    double l[N] = {0}, m[NP] = {0};
    (void)state;
    g.ctx = &code;
    fit x = begin(costate_method_find("dopri5"), &whole, &g);
    code = -3;
    assert_int_equal(costate_misfit_gradient(x.s, x.c, x.tape, rates, l, m), COSTATE_CALLBACK);
    assert_non_null(strstr(costate_misfit_message(x.s), "measurements.output.value returned -3 at t = 1."));
    assert_true(isnan(costate_misfit_sum(x.s)));
    code = 0;
    assert_true(costate_misfit_gradient(x.s, x.c, NULL, rates, l, m) != COSTATE_OK);
    assert_int_equal(costate_misfit_status(x.s), costate_status(x.c));
    assert_string_equal(costate_misfit_message(x.s), costate_message(x.c));
    assert_int_equal(costate_misfit_gradient(x.s, x.c, x.tape, NULL, l, m), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_misfit_message(x.s), "p is NULL"));
    assert_int_equal(costate_misfit_gradient(x.s, NULL, x.tape, rates, l, m), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_misfit_hessian(x.s, x.c, x.tape, rates, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_misfit_jacobian(x.s, x.c, x.tape, rates, 1, l, NULL, NULL), COSTATE_BAD_ARGUMENT);
    memset(l, 0, sizeof l);
    memset(m, 0, sizeof m);
    FITS(x.s, costate_misfit_gradient(x.s, x.c, x.tape, rates, l, m));
    end(&x);
}

static void no_memory(void **state)
{
    int status = COSTATE_NO_MEMORY;
    fit x = begin(costate_method_find("dopri5"), &whole, &data);
    (void)state;
    costate_misfit_free(x.s);
    for (int call = 1; status; call++) {
        double l[N] = {0}, m[NP] = {0};
        assert_true(call < 100);
        alloc_fail_at(call);
        x.s = costate_misfit_new(&whole, &data);
        status = costate_misfit_status(x.s);
        if (!status) status = costate_misfit_gradient(x.s, x.c, x.tape, rates, l, m);
        int failed = alloc_failures() > 0;
        alloc_fail_at(0);
        assert_int_equal(status, failed ? COSTATE_NO_MEMORY : COSTATE_OK);
        if (status) assert_non_null(strstr(costate_misfit_message(x.s), "emory"));
        if (status) costate_misfit_free(x.s);
    }
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components), cmocka_unit_test(observations_lack),
        cmocka_unit_test(refused), cmocka_unit_test(failures),
        cmocka_unit_test(no_memory),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    failed += run_by_kind("gradient, Jacobian and Gauss-Newton products fit together", together);
    return failed + run_by_kind("Hessian products of a misfit", hessian);
}
