/* test_bvp_check.c - costate_check_bvp passes problems whose products are right, finds each that is wrong, says which,
   and leaves the solution as it was. */
#include "bvp_common.h"

enum { NS = 3, NP = 2, NQ = 2, N = NS + NQ };

static const char *const names[] = {"gauss3", "radau2a", "lobatto3a4", "sdirk4a", "trbdf2", "gauss1", "radau2a1",
                                    "sdirk2b"};
enum { NAMES = sizeof names / sizeof *names };

/* ---- what is right ---- */

static void right(void **state)
{
    const costate_method *m = *state;
    for (int form = 0; form < BVPS_FORMS; form++)
        for (int second = 0; second < 2; second++) {
            bvps *s = bvps_tangled(&(bvps_spec){.seed = 14, .n = NS, .np = NP, .pieces = 3,
                                                .kind = {form, second, 0}});
            assert_non_null(s);
            const costate_bvp_options o = bvps_options(s, 1e-4);
            costate_map *rhs = form == BVPS_RESIDUAL ? &s->P.residual : &s->P.rhs;
            if (!second) rhs->adjoint_tangent = NULL;
            costate_bvp *c = costate_bvp_new(m, &s->P, &s->C, &o);
            costate_report r;
            double before[N], after[N];
            CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
            CHECK_BVP(c, costate_bvp_eval(c, 0.9, before));
            if (costate_check_bvp(c, s->a, s->b, s->p, &r) != COSTATE_OK)
                fail_msg("%s, form %d, second %d: %s", method_name(m), form, second, r.text);
            if (!(r.transpose <= 1e-12 && r.taylor <= 1e-8))
                fail_msg("%s, form %d: transpose %.1e, taylor %.1e", method_name(m), form, r.transpose, r.taylor);
            if (second && !(r.symmetry <= 1e-12 && r.hessian <= 1e-8))
                fail_msg("%s, form %d: symmetry %.1e, hessian %.1e", method_name(m), form, r.symmetry, r.hessian);
            if (!second) assert_true(r.hessian != r.hessian);
            assert_true(strlen(r.text) > 10);
            CHECK_BVP(c, costate_bvp_eval(c, 0.9, after));
            assert_true(relative_gap(N, after, before) <= 1e-13);
            costate_bvp_free(c);
            bvps_free(s);
        }
}

/* meshes of thousands of intervals: differences of ends that move points from one to the next would be seen */
static void fine(void **state)
{
    static const char *const low[] = {"gauss1", "sdirk2b", "lobatto3a2", "gauss4"};
    (void)state;
    for (int k = 0; k < BVPS_ORACLES; k++)
        for (int l = 0; l < 4; l++) {
            bvps *s = bvps_oracle(k, (bvps_kind){.jac = 1});
            assert_non_null(s);
            const costate_bvp_options o = bvps_options(s, l < 3 ? 1e-5 : 1e-8);
            costate_bvp *c = costate_bvp_new(costate_method_find(low[l]), &s->P, &s->C, &o);
            costate_report r;
            if (costate_check_bvp(c, s->a, s->b, s->p, &r) != COSTATE_OK)
                fail_msg("%s, %s, %d intervals: %s", low[l], s->name, costate_bvp_intervals(c), r.text);
            costate_bvp_free(c);
            bvps_free(s);
        }
}

/* ---- what is wrong by a thousandth, in one product ---- */

/* ctx is the problem, whose own callbacks are right */
static const bvps *right_one(const void *ctx) { return ctx; }
static int spoil(int status, double *out)
{
    if (out) out[0] += 1e-3 * (1 + fabs(out[0]));
    return status;
}
static int bad_tangent(const costate_point *x, const costate_point *dx, double *out, void *s)
{
    return spoil(right_one(s)->P.rhs.tangent(x, dx, out, s), out);
}
static int bad_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *s)
{
    return spoil(right_one(s)->P.rhs.adjoint(x, w, g, s), g->p);
}
static int bad_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                      void *s)
{
    return spoil(right_one(s)->P.rhs.adjoint_tangent(x, dx, w, g, s), g->y);
}
static int bad_cost(const costate_point *x, const double *w, const costate_gradient *g, void *s)
{
    return spoil(right_one(s)->P.cost.adjoint(x, w, g, s), g->y);
}
static int bad_ends(const costate_point *x, const costate_point *dx, double *out, void *s)
{
    return spoil(right_one(s)->C.map.tangent(x, dx, out, s), out);
}
static int bad_ends_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *s)
{
    return spoil(right_one(s)->C.map.adjoint(x, w, g, s), g->p);
}

