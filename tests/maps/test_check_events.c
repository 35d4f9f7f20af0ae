/* test_check_events.c - costate_check_problem finds a planted error in each product of each map of a hybrid system, by
   memory too, and names map and entry; it passes what is right. */
#include "common.h"

enum { N = 2, NP = 2, NM = 2, INPUTS = 1 + 2 * N + NP + NM + N, ROWS = N + NM };     /* t, y (start: two), p, m, y' */
enum { AT_Y = 1, AT_P = AT_Y + 2 * N, AT_M = AT_P + NP, AT_YP = AT_M + NM };
enum { RHS, RESIDUAL, START, COST, GUARD, JUMP, IMPULSE, MAPS };
enum { TANGENT, ADJOINT, TANGENT2, ADJOINT_TANGENT, ADJOINT_TANGENT2, TANGENTS, ADJOINTS, NOTHING, UNSET };
enum { MODE = 3, OTHER = 1 };
static const int rows[MAPS] = {N, N, N, 1, 1, ROWS, 1};

/* entry `row` of a product of a map is off in the direction of an input; its value: unset, or what is set too much */
typedef struct { int map, product, row, input, unset, extra; double guard; int seen[MAPS]; } plant;

/* every row depends on every input, nonlinearly */
static void formula_of(int map, int mode, const num *in, num *out)
{
    for (int row = 0; row < rows[map]; row++) {
        num sum = number(0.3 + row), all = number(1);
        for (int i = 0; i < INPUTS; i++) {
            sum = add(sum, times(0.2 + 0.1 * ((i * 7 + row * 3 + map) % 5), sine(plus(in[i], row))));
            all = mul(all, plus(times(0.1, in[i]), 1));
        }
        out[row] = add(times(1 + mode, sum), mul(all, sum));
    }
}

static const double *part(const costate_point *x, int map, int i, int *number)
{
    int points = map == START ? 2 * N : N;
    if (i < AT_P) { *number = i - AT_Y; return *number < points ? x->y : NULL; }
    if (i < AT_M) { *number = i - AT_P; return x->p; }
    if (i < AT_YP) { *number = i - AT_M; return x->m; }
    *number = i - AT_YP;
    return map == RESIDUAL ? x->yp : NULL;
}

static double entry(const costate_point *x, int map, int i)
{
    int k;
    const double *v = i ? part(x, map, i, &k) : NULL;
    return !x ? 0 : i == 0 ? x->t : v ? v[k] : 0;
}

static void evaluate(int map, const costate_point *x, const costate_point *a, const costate_point *b, num *out)
{
    static const costate_point none = {.t = 0};
    num in[INPUTS];
    for (int i = 0; i < INPUTS; i++)
        in[i] = moving(entry(x, map, i), entry(a ? a : &none, map, i), entry(b ? b : &none, map, i));
    formula_of(map, x->mode, in, out);
}

static int planted(const plant *s, int map, int product) { return s->map == map && s->product == product; }

static double *place(const costate_gradient *g, int map, int i)
{
    costate_point x = {.y = g->y, .p = g->p, .m = g->m, .yp = g->yp};
    int k;
    const double *v = i ? part(&x, map, i, &k) : NULL;
    return i == 0 ? g->t : v ? (double *)v + k : NULL;
}

static int value(int map, const costate_point *x, double *out, void *ctx)
{
    plant *s = ctx;
    num o[ROWS];
    evaluate(map, x, NULL, NULL, o);
    for (int i = 0; i < rows[map]; i++) if (s->map != map || s->unset - 1 != i) out[i] = o[i].v;
    for (int i = 0; s->map == map && i < s->extra; i++) out[rows[map] + i] = 0;
    if (map == GUARD && s->guard != 0) out[0] = s->guard;
    s->seen[map] = x->mode;
    return 0;
}

static int tangent(int map, const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    num o[ROWS];
    const plant *s = ctx;
    evaluate(map, x, dx, NULL, o);
    for (int i = 0; i < rows[map]; i++) if (!planted(s, map, UNSET) || i != s->row) out[i] = o[i].a;
    if (planted(s, map, TANGENT)) out[s->row] += 1e-3 * entry(dx, map, s->input);
    return 0;
}

static int tangent2(int map, const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                    void *ctx)
{
    num o[ROWS];
    evaluate(map, x, a, b, o);
    for (int i = 0; i < rows[map]; i++) out[i] = o[i].ab;
    const plant *s = ctx;
    if (planted(s, map, TANGENT2)) out[s->row] += 1e-2 * entry(b, map, s->input);
    return 0;
}

