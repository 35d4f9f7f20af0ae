/* test_steady_forms.c - steady states of problems in every form: mass matrices, algebraic equations, residuals,
   patterns, memory variables, relations, invariants that are given or depend on parameters; and with derivatives by
   differences.

   Each has a closed form over numbers with two derivatives. */
#include "num.h"
#include "steady_models.h"

enum { MOST = 4, INPUTS = 8 };

typedef struct form form;
struct form {
    const char *name;
    int n, np, nm, invariants;          /* as in costate_steady_stats */
    double x[INPUTS];                   /* y0, p, m */
    double within;                      /* of the closed form */
    void (*set)(const form *, model *, costate_steady_options *, costate_options *run);
    void (*closed)(const num *x, num *y);
};

/* ---- A <-> B <-> C in volumes p1, p2, p3, with k = p0: their sum of volumes times states remains ---- */

static void volumes(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    (void)o, (void)run;
    model_begin(m, c->n, c->np);
    graph *g = &m->f;
    int one = graph_times(g, graph_p(g, 0), graph_plus(g, graph_y(g, 0), -1, graph_y(g, 1)));
    int two = graph_plus(g, graph_y(g, 1), -1, graph_y(g, 2));
    graph_row(g, graph_scaled(g, -1, graph_over(g, one, graph_p(g, 1))));
    graph_row(g, graph_over(g, graph_plus(g, one, -1, two), graph_p(g, 2)));
    graph_row(g, graph_over(g, two, graph_p(g, 3)));
}

static void volumes_closed(const num *x, num *y)
{
    num sum = number(0), all = number(0);
    for (int i = 0; i < 3; i++) sum = add(sum, mul(x[i], x[4 + i])), all = add(all, x[4 + i]);
    y[0] = y[1] = y[2] = over(sum, all);
}

/* ---- 3 A' = (B - k A^2)/p1, 5 B' = (k A^2 - B)/p2: 3 p1 A + 5 p2 B remains; A solves a quadratic equation ---- */

static int mass_3_5(double *M, void *ctx);

static void squared(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    (void)o, (void)run;
    model_begin(m, c->n, c->np);
    graph *g = &m->f;
    int a = graph_y(g, 0), flow = graph_plus(g, graph_y(g, 1), -1, graph_times(g, graph_p(g, 0), graph_times(g, a, a)));
    graph_row(g, graph_over(g, flow, graph_p(g, 1)));
    graph_row(g, graph_scaled(g, -1, graph_over(g, flow, graph_p(g, 2))));
    m->P.mass = mass_3_5;
}

static num root(num x) { double r = sqrt(x.v); return chain(x, r, 0.5 / r, -0.25 / (r * x.v), 0); }

static void squared_closed(const num *x, num *y)
{
    num p1 = times(3, x[3]), p2 = times(5, x[4]), total = add(mul(p1, x[0]), mul(p2, x[1])), quadratic = mul(x[2], p2);
    num under = add(mul(p1, p1), times(4, mul(quadratic, total)));
    y[0] = over(add(root(under), times(-1, p1)), times(2, quadratic));
    y[1] = mul(x[2], mul(y[0], y[0]));
}

/* the same as a constant mass matrix, diag(3, 5), and k */
static int mass_3_5(double *M, void *ctx) { (void)ctx; M[0] = 3, M[1] = M[2] = 0, M[3] = 5; return 0; }

static void massive(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    (void)o, (void)run;
    model_begin(m, c->n, c->np);
    graph *g = &m->f;
    int flow = graph_times(g, graph_p(g, 0), graph_plus(g, graph_y(g, 0), -1, graph_y(g, 1)));
    graph_row(g, graph_scaled(g, -1, flow));
    graph_row(g, flow);
    m->P.mass = mass_3_5;
}

static void massive_closed(const num *x, num *y)
{
    y[0] = y[1] = times(1.0 / 8, add(times(3, x[0]), times(5, x[1])));
}

/* ---- A' = -z, B' = z, 0 = z - k (A - B): algebraic; A + B remains, and z starts anywhere ---- */