static void found(const bvps *s, int k, const costate_problem *P, const costate_conditions *C)
{
    const costate_bvp_options o = bvps_options(s, 1e-4);
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), P, C, &o);
    costate_report r;
    int status = costate_check_bvp(c, s->a, s->b, s->p, &r);
    if (status != COSTATE_CHECK_FAILED || strlen(r.text) < 10)
        fail_msg("wrong product %d: %s: %s", k, costate_status_name(status), r.text);
    costate_bvp_free(c);
}

static void wrong(void **state)
{
    (void)state;
    bvps *s = bvps_tangled(&(bvps_spec){.seed = 14, .n = NS, .np = NP, .pieces = 3, .kind = {.jac = 1}});
    assert_non_null(s);
    for (int k = 0; k < 6; k++) {
        costate_problem P = s->P;
        costate_conditions C = s->C;
        switch (k) {
        case 0: P.rhs.tangent = bad_tangent; break;
        case 1: P.rhs.adjoint = bad_adjoint; break;
        case 2: P.rhs.adjoint_tangent = bad_second; break;
        case 3: P.cost.adjoint = bad_cost; break;
        case 4: C.map.tangent = bad_ends; break;
        default: C.map.adjoint = bad_ends_adjoint;
        }
        found(s, k, &P, &C);
    }
    bvps_free(s);
}

/* ---- states of 1e-170, the squares of which are 0: y' = p y, f_p wrong by a half in both products ---- */

static int growth(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->p[0] * x->y[0];
    return 0;
}
static int growth_tangent(const costate_point *x, const costate_point *dx, double *out, void *wrong)
{
    out[0] = dx->y ? x->p[0] * dx->y[0] : 0;
    if (dx->p) out[0] += (wrong ? 1.5 : 1) * dx->p[0] * x->y[0];
    return 0;
}
static int growth_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *wrong)
{
    if (g->y) g->y[0] += x->p[0] * w[0];
    if (g->p) g->p[0] += (wrong ? 1.5 : 1) * w[0] * x->y[0];
    return 0;
}
static int growth_jac(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    J[0] = x->p[0];
    return 0;
}
static int from_tiny(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[0] - 1e-170;
    return 0;
}
static int from_tiny_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = dx->y ? dx->y[0] : 0;
    return 0;
}
static int from_tiny_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += w[0];
    return 0;
}

/* all products, or tangents or adjoints alone, which are compared with differences */
static void tiny(void **state)
{
    static const char *const says[] = {"transposes differ", "tangents and differences", "adjoints and differences"};
    int wrong = 1;
    (void)state;
    for (int k = 0; k < 6; k++) {
        costate_problem P = {.n = 1, .np = 1, .ctx = k % 2 ? &wrong : NULL, .jac = growth_jac,
                             .rhs = {.value = growth, .tangent = growth_tangent, .adjoint = growth_adjoint}};
        costate_conditions C = {
            .map = {.value = from_tiny, .tangent = from_tiny_tangent, .adjoint = from_tiny_adjoint}, .count = 1};
        if (k / 2 == 1) P.rhs.adjoint = C.map.adjoint = NULL;
        if (k / 2 == 2) P.rhs.tangent = C.map.tangent = NULL;
        const costate_bvp_options o = {.rtol = 1e-8, .atol = 1e-180};
        costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &P, &C, &o);
        costate_report r;
        int status = costate_check_bvp(c, 0, 1, (double[]){0.7}, &r);
        if (status != (k % 2 ? COSTATE_CHECK_FAILED : COSTATE_OK) || !strstr(r.text, says[k / 2]))
            fail_msg("%s: %s: %s", k % 2 ? "wrong" : "right", costate_status_name(status), r.text);
        costate_bvp_free(c);
    }
}

/* ---- what varies beside much that does not: u'' = -p u + 0.2 sin u, u(0) = 1, u(1) = p, y = D + u ---- */

typedef struct { double D; int wrong; } beside_much;

