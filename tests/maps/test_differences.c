/* test_differences.c - options.differences: a product stays right to what differences leave when it, and those that it
   might be made from, are missing. */
#include "maps/differences.h"      /* before cmocka, which has a macro fail */
#include "common.h"

/* F_i(x) = c_i exp(a.x) of x = (t, y, p, m): each derivative is F times directions' a.dx */
enum { N = 2, NP = 2, NM = 1 };
static const double C[N] = {1.3, -0.7}, A_T = 0.4, A_Y[N] = {0.3, -0.5}, A_P[NP] = {0.6, 0.2}, A_M = -0.8;

static double along(const costate_point *d)
{
    double s = A_T * d->t;
    for (int i = 0; d->y && i < N; i++) s += A_Y[i] * d->y[i];
    for (int i = 0; d->p && i < NP; i++) s += A_P[i] * d->p[i];
    return s + (d->m ? A_M * d->m[0] : 0);
}

static void into(double s, double *out) { for (int i = 0; i < N; i++) out[i] = s * C[i]; }

static void back(double s, const double *w, const costate_gradient *g)
{
    s *= w[0] * C[0] + w[1] * C[1];
    if (g->t) *g->t += s * A_T;
    for (int i = 0; g->y && i < N; i++) g->y[i] += s * A_Y[i];
    for (int i = 0; g->p && i < NP; i++) g->p[i] += s * A_P[i];
    if (g->m) g->m[0] += s * A_M;
}

static int value(const costate_point *x, double *out, void *ctx) { (void)ctx; into(exp(along(x)), out); return 0; }
static int tangent(const costate_point *x, const costate_point *a, double *out, void *ctx)
{
    (void)ctx;
    into(exp(along(x)) * along(a), out);
    return 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    back(exp(along(x)), w, g);
    return 0;
}
static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)ctx;
    into(exp(along(x)) * along(a) * along(b), out);
    return 0;
}
static int adjoint_tangent(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)ctx;
    back(exp(along(x)) * along(a), w, g);
    return 0;
}
static int adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                            const costate_gradient *g, void *ctx)
{
    (void)ctx;
    back(exp(along(x)) * along(a) * along(b), w, g);
    return 0;
}

typedef struct { double tangent[N], tangent2[N], back[3][1 + N + NP + NM]; } products;

static costate_gradient part(double *g)
{
    return (costate_gradient){.t = g, .y = g + 1, .p = g + 1 + N, .m = g + 1 + N + NP};
}

/* maps by differences, with their memory */
typedef struct { costate_problem P; costate_stats count; verdict v; maps a; double *work; } world;

static void open_world(world *w, costate_problem P, int with_jacobian, const double *weights, const double *p)
{
    cursor at = {0};
    *w = (world){.P = P};
    w->a = maps_of(&w->P);
    w->a.count = &w->count;
    w->a.method = "of this test";
    w->a.v = w->a.space.v = &w->v;
    w->a.differences = 1;
    assert_int_equal(maps_init(&w->a, with_jacobian, (size_t)(P.n * P.n)), 0);
    maps_layout(&w->a, &at);
    assert_non_null(w->work = calloc(at.used, sizeof *w->work));
    at = (cursor){w->work, 0};
    maps_layout(&w->a, &at);
    maps_bind(&w->a, p);
    w->a.bound.w = weights;
}

static void close_world(world *w)
{
    maps_free(&w->a);
    free(w->work);
}

