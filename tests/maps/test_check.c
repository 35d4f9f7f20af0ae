/* test_check.c - the public checks find a planted error in each callback and name the entry, and pass what is right. */
#include "alloc.h"
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

static int value(const costate_point *x, double *out, void *ctx)
{
    const plant *s = ctx;
    return formula_rhs_value(x, out, s->b->P.ctx);
}
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
static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
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
                         .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                 .adjoint_tangent = adjoint_tangent}};
    costate_point x = {.t = 0.37, .y = s->b->y0, .p = s->b->p0};
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
                char wrong[32], place[64];
                plant s = {b, where, row, input};
                int status = check(&s, &r);
                double error[] = {r.tangent, r.adjoint, r.tangent2, r.adjoint_tangent, r.jac};
                snprintf(wrong, sizeof wrong, "%s WRONG", names[where]);
                if (input == 5) snprintf(place, sizeof place, "with respect to t ");
                else snprintf(place, sizeof place, "with respect to %c[%d] ", "yp"[input / 3], input % 3);
                if (status != COSTATE_CHECK_FAILED || !strstr(r.text, wrong) || !strstr(r.text, place) ||
                    !(error[where] > 1e-6))
                    fail_msg("%s, row %d %s: %d: %s", wrong, row, place, status, r.text);
                if (where != ADJOINT && where != ADJOINT_TANGENT) {          /* an adjoint's rows come summed */
                    snprintf(place, sizeof place, "WRONG: row %d with", row);
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
    assert_int_equal(costate_check_problem(&P, &(costate_point){.t = 0.4, .y = b->y0, .p = b->p0}, &r, NULL),
                     COSTATE_CHECK_FAILED);
    assert_non_null(strstr(r.text, "jac WRONG"));
}

static int no_number(const costate_point *x, double *J, void *ctx)
{
    int r = formula_jac(x, J, ctx);
    J[5] = NAN;
    return r;
}

/* NaN in one entry of jac is named, not seen in all columns */
static void one_nan(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    costate_problem P = b->P;
    costate_report r;
    (void)state;
    P.jac = no_number;
    assert_int_equal(costate_check_problem(&P, &(costate_point){.t = 0.4, .y = b->y0, .p = b->p0}, &r, NULL),
                     COSTATE_CHECK_FAILED);
    if (!strstr(r.text, "jac WRONG: row 2 with respect to y[1] is")) fail_msg("%s", r.text);
}

static void right(const problem *b)
{
    costate_report r, cost;
    int status = costate_check_problem(&b->P, &(costate_point){.t = b->t0 + 0.1, .y = b->y0, .p = b->p0}, &r, &cost);
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

static int unset(const costate_point *x, double *out, void *ctx) { (void)x, (void)out, (void)ctx; return 0; }
static int no_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)dx;
    return gives_up(x, out, ctx);
}

static void parts(void **state)
{
    const problem *b = problem_find("lv");
    costate_map map = {.value = b->P.rhs.value, .adjoint = b->P.rhs.adjoint};
    costate_point x = {.y = b->y0, .p = b->p0};
    costate_report r;
    (void)state;
    assert_int_equal(costate_check_map(&map, 2, 4, 2, &x, b->P.ctx, &r), COSTATE_OK);
    assert_true(r.adjoint < 1e-8 && isnan(r.tangent) && isnan(r.tangent2) && isnan(r.jac));
    map = (costate_map){.value = b->P.rhs.value, .tangent2 = b->P.rhs.tangent2};     /* nothing to compare it with */
    assert_int_equal(costate_check_map(&map, 2, 4, 2, &x, b->P.ctx, &r), COSTATE_OK);
    assert_true(isnan(r.tangent2));
    map = (costate_map){.value = unset, .tangent = no_tangent};                      /* no value, no derivative */
    assert_int_equal(costate_check_map(&map, 2, 4, 2, &x, b->P.ctx, &r), COSTATE_CHECK_FAILED);
    assert_non_null(strstr(r.text, "value WRONG: row 0 of 2"));
    map = b->P.rhs;
    map.value = gives_up;
    assert_int_equal(costate_check_map(&map, 2, 4, 2, &x, b->P.ctx, &r), COSTATE_CALLBACK);
    assert_non_null(strstr(r.text, "-1"));
}