/* g += F'^T w, or where there is b (F'' b)^T w */
static int transposed(int map, const costate_point *x, const costate_point *b, const double *w,
                      const costate_gradient *g)
{
    for (int i = 0; i < INPUTS; i++) {
        double *to = place(g, map, i);
        num in[INPUTS], o[ROWS];
        if (!to) continue;
        for (int j = 0; j < INPUTS; j++)
            in[j] = moving(entry(x, map, j), i == j, b ? entry(b, map, j) : 0);
        formula_of(map, x->mode, in, o);
        for (int k = 0; k < rows[map]; k++) *to += w[k] * (b ? o[k].ab : o[k].a);
    }
    return 0;
}

static int adjoint(int map, const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const plant *s = ctx;
    double *to = place(g, map, s->input);
    if (planted(s, map, ADJOINT) && to) *to += 1e-3 * w[s->row];
    return transposed(map, x, NULL, w, g);
}

static int adjoint_tangent(int map, const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g, void *ctx)
{
    const plant *s = ctx;
    double *to = place(g, map, s->input);
    if (planted(s, map, ADJOINT_TANGENT) && to) *to += 1e-2 * w[s->row];
    return transposed(map, x, dx, w, g);
}

static int adjoint_tangent2(int map, const costate_point *x, const costate_point *a, const costate_point *b,
                            const double *w, const costate_gradient *g, void *ctx)
{
    const plant *s = ctx;
    for (int i = 0; i < INPUTS; i++) {
        double *to = place(g, map, i);
        num in[INPUTS], o[ROWS];
        if (!to) continue;
        for (int j = 0; j < INPUTS; j++)
            in[j] = third(moving(entry(x, map, j), entry(a, map, j), entry(b, map, j)), number(i == j));
        formula_of(map, x->mode, in, o);
        for (int k = 0; k < rows[map]; k++) *to += w[k] * o[k].abc;
        if (planted(s, map, ADJOINT_TANGENT2) && i == s->input) *to += 1e-2 * w[s->row];
    }
    return 0;
}

static int tangents(int map, const costate_point *x, int count, const costate_point *dx, double *out, void *ctx)
{
    const plant *s = ctx;
    for (int j = 0; j < count; j++) {
        double *column = out + j * rows[map];
        int code = tangent(map, x, &dx[j], column, ctx);
        if (code != 0) return code;
        if (planted(s, map, TANGENTS)) column[s->row] += 1e-3 * entry(&dx[j], map, s->input);
    }
    return 0;
}

static int adjoints(int map, const costate_point *x, int count, const double *w, const costate_gradient *g, void *ctx)
{
    const plant *s = ctx;
    for (int j = 0; j < count; j++) {
        double *to = place(&g[j], map, s->input);
        if (planted(s, map, ADJOINTS) && to) *to += 1e-3 * w[j * rows[map] + s->row];
        adjoint(map, x, w + j * rows[map], &g[j], ctx);
    }
    return 0;
}

static int prepare(int map, const costate_point *x, void *ctx) { ((plant *)ctx)->seen[map] = x->mode; return 0; }

#define CALLBACKS(name, map) \
    static int name##_value(const costate_point *x, double *out, void *ctx) { return value(map, x, out, ctx); } \
    static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
    { return tangent(map, x, dx, out, ctx); } \
    static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
    { return adjoint(map, x, w, g, ctx); } \
    static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                               void *ctx) { return tangent2(map, x, a, b, out, ctx); } \
    static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                      const costate_gradient *g, void *ctx) \
    { return adjoint_tangent(map, x, dx, w, g, ctx); } \
    static int name##_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, \
                                       const double *w, const costate_gradient *g, void *ctx) \
    { return adjoint_tangent2(map, x, a, b, w, g, ctx); } \
    static int name##_tangents(const costate_point *x, int count, const costate_point *dx, double *out, void *ctx) \
    { return tangents(map, x, count, dx, out, ctx); } \
    static int name##_adjoints(const costate_point *x, int count, const double *w, const costate_gradient *g, \
                               void *ctx) { return adjoints(map, x, count, w, g, ctx); } \
    static int name##_prepare(const costate_point *x, void *ctx) { return prepare(map, x, ctx); }
CALLBACKS(rhs, RHS)
CALLBACKS(residual, RESIDUAL)
CALLBACKS(start, START)
CALLBACKS(cost, COST)
CALLBACKS(guard, GUARD)
CALLBACKS(jump, JUMP)
CALLBACKS(impulse, IMPULSE)
#define MAP(name) {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
                   .tangent2 = name##_tangent2, .adjoint_tangent = name##_adjoint_tangent, \
                   .tangents = name##_tangents, .adjoints = name##_adjoints, .prepare = name##_prepare, \
                   .adjoint_tangent2 = name##_adjoint_tangent2}

/* y -> y, m -> m: right, whatever is planted; only in mode OTHER */
static int same_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < N; i++) { out[i] = x->y[i]; out[N + i] = x->m[i]; }
    return x->mode == OTHER ? 0 : -1;
}