/* all of a map of which `given` products are there */
static void compute(costate_map given, products *out, long *differences)
{
    static const double y[N] = {0.8, -1.2}, p[NP] = {0.9, 1.4}, m[NM] = {0.5}, ones[N] = {1, 1}, w[N] = {0.6, 0.8},
                        dy[2][N] = {{0.3, -0.9}, {1.1, 0.4}}, dp[2][NP] = {{-0.2, 0.7}, {0.5, -0.6}},
                        dm[2][NM] = {{-0.9}, {0.3}};
    world here;
    open_world(&here, (costate_problem){.n = N, .np = NP, .nm = NM, .rhs = given}, 0, ones, p);
    maps *a = &here.a;
    maps_bind_step(a, m, 0);
    costate_point x = point(a, 0.6, y), d[2];
    for (int i = 0; i < 2; i++) d[i] = (costate_point){.t = 0.5 + i, .y = dy[i], .p = dp[i], .m = dm[i]};
    memset(out, 0, sizeof *out);
    costate_gradient g[3] = {part(out->back[0]), part(out->back[1]), part(out->back[2])};
    assert_int_equal(map_tangent(a, &a->rhs, &x, &d[0], out->tangent), 0);
    assert_int_equal(map_tangent2(a, &a->rhs, &x, &d[0], &d[1], out->tangent2), 0);
    assert_int_equal(map_adjoint(a, &a->rhs, &x, w, &g[0]), 0);
    assert_int_equal(map_adjoint_tangent(a, &a->rhs, &x, &d[0], w, &g[1]), 0);
    assert_int_equal(map_adjoint_tangent2(a, &a->rhs, &x, &d[0], &d[1], w, &g[2]), 0);
    *differences = here.count.differences;
    close_world(&here);
}

/* Round-off eps over a step e, and e^2 for what it leaves out: eps^(2/3) at the best e for one difference; the second
   has the error of the first in the place of eps, and the third that of the second.  Each times ten. */
static const double GOOD[] = {1e-14, 4e-10, 3e-7, 1e-4};
/* of a third derivative */
static const double THIRD[] = {1e-14, 4e-10, 3e-7, 1e-4};

static void judge(const char *what, const char *left, size_t size, const double *x, const double *exact, double most)
{
    double gap = relative_gap((int)size, x, exact);
    if (!(gap <= most)) fail_msg("%s with %s: wrong by %.1e, not %.1e", what, left, gap, most);
}

static void missing_ones(void **state)
{
    const costate_map all = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                             .adjoint_tangent = adjoint_tangent, .adjoint_tangent2 = adjoint_tangent2};
    /* how many differences each is then: tangent, tangent2, adjoint, adjoint_tangent, adjoint_tangent2 */
    const struct { const char *left; costate_map map; int of[5]; } cases[] = {
        {"all", all, {0, 0, 0, 0, 0}},
        {"second derivatives", {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                .adjoint_tangent = adjoint_tangent}, {0, 0, 0, 0, 1}},
        {"first ones", {.value = value, .tangent = tangent, .adjoint = adjoint}, {0, 1, 0, 1, 2}},
        {"tangent", {.value = value, .tangent = tangent}, {0, 1, 0, 1, 2}},
        {"adjoint", {.value = value, .adjoint = adjoint}, {1, 2, 0, 1, 2}},
        {"value", {.value = value}, {1, 2, 1, 2, 3}},
    };
    products exact;
    long differences;
    (void)state;
    compute(all, &exact, &differences);
    assert_int_equal(differences, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *of = cases[i].of;
        products x;
        compute(cases[i].map, &x, &differences);
        assert_true((differences > 0) == (i > 0));
        judge("tangent", cases[i].left, N, x.tangent, exact.tangent, GOOD[of[0]]);
        judge("tangent2", cases[i].left, N, x.tangent2, exact.tangent2, GOOD[of[1]]);
        judge("adjoint", cases[i].left, 1 + N + NP + NM, x.back[0], exact.back[0], GOOD[of[2]]);
        judge("adjoint_tangent", cases[i].left, 1 + N + NP + NM, x.back[1], exact.back[1], GOOD[of[3]]);
        judge("adjoint_tangent2", cases[i].left, 1 + N + NP + NM, x.back[2], exact.back[2], THIRD[of[4]]);
    }
}

/* ---- how long a difference is ---- */

/* What is within its tolerance of 0 moves by tolerances: sin(y/unit) at y = 0, whose derivative is 1/unit. */
static int wave(const costate_point *x, double *out, void *ctx)
{
    return out[0] = sin(x->y[0] / *(const double *)ctx), 0;
}

static void tolerances_are_units(void **state)
{
    (void)state;
    for (double unit = 1e-12; unit < 1e13; unit *= 1e3) {
        world here;
        double w = 1 / unit, y = 0, dy = 1, out;
        open_world(&here, (costate_problem){.n = 1, .rhs = {.value = wave}, .ctx = &unit}, 0, &w, NULL);
        costate_point x = point(&here.a, 0, &y), d = {.y = &dy};
        assert_int_equal(map_tangent(&here.a, &here.a.rhs, &x, &d, &out), 0);
        if (!(fabs(out * unit - 1) < GOOD[1])) fail_msg("unit %g: %.9g", unit, out * unit);
        close_world(&here);
    }
}

