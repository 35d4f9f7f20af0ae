/* test_steady_none.c - where there is no steady state that a solution tends to, the status and the sentence say so, and
   y is as it was. */
#include "steady_models.h"

enum { MOST = 3, STEPS = 3000 };

/* sum of c y^a: a term of a polynomial right-hand side */
typedef struct { int row; double c; const char *of; } term;     /* of: states "A", "AB"; "t": the time */
typedef struct {
    const char *name;
    int n, status;
    const char *says;
    double y[MOST];
    term list[16];
} none;

static const none cases[] = {
    {"van der Pol", 2, COSTATE_NO_LIMIT, "has turned", {2, 0},
     {{0, 1, "B"}, {1, 5, "B"}, {1, -5, "AAB"}, {1, -1, "A"}}},
    {"van der Pol at its zero", 2, COSTATE_NO_LIMIT, "is not stable: disturbances of it change as exp(4.79 t)", {0, 0},
     {{0, 1, "B"}, {1, 5, "B"}, {1, -5, "AAB"}, {1, -1, "A"}}},
    {"Lotka-Volterra", 2, COSTATE_NO_LIMIT, "has turned", {2, 1},
     {{0, 1, "A"}, {0, -1, "AB"}, {1, 1, "AB"}, {1, -1, "B"}}},
    {"its centre", 2, COSTATE_NO_LIMIT, "is not stable", {1, 1},
     {{0, 1, "A"}, {0, -1, "AB"}, {1, 1, "AB"}, {1, -1, "B"}}},
    {"near its centre", 2, COSTATE_NO_LIMIT, "is not stable", {1.0001, 1},
     {{0, 1, "A"}, {0, -1, "AB"}, {1, 1, "AB"}, {1, -1, "B"}}},
    {"oscillator", 2, COSTATE_NO_LIMIT, "y[1] = ", {1, 0}, {{0, 1, "B"}, {1, -1, "A"}}},
    {"drift", 1, COSTATE_NO_LIMIT, "or the solution drifts", {0}, {{0, 1, ""}}},
    {"slow drift", 1, COSTATE_NO_LIMIT, "f_y has rank 0 for 1 states, with 0 linear invariants; y[0]", {1},
     {{0, 1e-9, ""}}},
    {"drift beside a steady state", 2, COSTATE_NO_LIMIT, "y[1] is among", {1, 1}, {{0, -1, "A"}, {1, 1e-3, ""}}},
    {"explosion", 1, COSTATE_STEP_TOO_SMALL, "On the way to a steady state", {1}, {{0, 1, "AA"}}},
    {"growth", 1, COSTATE_NOT_FINITE, "On the way to a steady state", {1}, {{0, 1, "A"}}},
    {"past a saddle", 2, COSTATE_NOT_FINITE, "On the way to a steady state", {1, 1e-12}, {{0, -1, "A"}, {1, 1, "B"}}},
    {"Robertson", 3, COSTATE_NO_LIMIT, "more slowly than exponentially", {1, 0, 0},
     {{0, -0.04, "A"}, {0, 1e4, "BC"}, {1, 0.04, "A"}, {1, -1e4, "BC"}, {1, -3e7, "BB"}, {2, 3e7, "BB"}}},
    {"a line of steady states", 2, COSTATE_NO_LIMIT, "f_y has rank 1 for 2 states, with 0 linear invariants; y[0]",
     {1, 1},
     {{0, -1, "AB"}, {1, -1, "B"}}},
    {"the end of such a line", 2, COSTATE_NO_LIMIT, "f_y has rank 1 for 2 states, with 0 linear invariants", {1, 0},
     {{0, -1, "AB"}, {1, -1, "B"}}},
    {"some turns, then drift", 3, COSTATE_NO_LIMIT, "or the solution drifts", {1, 0, 0},
     {{0, 1, "B"}, {1, -1, "A"}, {1, -1, "B"}, {2, 1, ""}}},
    {"cubic decay", 1, COSTATE_NO_LIMIT, "more slowly than exponentially", {1}, {{0, -1, "AAA"}}},
    {"quadratic decay", 1, COSTATE_NO_LIMIT, "more slowly than exponentially", {1}, {{0, -1, "AA"}}},
    {"slower still", 1, COSTATE_NO_LIMIT, "does not come to rest", {1}, {{0, -1, "AAAAAAAAAAA"}}},
    {"on a border", 1, COSTATE_NO_LIMIT, "exp(0.21 t)", {0.3}, {{0, -0.3, "A"}, {0, 1.3, "AA"}, {0, -1, "AAA"}}},
    {"logistic growth from nothing", 1, COSTATE_NO_LIMIT, "exp(1 t)", {0}, {{0, 1, "A"}, {0, -1, "AA"}}},
    {"Brusselator", 2, COSTATE_NO_LIMIT, "has turned", {1, 1}, {{0, 1, ""}, {0, 1, "AAB"}, {0, -4, "A"}, {1, 3, "A"},
     {1, -1, "AAB"}}},
    {"Lorenz", 3, COSTATE_NO_LIMIT, "has turned", {1, 1, 1}, {{0, 10, "B"}, {0, -10, "A"}, {1, 28, "A"}, {1, -1, "AC"},
     {1, -1, "B"}, {2, 1, "AB"}, {2, -8.0/3, "C"}}},
    {"Oregonator", 3, COSTATE_NO_LIMIT, "has turned", {1, 2, 3}, {{0, 77.27, "B"}, {0, 77.27, "A"},
     {0, -77.27 * 8.375e-6, "AA"}, {0, -77.27, "AB"}, {1, 1 / 77.27, "C"}, {1, -1 / 77.27, "B"}, {1, -1 / 77.27, "AB"},
     {2, 0.161, "A"}, {2, -0.161, "C"}}},
    {"driven", 1, COSTATE_BAD_ARGUMENT, "f depends on t", {1}, {{0, -1, "A"}, {0, 1e-8, "t"}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void polynomial(model *m, const none *c)
{
    int sum[MOST];
    model_begin(m, c->n, 0);
    graph *g = &m->f;
    for (int i = 0; i < c->n; i++) sum[i] = graph_number(g, 0);
    for (const term *x = c->list; x->of; x++) {
        int product = graph_number(g, x->c);
        for (const char *of = x->of; *of; of++)
            product = graph_times(g, product, *of == 't' ? graph_t(g) : graph_y(g, *of - 'A'));
        sum[x->row] = graph_plus(g, sum[x->row], 1, product);
    }
    for (int i = 0; i < c->n; i++) graph_row(g, sum[i]);
}

static void no_steady_state(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        static model m;
        const none *c = &cases[k];
        const costate_options run = {.max_steps = STEPS, .atol = 1e-20};
        double y[MOST];
        polynomial(&m, c);
        costate_steady *s = costate_steady_new(NULL, &m.P, &run, NULL);
        memcpy(y, c->y, sizeof y);
        int status = costate_steady_solve(s, y, NULL);
        if (status != c->status || !strstr(costate_steady_message(s), c->says))
            fail_msg("%s: %s, not %s with \"%s\": %s", c->name, costate_status_name(status),
                     costate_status_name(c->status), c->says, costate_steady_message(s));
        assert_memory_equal(y, c->y, sizeof y);
        costate_steady_free(s);
    }
}

/* y' = S y with S^T = -S: whatever round-off makes of the real parts of its eigenvalues, nothing decays */
static void neutral(void **state)
{
    unsigned random = 3;
    (void)state;
    for (int k = 0; k < 20; k++) {
        static model m;
        enum { N = 4 };
        double S[N][N] = {{0}}, y[N] = {0};
        for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) S[j][i] = -(S[i][j] = random_in(&random));
        model_begin(&m, N, 0);
        for (int i = 0; i < N; i++) {
            int sum = graph_number(&m.f, 0);
            for (int j = 0; j < N; j++) sum = graph_plus(&m.f, sum, S[i][j], graph_y(&m.f, j));
            graph_row(&m.f, sum);
        }
        const costate_options run = {.max_steps = 100};
        costate_steady *s = costate_steady_new(NULL, &m.P, &run, NULL);
        if (costate_steady_solve(s, y, NULL) != COSTATE_NO_LIMIT)
            fail_msg("matrix %d: OK, slowest %g", k, costate_steady_get_stats(s)->slowest);
        assert_non_null(strstr(costate_steady_message(s), "is not stable: disturbances of it change as exp(0 t)"));
        costate_steady_free(s);
    }
}

/* as a map it is refused in the same way: here the start is a zero of f at t = 0 only */
static void driven_as_a_map(void **state)
{
    static model m;
    const double y[1] = {1};
    double out[1];
    (void)state;
    polynomial(&m, &(none){.n = 1, .list = {{0, -1, "A"}, {0, 1, ""}, {0, 1e-8, "t"}}});
    costate_steady *s = costate_steady_new(NULL, &m.P, NULL, NULL);
    const costate_map F = costate_steady_map(s);
    for (int k = 0; k < 2; k++) assert_int_equal(F.value(&(costate_point){.y = y}, out, s), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_steady_message(s), "f depends on t"));
    costate_steady_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_steady_state), cmocka_unit_test(neutral),
                                       cmocka_unit_test(driven_as_a_map)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
