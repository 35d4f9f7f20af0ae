/* test_splitting_decisions.c - costate_splitting: when callbacks are called, pivots that are refused, which lines share
   a factorisation, codes of callbacks, arguments that are refused. */
#include <costate/operators.h>
#include "operators/splitting.h"
#include "common.h"

enum { N = 24 };
typedef struct { int calls, code; double lower, diagonal, upper; int odd; } model;      /* odd: this row differs */

static int no_rhs(const costate_point *x, double *out, void *ctx) { return (void)x, (void)out, (void)ctx, 0; }

static int lines(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    model *a = ctx;
    a->calls++;
    for (int i = 0; i < N; i++) {
        lower[i] = a->lower;
        diagonal[i] = a->diagonal * (x->p ? x->p[0] : 1);
        upper[i] = a->upper;
    }
    if (a->odd) diagonal[a->odd] *= 1.5;
    return a->code;
}

static int matrix(const costate_point *x, double *A, void *ctx)
{
    model *a = ctx;
    a->calls++;
    assert_true(A[0] == 0);
    A[0] = a->diagonal * (x->p ? x->p[0] : 1);
    return a->code;
}

/* again where p has changed, bit for bit; sigma alone factors again */
static void calls(void **state)
{
    (void)state;
    model a = {.diagonal = -1}, b = {.diagonal = -2};
    const int col[N + 1] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, row[1] = {0};
    const costate_pattern pattern = {N, col, row};
    const costate_part parts[] = {{.lines = lines, .points = 4, .stride = 1, .ctx = &a},
                                  {.matrix = matrix, .pattern = &pattern, .ctx = &b}};
    const costate_problem P = {.n = N, .np = 2, .rhs = {.value = no_rhs}};
    double p[2] = {1, 0}, x[N];
    costate_splitting *s = costate_splitting_new(&P, 2, parts);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    assert_int_equal(a.calls + b.calls, 0);
    static const struct { double sigma, p0, p1; int calls; } known[] = {
        {1, 1, 0, 1}, {1, 1, 0, 1}, {2, 1, 0, 1}, {2, 1, 1e-300, 2}, {2, 3, 1e-300, 3}, {4, 3, 1e-300, 3},
        {4, 1, 0, 4}};
    for (int k = 0; k < 7; k++) {
        const costate_point at = {.p = p};
        double sigma = known[k].sigma;
        p[0] = known[k].p0;
        p[1] = known[k].p1;
        assert_int_equal(B->setup(sigma, &at, B->ctx), 0);
        assert_true(a.calls == known[k].calls && b.calls == known[k].calls);
        for (int i = 0; i < N; i++) x[i] = 1;
        assert_int_equal(B->solve(0, x, B->ctx), 0);
        double expected = 1 / (sigma * (1 + p[0] / sigma) * (1 + 2 * p[0] / sigma));
        assert_true(fabs(x[0] - expected) < 1e-15);
        assert_true(fabs(x[1] - 1 / (sigma * (1 + p[0] / sigma))) < 1e-15);
    }
    /* a failure for another p leaves nothing behind */
    b.code = 1;
    p[0] = 5;
    assert_int_equal(B->setup(4, &(costate_point){.p = p}, B->ctx), 1);
    b.code = 0;
    p[0] = 1;
    assert_int_equal(B->setup(4, &(costate_point){.p = p}, B->ctx), 0);
    assert_true(a.calls == 6 && b.calls == 6);
    costate_splitting_free(s);
}

/* the callbacks get the ctx of the problem where the part has none */
static void ctx_of_problem(void **state)
{
    (void)state;
    model a = {.diagonal = -1};
    const costate_part part = {.lines = lines, .points = 4, .stride = 1};
    const costate_problem P = {.n = N, .ctx = &a, .rhs = {.value = no_rhs}};
    costate_splitting *s = costate_splitting_new(&P, 1, &part);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    assert_int_equal(B->setup(1, &(costate_point){0}, B->ctx), 0);
    assert_int_equal(a.calls, 1);
    costate_splitting_free(s);
}