static int mass_110(double *M, void *ctx)
{
    (void)ctx;
    memset(M, 0, 9 * sizeof *M);
    M[0] = M[4] = 1;
    return 0;
}

static void algebraic(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    (void)o;
    run->consistent = COSTATE_CONSISTENT_START;
    model_begin(m, c->n, c->np);
    graph *g = &m->f;
    int flow = graph_times(g, graph_p(g, 0), graph_plus(g, graph_y(g, 0), -1, graph_y(g, 1)));
    graph_row(g, graph_scaled(g, -1, graph_y(g, 2)));
    graph_row(g, graph_y(g, 2));
    graph_row(g, graph_plus(g, graph_y(g, 2), -1, flow));
    m->P.mass = mass_110;
}

static void algebraic_closed(const num *x, num *y)
{
    y[0] = y[1] = times(0.5, add(x[0], x[1]));
    y[2] = number(0);
}

/* ---- y0' = -y0 y1, y1' = -y1: y0 exp(-y1) remains, which is not linear ---- */

static graph given_invariant;

static int own_value(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, graph_value(&given_invariant, x, out), 0;
}
static int own_tangent(const costate_point *x, const costate_point *a, double *out, void *ctx)
{
    return (void)ctx, graph_tangent(&given_invariant, x, a, NULL, out), 0;
}
static int own_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return (void)ctx, graph_adjoint(&given_invariant, x, NULL, NULL, w, g), 0;
}
static int own_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    return (void)ctx, graph_tangent(&given_invariant, x, a, b, out), 0;
}
static int own_adjoint_tangent(const costate_point *x, const costate_point *a, const double *w,
                               const costate_gradient *g, void *ctx)
{
    return (void)ctx, graph_adjoint(&given_invariant, x, a, NULL, w, g), 0;
}

static void give(costate_steady_options *o)
{
    o->invariants = 1;
    o->invariant = (costate_map){.value = own_value, .tangent = own_tangent, .adjoint = own_adjoint,
                                 .tangent2 = own_tangent2, .adjoint_tangent = own_adjoint_tangent};
}

/* with p0: y0' = -p0 y0 y1, y1' = -y1, y0 exp(-p0 y1) */
static void nonlinear(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    (void)run;
    model_begin(m, c->n, c->np);
    graph *g = &m->f, *I = &given_invariant;
    graph_row(g, graph_scaled(g, -1, graph_times(g, graph_p(g, 0), graph_times(g, graph_y(g, 0), graph_y(g, 1)))));
    graph_row(g, graph_scaled(g, -1, graph_y(g, 1)));
    graph_begin(I, c->n, c->np);
    int power = graph_exp(I, graph_scaled(I, -1, graph_times(I, graph_p(I, 0), graph_y(I, 1))));
    graph_row(I, graph_times(I, graph_y(I, 0), power));
    give(o);
}

/* that of the volumes */
static void given_volumes(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    graph *I = &given_invariant;
    volumes(c, m, o, run);
    graph_begin(I, c->n, c->np);
    int sum = graph_number(I, 0);
    for (int i = 0; i < 3; i++) sum = graph_plus(I, sum, 1, graph_times(I, graph_p(I, 1 + i), graph_y(I, i)));
    graph_row(I, sum);
    give(o);
}

static void by_tangents(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    nonlinear(c, m, o, run);
    o->invariant.adjoint = NULL;
}

static void nonlinear_closed(const num *x, num *y)
{
    y[0] = mul(x[0], exponential(times(-1, mul(x[2], x[1]))));
    y[1] = number(0);
}

/* ---- y' = m - p y, with m constant ---- */

