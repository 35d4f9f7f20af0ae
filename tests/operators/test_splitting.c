/* test_splitting.c - costate_splitting against dense matrices: P^-1 and P^-T for all kinds of parts, exact transposes,
   several columns, when the callbacks are called. */
#include <costate/operators.h>
#include "common.h"

enum { MOST_N = 120, MOST_PARTS = 3 };

/* A part whose entries are formulas of row, column and p: random-looking, with a dominant diagonal */
typedef struct {
    int n, points, stride, periodic;    /* points = 0: a matrix in a pattern */
    int equal;                          /* lines: 0: all differ; m > 0: with the phase of the line modulo m */
    int seed, calls, solver;
    double far;                         /* what is written where a line ends */
    costate_pattern pattern;
    int col[MOST_N + 1], row[3 * MOST_N];
} model;

static double entry(const model *a, int i, int which, double p)
{
    int k = i / a->stride % a->points, line = i / (a->stride * a->points) * a->stride + i % a->stride;
    double phase = a->equal ? line % a->equal : line;
    double x = sin(3.1 * k + 1.3 * which + 0.7 * phase + a->seed);
    return (which == 1 ? -2.6 - 0.5 * x : 1 + 0.2 * x) * (1 + p);
}

static int by_lines(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    model *a = ctx;
    a->calls++;
    for (int i = 0; i < a->n; i++) {
        int k = i / a->stride % a->points, inside = a->periodic || a->far == 0;
        assert_true(lower[i] == 0 && diagonal[i] == 0 && upper[i] == 0);
        lower[i] = k > 0 || inside ? entry(a, i, 0, x->p[0]) : a->far;
        diagonal[i] = entry(a, i, 1, x->p[0]);
        upper[i] = k < a->points - 1 || inside ? entry(a, i, 2, x->p[0]) : a->far;
    }
    return 0;
}

static double of_pattern(const model *a, int i, int j, double p)
{
    return (i == j ? -1.5 : 0.3 * sin(1.7 * i + 2.9 * j + a->seed)) * (1 + p);
}

static int by_matrix(const costate_point *x, double *A, void *ctx)
{
    model *a = ctx;
    a->calls++;
    for (int j = 0; j < a->n; j++)
        for (int k = a->col[j]; k < a->col[j + 1]; k++) {
            assert_true(A[k] == 0);
            A[k] = of_pattern(a, a->row[k], j, x->p[0]);
        }
    return 0;
}

/* entries (j, j) and (3 j + seed, j), one column in five without its diagonal */
static void make_pattern(model *a)
{
    int k = 0;
    for (int j = 0; j < a->n; j++) {
        int far = (3 * j + a->seed) % a->n;
        a->col[j] = k;
        if (far < j) a->row[k++] = far;
        if (far == j || j % 5 != 3) a->row[k++] = j;
        if (far > j) a->row[k++] = far;
    }
    a->col[a->n] = k;
    a->pattern = (costate_pattern){a->n, a->col, a->row};
}

static costate_part part_of(model *a)
{
    if (a->points > 0)
        return (costate_part){.lines = by_lines, .points = a->points, .stride = a->stride, .periodic = a->periodic,
                              .ctx = a};
    make_pattern(a);
    return (costate_part){.matrix = by_matrix, .pattern = &a->pattern, .solver = a->solver, .ctx = a};
}

/* ---- the reference: dense, by rows ---- */

static void dense_of(const model *a, double p, double *A)
{
    int n = a->n, reach = a->stride * (a->points - 1);
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    for (int j = 0; j < n && a->points == 0; j++)
        for (int k = a->col[j]; k < a->col[j + 1]; k++) A[a->row[k] * n + j] = of_pattern(a, a->row[k], j, p);
    for (int i = 0; i < n && a->points > 0; i++) {
        int k = i / a->stride % a->points;
        A[i * n + i] += entry(a, i, 1, p);
        if (k > 0) A[i * n + i - a->stride] += entry(a, i, 0, p);
        else if (a->periodic) A[i * n + i + reach] += entry(a, i, 0, p);
        if (k < a->points - 1) A[i * n + i + a->stride] += entry(a, i, 2, p);
        else if (a->periodic) A[i * n + i - reach] += entry(a, i, 2, p);
    }
}

/* x <- (I - M^-1 A/sigma) x, or its transpose */
static void factor_times(int n, const double *A, const double *mass, double sigma, int transpose, double *x)
{
    double out[MOST_N];
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += transpose ? A[j * n + i] * x[j] / (mass ? mass[j] : 1) : A[i * n + j] * x[j] / (mass ? mass[i] : 1);
        out[i] = x[i] - sum / sigma;
    }
    memcpy(x, out, (size_t)n * sizeof *x);
}

/* x <- P x or P^T x for P = sigma M (I - M^-1 A_1/sigma) .. (I - M^-1 A_d/sigma) */
static void times_P(int d, const model *a, const double *mass, double sigma, double p, int transpose, double *x)
{
    static double A[MOST_N * MOST_N];
    int n = a->n;
    for (int i = 0; i < n && transpose; i++) x[i] *= sigma * (mass ? mass[i] : 1);
    for (int k = 0; k < d; k++) {
        int j = transpose ? k : d - 1 - k;
        dense_of(&a[j], p, A);
        factor_times(n, A, mass, sigma, transpose, x);
    }
    for (int i = 0; i < n && !transpose; i++) x[i] *= sigma * (mass ? mass[i] : 1);
}

/* ---- the comparison ---- */

static int no_rhs(const costate_point *x, double *out, void *ctx) { return (void)x, (void)out, (void)ctx, 0; }