/* what setup returns for one line of these entries */
static int code_of(model a, int points, int periodic, double sigma)
{
    const costate_part part = {.lines = lines, .points = points, .stride = N / points, .periodic = periodic, .ctx = &a};
    const costate_problem P = {.n = N, .rhs = {.value = no_rhs}};
    costate_splitting *s = costate_splitting_new(&P, 1, &part);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    int code = B->setup(sigma, &(costate_point){0}, B->ctx);
    assert_int_equal(costate_splitting_status(s), code);
    if (code > 0) {
        double x[N] = {0};
        assert_non_null(strstr(costate_splitting_message(s), "parts[0]: a line has a pivot that is too small"));
        assert_int_equal(B->solve(0, x, B->ctx), COSTATE_BAD_ARGUMENT);
        assert_int_equal(B->setup(1e6, &(costate_point){0}, B->ctx), 0);        /* a smaller step */
        assert_int_equal(B->solve(0, x, B->ctx), 0);
    }
    costate_splitting_free(s);
    return code;
}

static void pivots(void **state)
{
    (void)state;
    for (int periodic = 0; periodic < 2; periodic++) {
        /* diffusion */
        assert_int_equal(code_of((model){.diagonal = -2, .lower = 1, .upper = 1}, 8, periodic, 1e-6), 0);
        assert_int_equal(code_of((model){.diagonal = 1}, 8, periodic, 1), 1);                  /* zero */
        assert_int_equal(code_of((model){.diagonal = 1 - 1e-17}, 8, periodic, 1), 1);
        /* 1 - 1e-2: a small pivot alone is no harm; it is with neighbours that make it grow a thousandfold */
        assert_int_equal(code_of((model){.diagonal = 1 - 1e-5}, 8, periodic, 1), 0);
        assert_int_equal(code_of((model){.diagonal = 1 - 1e-2, .lower = 1, .upper = 1}, 8, periodic, 1), 0);
        assert_int_equal(code_of((model){.diagonal = 1 - 1e-5, .lower = 1, .upper = 1}, 8, periodic, 1), 1);
    }
    /* the last point of a periodic line alone: rows -1, 2, -1 are singular */
    assert_int_equal(code_of((model){.diagonal = -1, .lower = 1, .upper = 1}, 8, 1, 1), 1);
    assert_int_equal(code_of((model){.diagonal = -1, .lower = 1, .upper = 1}, 8, 0, 1), 0);
    assert_int_equal(code_of((model){.diagonal = -1.001, .lower = 1, .upper = 1}, 8, 1, 1), 0);
    /* 1.21/1.1 - 1.1: round-off, or zero */
    for (double lower = 0.3; lower < 3; lower += 0.1)
        assert_int_equal(code_of((model){.diagonal = -0.1, .lower = lower, .upper = 1.21 / lower}, 2, 0, 1), 1);
    assert_int_equal(code_of((model){.diagonal = 1}, 1, 1, 1), 1);
    assert_int_equal(code_of((model){.diagonal = 0.5, .lower = 0.25, .upper = 0.25}, 1, 1, 1), 1);
    assert_int_equal(code_of((model){.diagonal = 0.5, .lower = 0.25, .upper = 0.25}, 1, 0, 1), 0);
}

static int of_matrix(model a, double sigma, const char *words)
{
    const costate_pattern pattern = {1, (const int[]){0, 1}, (const int[]){0}};
    const costate_part part = {.matrix = matrix, .pattern = &pattern, .ctx = &a};
    const costate_problem P = {.n = 1, .rhs = {.value = no_rhs}};
    costate_splitting *s = costate_splitting_new(&P, 1, &part);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    int code = B->setup(sigma, &(costate_point){0}, B->ctx);
    if (!strstr(costate_splitting_message(s), words)) fail_msg("%s: %s", words, costate_splitting_message(s));
    costate_splitting_free(s);
    return code;
}

