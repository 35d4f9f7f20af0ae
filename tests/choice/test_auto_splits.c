/* test_auto_splits.c - where a splitting is given, `auto` takes the W-method with it: the bits of w6s4os, forward and
   backward, in all stores and continued; without one, or where the solver is another, it takes what it took.  Runs
   without derivatives begin with rock4.

       u_t = u_xx + u_yy + u - u^3 on the unit square, 0 on its boundary: 16 by 16 points, ADI */
#include <costate/operators.h>
#include "common.h"

enum { SIDE = 16, CELLS = SIDE * SIDE };

static double at(const double *u, int i, int j)
{
    return i < 0 || j < 0 || i == SIDE || j == SIDE ? 0 : u[i + SIDE * j];
}

/* out += laplace(u) */
static void diffuse(const double *u, double *out)
{
    const double by = (SIDE + 1.0) * (SIDE + 1.0);
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            out[i + SIDE * j] += by * (at(u, i - 1, j) + at(u, i + 1, j) + at(u, i, j - 1) + at(u, i, j + 1) -
                                       4 * at(u, i, j));
}

static int reacts(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    for (int k = 0; k < CELLS; k++) f[k] = x->y[k] - x->y[k] * x->y[k] * x->y[k];
    return diffuse(x->y, f), 0;
}
static int along(const costate_point *x, const costate_point *a, double *f, void *ctx)
{
    (void)ctx;
    for (int k = 0; k < CELLS; k++) f[k] = a->y ? (1 - 3 * x->y[k] * x->y[k]) * a->y[k] : 0;
    if (a->y) diffuse(a->y, f);
    return 0;
}
static int back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    for (int k = 0; k < CELLS && g->y; k++) g->y[k] += (1 - 3 * x->y[k] * x->y[k]) * w[k];
    if (g->y) diffuse(w, g->y);
    return 0;
}
static int lines(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    const double by = (SIDE + 1.0) * (SIDE + 1.0);
    (void)x, (void)ctx;
    for (int k = 0; k < CELLS; k++) lower[k] = upper[k] = by, diagonal[k] = -2 * by;
    return 0;
}

static costate_problem grid_problem(void)
{
    return (costate_problem){.n = CELLS, .rhs = {.value = reacts, .tangent = along, .adjoint = back}};
}

static costate_splitting *adi(const costate_problem *P)
{
    const costate_part parts[] = {{.lines = lines, .points = SIDE, .stride = 1},
                                  {.lines = lines, .points = SIDE, .stride = SIDE}};
    return costate_splitting_new(P, 2, parts);
}

typedef struct { double y[CELLS], V[CELLS], lambda[CELLS]; int steps, of_w; } result;

/* a run in two parts over one tape, a tangent and an adjoint */
static result run_of(const char *name, costate_options o)
{
    static result r;
    const costate_problem P = grid_problem();
    costate *c = costate_new(costate_method_find(name), &P, &o);
    costate_tape *tape = costate_tape_new();
    r.of_w = 0;
    for (int k = 0; k < CELLS; k++) {
        r.y[k] = sin(1 + k % SIDE) * cos(k / SIDE);
        r.V[k] = 1.0 / (1 + k);
        r.lambda[k] = k == 77;
    }
    CHECK_OK(c, costate_integrate(c, 0, 0.1, r.y, NULL, tape));
    CHECK_OK(c, costate_continue(c, tape, 0.2, r.y));
    CHECK_OK(c, costate_tangent(c, tape, 1, r.V, NULL, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, r.lambda, NULL, NULL, NULL));
    r.steps = costate_tape_steps(tape);
    const costate_stats *s = costate_get_stats(c);
    for (int k = 0; costate_method_member(costate_method_find(name), k); k++)
        if (!strcmp(method_name(costate_method_member(costate_method_find(name), k)), "w6s4os"))
            r.of_w = (int)s->member_steps[k];
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

static void has_the_bits_of_w6s4os(void **state)
{
    const costate_problem P = grid_problem();
    costate_splitting *split = adi(&P);
    (void)state;
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage++)
        for (int fixed = 0; fixed < 2; fixed++)
            for (int named = 0; named < 2; named++) {
                costate_options o = {.rtol = 1e-5, .atol = 1e-5, .autonomous = 1, .storage = storage,
                                     .preconditioner = costate_splitting_preconditioner(split),
                                     .solver = COSTATE_LS_PRECONDITIONER};
                if (fixed) { o.controller = COSTATE_FIXED; o.h0 = 0.01; }
                result w = run_of("w6s4os", o);
                if (!named) o.solver = COSTATE_LS_AUTO;
                result r = run_of("auto", o);
                assert_int_equal(r.of_w, w.steps);
                /* checkpoints have other fresh steps, which take an h that differs in round-off */
                double bound = storage == COSTATE_CHECKPOINTS ? 1e-13 : 0;
                assert_true(relative_gap(CELLS, r.y, w.y) <= bound);
                assert_true(relative_gap(CELLS, r.V, w.V) <= bound);
                assert_true(relative_gap(CELLS, r.lambda, w.lambda) <= bound);
                double one = 0, other = 0;
                for (int k = 0; k < CELLS; k++) one += r.lambda[k] / (1 + k);
                other = r.V[77];
                assert_true(fabs(one - other) <= 1e-12 * fabs(one));
            }
    costate_splitting_free(split);
}

