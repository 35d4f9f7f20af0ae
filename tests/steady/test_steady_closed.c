/* test_steady_closed.c - steady states that have closed forms, and their first and second derivatives by the start and
   by parameters, to 1e-12. */
#include "num.h"
#include "steady_models.h"

enum { MOST = 8 };

typedef struct {
    const char *name;
    int n, np, count, invariants;
    reaction list[12];
    double y[MOST], p[MOST];
    void (*closed)(const num *y, const num *p, num *out);
} closed_case;

/* A <-> B */
static void two(const num *y, const num *p, num *out)
{
    num part = over(add(y[0], y[1]), add(p[0], p[1]));
    out[0] = mul(part, p[1]);
    out[1] = mul(part, p[0]);
}

/* A -> B -> C -> D -> A */
static void ring(const num *y, const num *p, num *out)
{
    num total = number(0), sum = number(0);
    for (int i = 0; i < 4; i++) total = add(total, y[i]), sum = add(sum, inverse(p[i]));
    for (int i = 0; i < 4; i++) out[i] = over(over(total, p[i]), sum);
}

/* three totals: A <-> B, C <-> D, E -> F -> G -> E */
static void three_totals(const num *y, const num *p, num *out)
{
    num total = add(add(y[4], y[5]), y[6]), sum = add(add(inverse(p[4]), inverse(p[5])), inverse(p[6]));
    two(y, p, out);
    two(y + 2, p + 2, out + 2);
    for (int i = 4; i < 7; i++) out[i] = over(over(total, p[i]), sum);
}

static num root(num x) { double r = sqrt(x.v); return chain(x, r, 0.5 / r, -0.25 / (r * x.v), 0); }

/* A + B <-> C: A + C and B + C remain */
static void binding(const num *y, const num *p, num *out)
{
    num a = add(y[0], y[2]), b = add(y[1], y[2]), s = add(add(a, b), over(p[1], p[0]));
    out[2] = times(0.5, sub(s, root(sub(square(s), times(4, mul(a, b))))));
    out[0] = sub(a, out[2]);
    out[1] = sub(b, out[2]);
}

/* -> A -> B ->, no invariant: the start does not matter */
static void flow_through(const num *y, const num *p, num *out)
{
    (void)y;
    out[0] = over(p[0], p[1]);
    out[1] = over(p[0], p[2]);
}

