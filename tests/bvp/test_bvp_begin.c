/* test_bvp_begin.c - what the beginning of a boundary value problem must not decide: a linear problem with one solution
   is solved from zeros of components that become 1e6, by all methods, cut into pieces or not, to tight tolerances; a
   guess of many points is the first mesh; what stalls on a coarse mesh is solved on a finer one; and the checks of its
   derivatives find nothing wrong where y is large. */
#include "bvp_common.h"

/* ---- eps y'' + y' + y/2 = 1/4, y(0) = 2, y(1) = 1, as pieces side by side that meet at the cuts ---- */

enum { PIECES = 3 };
typedef struct { double eps, cut[PIECES + 1]; int pieces; } layer;

static int layer_value(const costate_point *x, double *out, void *ctx)
{
    const layer *q = ctx;
    for (int k = 0; k < q->pieces; k++) {
        double h = q->cut[k + 1] - q->cut[k];
        const double *y = x->y + 2 * k;
        out[2 * k] = h * y[1];
        out[2 * k + 1] = h * (0.25 - y[1] - 0.5 * y[0]) / q->eps;
    }
    return 0;
}
static int layer_ends(const costate_point *x, double *out, void *ctx)
{
    const layer *q = ctx;
    const double *a = x->y, *b = x->y + 2 * q->pieces;
    out[0] = a[0] - 2;
    out[1] = b[2 * q->pieces - 2] - 1;
    for (int k = 0; k < 2 * (q->pieces - 1); k++) out[2 + k] = b[k] - a[2 + k];
    return 0;
}

/* y'(0) = k1 r1 + k2 r2 */
static double layer_slope(double eps)
{
    double r = sqrt(1 - 2 * eps), r1 = -1 / (1 + r), r2 = -(1 + r) / (2 * eps), e1 = exp(r1), e2 = exp(r2);
    return ((1.5 * e2 - 0.5) * r1 + (0.5 - 1.5 * e1) * r2) / (e2 - e1);
}

static int layer_jac(const costate_point *x, double *J, void *ctx)
{
    const layer *q = ctx;
    size_t n = 2 * (size_t)q->pieces;
    (void)x;
    memset(J, 0, n * n * sizeof *J);
    for (size_t k = 0; k < (size_t)q->pieces; k++) {
        double h = q->cut[k + 1] - q->cut[k];
        size_t a = 2 * k, b = a + 1;
        J[a + n * b] = h;
        J[b + n * a] = -0.5 * h / q->eps;
        J[b + n * b] = -h / q->eps;
    }
    return 0;
}

static void solve_layer(const costate_method *m, const layer *q, double tol, double slope)
{
    int n = 2 * q->pieces;
    const costate_problem P = {.n = n, .ctx = (void *)(uintptr_t)q, .rhs = {.value = layer_value}, .jac = layer_jac};
    const costate_conditions C = {.map = {.value = layer_ends}, .count = n};
    const costate_bvp_options o = {.rtol = tol, .atol = tol};
    double y[4 * PIECES], Y[2 * PIECES], wanted = layer_slope(q->eps);
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < q->pieces; k++) {
            y[n * j + 2 * k] = 2 - q->cut[k + j];
            y[n * j + 2 * k + 1] = slope;
        }
    costate_bvp *c = costate_bvp_new(m, &P, &C, &o);
    CHECK_BVP(c, costate_bvp_guess(c, 2, NULL, y));
    int status = costate_bvp_solve(c, 0, 1, NULL);
    if (status == COSTATE_OK) CHECK_BVP(c, costate_bvp_get(c, 0, NULL, Y));
    if (status != COSTATE_OK || !(fabs(Y[1] / wanted - 1) <= 100 * tol))
        fail_msg("%s, eps %g, %d pieces, tolerance %g, slope %g: %s: %s", method_name(m), q->eps, q->pieces, tol, slope,
                 costate_status_name(status), costate_bvp_message(c));
    costate_bvp_free(c);
}

