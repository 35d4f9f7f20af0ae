/* test_check.c - the public checks find a planted error in each callback and name the entry, and pass what is right. */
#include "common.h"
#include "formula.h"

/* ---- planted errors: entry `row` of the product, in the direction of input `input`, is off by a factor ----------- */

typedef struct { const problem *b; int where, row, input; } plant;      /* input: y, then p, then t */
enum { TANGENT, ADJOINT, TANGENT2, ADJOINT_TANGENT, JAC, NOTHING };

static double entry(const plant *s, const costate_point *dx)
{
    int n = s->b->P.n, np = s->b->P.np;
    if (s->input < n) return dx->y ? dx->y[s->input] : 0;
    return s->input < n + np ? (dx->p ? dx->p[s->input - n] : 0) : dx->t;
}

static void add_to(const plant *s, const costate_gradient *g, double x)
{
    int n = s->b->P.n, np = s->b->P.np;
    if (s->input < n) { if (g->y) g->y[s->input] += x; }
    else if (s->input < n + np) { if (g->p) g->p[s->input - n] += x; }
    else if (g->t) *g->t += x;
}

static int value(const costate_point *x, double *out, void *ctx) { const plant *s = ctx; return formula_rhs_value(x, out, s->b->P.ctx); }
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const plant *s = ctx;
    int r = formula_rhs_tangent(x, dx, out, s->b->P.ctx);
    if (s->where == TANGENT) out[s->row] += 1e-3 * entry(s, dx);
    return r;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const plant *s = ctx;
    if (s->where == ADJOINT) add_to(s, g, 1e-3 * w[s->row]);
    return formula_rhs_adjoint(x, w, g, s->b->P.ctx);
}
static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const plant *s = ctx;
    int r = formula_rhs_tangent2(x, a, b, out, s->b->P.ctx);
    if (s->where == TANGENT2) out[s->row] += 1e-2 * (a->y ? a->y[0] : 0) * entry(s, b);
    return r;
}
static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g, void *ctx)
{
    const plant *s = ctx;
    if (s->where == ADJOINT_TANGENT) add_to(s, g, 1e-2 * w[s->row] * (dx->y ? dx->y[0] : 0));
    return formula_rhs_adjoint_tangent(x, dx, w, g, s->b->P.ctx);
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    const plant *s = ctx;
    int r = formula_jac(x, J, s->b->P.ctx);
    if (s->where == JAC) J[s->input * s->b->P.n + s->row] += 1e-3;
    return r;
}

static int check(const plant *s, costate_report *r)
{
    costate_problem P = {.n = s->b->P.n, .np = s->b->P.np, .ctx = (void *)s, .jac = jac,
                         .rhs = {value, tangent, adjoint, tangent2, adjoint_tangent}};
    costate_point x = {0.37, s->b->y0, s->b->p0};
    return costate_check_problem(&P, &x, r, NULL);
}

static void planted(void **state)
{
    static const char *const names[] = {"tangent", "adjoint", "tangent2", "adjoint_tangent", "jac"};
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    costate_report r;
    (void)state;
    assert_int_equal(check(&(plant){b, NOTHING, 0, 0}, &r), COSTATE_OK);
    for (int where = TANGENT; where <= JAC; where++)
        for (int row = 0; row < 3; row++)
            for (int input = 0; input < (where == JAC ? 3 : 6); input++) {
                char wrong[32], place[32];
                plant s = {b, where, row, input};
                int status = check(&s, &r);
                double error[] = {r.tangent, r.adjoint, r.tangent2, r.adjoint_tangent, r.jac};
                snprintf(wrong, sizeof wrong, "%s WRONG", names[where]);
                if (input == 5) snprintf(place, sizeof place, "by t ");
                else snprintf(place, sizeof place, "by %c[%d] ", input < 3 ? 'y' : 'p', input < 3 ? input : input - 3);
                if (status != COSTATE_BAD_ARGUMENT || !strstr(r.text, wrong) || !strstr(r.text, place) || !(error[where] > 1e-6))
                    fail_msg("%s, row %d %s: %d: %s", wrong, row, place, status, r.text);
                if (where != ADJOINT && where != ADJOINT_TANGENT) {          /* an adjoint's rows come summed */
                    snprintf(place, sizeof place, "WRONG: row %d by", row);
                    if (!strstr(r.text, place)) fail_msg("%s, row %d: %s", wrong, row, r.text);
                }
            }
}

static int outside(const costate_point *x, double *J, void *ctx)     /* in the pattern of its diagonal */
{
    double full[9];
    (void)ctx;
    formula_jac(x, full, problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0)->P.ctx);
    for (int j = 0; j < 3; j++) J[j] = full[4 * j];
    return 0;
}