static const closed_case cases[] = {
    {"two", 2, 2, 2, 1, {{0, "A", "B"}, {1, "B", "A"}}, {1.5, 0.25}, {2, 0.3}, two},
    {"ring", 4, 4, 4, 1, {{0, "A", "B"}, {1, "B", "C"}, {2, "C", "D"}, {3, "D", "A"}}, {1, 0, 0, 0}, {1e3, 0.2, 5, 1},
     ring},
    {"three totals", 7, 7, 7, 3, {{0, "A", "B"}, {1, "B", "A"}, {2, "C", "D"}, {3, "D", "C"}, {4, "E", "F"},
     {5, "F", "G"}, {6, "G", "E"}}, {1, 2, 0, 3, 0.5, 0, 0.25}, {2, 0.3, 1, 4, 0.7, 0.1, 3}, three_totals},
    {"binding", 3, 2, 2, 2, {{0, "AB", "C"}, {1, "C", "AB"}}, {1, 0.7, 0}, {3, 0.2}, binding},
    {"flow-through", 2, 3, 3, 0, {{0, "", "A"}, {1, "A", "B"}, {2, "B", ""}}, {0, 5}, {2, 0.5, 3}, flow_through},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct { double y0[MOST], p[MOST]; } direction;

static void closed_form(const closed_case *c, const direction *a, const direction *b, num *out)
{
    num y[MOST], p[MOST];
    for (int i = 0; i < c->n; i++) y[i] = moving(c->y[i], a->y0[i], b->y0[i]);
    for (int i = 0; i < c->np; i++) p[i] = moving(c->p[i], a->p[i], b->p[i]);
    c->closed(y, p, out);
}

static void compare(const closed_case *c, const char *what, double got, double exact, double size)
{
    if (!(fabs(got - exact) <= 1e-12 * (fabs(exact) + size)))
        fail_msg("%s: %s is %.17g, exactly %.17g", c->name, what, got, exact);
}

static void check(const closed_case *c, costate_steady *s, unsigned *state)
{
    const costate_map F = costate_steady_map(s);
    const costate_point x = {.y = c->y, .p = c->p};
    direction a, b, g = {0}, g2 = {0};
    num exact[MOST];
    double out[MOST], w[MOST], V[2 * MOST], mu[MOST] = {0}, first = 0, second = 0, sum = 0, sum2 = 0, size = 0;
    random_fill(state, MOST, a.y0), random_fill(state, MOST, a.p), random_fill(state, MOST, w);
    random_fill(state, MOST, b.y0), random_fill(state, MOST, b.p);
    const costate_point da = {.y = a.y0, .p = a.p}, db = {.y = b.y0, .p = b.p};
    closed_form(c, &a, &b, exact);

    assert_int_equal(F.value(&x, out, s), 0);
    for (int i = 0; i < c->n; i++) compare(c, "y*", out[i], exact[i].v, 0);
    assert_int_equal(F.tangent(&x, &da, out, s), 0);
    for (int i = 0; i < c->n; i++) compare(c, "a tangent", out[i], exact[i].a, 1), size = fmax(size, fabs(exact[i].ab));
    memcpy(V, a.y0, sizeof a.y0);
    memcpy(V + MOST, c->y, sizeof c->y);
    CHECK_STEADY(s, costate_steady_solve(s, V + MOST, c->p));
    CHECK_STEADY(s, costate_steady_tangent(s, 1, V, a.p));
    assert_memory_equal(V, out, (size_t)c->n * sizeof *V);
    assert_int_equal(F.tangent2(&x, &da, &db, out, s), 0);
    for (int i = 0; i < c->n; i++) compare(c, "a second tangent", out[i], exact[i].ab, 1 + size);

    for (int i = 0; i < c->n; i++) first += w[i] * exact[i].a, second += w[i] * exact[i].ab;
    assert_int_equal(F.adjoint(&x, w, &(costate_gradient){.y = g.y0, .p = g.p}, s), 0);
    assert_int_equal(F.adjoint_tangent(&x, &db, w, &(costate_gradient){.y = g2.y0, .p = g2.p}, s), 0);
    for (int i = 0; i < c->n; i++) sum += g.y0[i] * a.y0[i], sum2 += g2.y0[i] * a.y0[i];
    for (int i = 0; i < c->np; i++) sum += g.p[i] * a.p[i], sum2 += g2.p[i] * a.p[i];
    compare(c, "a gradient", sum, first, 1);
    compare(c, "a Hessian product", sum2, second, 1 + size);
    memcpy(V, w, sizeof w);
    CHECK_STEADY(s, costate_steady_adjoint(s, 1, V, mu));
    assert_memory_equal(V, g.y0, (size_t)c->n * sizeof *V);
    assert_memory_equal(mu, g.p, (size_t)c->np * sizeof *mu);
}

static void closed_forms(void **state)
{
    static const char *methods[] = {"auto", "rodas4", "radau2a5", "dopri5"};
    (void)state;
    for (int k = 0; k < CASES; k++)
        for (int j = 0; j < 4; j++) {
            const closed_case *c = &cases[k];
            static model m;
            unsigned random = 5;
            double y[MOST];
            model_mass_action(&m, c->n, c->np, c->count, c->list);
            costate_steady *s = costate_steady_new(costate_method_find(methods[j]), &m.P, NULL, NULL);
            memcpy(y, c->y, sizeof y);
            CHECK_STEADY(s, costate_steady_solve(s, y, c->p));
            const costate_steady_stats *stats = costate_steady_get_stats(s);
            assert_int_equal(stats->invariants, c->invariants);
            assert_int_equal(stats->rank + stats->invariants, c->n);
            assert_true(stats->slowest < 0);
            for (int i = 0; i < c->n; i++) y[i] = 1.3 * c->y[i] + 0.1;       /* another state is found in between */
            CHECK_STEADY(s, costate_steady_solve(s, y, c->p));
            for (int i = 0; i < 3; i++) check(c, s, &random);
            costate_steady_free(s);
        }
}

/* how fast disturbances decay, in a time unit of 1e9; from near the steady state no step is taken */
static void rates_of_decay(void **state)
{
    static model m;
    const reaction chain[] = {{0, "A", "B"}, {1, "B", "A"}, {2, "B", "C"}, {3, "C", "B"}};
    const double p[4] = {2e-9, 1e-9, 1e-12, 3e-12}, trace = 2e-9 + 1e-9 + 1e-12 + 3e-12;
    const double product = p[0] * p[2] + p[0] * p[3] + p[1] * p[3];
    const double slow = -2 * product / (trace + sqrt(trace * trace - 4 * product));
    double y[3] = {1, 0, 0};
    (void)state;
    model_mass_action(&m, 3, 4, 4, chain);
    costate_steady *s = costate_steady_new(NULL, &m.P, NULL, NULL);
    CHECK_STEADY(s, costate_steady_solve(s, y, p));
    const costate_steady_stats *stats = costate_steady_get_stats(s);
    assert_float_equal(stats->slowest / slow, 1, 1e-9);
    assert_true(stats->steps > 0 && stats->steps < 60 && stats->attempts < 9 && stats->t > 1e9);
    y[0] *= 1 + 1e-12;
    CHECK_STEADY(s, costate_steady_solve(s, y, p));
    assert_int_equal(stats->steps, 0);
    y[0] = 1, y[1] = y[2] = 0;
    const double other[4] = {2e-9, 1e-9, 1e-12, 3.1e-12};
    CHECK_STEADY(s, costate_steady_solve(s, y, other));
    assert_true(stats->steps > 0 && stats->steps < 60);
    assert_float_equal(y[2] / y[1], other[2] / other[3], 1e-12);
    costate_steady_free(s);
}

/* y' = y (1 - y) (y - 0.3) from near 0.3, which is not stable: its side decides */
static void beside_a_border(void **state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        static model m;
        double y[1] = {0.3 + 1e-7 * side};
        model_begin(&m, 1, 0);
        graph *g = &m.f;
        int x = graph_y(g, 0), one = graph_number(g, 1), part = graph_number(g, 0.3);
        graph_row(g, graph_times(g, graph_times(g, x, graph_plus(g, one, -1, x)), graph_plus(g, x, -1, part)));
        costate_steady *s = costate_steady_new(NULL, &m.P, NULL, NULL);
        CHECK_STEADY(s, costate_steady_solve(s, y, NULL));
        assert_float_equal(y[0], side > 0, 1e-14);
        costate_steady_free(s);
    }
}