/* sin y changes over 1, however large y is: differences look for the length of their steps.  *ctx: the error */
static int fast_value(const costate_point *x, double *out, void *ctx) { (void)ctx; out[0] = sin(x->y[0]); return 0; }
static int fast_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *error = ctx;
    out[0] = dx->y ? cos(x->y[0]) * dx->y[0] * (1 + *error) : 0;
    return 0;
}

static void fast(void **state)
{
    const costate_map map = {.value = fast_value, .tangent = fast_tangent};
    (void)state;
    for (double y = 1; y <= 1e7; y *= 10)
        for (int wrong = 0; wrong <= 1; wrong++) {
            double error = wrong ? 1e-4 : 0;
            costate_report r;
            int status = costate_check_map(&map, 1, 0, 1, &(costate_point){.y = &y}, &error, &r);
            if (status != (wrong ? COSTATE_CHECK_FAILED : COSTATE_OK)) fail_msg("y = %g: %d: %s", y, status, r.text);
        }
}

/* Parameters have units of their own: a temperature beside molecules per cm^3.  Parts of directions that are zero are
   NULL. */
enum { WITHOUT_Y = 1, WITHOUT_P = 2 };
static int rate_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = exp(-300 / x->p[0]) + x->p[1] * x->y[0] / 2e19;
    return 0;
}
static int rate_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    *(int *)ctx |= dx->y ? WITHOUT_P * !dx->p : WITHOUT_Y * (dx->p != NULL);
    out[0] = dx->y ? x->p[1] / 2e19 * dx->y[0] : 0;
    if (dx->p) out[0] += exp(-300 / x->p[0]) * 300 / (x->p[0] * x->p[0]) * dx->p[0] + x->y[0] / 2e19 * dx->p[1];
    return 0;
}

static void units(void **state)
{
    const costate_map map = {.value = rate_value, .tangent = rate_tangent};
    const double y = 1, p[] = {298, 2e19};
    costate_report r;
    int seen = 0;
    (void)state;
    if (costate_check_map(&map, 1, 2, 1, &(costate_point){.y = &y, .p = p}, &seen, &r)) fail_msg("%s", r.text);
    assert_int_equal(seen, WITHOUT_Y | WITHOUT_P);
}

/* ---- whole runs -------------------------------------------------------------------------------------------------- */

static void runs(void **state)
{
    const costate_method *m = *state;
    for (int k = 0; k < PROBLEM_SYNTHETICS; k += 3) {
        const problem *b = problem_synthetic_at(k);
        if (!method_takes(m, b->mass)) continue;
        costate_report r;
        double y[5] = {b->y0[0], b->y0[1], b->y0[2], 0.3, 0.1}, before[5];
        costate *c = new_for_test(m, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
        memcpy(before, y, sizeof y);
        CHECK_OK(c, costate_check_adjoint(c, b->t0, b->t1, y, b->p0, &r));
        assert_memory_equal(y, before, sizeof y);
        if (!(r.transpose <= 1e-12 && fabs(r.taylor - 4) < 0.3))
            fail_msg("%s, %s: %s", method_name(m), b->name, r.text);
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
        costate_problem P = {.n = 3, .np = 2, .ctx = &s, .jac = jac,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                     .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent}};
        costate_report r;
        costate *c = new_for_test(m, &P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
        int status = costate_check_adjoint(c, b->t0, b->t1, b->y0, b->p0, &r);
        if (status != COSTATE_CHECK_FAILED || !strstr(r.text, "WRONG") || !(r.transpose > 1e-8))
            fail_msg("%s: %d: %s", method_name(m), status, r.text);
        if (where == TANGENT && !(fabs(r.taylor - 4) > 1)) fail_msg("%s: %s", method_name(m), r.text);
        costate_free(c);
    }
}

/* ---- bad arguments: a status and a sentence, no callback called, nothing allocated ------------------------------- */

static long touched;

static int touch_value(const costate_point *x, double *out, void *ctx)
{
    (void)x, (void)out, (void)ctx;
    touched++;
    return 0;
}
static int touch_mass(double *M, void *ctx) { (void)M, (void)ctx; touched++; return 0; }
static int touch_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)dx, (void)out, (void)ctx;
    touched++;
    return 0;
}
static int touch_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)w, (void)g, (void)ctx;
    touched++;
    return 0;
}
static int touch_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                          void *ctx)
{
    (void)b;
    return touch_tangent(x, a, out, ctx);
}
static int touch_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                 const costate_gradient *g, void *ctx)
{
    (void)dx;
    return touch_adjoint(x, w, g, ctx);
}
static const costate_map touching = {.value = touch_value, .tangent = touch_tangent, .adjoint = touch_adjoint,
                                     .tangent2 = touch_tangent2, .adjoint_tangent = touch_adjoint_tangent};