static void codes(void **state)
{
    (void)state;
    assert_int_equal(of_matrix((model){.diagonal = -1}, 1, "No error."), 0);
    assert_int_equal(of_matrix((model){.diagonal = 1}, 1, "parts[0]: its matrix is singular for sigma = 1."), 1);
    assert_int_equal(of_matrix((model){.diagonal = NAN}, 1, "The callback matrix of parts[0] left a NaN or Inf."), 1);
    assert_int_equal(of_matrix((model){.code = 3}, 1, "The callback matrix of parts[0] returned 3."), 1);
    assert_int_equal(of_matrix((model){.code = -3}, 1, "The callback matrix of parts[0] returned -3."),
                     COSTATE_CALLBACK);
    /* after a failure the callback is called again */
    model a = {.diagonal = -1, .code = 1};
    const costate_part part = {.lines = lines, .points = 4, .stride = 1, .ctx = &a};
    const costate_problem P = {.n = N, .rhs = {.value = no_rhs}};
    costate_splitting *s = costate_splitting_new(&P, 1, &part);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    assert_int_equal(B->setup(1, &(costate_point){0}, B->ctx), 1);
    assert_string_equal(costate_splitting_message(s), "The callback lines of parts[0] returned 1.");
    a.code = 0;
    a.diagonal = INFINITY;
    assert_int_equal(B->setup(1, &(costate_point){0}, B->ctx), 1);
    assert_string_equal(costate_splitting_message(s), "The callback lines of parts[0] left a NaN or Inf.");
    a.diagonal = -1;
    assert_int_equal(B->setup(1, &(costate_point){0}, B->ctx), 0);
    assert_int_equal(a.calls, 3);
    assert_string_equal(costate_splitting_message(s), "No error.");
    costate_splitting_free(s);
}

/* sets of coefficients, and their lanes: equal lines have one; a bundle with another line has its own */
static void sharing(void **state)
{
    (void)state;
    enum { POINTS = 2, LINES = 12 };            /* bundles of 8 and 4 */
    static const struct { int odd, points, stride, sets, lanes; } known[] = {
        {0, 2, 1, 2, 1}, {0, 2, 12, 2, 1}, {5, 2, 1, 2, LANES}, {0, 1, 1, 1, 1}, {5, 1, 1, 2, LANES}, {0, 24, 1, 1, 1}};
    for (int k = 0; k < 6; k++) {
        model a = {.diagonal = -1, .lower = 0.25, .upper = 0.25, .odd = known[k].odd};
        const costate_part part = {.lines = lines, .points = known[k].points, .stride = known[k].stride, .ctx = &a};
        const costate_problem P = {.n = N, .rhs = {.value = no_rhs}};
        costate_splitting *s = costate_splitting_new(&P, 1, &part);
        const costate_preconditioner *B = costate_splitting_preconditioner(s);
        assert_int_equal(B->setup(1, &(costate_point){0}, B->ctx), 0);
        assert_int_equal(s->parts[0].along.sets, known[k].sets);
        assert_int_equal(s->parts[0].along.set[0].lanes, known[k].lanes);
        costate_splitting_free(s);
    }
}

static void refused(const costate_problem *P, int count, const costate_part *parts, int expected, const char *words)
{
    costate_splitting *s = costate_splitting_new(P, count, parts);
    double x[N] = {0};
    if (costate_splitting_status(s) != expected || !strstr(costate_splitting_message(s), words))
        fail_msg("%s: %d, %s", words, costate_splitting_status(s), costate_splitting_message(s));
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    assert_int_equal(B->setup(1, &(costate_point){0}, B->ctx), expected);
    assert_int_equal(B->solve(0, x, B->ctx), expected);
    assert_non_null(strstr(costate_splitting_message(s), words));
    costate_splitting_free(s);
}