static const double times_given[] = {0.5, 0.75}, y_given[] = {0.7, -0.4}, yp_given[] = {0.3, 1.1},
                    p_given[] = {0.2, 1.3}, m_given[] = {-0.6, 0.9};
static const costate_event events[] = {
    {.ntimes = 2, .times = times_given, .jump = {.value = same_value}, .from = OTHER, .to = COSTATE_SAME_MODE},
    {.guard = MAP(guard), .jump = MAP(jump), .cost = MAP(impulse), .from = COSTATE_ANY_MODE, .to = OTHER}};

static costate_problem problem_of(plant *s, int residual)
{
    costate_problem P = {.n = N, .np = NP, .nq = 1, .nm = NM, .ctx = s, .cost = MAP(cost), .start = MAP(start),
                         .nevents = 2, .event = events};
    const costate_map f = MAP(rhs), F = MAP(residual);
    *(residual ? &P.residual : &P.rhs) = residual ? F : f;
    return P;
}

static int check(plant *s, int residual, costate_report *r, costate_report *cost)
{
    costate_problem P = problem_of(s, residual);
    costate_point x = {.t = 0.37, .y = y_given, .p = p_given, .m = m_given, .mode = MODE,
                       .yp = residual ? yp_given : NULL};
    return costate_check_problem(&P, &x, r, cost);
}

static void right(void **state)
{
    (void)state;
    for (int residual = 0; residual <= 1; residual++) {
        plant s = {.product = NOTHING};
        costate_report r, cost;
        if (check(&s, residual, &r, &cost) != COSTATE_OK) fail_msg("%s / %s", r.text, cost.text);
        assert_true(r.tangent < 1e-8 && r.adjoint < 1e-8 && r.tangent2 < 1e-8 && r.adjoint_tangent < 1e-8);
        assert_true(cost.tangent < 1e-8 && cost.adjoint < 1e-8);
        assert_true(r.adjoint_tangent2 < 1e-8 && cost.adjoint_tangent2 < 1e-8);
        assert_true(isnan(r.symmetry) && isnan(r.hessian));
        for (int map = residual ? RESIDUAL : RHS; map < MAPS; map++)
            if (map != RESIDUAL || residual) assert_int_equal(s.seen[map], MODE);
    }
}

static void name_input(int i, char *out, size_t size)
{
    if (i == 0) snprintf(out, size, "with respect to t ");
    else if (i < AT_P) snprintf(out, size, "with respect to y[%d] ", i - AT_Y);
    else if (i < AT_M) snprintf(out, size, "with respect to p[%d] ", i - AT_P);
    else if (i < AT_YP) snprintf(out, size, "with respect to m[%d] ", i - AT_M);
    else snprintf(out, size, "with respect to y'[%d] ", i - AT_YP);
}

static int acts(int map, int input)
{
    if (input >= AT_Y + N && input < AT_P) return map == START;
    return input < AT_YP || map == RESIDUAL;
}

static void one(int map, int product, int row, int input)
{
    static const char *const names[MAPS] = {"", "", "start: ", "", "event[1].guard: ", "event[1].jump: ",
                                            "event[1].cost: "};
    static const char *const products[] = {"tangent", "adjoint", "tangent2", "adjoint_tangent", "adjoint_tangent2",
                                           "tangents", "adjoints"};
    plant s = {.map = map, .product = product, .row = row, .input = input};
    costate_report r, cost;
    char wrong[64], by[64];
    int status = check(&s, map == RESIDUAL, &r, &cost);
    const costate_report *where = map == COST ? &cost : &r;
    const double errors[] = {where->tangent, where->adjoint, where->tangent2, where->adjoint_tangent,
                             where->adjoint_tangent2, where->tangent, where->adjoint};
    snprintf(wrong, sizeof wrong, "%s WRONG", products[product]);
    name_input(input, by, sizeof by);
    if (status != COSTATE_CHECK_FAILED || !strstr(where->text, names[map]) || !strstr(where->text, wrong) ||
        (product < TANGENTS && !strstr(where->text, by)) || !(errors[product] > 1e-6))
        fail_msg("%s%s, row %d %s: %d: %s", names[map], wrong, row, by, status, where->text);
}

static void wrong(void **state)
{
    (void)state;
    for (int map = 0; map < MAPS; map++)
        for (int product = TANGENT; product < NOTHING; product++)
            for (int row = 0; row < rows[map]; row++)
                for (int input = 0; input < INPUTS; input++) if (acts(map, input)) one(map, product, row, input);
}