/* What a draw may spoil, and the status that must follow. */
enum { X_NULL, X_T, X_Y_NULL, X_Y, X_P_NULL, X_P, N_ZERO, N_HUGE, NP_NEGATIVE, SUM_HUGE, REPORT_NULL, P_NULL, NO_VALUE,
       K_BAD, K_HUGE, MAP_FAULTS, NO_COST = MAP_FAULTS, PATTERN_N, PATTERN_COL, PATTERN_START, PATTERN_FALLS,
       PATTERN_ROW, PATTERN_OUTSIDE, PATTERN_TWICE, PROBLEM_FAULTS };
       /* P: the problem or its map; K: k of a map, nq of a problem */

typedef struct {
    costate_problem P;
    costate_point x;
    int k, given_P, given_x, given_r;
    double y[3], p[2];
    costate_pattern pattern;
    int col[4], row[9];
} draw;

static void drawn(draw *d, const problem *b)
{
    memset(d, 0, sizeof *d);
    d->P = b->P;
    d->k = d->P.n;
    d->given_P = d->given_x = d->given_r = 1;
    d->pattern = (costate_pattern){3, d->col, d->row};
    memcpy(d->col, b->P.pattern->col, sizeof d->col);
    memcpy(d->row, b->P.pattern->row, (size_t)d->col[3] * sizeof *d->row);
    d->P.pattern = &d->pattern;
    memcpy(d->y, b->y0, sizeof d->y);
    memcpy(d->p, b->p0, sizeof d->p);
    d->x = (costate_point){.t = 0.4, .y = d->y, .p = d->p};
}

static double not_finite(int k) { return k % 3 == 0 ? NAN : k % 3 == 1 ? HUGE_VAL : -HUGE_VAL; }

static void spoil(draw *d, int fault, int r)
{
    costate_problem *P = &d->P;
    switch (fault) {
    case X_NULL: d->given_x = 0; break;
    case X_T: d->x.t = not_finite(r); break;
    case X_Y_NULL: d->x.y = NULL; break;
    case X_Y: d->y[r % 3] = not_finite(r / 3); break;
    case X_P_NULL: d->x.p = NULL; break;
    case X_P: d->p[r % 2] = not_finite(r / 2); break;
    case N_ZERO: P->n = r % 2 ? 0 : -3 - r; break;
    case N_HUGE: P->n = r % 2 ? INT32_MAX : (1 << 30) + 1; break;
    case NP_NEGATIVE: P->np = r % 2 ? -1 : INT32_MIN; break;
    case SUM_HUGE: P->np = r % 2 ? INT32_MAX : 1 << 30; break;
    case REPORT_NULL: d->given_r = 0; break;
    case P_NULL: d->given_P = 0; break;
    case NO_VALUE: P->rhs.value = NULL; break;
    case K_BAD: d->k = r % 2 ? 0 : INT32_MIN; P->nq = -1 - r; break;
    case K_HUGE: d->k = P->nq = r % 2 ? INT32_MAX : (1 << 30) + 1; break;
    case NO_COST: P->cost.value = NULL; break;
    case PATTERN_N: d->pattern.n = r % 2 ? 2 : -1; break;
    case PATTERN_COL: d->pattern.col = NULL; break;
    case PATTERN_START: d->col[0] = r % 2 ? 1 : -1; break;
    case PATTERN_FALLS: d->col[2] = r % 2 ? -5 : d->col[1] - 1; break;
    case PATTERN_ROW: d->pattern.row = NULL; break;
    case PATTERN_OUTSIDE: d->row[r % d->col[3]] = r % 2 ? 3 : -1; break;
    case PATTERN_TWICE: d->row[1] = d->row[0]; break;
    default: break;
    }
}