static void from_zeros(void **state)
{
    static const layer cuts[] = {{.cut = {0, 1}, .pieces = 1}, {.cut = {0, 0.5, 1}, .pieces = 2},
                                 {.cut = {0, 1e-5, 0.5, 1}, .pieces = 3}};
    costate_method_info i = method_info(*state);
    for (int k = 0; k < 3; k++)
        for (double eps = 1e-2; eps > 5e-7; eps *= 1e-4)
            for (int l = 0; l < 1 + (k == 0); l++) {
                layer q = cuts[k];
                q.eps = eps;
                solve_layer(*state, &q, i.dense >= 4 ? 1e-10 : i.dense >= 3 ? 1e-8 : 1e-5, l ? 1e-3 : 0);
            }
}

/* ---- eps y'' + y y' = 0, y(0) = 1/4, y(1) = 1, from a straight line ---- */

static int burgers(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[1], out[1] = -x->y[0] * x->y[1] / x->p[0];
    return 0;
}
static int burgers_jac(const costate_point *x, double *J, void *ctx)
{
    (void)ctx, J[0] = 0, J[1] = -x->y[1] / x->p[0], J[2] = 1, J[3] = -x->y[0] / x->p[0];
    return 0;
}
static int burgers_ends(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[0] - 0.25, out[1] = x->y[2] - 1;
    return 0;
}
static const costate_problem BURGERS = {.n = 2, .np = 1, .rhs = {.value = burgers}, .jac = burgers_jac};
static const costate_conditions BURGERS_ENDS = {.map = {.value = burgers_ends}, .count = 2};

typedef struct { int intervals; } first_mesh;
static int note(const costate_bvp_iteration *it, void *ctx)
{
    first_mesh *f = ctx;
    if (it->mesh == 0) f->intervals = it->intervals;
    return 0;
}

static void line(int points, double *t, double *y)
{
    for (int i = 0; i < points; i++) {
        t[i] = (double)i / (points - 1);
        y[2 * i] = 0.25 + 0.75 * t[i], y[2 * i + 1] = 0.75;
    }
}

/* y = tanh-like behind the layer: y' (0) = (1 - 1/16)/(2 eps), y being 1 there to round-off */
static void steep(void **state)
{
    double t[41], y[82], Y[2];
    for (int points = 2; points <= 41; points += 39)
        for (double eps = 1e-2; eps > 5e-4; eps /= 10) {
            costate_bvp_options o = {.rtol = 1e-5, .atol = 1e-5};
            costate_bvp *c = costate_bvp_new(*state, &BURGERS, &BURGERS_ENDS, &o);
            line(points, t, y);
            CHECK_BVP(c, costate_bvp_guess(c, points, t, y));
            CHECK_BVP(c, costate_bvp_solve(c, 0, 1, &eps));
            CHECK_BVP(c, costate_bvp_get(c, 0, NULL, Y));
            if (!(fabs(Y[1] * eps * 32 / 15 - 1) <= 1e-3)) fail_msg("eps %g: y'(0) = %g", eps, Y[1]);
            costate_bvp_free(c);
        }
}

/* the guess's points and the breaks where there are more than `intervals`; not of a mesh that is given or fixed */
static void guess_is_mesh(void **state)
{
    static const struct { int points, intervals, fixed, max_mesh, by_times, wanted; } cases[] = {
        {41, 0, 0, 0, 1, 41}, {41, 0, 0, 0, 0, 41}, {9, 0, 0, 0, 1, 9}, {10, 0, 0, 0, 1, 10}, {5, 0, 0, 0, 1, 9},
        {41, 50, 0, 0, 1, 51}, {41, 0, 1, 0, 1, 9}, {41, 0, 0, 39, 1, 9}};
    const double broken = 0.3333, eps = 0.1;
    double t[41], y[82];
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        first_mesh f = {0};
        costate_bvp_options o = {.nbreaks = 1, .breaks = &broken, .intervals = cases[k].intervals,
                                 .fixed = cases[k].fixed, .max_mesh = cases[k].max_mesh, .on_iteration = note,
                                 .on_iteration_ctx = &f};
        costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &BURGERS, &BURGERS_ENDS, &o);
        line(cases[k].points, t, y);
        CHECK_BVP(c, costate_bvp_guess(c, cases[k].points, cases[k].by_times ? t : NULL, y));
        CHECK_BVP(c, costate_bvp_solve(c, 0, 1, &eps));
        if (f.intervals != cases[k].wanted) fail_msg("case %zu: %d intervals first", k, f.intervals);
        costate_bvp_free(c);
    }
}

/* ---- checks where y is large: y'' = -p sin y, y + sin y given at 0, y + cos(y)/10 at 1, all about S ---- */