/* a complex B of a receptor A is absent as long as there is no ligand, p2 = 0; it would activate C to D */
static void absent(void **state)
{
    static model m;
    const reaction list[] = {{0, "", "A"}, {1, "A", ""}, {2, "A", "B"}, {3, "B", "A"}, {4, "B", ""}, {5, "C", "D"},
                             {6, "BC", "BD"}, {7, "D", "C"}};
    const double p[8] = {0.05, 0.02, 0, 0.1, 0.04, 0.01, 0.5, 0.2};
    const costate_options run = {.rtol = 1e-9, .atol = 1e-12};
    double y[4] = {1, 0, 0.7, 0.3};
    (void)state;
    model_mass_action(&m, 4, 8, 8, list);
    costate_steady *s = costate_steady_new(NULL, &m.P, &run, NULL);
    CHECK_STEADY(s, costate_steady_solve(s, y, p));
    assert_true(y[1] == 0);
    assert_float_equal(y[0], 2.5, 1e-13);
    assert_float_equal(y[3], 0.01 / 0.21, 1e-14);
    assert_int_equal(costate_steady_get_stats(s)->invariants, 1);
    costate_steady_free(s);
}

/* a slow spiral: attempts become rare */
static void spiral(void **state)
{
    static model m;
    double y[2] = {1, 0};
    (void)state;
    model_begin(&m, 2, 0);
    graph *g = &m.f;
    graph_row(g, graph_plus(g, graph_scaled(g, -1e-3, graph_y(g, 0)), -1, graph_y(g, 1)));
    graph_row(g, graph_plus(g, graph_y(g, 0), -1e-3, graph_y(g, 1)));
    costate_steady *s = costate_steady_new(NULL, &m.P, NULL, NULL);
    CHECK_STEADY(s, costate_steady_solve(s, y, NULL));
    const costate_steady_stats *stats = costate_steady_get_stats(s);
    assert_float_equal(stats->slowest, -1e-3, 1e-15);
    assert_true(stats->attempts < 35 && stats->steps > 1000);
    costate_steady_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms), cmocka_unit_test(rates_of_decay),
                                       cmocka_unit_test(beside_a_border), cmocka_unit_test(absent),
                                       cmocka_unit_test(spiral)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