static int remembered(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->m[0] * x->m[0] - x->p[0] * x->y[0], 0;
}
static int remembered_tangent(const costate_point *x, const costate_point *a, double *out, void *ctx)
{
    (void)ctx;
    out[0] = (a->m ? 2 * x->m[0] * a->m[0] : 0) - (a->p ? a->p[0] * x->y[0] : 0) - (a->y ? x->p[0] * a->y[0] : 0);
    return 0;
}
static int remembered_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->m) g->m[0] += 2 * x->m[0] * w[0];
    if (g->p) g->p[0] -= w[0] * x->y[0];
    if (g->y) g->y[0] -= w[0] * x->p[0];
    return 0;
}
static int remembered_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                               void *ctx)
{
    (void)x, (void)ctx;
    out[0] = (a->m && b->m ? 2 * a->m[0] * b->m[0] : 0) - (a->p && b->y ? a->p[0] * b->y[0] : 0) -
        (a->y && b->p ? a->y[0] * b->p[0] : 0);
    return 0;
}
static int remembered_adjoint_tangent(const costate_point *x, const costate_point *a, const double *w,
                                      const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->m && a->m) g->m[0] += 2 * w[0] * a->m[0];
    if (g->p && a->y) g->p[0] -= w[0] * a->y[0];
    if (g->y && a->p) g->y[0] -= w[0] * a->p[0];
    return 0;
}

/* an event that does not occur: y falls to -1 */
static int below(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] + 1, 0; }
static int doubled(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[0], out[1] = 2 * x->m[0], 0;
}

static void memory(const form *c, model *m, costate_steady_options *o, costate_options *run)
{
    static const costate_event event = {.guard = {.value = below}, .jump = {.value = doubled}, .direction = -1,
                                        .passes = 1};
    (void)o, (void)run;
    m->P = (costate_problem){.n = c->n, .np = c->np, .nm = 1, .nevents = 1, .event = &event, .rhs = {
        .value = remembered, .tangent = remembered_tangent, .adjoint = remembered_adjoint,
        .tangent2 = remembered_tangent2, .adjoint_tangent = remembered_adjoint_tangent}};
}

static void memory_closed(const num *x, num *y) { y[0] = over(square(x[2]), x[1]); }