/* An entry that the pattern leaves out is an error of jac. */
static void left_out(void **state)
{
    static const int col[] = {0, 1, 2, 3}, row[] = {0, 1, 2};
    const costate_pattern diagonal = {3, col, row};
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    costate_problem P = b->P;
    costate_report r;
    (void)state;
    P.pattern = &diagonal;
    P.jac = outside;
    assert_int_equal(costate_check_problem(&P, &(costate_point){0.4, b->y0, b->p0}, &r, NULL), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "jac WRONG"));
}

static void right(const problem *b)
{
    costate_report r, cost;
    int status = costate_check_problem(&b->P, &(costate_point){b->t0 + 0.1, b->y0, b->p0}, &r, &cost);
    if (status != COSTATE_OK) fail_msg("%s: %s %s", b->name, r.text, b->P.nq ? cost.text : "");
    assert_true(r.tangent < 1e-6 && r.adjoint < 1e-6 && r.tangent2 < 1e-6 && r.adjoint_tangent < 1e-6 && r.jac < 1e-6);
    assert_true(strstr(r.text, "WRONG") == NULL && isnan(r.taylor));
    if (b->P.nq) assert_true(cost.adjoint_tangent < 1e-6 && isnan(cost.jac));
}

static void all_right(void **state)
{
    const problem *b;
    (void)state;
    for (int k = 0; (b = problem_at(k)); k++) right(b);
    for (int k = 0; (b = problem_synthetic_at(k)); k++) right(b);
    problem *grid = problem_brusselator(12);
    right(grid);
    problem_free(grid);
}

/* Callbacks that are not given are not judged; one that fails is a status. */
static int gives_up(const costate_point *x, double *out, void *ctx) { (void)x, (void)out, (void)ctx; return -1; }

static void parts(void **state)
{
    const problem *b = problem_find("lv");
    costate_map map = {.value = b->P.rhs.value, .adjoint = b->P.rhs.adjoint};
    costate_point x = {0, b->y0, b->p0};
    costate_report r;
    (void)state;
    assert_int_equal(costate_check_map(&map, 2, 4, 2, &x, b->P.ctx, &r), COSTATE_OK);
    assert_true(r.adjoint < 1e-8 && isnan(r.tangent) && isnan(r.tangent2) && isnan(r.jac));
    map = b->P.rhs;
    map.value = gives_up;
    assert_int_equal(costate_check_map(&map, 2, 4, 2, &x, b->P.ctx, &r), COSTATE_CALLBACK);
    assert_non_null(strstr(r.text, "-1"));
}

/* ---- whole runs ---------------------------------------------------------------------------------------------------- */

static void runs(void **state)
{
    const costate_method *m = *state;
    for (int k = 0; k < PROBLEM_SYNTHETICS; k += 3) {
        const problem *b = problem_synthetic_at(k);
        if (!method_takes(m, b->mass)) continue;
        costate_report r;
        double y[5] = {b->y0[0], b->y0[1], b->y0[2], 0.3, 0.1}, before[5];
        costate *c = costate_new(m, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
        memcpy(before, y, sizeof y);
        CHECK_OK(c, costate_check_adjoint(c, b->t0, b->t1, y, b->p0, &r));
        assert_memory_equal(y, before, sizeof y);
        if (!(r.transpose <= 1e-12 && fabs(r.taylor - 4) < 0.3)) fail_msg("%s, %s: %s", method_name(m), b->name, r.text);
        costate_free(c);
    }
}

/* A wrong adjoint fails the transpose, a wrong tangent (with the adjoint to match) the Taylor test. */
static void wrong_runs(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    for (int where = TANGENT; where <= ADJOINT; where++) {
        plant s = {b, where, 1, 3};
        costate_problem P = {.n = 3, .np = 2, .ctx = &s, .jac = jac, .rhs = {value, tangent, adjoint, tangent2, adjoint_tangent}};
        costate_report r;
        costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
        int status = costate_check_adjoint(c, b->t0, b->t1, b->y0, b->p0, &r);
        if (status != COSTATE_BAD_ARGUMENT || !strstr(r.text, "WRONG") || !(r.transpose > 1e-8)) fail_msg("%s: %d: %s", method_name(m), status, r.text);
        if (where == TANGENT && !(fabs(r.taylor - 4) > 1)) fail_msg("%s: %s", method_name(m), r.text);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(planted), cmocka_unit_test(left_out), cmocka_unit_test(all_right), cmocka_unit_test(parts)};
    return cmocka_run_group_tests(once, NULL, NULL) + run_by_method("check_adjoint passes", runs) + run_by_method("check_adjoint finds", wrong_runs);
}
