/* test_loose.c - Krylov iterations inside Newton: loose_solve reaches the error it is asked for, and pairs hold what
   they were given. */
#include "linsol/loose.h"
#include "linsol/pairs.h"
#include "common.h"

enum { N = 40, LIMIT = 41, ROOM = 8, USE = 5 };

typedef struct { double A[N][N], shift; } matrix;

static int multiply(void *ctx, int m, const double *x, double *out)
{
    assert_int_equal(m, 1);
    const matrix *a = ctx;
    for (int i = 0; i < N; i++) {
        out[i] = a->shift * x[i];
        for (int j = 0; j < N; j++) out[i] += a->A[i][j] * x[j];
    }
    return 0;
}

static int scale(void *ctx, double *x)
{
    const matrix *a = ctx;
    for (int i = 0; i < N; i++) x[i] /= a->shift > 0 ? a->shift : 1;
    return 0;
}

static double distance(const double *w, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < N; i++) sum += w[i] * w[i] * (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum / N);
}

/* Random, near the identity; and a rotation of pairs of axes, orthogonal to its argument: without the direction by q
   the residual would never fall. */
static void fill(matrix *a, int rotation, unsigned *seed)
{
    *a = (matrix){.shift = rotation ? 0 : 2};
    double r[N];
    for (int i = 0; i < N; i++) {
        random_fill(seed, N, r);
        for (int j = 0; !rotation && j < N; j++) a->A[i][j] = r[j] / sqrt(N);
    }
    for (int i = 0; rotation && i < N; i += 2) {
        a->A[i][i + 1] = 1 + i % 6;
        a->A[i + 1][i] = -(1 + i % 6);
    }
}

static void reaches_its_error(void **state)
{
    (void)state;
    static double work[(2 * LIMIT + 1) * N + LIMIT * (LIMIT + 3) + 1];
    unsigned seed = 3;
    verdict v = {0};
    space here = {.v = &v};
    assert_true(loose_work(N, LIMIT) <= sizeof work / sizeof *work);
    for (int k = 0; k < 24; k++) {
        matrix a;
        double w[N], x[N], b[N], amplified = 1, tol = pow(10, -(k % 8));
        loose_result got;
        fill(&a, k % 2, &seed);
        random_fill(&seed, N, x);
        for (int i = 0; i < N; i++) w[i] = pow(10, 0.5 * x[(i + 7) % N]);
        loose_system s = {&here, N, LIMIT, w, tol, 0, multiply, scale, &a, work};
        for (int again = 0; again < 2; again++) {              /* the second time it knows how errors are amplified */
            multiply(&a, 1, x, b);
            assert_int_equal(loose_solve(&s, b, &amplified, &got), 0);
            assert_false(got.stalled);
            assert_true(amplified >= 1);
        }
        if (!(distance(w, b, x) <= 2 * tol)) fail_msg("case %d: %.1e of %.0e", k, distance(w, b, x), tol);
    }
}

/* amplified, of A = c I without a preconditioner: errors are c^-1 times residuals.  The largest ratio |x|/|P^-1 b| so
   far is known to the next solves, what is beyond 1 fades by a fifth with each, and the tolerance is for the error. */
static void errors_are_amplified(void **state)
{
    (void)state;
    static double work[(2 * LIMIT + 1) * N + LIMIT * (LIMIT + 3) + 1];
    static matrix a;
    verdict v = {0};
    space here = {.v = &v};
    double w[N], b[N], amplified = 11;
    loose_result got;
    loose_system s = {&here, N, LIMIT, w, 1e-3, 0, multiply, scale, &a, work};
    for (int i = 0; i < N; i++) w[i] = 1;
    a = (matrix){.shift = 1};
    for (int i = 0; i < N; i++) b[i] = 1;
    assert_int_equal(loose_solve(&s, b, &amplified, &got), 0);
    assert_true(fabs(amplified - 9) < 1e-12);
    for (int i = 0; i < N; i++) b[i] = 1e-3 / 8;                /* nothing is to be done for a solution of 1/8000 */
    amplified = 1;
    assert_int_equal(loose_solve(&s, b, &amplified, &got), 0);
    assert_int_equal(got.iterations, 0);
    for (int i = 0; i < N; i++) b[i] = 1e-3 / 8;
    amplified = 11;                                             /* it may be the residual of one of 9/8000 */
    assert_int_equal(loose_solve(&s, b, &amplified, &got), 0);
    assert_int_equal(got.iterations, 1);
    a.shift = 0;
    for (int i = 0; i < N; i++) { a.A[i][i] = 0.02; b[i] = 1; }
    amplified = 1;
    assert_int_equal(loose_solve(&s, b, &amplified, &got), 0);
    assert_true(fabs(amplified - 50) < 1e-10);
}

static void keep(pairs *p, matrix *a, const double *w, const double *from)
{
    double *x, *u, *v;
    pairs_next(p, &x, &u, &v);
    memcpy(x, from, N * sizeof *x);
    multiply(a, 1, x, v);
    assert_int_equal(pairs_add(p, USE, w), 0);
}

/* A system whose solution lies in the span of the last pairs, at any sigma; not when one of them was dropped. */
static void hold_their_span(void **state)
{
    (void)state;
    static double memory[(2 + 2 * ROOM) * (N + 8)];
    unsigned seed = 5;
    verdict ver = {0};
    space here = {.v = &ver};
    pairs p = {.space = &here};
    cursor at = {memory, 0};
    matrix a;
    double w[N], x[N], b[N], sum[N] = {0}, guess[N];
    int good;
    pairs_layout(&p, &at, N, ROOM, 1);
    assert_true(at.used <= sizeof memory / sizeof *memory);
    fill(&a, 0, &seed);
    random_fill(&seed, N, w);
    for (int i = 0; i < N; i++) w[i] = 1 + w[i] * w[i];
    assert_int_equal(pairs_guess(&p, USE, 1, w, guess, &good), 0);
    assert_false(good);
    for (int k = 0; k < 2 * ROOM + 3; k++) {
        random_fill(&seed, N, x);
        keep(&p, &a, w, x);
        for (int i = 0; k >= 2 * ROOM + 3 - USE && i < N; i++) sum[i] += (1 + k % 3) * x[i];
    }
    for (double sigma = 1e-2; sigma < 1e7; sigma *= 100) {
        multiply(&a, 1, sum, b);
        for (int i = 0; i < N; i++) b[i] = sigma * sum[i] - b[i];
        assert_int_equal(pairs_guess(&p, USE, sigma, b, guess, &good), 0);
        assert_true(good);
        if (!(distance(w, guess, sum) <= 1e-9)) fail_msg("sigma %g: %.1e", sigma, distance(w, guess, sum));
    }
    keep(&p, &a, w, x);                                         /* the same once more: dependent, left out */
    pairs_guess(&p, USE, 1e4, b, guess, &good);
    for (int i = 0; i < N; i++) assert_true(isfinite(guess[i]));
    pairs_drop(&p, 2);
    pairs_guess(&p, USE, 1e6, b, guess, &good);
    assert_true(distance(w, guess, sum) > 1e-3);
    pairs_drop(&p, ROOM);
    assert_int_equal(p.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reaches_its_error), cmocka_unit_test(errors_are_amplified),
                                       cmocka_unit_test(hold_their_span)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