static int pull(const costate_point *x, double *out, void *ctx)
{
    double u = x->y[0] - ((const beside_much *)ctx)->D;
    out[0] = x->y[1];
    out[1] = -x->p[0] * u + 0.2 * sin(u);
    return 0;
}
static int pull_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double u = x->y[0] - ((const beside_much *)ctx)->D;
    out[0] = dx->y ? dx->y[1] : 0;
    out[1] = (dx->y ? (-x->p[0] + 0.2 * cos(u)) * dx->y[0] : 0) - (dx->p ? dx->p[0] * u : 0);
    return 0;
}
static int pull_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double u = x->y[0] - ((const beside_much *)ctx)->D;
    if (g->y) g->y[0] += (-x->p[0] + 0.2 * cos(u)) * w[1], g->y[1] += w[0];
    if (g->p) g->p[0] -= w[1] * u;
    return 0;
}
static int pull_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                       void *ctx)
{
    const beside_much *b = ctx;
    double u = x->y[0] - b->D, wrong = b->wrong ? 1.01 : 1;
    if (g->y) g->y[0] -= (wrong * (dx->p ? dx->p[0] : 0) + 0.2 * sin(u) * (dx->y ? dx->y[0] : 0)) * w[1];
    if (g->p) g->p[0] -= wrong * (dx->y ? dx->y[0] : 0) * w[1];
    return 0;
}
static int held(const costate_point *x, double *out, void *ctx)
{
    const beside_much *b = ctx;
    out[0] = x->y[0] - b->D - 1;
    out[1] = x->y[2] - b->D - x->p[0];
    return 0;
}
static int held_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = dx->y ? dx->y[0] : 0;
    out[1] = (dx->y ? dx->y[2] : 0) - (dx->p ? dx->p[0] : 0);
    return 0;
}
static int held_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += w[0], g->y[2] += w[1];
    if (g->p) g->p[0] -= w[1];
    return 0;
}
static int held_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                       void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;
}

static void beside(void **state)
{
    (void)state;
    for (double D = 1; D < 2e9; D *= 10)
        for (int wrong = 0; wrong < 2; wrong++) {
            beside_much b = {D, wrong};
            const costate_problem P = {.n = 2, .np = 1, .ctx = &b,
                                       .rhs = {.value = pull, .tangent = pull_tangent, .adjoint = pull_adjoint,
                                               .adjoint_tangent = pull_second}};
            const costate_conditions C = {.map = {.value = held, .tangent = held_tangent, .adjoint = held_adjoint,
                                                  .adjoint_tangent = held_second}, .count = 2};
            const costate_bvp_options o = {.rtol = 1e-12, .atol = 1e-6};
            costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &P, &C, &o);
            costate_report r;
            int status = costate_check_bvp(c, 0, 1, (double[]){1.3}, &r);
            if (status != (wrong ? COSTATE_CHECK_FAILED : COSTATE_OK))
                fail_msg("D = %g, %s: %s: %s", D, wrong ? "wrong" : "right", costate_status_name(status), r.text);
            costate_bvp_free(c);
        }
}

/* ---- arguments; a run that fails ---- */

static void arguments(void **state)
{
    (void)state;
    bvps *s = bvps_find("B3c", (bvps_kind){.jac = 1});
    assert_non_null(s);
    costate_bvp_options o = {.max_mesh = 20};
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &s->P, &s->C, &o);
    costate_report r;
    assert_int_equal(costate_check_bvp(c, 0, 1, s->p, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_bvp(NULL, 0, 1, s->p, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_bvp(c, 0, NAN, s->p, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "b = "));
    assert_int_equal(costate_check_bvp(c, 0, 1, NULL, &r), COSTATE_BAD_ARGUMENT);
    s->p[0] = 1e-4;
    assert_int_equal(costate_check_bvp(c, 0, 1, s->p, &r), COSTATE_MESH_LIMIT);
    assert_non_null(strstr(r.text, "max_mesh"));
    s->p[0] = 0.3;
    CHECK_BVP(c, costate_check_bvp(c, 0, 1, s->p, &r));
    costate_bvp_free(c);
    bvps_free(s);
}

int main(void)
{
    struct CMUnitTest tests[5 + NAMES] = {cmocka_unit_test(wrong), cmocka_unit_test(arguments), cmocka_unit_test(fine),
                                          cmocka_unit_test(tiny), cmocka_unit_test(beside)};
    for (int k = 0; k < NAMES; k++)
        tests[5 + k] = (struct CMUnitTest){names[k], right, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k])};
    return cmocka_run_group_tests_name("checks of boundary value problems", tests, NULL, NULL);
}