/* Compared with tangent2, where that is missing with adjoint_tangent, where both are with nothing. */
static void third_derivatives(void **state)
{
    (void)state;
    for (int left = 0; left < 4; left++) {
        for (int input = -1; input < AT_YP; input++) {
            plant s = {.map = RHS, .product = input < 0 ? NOTHING : ADJOINT_TANGENT2, .input = input};
            costate_map f = MAP(rhs);
            costate_problem P = {.n = N, .np = NP, .nm = NM, .ctx = &s, .nevents = 1, .event = events};
            costate_point x = {.t = 0.37, .y = y_given, .p = p_given, .m = m_given, .mode = MODE};
            costate_report r;
            if (!(left & 1)) f.tangent2 = NULL;
            if (!(left & 2)) f.adjoint_tangent = NULL;
            P.rhs = f;
            if (input >= 0 && !acts(RHS, input)) continue;
            int status = costate_check_problem(&P, &x, &r, NULL), wrong = left && input >= 0;
            if (status != (wrong ? COSTATE_CHECK_FAILED : COSTATE_OK)) fail_msg("%d, %d: %s", left, input, r.text);
            if (wrong) assert_true(r.adjoint_tangent2 > 1e-6 && strstr(r.text, "adjoint_tangent2 WRONG"));
            else assert_true(left ? r.adjoint_tangent2 < 1e-8 : isnan(r.adjoint_tangent2));
        }
    }
}

/* ---- values ---- */

static void values(void **state)
{
    const struct { plant s; const char *says; } table[] = {
        {{.map = JUMP, .unset = ROWS}, "event[1].jump: value WRONG: row 3 of 4 is nan"},
        {{.map = JUMP, .unset = 1}, "event[1].jump: value WRONG: row 0 of 4 is nan"},
        {{.map = JUMP, .extra = 1}, "event[1].jump: value WRONG: it sets more than 4"},
        {{.map = IMPULSE, .extra = 1}, "event[1].cost: value WRONG: it sets more than 1"},
        {{.map = GUARD, .guard = NAN}, "event[1].guard: value WRONG: row 0 of 1 is nan"},
        {{.map = GUARD, .guard = INFINITY}, "event[1].guard: value WRONG: row 0 of 1 is inf"},
        {{.map = RHS, .unset = 2}, "value WRONG: row 1 of 2 is nan"},
        {{.map = JUMP, .product = UNSET, .row = 3}, "event[1].jump: tangent WRONG: row 3 with respect to t is nan"}};
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        plant s = table[k].s;
        costate_report r;
        if (s.product != UNSET) s.product = NOTHING;
        int status = check(&s, 0, &r, NULL);
        if (status != COSTATE_CHECK_FAILED || !strstr(r.text, table[k].says))
            fail_msg("should say '%s': %d: %s", table[k].says, status, r.text);
    }
}

/* ---- the point ---- */

static void points(void **state)
{
    static const double no_number[] = {1, NAN};
    const struct { const double *m; const char *says; } table[] = {{NULL, "x.m is NULL"}, {no_number, "x.m[1] is nan"}};
    plant s = {.product = NOTHING};
    costate_problem P = problem_of(&s, 0);
    costate_report r;
    costate_pattern *found;
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        costate_point x = {.t = 0.37, .y = y_given, .p = p_given, .m = table[k].m};
        assert_int_equal(costate_check_problem(&P, &x, &r, NULL), COSTATE_BAD_ARGUMENT);
        if (!strstr(r.text, table[k].says)) fail_msg("should say '%s': %s", table[k].says, r.text);
        assert_int_equal(costate_pattern_detect(&P, &x, &found, &r), COSTATE_BAD_ARGUMENT);
    }
}

/* memory and mode are those of x; costate_check_map does not know how many, and asks for no products with them */
static int given_value(const costate_point *x, double *out, void *ctx)
{
    if (x->m != m_given || x->mode != MODE) return -1;
    return rhs_value(x, out, ctx);
}

static void as_given(void **state)
{
    plant s = {.map = RHS, .product = TANGENT, .input = AT_M};
    costate_map f = {.value = given_value, .tangent = rhs_tangent, .adjoint = rhs_adjoint};
    costate_problem P = {.n = N, .np = NP, .nm = NM, .ctx = &s, .rhs = f, .nevents = 1, .event = events};
    costate_point x = {.t = 0.37, .y = y_given, .p = p_given, .m = m_given, .mode = MODE};
    costate_report r;
    costate_pattern *found;
    (void)state;
    if (costate_check_map(&f, N, NP, N, &x, &s, &r) != COSTATE_OK) fail_msg("%s", r.text);
    if (costate_pattern_detect(&P, &x, &found, &r) != COSTATE_OK) fail_msg("%s", r.text);
    assert_int_equal(found->col[N], N * N);
    costate_pattern_free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right), cmocka_unit_test(wrong),
                                       cmocka_unit_test(third_derivatives), cmocka_unit_test(values),
                                       cmocka_unit_test(points), cmocka_unit_test(as_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
