/* test_operators_malloc.c - malloc fails at call k of an operator or of a run with it: a status and a sentence, nothing
   leaked, and it works when memory is back. */
#include "alloc.h"
#include "grid.h"

typedef struct { double y[GRID_MOST], lambda[GRID_MOST]; } results;

static int by_matrix(const costate_point *x, double *A, void *ctx)
{
    (void)x;
    for (int j = 0; j < *(int *)ctx; j++) A[j] = 0.1;
    return 0;
}
static int mass(double *M, void *ctx)
{
    for (int i = 0; i < ((grid *)ctx)->P.n; i++) M[i] = 1 + 0.01 * i;
    return 0;
}
static int apply(int transpose, const double *x, double *out, void *ctx)
{
    grid *g = ctx;
    (void)transpose;
    memset(out, 0, (size_t)g->P.n * sizeof *out);
    grid_laplace(g, g->p, x, out);
    return 0;
}

static int run(const grid *g, const costate_preconditioner *B, results *r, char *said)
{
    costate_options o = grid_options(B, 1e-3);
    costate *c = costate_new(costate_method_find("w6s4os"), &g->P, &o);
    costate_tape *tape = costate_tape_new();
    int status = c && tape ? costate_status(c) : COSTATE_NO_MEMORY;
    memcpy(r->y, g->y0, sizeof r->y);
    for (int i = 0; i < GRID_MOST; i++) r->lambda[i] = i < g->P.n;
    if (!status) status = costate_integrate(c, 0, 0.2, r->y, g->p, tape);
    if (!status) status = costate_adjoint(c, tape, 1, r->lambda, NULL, NULL, NULL);
    snprintf(said, 800, "%s", costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

/* One run with fresh operators: a splitting of two kinds of lines and a matrix, inside a polynomial of one term */
static int all(const grid *g, results *r, char *said)
{
    int n = g->P.n, *at = malloc(2 * ((size_t)n + 1) * sizeof *at), status = COSTATE_NO_MEMORY;
    if (!at) return status;
    for (int i = 0; i <= n; i++) at[i] = at[n + 1 + i] = i;
    const costate_pattern pattern = {n, at, at + n + 1};
    costate_problem P = g->P;
    P.mass = mass;
    P.pattern = &pattern;
    costate_part parts[] = {g->part[0], g->part[1], {.matrix = by_matrix, .pattern = &pattern, .ctx = &n}};
    grid moved = *g;
    moved.P = P;
    costate_splitting *s = costate_splitting_new(&P, 3, parts);
    const costate_polynomial with = {.inner = costate_splitting_preconditioner(s), .apply = apply, .terms = 2,
                                     .lo = 0.7, .hi = 1.1};
    costate_chebyshev *c = s ? costate_chebyshev_new(&P, &with) : NULL;
    if (s && costate_splitting_status(s)) {
        status = costate_splitting_status(s);
        snprintf(said, 800, "%s", costate_splitting_message(s));
    } else if (c && costate_chebyshev_status(c)) {
        status = costate_chebyshev_status(c);
        snprintf(said, 800, "%s", costate_chebyshev_message(c));
    } else if (c) {
        status = run(&moved, costate_chebyshev_preconditioner(c), r, said);
        if (costate_splitting_status(s) == COSTATE_NO_MEMORY) status = COSTATE_NO_MEMORY;
    }
    costate_chebyshev_free(c);
    costate_splitting_free(s);
    free(at);
    return status;
}

static void at_every_call(void **state)
{
    (void)state;
    static const int plane[] = {6, 5};
    static grid g;
    static results expected, r;
    char said[800] = "";
    alloc_backends_too();
    grid_make(&g, 2, 2, plane, 1, 0.1);
    int status = all(&g, &expected, said);
    if (status) fail_msg("%s", said);
    long k = 0, live = alloc_live();
    for (long failures = 1; failures;) {
        alloc_fail_at(++k);
        status = all(&g, &r, said);
        failures = alloc_failures();
        alloc_fail_at(0);
        if (failures && status != COSTATE_NO_MEMORY) fail_msg("call %ld: %d, %s", k, status, said);
        assert_int_equal(alloc_live(), live);
        if (!failures) assert_memory_equal(&r, &expected, sizeof r);
    }
    assert_true(k > 40);
}

/* setups and solves with lines allocate nothing */
static void inside_steps(void **state)
{
    (void)state;
    static const int plane[] = {6, 5};
    static grid g;
    double x[GRID_MOST] = {1};
    grid_make(&g, 2, 2, plane, 1, 0.1);
    costate_splitting *s = costate_splitting_new(&g.P, 2, g.part);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    alloc_fail_at(1);
    const costate_point at = {.p = g.p};
    assert_int_equal(B->setup(1, &at, B->ctx), 0);
    assert_int_equal(B->solve(0, x, B->ctx), 0);
    assert_int_equal(B->setup(2, &at, B->ctx), 0);
    assert_int_equal(alloc_calls(), 0);
    alloc_fail_at(0);
    costate_splitting_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_every_call), cmocka_unit_test(inside_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