/* y beside what is as large as ctx says: its derivative is 1. */
static int beside(const costate_point *x, double *out, void *ctx)
{
    return out[0] = *(const double *)ctx + x->y[0], 0;
}

/* The worst error of J for a y among the tolerance 1, beside `times` its own size */
static double error_of_jacobian(double y, double times)
{
    const double w = 1;
    double worst = 0;
    for (int k = 0; k < 20; k++) {
        world here;
        double large = times * y * (1 + 0.01 * k / 3), J;
        open_world(&here, (costate_problem){.n = 1, .rhs = {.value = beside}, .ctx = &large}, 1, &w, NULL);
        costate_point x = point(&here.a, 0, &y);
        assert_int_equal(jacobian(&here.a, &x, &w, &J, NULL), 0);
        worst = larger_of(worst, fabs(J - 1));
        close_world(&here);
    }
    return worst;
}

/* An increment of 1.5e-8 y changes E by 1e-12 of itself: that shows three digits, enough for a y far above its
   tolerance.  One below 100 tolerances is to be seen better. */
static void small_ones_are_sharp(void **state)
{
    (void)state;
    assert_true(error_of_jacobian(99, 1.5e4) < 1e-6);
    double error = error_of_jacobian(101, 1.5e4);
    assert_true(error < 1e-3 && error > 1e-6);
}

/* 1e-14 of E is not seen: the increment becomes larger. */
static void all_are_visible(void **state)
{
    (void)state;
    for (double y = 1e3; y < 1e9; y *= 10) {
        double error = error_of_jacobian(y, 1.5e6);
        if (!(error < 1e-6)) fail_msg("y = %g: J is wrong by %.1e", y, error);
    }
}

/* ---- the time at which a guard is zero, in an autonomous problem ----------------------------------------------- */

static int steady(const costate_point *x, double *out, void *ctx) { (void)x; (void)ctx; out[0] = 1; return 0; }
static int no_change(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x; (void)dx; (void)ctx;
    out[0] = 0;
    return 0;
}
static int nothing(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x; (void)w; (void)g; (void)ctx;
    return 0;
}
static int due(const costate_point *x, double *e, void *ctx) { (void)ctx; e[0] = x->t - x->p[0]; return 0; }
static int tripled(const costate_point *x, double *y, void *ctx) { (void)ctx; y[0] = 3 * x->y[0]; return 0; }

/* y' = 1, and y becomes 3 y when t = p: y(1) = 3 (y0 + p) + 1 - p.  `autonomous` says that f does not depend on t;
   guards do, and the t-part of their adjoint, here by differences, tells how the event moves with p. */
static void test_guards_depend_on_time(void **state)
{
    (void)state;
    const costate_event event = {.guard = {.value = due}, .jump = {.value = tripled}};
    const costate_problem P = {.n = 1, .np = 1, .nevents = 1, .event = &event,
                               .rhs = {.value = steady, .tangent = no_change, .adjoint = nothing}};
    const costate_options o = {.autonomous = 1, .differences = 1};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    costate_tape *tape = costate_tape_new();
    double p = 0.4, y = 0.5, lambda = 1, mu = 0, V = 0, dp = 1;
    CHECK_OK(c, costate_integrate(c, 0, 1, &y, &p, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, &lambda, &mu, NULL, NULL));
    CHECK_OK(c, costate_tangent(c, tape, 1, &V, &dp, NULL, NULL));
    assert_true(fabs(y - 3.3) < 1e-12 && fabs(lambda - 3) < 1e-8);
    if (!(fabs(mu - 2) < 1e-8 && fabs(V - 2) < 1e-8)) fail_msg("gradient %g, tangent %g, instead of 2", mu, V);
    costate_tape_free(tape);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(missing_ones), cmocka_unit_test(tolerances_are_units),
                                       cmocka_unit_test(small_ones_are_sharp), cmocka_unit_test(all_are_visible),
                                       cmocka_unit_test(test_guards_depend_on_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