static int mass_code;
static double mass_value[4];
static int small_mass(double *M, void *ctx) { return (void)ctx, memcpy(M, mass_value, sizeof mass_value), mass_code; }

static void refusals(void **state)
{
    (void)state;
    const costate_problem P = {.n = N, .rhs = {.value = no_rhs}}, odd = {.n = N, .residual = {.value = no_rhs}};
    costate_part a = {.lines = lines, .points = 4, .stride = 2};
    refused(NULL, 1, &a, COSTATE_BAD_ARGUMENT, "problem is NULL");
    refused(&odd, 1, &a, COSTATE_BAD_ARGUMENT, "not for residuals");
    refused(&P, 0, &a, COSTATE_BAD_ARGUMENT, "count = 0, and parts is given");
    refused(&P, 1, NULL, COSTATE_BAD_ARGUMENT, "count = 1, and parts is NULL");
    a.points = 5;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0]: stride * points = 2 * 5 does not divide n = 24");
    a.points = 8;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0]: stride * points = 2 * 8 does not divide n = 24");
    a.points = a.stride = 1 << 16;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "does not divide n = 24");
    a.points = 0;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0] has points = 0");
    a.points = 4;
    a.stride = -1;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "stride = -1");
    a.stride = 1;
    a.periodic = 2;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0].periodic = 2: it is 0 or 1");
    a.periodic = 0;
    a.matrix = matrix;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0] has both callbacks");
    const costate_part two[] = {{.lines = lines, .points = 4, .stride = 2}, {.solver = 0}};
    refused(&P, 2, two, COSTATE_BAD_ARGUMENT, "parts[1] has no callback");
    a.lines = NULL;
    a.solver = COSTATE_LS_GMRES;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0].solver = 6 is not a direct solver");
    a.solver = -1;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0].solver = -1 is not a direct solver");
    a.solver = 0;
    const costate_pattern wrong = {3, (const int[]){0, 1, 1, 1}, (const int[]){0}};
    a.pattern = &wrong;
    refused(&P, 1, &a, COSTATE_BAD_ARGUMENT, "parts[0].pattern: the pattern's n is not the problem's n");
}

static void masses(void **state)
{
    (void)state;
    const costate_problem P = {.n = 2, .rhs = {.value = no_rhs}, .mass = small_mass};
    const costate_part a = {.lines = lines, .points = 2, .stride = 1};
    static const struct { double M[4]; int code, status; const char *words; } known[] = {
        {{1, 0, 3, 1}, 0, COSTATE_BAD_ARGUMENT, "needs a diagonal mass matrix: row 0 of column 1 is 3"},
        {{1, 0, 0, 0}, 0, COSTATE_BAD_ARGUMENT, "its diagonal is 0 in row 1"},
        {{1, 0, 0, NAN}, 0, COSTATE_BAD_ARGUMENT, "The mass matrix holds a NaN or Inf"},
        {{1, 0, 0, 1}, 4, COSTATE_CALLBACK, "The callback mass returned 4"}};
    for (int k = 0; k < 4; k++) {
        memcpy(mass_value, known[k].M, sizeof mass_value);
        mass_code = known[k].code;
        refused(&P, 1, &a, known[k].status, known[k].words);
    }
}

static void nothing(void **state)
{
    (void)state;
    assert_null(costate_splitting_preconditioner(NULL));
    assert_int_equal(costate_splitting_status(NULL), COSTATE_NO_MEMORY);
    assert_non_null(strstr(costate_splitting_message(NULL), "No memory"));
    costate_splitting_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls), cmocka_unit_test(ctx_of_problem),
                                       cmocka_unit_test(pivots), cmocka_unit_test(codes), cmocka_unit_test(sharing),
                                       cmocka_unit_test(refusals), cmocka_unit_test(masses), cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