static double S;                                         /* of the case */
static double part(const double *v, int i) { return v ? v[i] : 0; }

static int swing(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[1], out[1] = -x->p[0] * sin(x->y[0]);
    return 0;
}
static int swing_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)ctx, out[0] = part(d->y, 1);
    out[1] = -x->p[0] * cos(x->y[0]) * part(d->y, 0) - sin(x->y[0]) * part(d->p, 0);
    return 0;
}
static int swing_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= x->p[0] * cos(x->y[0]) * w[1], g->y[1] += w[0];
    if (g->p) g->p[0] -= sin(x->y[0]) * w[1];
    return 0;
}
static int swing_second(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g,
                       void *ctx)
{
    double a = part(d->y, 0), q = part(d->p, 0);
    (void)ctx;
    if (g->y) g->y[0] += w[1] * (x->p[0] * sin(x->y[0]) * a - cos(x->y[0]) * q);
    if (g->p) g->p[0] -= w[1] * cos(x->y[0]) * a;
    return 0;
}
static int far_ends(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[0] - S + sin(x->y[0] - S), out[1] = x->y[2] - S - 1 + 0.1 * cos(x->y[2]);
    return 0;
}
static int far_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)ctx, out[0] = part(d->y, 0) * (1 + cos(x->y[0] - S)), out[1] = part(d->y, 2) * (1 - 0.1 * sin(x->y[2]));
    return 0;
}
static int far_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += w[0] * (1 + cos(x->y[0] - S)), g->y[2] += w[1] * (1 - 0.1 * sin(x->y[2]));
    return 0;
}
static int far_second(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g,
                      void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= w[0] * sin(x->y[0] - S) * part(d->y, 0), g->y[2] -= 0.1 * w[1] * cos(x->y[2]) * part(d->y, 2);
    return 0;
}
static int wrong_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    far_tangent(x, d, out, ctx);
    out[1] *= 1 + 1e-4;
    return 0;
}

static void large(void **state)
{
    static const double sizes[] = {0, 1, 1e2, 1e3, 1e4};
    const costate_problem P = {.n = 2, .np = 1,
                               .rhs = {.value = swing, .tangent = swing_tangent, .adjoint = swing_adjoint,
                                       .adjoint_tangent = swing_second}};
    costate_conditions C = {.map = {.value = far_ends, .tangent = far_tangent, .adjoint = far_adjoint,
                                    .adjoint_tangent = far_second}, .count = 2};
    for (int k = 0; k < 10; k++) {
        S = sizes[k / 2];
        C.map.tangent = k % 2 ? wrong_tangent : far_tangent;
        const costate_bvp_options o = {.rtol = 1e-6 / (1 + S), .atol = 1e-6};
        double y[] = {S, 1, S + 1, 1}, p = 0.5;
        costate_report r;
        costate_bvp *c = costate_bvp_new(*state, &P, &C, &o);
        CHECK_BVP(c, costate_bvp_guess(c, 2, NULL, y));
        int status = costate_check_bvp(c, 0, 1, &p, &r);
        if (status != (k % 2 ? COSTATE_CHECK_FAILED : COSTATE_OK))
            fail_msg("y about %g, wrong %d: %s: %s", S, k % 2, costate_status_name(status), r.text);
        costate_bvp_free(c);
    }
}

int main(void)
{
    static const char *const names[] = {"gauss3", "gauss4", "gauss5", "radau2a", "radau2a4", "radau2a5", "lobatto3a4",
                                        "lobatto3a5", "sdirk4a"};
    enum { NAMES = sizeof names / sizeof *names };
    static char title[3 * NAMES][40];
    struct CMUnitTest tests[1 + 3 * NAMES] = {cmocka_unit_test(guess_is_mesh)};
    for (int k = 0; k < 3 * NAMES; k++) {
        static const struct { const char *claim; CMUnitTestFunction test; } claims[] = {
            {"from zeros", from_zeros}, {"steep", steep}, {"large", large}};
        snprintf(title[k], sizeof title[k], "%s: %s", claims[k % 3].claim, names[k / 3]);
        tests[1 + k] = (struct CMUnitTest){title[k], claims[k % 3].test, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k / 3])};
    }
    return cmocka_run_group_tests_name("the beginning of a boundary value problem", tests, NULL, NULL);
}