/* A run without derivatives: steps of rock4, then of the W-method.  It has the same bits in a solver that has run
   before, with a tape. */
static void takes_turns(void **state)
{
    enum { ROCK4 = 2, W6S4OS = 7 };
    const costate_problem P = grid_problem();
    costate_splitting *split = adi(&P);
    costate *c = costate_new(NULL, &P, &(costate_options){.rtol = 1e-5, .atol = 1e-5, .autonomous = 1,
                             .preconditioner = costate_splitting_preconditioner(split)});
    const long *by = costate_get_stats(c)->member_steps;
    costate_tape *tape = costate_tape_new();
    double y[3][CELLS];
    long steps[2];
    (void)state;
    for (int k = 0; k < 3 * CELLS; k++) y[k / CELLS][k % CELLS] = sin(1 + k % SIDE) * cos(k % CELLS / SIDE);
    CHECK_OK(c, costate_integrate(c, 0, 3, y[0], NULL, NULL));
    if (!(by[ROCK4] > 5 && by[W6S4OS] > 3)) fail_msg("%ld and %ld steps", by[ROCK4], by[W6S4OS]);
    assert_int_equal(costate_get_stats(c)->switches, 1);
    for (int k = 0; k < 2; k++) steps[k] = by[k ? W6S4OS : ROCK4];
    CHECK_OK(c, costate_integrate(c, 0, 0.01, y[1], NULL, tape));
    costate_reset_stats(c);
    CHECK_OK(c, costate_integrate(c, 0, 3, y[2], NULL, NULL));
    for (int k = 0; k < 2; k++) assert_int_equal(by[k ? W6S4OS : ROCK4], steps[k]);
    assert_memory_equal(y[0], y[2], sizeof y[0]);
    for (int k = 0; k < CELLS; k++) y[2][k] = sin(1 + k % SIDE) * cos(k / SIDE);
    CHECK_OK(c, costate_integrate(c, 0, 0.01, y[2], NULL, NULL));
    assert_true(relative_gap(CELLS, y[2], y[1]) < 1e-3);
    costate_tape_free(tape);
    costate_free(c);
    costate_splitting_free(split);
}

/* The preconditioner of GMRES, which need not be linear, is not taken for a splitting; nor is one where another solver
   is named. */
static void only_where_it_is_one(void **state)
{
    const costate_problem P = grid_problem();
    costate_splitting *split = adi(&P);
    costate_preconditioner plain = *costate_splitting_preconditioner(split);
    (void)state;
    assert_int_equal(plain.splits, 1);
    plain.splits = 0;
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .autonomous = 1};
    assert_int_equal(run_of("auto", o).of_w, 0);
    o.preconditioner = &plain;
    assert_int_equal(run_of("auto", o).of_w, 0);
    const int solvers[] = {COSTATE_LS_GMRES, COSTATE_LS_DENSE};
    for (int k = 0; k < 2; k++) {
        o.preconditioner = costate_splitting_preconditioner(split);
        o.solver = solvers[k];
        assert_int_equal(run_of("auto", o).of_w, 0);
    }
    o.solver = COSTATE_LS_AUTO;
    o.members = "-w6s4os";
    assert_int_equal(run_of("auto", o).of_w, 0);
    costate_splitting_free(split);
}

static void refused(const costate_options *o, const char *words)
{
    const costate_problem P = grid_problem();
    costate *c = costate_new(NULL, &P, o);
    if (!costate_status(c) || !strstr(costate_message(c), words)) fail_msg("%s: %s", words, costate_message(c));
    costate_free(c);
}