static void shows_refusal(const char *call, const draw *d, int status, const costate_report *r, unsigned spoilt)
{
    if (status != COSTATE_BAD_ARGUMENT && status != COSTATE_MISSING)
        fail_msg("%s, faults %#x: status %d", call, spoilt, status);
    if (touched) fail_msg("%s, faults %#x: %ld calls of callbacks", call, spoilt, touched);
    if (alloc_calls()) fail_msg("%s, faults %#x: %ld allocations", call, spoilt, alloc_calls());
    if (!d->given_r) return;
    size_t length = strlen(r->text);
    if (length < 10 || r->text[length - 1] != '.') fail_msg("%s, faults %#x: '%s'", call, spoilt, r->text);
    if (!isnan(r->tangent) || !isnan(r->jac)) fail_msg("%s, faults %#x: judged although refused", call, spoilt);
}

/* faults of the draw: for i < count, bit i */
static void refused(const problem *b, unsigned faults, int r, int whole)
{
    draw d;
    costate_report report = {.text = "?"}, cost = {.text = "?"};
    drawn(&d, b);
    d.P.rhs = d.P.cost = touching;
    d.P.jac = touch_value;
    d.P.mass = touch_mass;
    for (int f = 0; f < PROBLEM_FAULTS; f++) if (faults >> f & 1) spoil(&d, f, r);
    touched = 0;
    alloc_fail_at(0);
    const costate_point *x = d.given_x ? &d.x : NULL;
    if (whole) {
        int status = costate_check_problem(d.given_P ? &d.P : NULL, x, d.given_r ? &report : NULL,
                                           r % 2 ? &cost : NULL);
        shows_refusal("costate_check_problem", &d, status, &report, faults);
        if (d.given_r && r % 2) assert_true(isnan(cost.tangent));
    } else {
        int status = costate_check_map(d.given_P ? &d.P.rhs : NULL, d.P.n, d.P.np, d.k, x, NULL,
                                       d.given_r ? &report : NULL);
        shows_refusal("costate_check_map", &d, status, &report, faults);
    }
}

static void bad_arguments(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1);
    unsigned seed = 5;
    (void)state;
    for (int whole = 0; whole <= 1; whole++) {
        int count = whole ? PROBLEM_FAULTS : MAP_FAULTS;
        for (int f = 0; f < count; f++) for (int r = 0; r < 6; r++) refused(b, 1u << f, r, whole);
        for (int k = 0; k < 5000; k++) {                 /* some at once */
            unsigned faults = 0;
            int r = (int)((random_in(&seed) + 1) * 500);
            do faults |= 1u << (int)((random_in(&seed) + 1) / 2 * count); while (random_in(&seed) > -0.3);
            refused(b, faults, r, whole);
        }
    }
    draw d;                                              /* and the draw itself is sound */
    costate_report report;
    drawn(&d, b);
    assert_int_equal(costate_check_problem(&d.P, &d.x, &report, NULL), COSTATE_OK);
}

/* the sentence names the argument */
static void named(void **state)
{
    static const struct { int fault; const char *says; } table[] = {
        {X_NULL, "x is NULL"}, {X_T, "x.t"}, {X_Y_NULL, "x.y is NULL"}, {X_Y, "x.y[1]"}, {X_P_NULL, "x.p is NULL"},
        {X_P, "x.p[1]"}, {N_ZERO, "n = 0"}, {N_HUGE, "2147483647"}, {NP_NEGATIVE, "np = -1"}, {SUM_HUGE, "2147483647"},
        {NO_VALUE, "rhs.value"}, {K_BAD, "nq = -2"}, {K_HUGE, "2147483647"}, {NO_COST, "cost.value"},
        {PATTERN_N, "pattern"}};
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1);
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        draw d;
        costate_report r;
        drawn(&d, b);
        spoil(&d, table[k].fault, 1);
        costate_check_problem(&d.P, d.given_x ? &d.x : NULL, &r, NULL);
        if (!strstr(r.text, table[k].says)) fail_msg("should say '%s': %s", table[k].says, r.text);
    }
}