static const form forms[] = {
    {"volumes", 3, 4, 0, 1, {1, 0.25, 0.1, 0.7, 1, 2, 0.3}, 1e-12, volumes, volumes_closed},
    {"a mass matrix and volumes", 2, 3, 0, 1, {1, 0.25, 0.7, 2, 0.3}, 1e-12, squared, squared_closed},
    {"a mass matrix", 2, 1, 0, 1, {1, 0.25, 0.7}, 1e-12, massive, massive_closed},
    {"an algebraic equation", 3, 1, 0, 1, {1, 0.25, 0.1, 0.7}, 1e-12, algebraic, algebraic_closed},
    {"an invariant that is given", 2, 1, 0, 1, {1, 0.8, 1.3}, 1e-12, nonlinear, nonlinear_closed},
    {"the invariant of volumes", 3, 4, 0, 1, {1, 0.25, 0.1, 0.7, 1, 2, 0.3}, 1e-12, given_volumes, volumes_closed},
    {"its rows by tangents", 2, 1, 0, 1, {1, 0.8, 1.3}, 1e-12, by_tangents, nonlinear_closed},
    {"a memory variable", 1, 1, 1, 0, {3, 0.7, 1.3}, 1e-12, memory, memory_closed},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- comparison ---- */

static void near(const form *c, const char *what, double got, double exact, double within)
{
    if (!(fabs(got - exact) <= within * (1 + fabs(exact))))
        fail_msg("%s: %s is %.17g, exactly %.17g", c->name, what, got, exact);
}

static costate_point parts(const form *c, const double *x)
{
    return (costate_point){.y = x, .p = x + c->n, .m = c->nm ? x + c->n + c->np : NULL};
}

static void check(const form *c, costate_steady *s, double within, int second)
{
    const costate_map F = costate_steady_map(s);
    const costate_point x = parts(c, c->x);
    const int inputs = c->n + c->np + c->nm;
    double a[INPUTS], b[INPUTS], w[MOST], out[MOST], g[INPUTS] = {0}, g2[INPUTS] = {0};
    num in[INPUTS], exact[MOST];
    unsigned state = 7;
    random_fill(&state, INPUTS, a), random_fill(&state, INPUTS, b), random_fill(&state, MOST, w);
    const costate_point da = parts(c, a), db = parts(c, b);
    const costate_gradient to = {.y = g, .p = g + c->n, .m = c->nm ? g + c->n + c->np : NULL};
    const costate_gradient to2 = {.y = g2, .p = g2 + c->n, .m = c->nm ? g2 + c->n + c->np : NULL};
    for (int i = 0; i < inputs; i++) in[i] = moving(c->x[i], a[i], b[i]);
    c->closed(in, exact);
    for (int i = 0; i < c->nm; i++) exact[c->n + i] = in[c->n + c->np + i];
    if (F.value(&x, out, s)) fail_msg("%s: %s", c->name, costate_steady_message(s));
    for (int i = 0; i < c->n + c->nm; i++) near(c, "a value", out[i], exact[i].v, within);
    assert_int_equal(F.tangent(&x, &da, out, s), 0);
    for (int i = 0; i < c->n + c->nm; i++) near(c, "a tangent", out[i], exact[i].a, within);
    double sum = 0, sum2 = 0, first = 0, mixed = 0;
    for (int i = 0; i < c->n + c->nm; i++) first += w[i] * exact[i].a, mixed += w[i] * exact[i].ab;
    assert_int_equal(F.adjoint != NULL, c->set != by_tangents || second < 0);
    if (!F.adjoint) return;
    assert_int_equal(F.adjoint(&x, w, &to, s), 0);
    for (int i = 0; i < inputs; i++) sum += g[i] * a[i];
    near(c, "a gradient", sum, first, within);
    if (second < 1) return;
    assert_int_equal(F.tangent2(&x, &da, &db, out, s), 0);
    for (int i = 0; i < c->n + c->nm; i++) near(c, "a second tangent", out[i], exact[i].ab, within);
    assert_int_equal(F.adjoint_tangent(&x, &db, w, &to2, s), 0);
    for (int i = 0; i < inputs; i++) sum2 += g2[i] * a[i];
    near(c, "a Hessian product", sum2, mixed, within);
}

static void all_forms(void **state)
{
    (void)state;
    for (int k = 0; k < FORMS; k++) {
        static model m;
        const form *c = &forms[k];
        costate_options run = {0};
        costate_steady_options o = {0};
        double y[MOST];
        c->set(c, &m, &o, &run);
        costate_steady *s = costate_steady_new(costate_method_find("radau2a5"), &m.P, &run, &o);
        memcpy(y, c->x, (size_t)c->n * sizeof *y);
        memcpy(y + c->n, c->x + c->n + c->np, (size_t)c->nm * sizeof *y);
        CHECK_STEADY(s, costate_steady_solve(s, y, c->x + c->n));
        assert_int_equal(costate_steady_get_stats(s)->invariants, c->invariants);
        check(c, s, c->within, 1);
        costate_steady_free(s);
    }
}

/* second derivatives of invariants that depend on parameters need third derivatives of f */
static void second_of_volumes(void **state)
{
    static model m;
    const form *c = &forms[0];
    costate_options run = {0};
    costate_steady_options o = {0};
    const costate_point x = parts(c, c->x);
    double out[MOST];
    (void)state;
    volumes(c, &m, &o, &run);
    m.P.rhs.adjoint_tangent2 = NULL;
    costate_steady *s = costate_steady_new(NULL, &m.P, &run, &o);
    const costate_map F = costate_steady_map(s);
    assert_int_equal(F.value(&x, out, s), 0);
    assert_int_equal(F.tangent2(&x, &x, &x, out, s), COSTATE_MISSING);
    assert_non_null(strstr(costate_steady_message(s), "depend on parameters: second derivatives need"));
    costate_steady_free(s);
}

/* all products by differences */
static void by_differences(void **state)
{
    (void)state;
    for (int k = 0; k < FORMS; k++) {
        static model m;
        const form *c = &forms[k];
        costate_options run = {.differences = 1};
        costate_steady_options o = {0};
        c->set(c, &m, &o, &run);
        m.P.rhs = (costate_map){.value = m.P.rhs.value};
        o.invariant.tangent2 = NULL;
        costate_steady *s = costate_steady_new(costate_method_find("radau2a5"), &m.P, &run, &o);
        check(c, s, 1e-6, -1);
        costate_steady_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_forms), cmocka_unit_test(second_of_volumes),
                                       cmocka_unit_test(by_differences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