static double mass_at(int i) { return 1.5 + sin(2.3 * i); }
static int mass(double *M, void *ctx)
{
    for (int i = 0; i < *(int *)ctx; i++) M[i] = mass_at(i);
    return 0;
}

/* the largest relative residual of P and P^T with three columns, and |w.(P^-1 v) - v.(P^-T w)| */
static void compare(int d, model *a, int with_mass)
{
    int n = a->n, col[MOST_N + 1], row[MOST_N];
    const double sigma = 2.7, p = 0.125;
    double X[3][MOST_N], W[3][MOST_N], V[3][MOST_N], Y[3][MOST_N], one[MOST_N], m[MOST_N];
    unsigned seed = 5;
    costate_part parts[MOST_PARTS];
    for (int i = 0; i <= n; i++) col[i] = i;
    for (int i = 0; i < n; i++) row[i] = i, m[i] = mass_at(i);
    const costate_pattern diagonal = {n, col, row};
    const costate_problem P = {.n = n, .np = 1, .ctx = &n, .rhs = {.value = no_rhs}, .mass = with_mass ? mass : NULL,
                               .pattern = &diagonal};
    for (int j = 0; j < d; j++) parts[j] = part_of(&a[j]);
    costate_splitting *s = costate_splitting_new(&P, d, parts);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    const costate_point x = {.p = &p};
    if (costate_splitting_status(s) == COSTATE_BACKEND && a->solver > COSTATE_LS_BAND) {
        costate_splitting_free(s);                          /* not built in */
        return;
    }
    assert_string_equal(costate_splitting_message(s), "No error.");
    assert_int_equal(B->setup(sigma, &x, B->ctx), 0);
    for (int k = 0; k < 3; k++) {
        random_fill(&seed, (size_t)n, X[k]);
        random_fill(&seed, (size_t)n, W[k]);
        memcpy(V[k], X[k], sizeof V[k]);
        memcpy(Y[k], W[k], sizeof Y[k]);
    }
    double gap = 0, residual = 0, packed[3 * MOST_N];
    for (int transpose = 0; transpose < 2; transpose++) {
        double (*Z)[MOST_N] = transpose ? Y : V;
        for (int k = 0; k < 3; k++) memcpy(packed + k * n, Z[k], (size_t)n * sizeof *packed);
        memcpy(one, Z[1], sizeof one);
        assert_int_equal(B->solves(transpose, 3, packed, B->ctx), 0);
        assert_int_equal(B->solve(transpose, one, B->ctx), 0);
        if (a->solver == COSTATE_LS_AUTO) assert_memory_equal(one, packed + n, (size_t)n * sizeof *one);
        else assert_true(relative_gap(n, one, packed + n) < 1e-15);       /* LAPACK's order of sums */
        for (int k = 0; k < 3; k++) memcpy(Z[k], packed + k * n, (size_t)n * sizeof *packed);
    }
    for (int k = 0; k < 3; k++) {
        double vw = 0, wv = 0, size = 0, back[MOST_N];
        for (int i = 0; i < n; i++) {
            vw += W[k][i] * V[k][i];
            wv += X[k][i] * Y[k][i];
            size += fabs(W[k][i] * V[k][i]) + fabs(X[k][i] * Y[k][i]);
        }
        gap = larger_of(gap, fabs(vw - wv) / size);
        memcpy(back, V[k], sizeof back);
        times_P(d, a, with_mass ? m : NULL, sigma, p, 0, back);
        residual = larger_of(residual, relative_gap(n, back, X[k]));
        memcpy(back, Y[k], sizeof back);
        times_P(d, a, with_mass ? m : NULL, sigma, p, 1, back);
        residual = larger_of(residual, relative_gap(n, back, W[k]));
    }
    if (!(gap < 1e-15 && residual < 1e-13))
        fail_msg("%d parts, mass %d, %d points, stride %d, periodic %d, equal %d: gap %.1e, residual %.1e", d,
                 with_mass, a->points, a->stride, a->periodic, a->equal, gap, residual);
    costate_splitting_free(s);
}

/* one part: all strides that divide n, with and without ends that meet, equal and different lines */
static void lines(void **state)
{
    (void)state;
    for (int n = 1; n <= MOST_N; n += n < 12 ? 1 : n == 12 ? 108 : 1)
        for (int stride = 1; stride <= n; stride++)
            for (int points = 1; stride * points <= n; points++)
                for (int k = 0; k < 12; k++) {
                    if (n % (stride * points)) continue;
                    static const int equal[] = {0, 1, 2};
                    model a = {.n = n, .points = points, .stride = stride, .periodic = k % 2, .equal = equal[k / 4],
                               .far = k == 4 ? 1e300 : 0};
                    compare(1, &a, k / 2 % 2);
                }
}

static void patterns(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n += 13)
        for (int solver = COSTATE_LS_AUTO; solver <= COSTATE_LS_KLU; solver++)
            for (int with_mass = 0; with_mass < 2; with_mass++)
                compare(1, &(model){.n = n, .seed = 1, .solver = solver}, with_mass);
}

/* 2 components on a grid of 5 x 4 x 3 points, and a pattern, in all orders */
static void several(void **state)
{
    (void)state;
    static const int points[] = {5, 4, 3, 0}, stride[] = {2, 10, 40, 0};
    for (int d = 2; d <= 3; d++)
        for (int k = 0; k < 64; k++)
            for (int periodic = 0; periodic < 2; periodic++) {
                model a[3];
                for (int j = 0; j < 3; j++) {
                    int kind = k >> (2 * j) & 3;
                    a[j] = (model){.n = 120, .points = points[kind], .stride = stride[kind], .periodic = periodic,
                                   .equal = (k + j) % 3, .seed = j};
                }
                compare(d, a, k % 2);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(patterns), cmocka_unit_test(several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