static void says_what_is_missing(void **state)
{
    const costate_problem P = grid_problem();
    costate_splitting *split = adi(&P);
    costate_preconditioner plain = *costate_splitting_preconditioner(split);
    costate_options o = {.solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &plain};
    (void)state;
    plain.splits = 0;
    refused(&o, "which preconditioner.splits = 1 says");
    plain.splits = 1;
    plain.solve = NULL;
    plain.solves = NULL;
    refused(&o, "needs options.preconditioner with its solve or solves");
    costate_splitting_free(split);
}

/* A run that no steps of the W-method finish goes on with explicit ones, which watch another operator: y' = y^2 ends at
   t = 1. */
static int explodes(const costate_point *x, double *f, void *ctx) { return (void)ctx, f[0] = x->y[0] * x->y[0], 0; }
static int explodes_along(const costate_point *x, const costate_point *a, double *f, void *ctx)
{
    return (void)ctx, f[0] = a->y ? 2 * x->y[0] * a->y[0] : 0, 0;
}
static int nothing(double sigma, const costate_point *x, void *ctx) { return (void)x, *(double *)ctx = sigma, 0; }
static int by_sigma(int transpose, double *x, void *ctx) { return (void)transpose, x[0] /= *(double *)ctx, 0; }

static void ends_with_a_sentence(void **state)
{
    double sigma, y = 1;
    const costate_preconditioner p = {.setup = nothing, .solve = by_sigma, .ctx = &sigma, .splits = 1};
    const costate_problem P = {.n = 1, .rhs = {.value = explodes, .tangent = explodes_along}};
    costate *c = costate_new(NULL, &P, &(costate_options){.preconditioner = &p, .autonomous = 1});
    (void)state;
    int status = costate_integrate(c, 0, 2, &y, NULL, NULL);
    assert_true(status == COSTATE_STEP_TOO_SMALL || status == COSTATE_NOT_FINITE);
    assert_true(fabs(costate_time(c) - 1) < 1e-3);
    y = 1;
    CHECK_OK(c, costate_integrate(c, 0, 0.5, &y, NULL, NULL));
    assert_true(fabs(y - 2) < 1e-4);
    costate_free(c);
}

static void named(const costate_problem *P, const costate_options *o, const char *solver)
{
    costate *c = costate_new(NULL, P, o);
    assert_int_equal(costate_status(c), COSTATE_OK);
    assert_string_equal(costate_solver_name(c), solver);
    costate_free(c);
}

/* y' = -y, 0 = y - z: no splitting for a singular M */
static int settles(const costate_point *x, double *f, void *ctx)
{
    return (void)ctx, f[0] = -x->y[0], f[1] = x->y[0] - x->y[1], 0;
}
static int settles_along(const costate_point *x, const costate_point *a, double *f, void *ctx)
{
    (void)x, (void)ctx;
    f[0] = a->y ? -a->y[0] : 0;
    f[1] = a->y ? a->y[0] - a->y[1] : 0;
    return 0;
}
static int first_of_two(double *M, void *ctx) { return (void)ctx, M[0] = 1, 0; }

/* The solver's name is that of what solves.  A direct solver is chosen where another member may have to solve. */
static void names_what_solves(void **state)
{
    const costate_problem P = grid_problem();
    costate_problem singular = {.n = 2, .rhs = {.value = settles, .tangent = settles_along}, .mass = first_of_two};
    costate_splitting *split = adi(&P);
    costate_options o = {.preconditioner = costate_splitting_preconditioner(split), .autonomous = 1};
    double y[] = {1, 1}, sigma;
    const costate_preconditioner p = {.setup = nothing, .solve = by_sigma, .ctx = &sigma, .splits = 1};
    (void)state;
    named(&P, &o, "preconditioner");
    o.members = "-w6s4os";
    named(&P, &o, "dense");
    o = (costate_options){.preconditioner = &p, .autonomous = 1};
    named(&singular, &o, "dense");
    costate *c = costate_new(NULL, &singular, &o);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, NULL));
    assert_true(fabs(y[0] - exp(-1)) < 1e-5 && fabs(y[1] - y[0]) < 1e-8);
    costate_free(c);
    costate_splitting_free(split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_the_bits_of_w6s4os), cmocka_unit_test(takes_turns),
                                       cmocka_unit_test(only_where_it_is_one),
                                       cmocka_unit_test(says_what_is_missing), cmocka_unit_test(ends_with_a_sentence),
                                       cmocka_unit_test(names_what_solves)};
    return cmocka_run_group_tests_name("auto_splits", tests, NULL, NULL);
}