/* The same of whole runs; the sentence is the solver's, too. */
static void bad_runs(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    const costate_method *m = *state;
    costate *good = new_for_test(m, &b->P, NULL), *bad = costate_new(m, NULL, NULL);
    double y[3], p[2];
    costate_report r;
    memcpy(y, b->y0, sizeof y);
    memcpy(p, b->p0, sizeof p);
    const double no_y[3] = {1, NAN, 1}, no_p[2] = {HUGE_VAL, 1};
    const struct { costate *c; double t0, t1; const double *y, *p; const char *says; } table[] = {
        {NULL, 0, 1, y, p, "no solver"}, {bad, 0, 1, y, p, "problem is NULL"},
        {good, NAN, 1, y, p, "t0"}, {good, 0, -HUGE_VAL, y, p, "t1"}, {good, 0, 1, NULL, p, "y is NULL"},
        {good, 0, 1, no_y, p, "y holds"}, {good, 0, 1, y, NULL, "p is NULL"}, {good, 0, 1, y, no_p, "p holds"}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        costate *c = table[k].c;
        r = (costate_report){.text = "?"};
        alloc_fail_at(0);
        int status = costate_check_adjoint(c, table[k].t0, table[k].t1, table[k].y, table[k].p, &r);
        if (status != COSTATE_BAD_ARGUMENT || alloc_calls() || !strstr(r.text, table[k].says) || !isnan(r.transpose))
            fail_msg("'%s': %d, %ld allocations: %s", table[k].says, status, alloc_calls(), r.text);
        assert_string_equal(r.text, costate_message(c));
        status = costate_check_adjoint(c, table[k].t0, table[k].t1, table[k].y, table[k].p, NULL);
        assert_int_equal(status, COSTATE_BAD_ARGUMENT);
    }
    CHECK_OK(good, costate_integrate(good, 0, 0.01, y, p, NULL));
    costate_free(good);
    costate_free(bad);
}

/* y' = -y + c y^2, which is refused farther than `width` from y = 1 at t = 0: the nearest runs alone can be had.  Their
   remainders are c (1e-4 0.1)^2/2 or so, just above what counts as linear, and just below what a ratio takes. */
typedef struct { double c, width, wrong; } narrow;

static int narrow_value(const costate_point *x, double *out, void *ctx)
{
    const narrow *s = ctx;
    double y = x->y[0];
    out[0] = -y + s->c * y * y;
    return x->t == 0 && fabs(y - 1) > s->width ? -1 : 0;
}
static int narrow_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const narrow *s = ctx;
    out[0] = dx->y ? (-1 + 2 * s->c * x->y[0]) * dx->y[0] * (1 + s->wrong) : 0;
    return 0;
}
static int narrow_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const narrow *s = ctx;
    if (g->y) g->y[0] += (-1 + 2 * s->c * x->y[0]) * w[0] * (1 + s->wrong);
    return 0;
}

static void near_runs_alone(void **state)
{
    narrow s = {.c = 0.1, .width = 1};
    costate_problem P = {.n = 1, .ctx = &s,
                         .rhs = {.value = narrow_value, .tangent = narrow_tangent, .adjoint = narrow_adjoint}};
    costate_options o = {.rtol = 1e-6, .atol = 1e-9};
    costate_report r;
    double y = 1;
    (void)state;
    for (s.width = 1e-4; s.width > 2e-6; s.width /= 1.3)
        for (int k = 0; k < 2; k++) {
            s.wrong = k ? 1e-4 : 0;
            costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
            int status = costate_check_adjoint(c, 0, 1, &y, NULL, &r);
            if (status != COSTATE_CALLBACK && status != (k ? COSTATE_CHECK_FAILED : COSTATE_OK))
                fail_msg("width %.2e, wrong by %g: %d, %s", s.width, s.wrong, status, r.text);
            costate_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(planted), cmocka_unit_test(left_out), cmocka_unit_test(one_nan),
                                      cmocka_unit_test(all_right), cmocka_unit_test(parts),
                                      cmocka_unit_test(bad_arguments), cmocka_unit_test(named),
                                      cmocka_unit_test(fast), cmocka_unit_test(units),
                                      cmocka_unit_test(near_runs_alone)};
    return cmocka_run_group_tests(once, NULL, NULL) + run_by_method("check_adjoint passes", runs) +
           run_by_method("check_adjoint refuses", bad_runs) + run_by_method("check_adjoint finds", wrong_runs);
}
