/* test_linsol.c - all linear solvers agree with Gaussian elimination, and say so when a matrix is singular. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "alloc.h"
#include "linsol/backends.h"
#include "linsol/band_lu.h"
#include "linsol/ls.h"
#include "patterns.h"

enum { MAX = 80 };                          /* unknowns of the small systems */

static const char *const names[] = { "dense", "band", "umfpack", "superlu", "klu", "sparse" };
enum { NAMES = sizeof names / sizeof *names };

/* ---- random systems ------------------------------------------------------------------------------------ */

static uint64_t seed = 1;

static double uniform(void)                 /* in [-1, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)seed / 9223372036854775808.0;
}

typedef struct {
    const char *name;
    int n, strong;                          /* entry (i, i + strong mod n) dominates its row */
    int (*has)(int n, int i, int j);        /* NULL: dense, no pattern */
} shape;

static int tridiagonal(int n, int i, int j) { (void)n; return i - j <= 2 && j - i <= 1; }
static int scattered(int n, int i, int j) { (void)n; return i == j || (7 * i + 13 * j) % 11 == 0; }
static int holes(int n, int i, int j) { (void)n; return (i == j && i % 3) || (5 * i + 3 * j) % 7 == 0 || i % 3 == 0; }
static int cyclic(int n, int i, int j) { return j == (i + 1) % n || j == (i + n - 1) % n; }
static int upper(int n, int i, int j) { (void)n; return i <= j && (i == j || (i + j) % 5 == 0); }

static int grid(int n, int i, int j)        /* 5 by (n/15) points of 3 variables, all of neighbours coupled */
{
    int a = i / 3, b = j / 3, dx = abs(a % 5 - b % 5), dy = abs(a / 5 - b / 5);
    (void)n;
    return dx + dy <= 1;
}

static const shape shapes[] = {
    { "one", 1, 0, NULL },
    { "dense", 9, 0, NULL },
    { "one in a pattern", 1, 0, tridiagonal },
    { "band", 37, 0, tridiagonal },
    { "scattered", 40, 0, scattered },
    { "holes in the diagonal", 21, 0, holes },
    { "no diagonal", 24, 1, cyclic },
    { "triangular", 30, 0, upper },
    { "grid", 75, 0, grid },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct {
    int n, nnz;
    int col[MAX + 1], row[MAX * MAX];
    costate_pattern pattern;
    const costate_pattern *p;               /* NULL: dense */
    double J[MAX * MAX], M[MAX * MAX];
} system_t;

static system_t *new_system(const shape *s)
{
    system_t *q = calloc(1, sizeof *q);
    assert_non_null(q);
    q->n = s->n;
    for (int j = 0; j < s->n; j++) {
        for (int i = 0; i < s->n; i++) {
            int strong = j == (i + s->strong) % s->n;
            if (s->has && !s->has(s->n, i, j)) continue;
            q->J[q->nnz] = uniform() - (strong ? 3.0 + 0.2 * s->n : 0.0);
            q->M[q->nnz] = 0.2 * uniform() + (strong ? 2.0 : 0.0);
            q->row[q->nnz++] = i;
        }
        q->col[j + 1] = q->nnz;
    }
    q->pattern.n = s->n;
    q->pattern.col = q->col;
    q->pattern.row = q->row;
    q->p = s->has ? &q->pattern : NULL;
    return q;
}

static void zero_rows(system_t *q, double *values, int every)
{
    for (int k = 0; k < q->nnz; k++)
        if (q->row[k] % every == 0) values[k] = 0.0;
}

/* (re + i im) M - J, n*n by columns, always complex. */
static void full_matrix(const system_t *q, double re, double im, const double *J, const double *M, double *A)
{
    memset(A, 0, 2 * (size_t)(q->n * q->n) * sizeof *A);
    for (int j = 0; j < q->n; j++) {
        for (int k = q->col[j]; k < q->col[j + 1]; k++) {
            double *a = A + 2 * (q->row[k] + j * q->n);
            a[0] = (M ? re * M[k] : 0.0) - (J ? J[k] : 0.0);
            a[1] = M ? im * M[k] : 0.0;
        }
        if (M) continue;
        A[2 * (j + j * q->n)] += re;
        A[2 * (j + j * q->n) + 1] += im;
    }
}

/* ---- Gaussian elimination with partial pivoting -------------------------------------------------------- */

static void subtract_product(double *z, const double *a, const double *b)
{
    double re = a[0] * b[0] - a[1] * b[1];
    z[1] -= a[0] * b[1] + a[1] * b[0];
    z[0] -= re;
}

static void divide(double *z, const double *a)
{
    double d = a[0] * a[0] + a[1] * a[1], re = (z[0] * a[0] + z[1] * a[1]) / d;
    z[1] = (z[1] * a[0] - z[0] * a[1]) / d;
    z[0] = re;
}

static void exchange(double *x, double *y)
{
    for (int part = 0; part < 2; part++) {
        double t = x[part];
        x[part] = y[part];
        y[part] = t;
    }
}

static void eliminate(int n, double *A, double *x)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (hypot(A[2 * (i + k * n)], A[2 * (i + k * n) + 1]) >
                hypot(A[2 * (best + k * n)], A[2 * (best + k * n) + 1])) best = i;
        for (int j = 0; j < n; j++) exchange(A + 2 * (k + j * n), A + 2 * (best + j * n));
        exchange(x + 2 * k, x + 2 * best);
        for (int i = k + 1; i < n; i++) {
            double f[2] = { A[2 * (i + k * n)], A[2 * (i + k * n) + 1] };
            divide(f, A + 2 * (k + k * n));
            for (int j = k; j < n; j++) subtract_product(A + 2 * (i + j * n), f, A + 2 * (k + j * n));
            subtract_product(x + 2 * i, f, x + 2 * k);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) subtract_product(x + 2 * k, A + 2 * (k + j * n), x + 2 * j);
        divide(x + 2 * k, A + 2 * (k + k * n));
    }
}

static void transpose_in_place(int n, double *A)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) exchange(A + 2 * (i + j * n), A + 2 * (j + i * n));
}

/* ---- solvers under test ---------------------------------------------------------------------------------- */

static LS *new_solver(const char *name, const system_t *q, int is_complex, const LS *like, costate_stats *count)
{
    int status = 99;
    LS *ls = LS_Init(costate_backend_find(name), q->n, q->p, is_complex, like, count, &status);
    if (!ls || status) fail_msg("%s: LS_Init gave %d", name, status);
    return ls;
}

static const char *built_in(int k)          /* NULL: not built in */
{
    return costate_backend_find(names[k]) ? names[k] : NULL;
}

/* The largest error of X against elimination, relative to the solution. */
static double error_of(const system_t *q, int is_complex, double re, double im, const double *J, const double *M,
                       int transpose, int nrhs, const double *B, const double *X)
{
    static double A[2 * MAX * MAX], x[2 * MAX];
    double worst = 0.0;
    int parts = is_complex ? 2 : 1;
    for (int c = 0; c < nrhs; c++) {
        double size = 0.0, gap = 0.0;
        full_matrix(q, re, im, J, M, A);
        if (transpose) transpose_in_place(q->n, A);
        for (int i = 0; i < q->n; i++) {
            x[2 * i] = B[parts * (i + c * q->n)];
            x[2 * i + 1] = is_complex ? B[parts * (i + c * q->n) + 1] : 0.0;
        }
        eliminate(q->n, A, x);
        for (int i = 0; i < q->n; i++)
            for (int part = 0; part < parts; part++) {
                size = fmax(size, fabs(x[2 * i + part]));
                gap = fmax(gap, fabs(x[2 * i + part] - X[parts * (i + c * q->n) + part]));
            }
        worst = fmax(worst, gap / size);
    }
    return worst;
}

static void check_solves(const char *what, LS *ls, const system_t *q, int is_complex, double re, double im,
                         const double *J, const double *M)
{
    static double B[2 * 3 * MAX], X[2 * 3 * MAX];
    for (int transpose = 0; transpose < 2; transpose++)
        for (int nrhs = 1; nrhs <= 3; nrhs += 2) {
            double error;
            for (int k = 0; k < 2 * 3 * MAX; k++) B[k] = X[k] = uniform();
            assert_int_equal(LS_Solve(ls, transpose, nrhs, X), COSTATE_LS_OK);
            error = error_of(q, is_complex, re, im, J, M, transpose, nrhs, B, X);
            if (!(error <= 1e-12))
                fail_msg("%s, %s, %s, %d right-hand sides: error %g", what, is_complex ? "complex" : "real",
                         transpose ? "transposed" : "plain", nrhs, error);
        }
}

/* ---- the claims -------------------------------------------------------------------------------------------- */

static void agree(void **state)
{
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        system_t *q = new_system(&shapes[s]), *singular = new_system(&shapes[s]);
        uint64_t draws = seed;              /* the same right-hand sides for all */
        zero_rows(singular, singular->M, 4);
        for (int k = 0; k < NAMES; k++) {
            if (!built_in(k)) continue;
            seed = draws;
            for (int is_complex = 0; is_complex < 2; is_complex++) {
                char what[100];
                double im = is_complex ? 2.5 : 0.0;
                LS *ls = new_solver(names[k], q, is_complex, NULL, NULL);
                const double *mass[3] = { NULL, q->M, singular->M };
                for (int m = 0; m < 3; m++) {
                    snprintf(what, sizeof what, "%s, %s, mass %d", names[k], shapes[s].name, m);
                    if (LS_Decomp(ls, 1.5, im, q->J, mass[m])) fail_msg("%s: LS_Decomp failed", what);
                    check_solves(what, ls, q, is_complex, 1.5, im, q->J, mass[m]);
                }
                LS_Free(ls);
            }
        }
        free(q);
        free(singular);
    }
}

static void no_jacobian(void **state)       /* J NULL: a multiple of M, or of the identity */
{
    system_t *q = new_system(&shapes[3]);
    (void)state;
    for (int k = 0; k < NAMES; k++) {
        LS *ls;
        if (!built_in(k)) continue;
        ls = new_solver(names[k], q, 1, NULL, NULL);
        assert_int_equal(LS_Decomp(ls, 1.5, -0.5, NULL, q->M), COSTATE_LS_OK);
        check_solves(names[k], ls, q, 1, 1.5, -0.5, NULL, q->M);
        assert_int_equal(LS_Decomp(ls, 0.0, 2.0, NULL, NULL), COSTATE_LS_OK);
        check_solves(names[k], ls, q, 1, 0.0, 2.0, NULL, NULL);
        LS_Free(ls);
    }
    free(q);
}

/* A matrix too large for elimination: the residual. */
static void large_grid(void **state)
{
    enum { SIDE = 16, N = 3 * SIDE * SIDE };
    int *col = malloc((N + 1) * sizeof *col), *row = malloc(15 * N * sizeof *row), nnz = 0;
    double *J = malloc(15 * N * sizeof *J), *B = malloc(2 * N * sizeof *B), *X = malloc(2 * N * sizeof *X);
    costate_pattern p = { N, col, row };
    (void)state;
    col[0] = 0;
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) {
            int a = i / 3, b = j / 3;
            if (abs(a % SIDE - b % SIDE) + abs(a / SIDE - b / SIDE) > 1) continue;
            J[nnz] = uniform() * 20.0;
            row[nnz++] = i;
        }
        col[j + 1] = nnz;
    }
    for (int k = 0; k < NAMES; k++)
        for (int is_complex = 0; is_complex < 2; is_complex++)
            for (int transpose = 0; transpose < 2; transpose++) {
                const costate_backend *b = costate_backend_find(names[k]);
                int status, length = is_complex ? 2 * N : N;
                double worst = 0.0, im = is_complex ? 10.0 : 0.0;
                LS *ls;
                if (!b) continue;
                ls = LS_Init(b, N, &p, is_complex, NULL, NULL, &status);
                assert_non_null(ls);
                assert_int_equal(LS_Decomp(ls, 30.0, im, J, NULL), COSTATE_LS_OK);
                for (int i = 0; i < length; i++) B[i] = X[i] = uniform();
                assert_int_equal(LS_Solve(ls, transpose, 1, X), COSTATE_LS_OK);
                for (int part = 0; part < (is_complex ? 2 : 1); part++) {   /* B <- B - (s - J) X */
                    static double x[N], r[N];
                    int parts = is_complex ? 2 : 1;
                    for (int i = 0; i < N; i++) {
                        double other = is_complex ? X[2 * i + 1 - part] : 0.0;
                        x[i] = X[parts * i + part];
                        r[i] = B[parts * i + part] - 30.0 * x[i] + (part ? -im : im) * other;
                    }
                    pattern_multiply(N, &p, J, transpose, 1.0, 1, x, r);
                    for (int i = 0; i < N; i++) worst = fmax(worst, fabs(r[i]));
                }
                if (!(worst < 1e-10)) fail_msg("%s: residual %g", names[k], worst);
                LS_Free(ls);
            }
    free(col); free(row); free(J); free(B); free(X);
}

static void expect_singular(const char *what, LS *ls, double re, const double *J, const double *M)
{
    double x[2 * MAX] = { 1.0 };
    int status = LS_Decomp(ls, re, 0.0, J, M);
    if (status != COSTATE_LS_SINGULAR) fail_msg("%s: %d is not COSTATE_LS_SINGULAR", what, status);
    assert_int_equal(LS_Solve(ls, 0, 1, x), COSTATE_LS_FAILED);
    assert_true(x[0] == 1.0);
}

static void singular(void **state)
{
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int k = 0; k < NAMES; k++)
            for (int is_complex = 0; is_complex < 2; is_complex++) {
                system_t *q = new_system(&shapes[s]);
                double *Z = calloc((size_t)q->nnz, sizeof *Z), *E = malloc((size_t)q->nnz * sizeof *E);
                char what[100];
                LS *ls;
                if (!built_in(k)) { free(q); free(Z); free(E); continue; }
                snprintf(what, sizeof what, "%s, %s", names[k], shapes[s].name);
                ls = new_solver(names[k], q, is_complex, NULL, NULL);
                expect_singular(what, ls, 0.0, Z, Z);                   /* nothing at all */
                memcpy(E, q->J, (size_t)q->nnz * sizeof *E);
                zero_rows(q, E, 5);
                expect_singular(what, ls, 1.0, E, Z);                   /* some rows are zero */
                for (int i = q->col[q->n - 1]; i < q->nnz; i++) E[i] = 0.0;
                memcpy(E, q->J, (size_t)q->col[q->n - 1] * sizeof *E);
                expect_singular(what, ls, 1.0, E, Z);                   /* the last column is zero */
                assert_int_equal(LS_Decomp(ls, 1.0, 0.0, q->J, NULL), COSTATE_LS_OK);   /* and none the worse for it */
                check_solves(what, ls, q, is_complex, 1.0, 0.0, q->J, NULL);
                LS_Free(ls);
                free(q); free(Z); free(E);
            }
}

static void rank_one_less(void **state)     /* singular in the sum of its entries only, and nearly so */
{
    double exact[9] = { 1, 2, 3, 4, 5, 6, 5, 7, 9 }, near[4] = { 1, 1, 1, 1 + 1e-16 }, tiny[4] = { 1, 0, 0, 1e-300 };
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int is_complex = 0; is_complex < 2; is_complex++) {
            const costate_backend *b = costate_backend_find(names[k]);
            int status;
            LS *three, *two;
            if (!b) continue;
            three = LS_Init(b, 3, NULL, is_complex, NULL, NULL, &status);
            two = LS_Init(b, 2, NULL, is_complex, NULL, NULL, &status);
            assert_true(three && two);
            status = LS_Decomp(three, 0.0, 0.0, exact, NULL);          /* round-off may hide this one */
            assert_true(status == COSTATE_LS_OK || status == COSTATE_LS_SINGULAR);
            expect_singular(names[k], two, 0.0, near, NULL);
            assert_int_equal(LS_Decomp(two, 0.0, 0.0, tiny, NULL), COSTATE_LS_OK);
            LS_Free(three);
            LS_Free(two);
        }
}

/* Units are no singularity, and cost no digits, whatever the order of equations and unknowns. */
static void badly_scaled(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int order = 0; order < 4; order++) {
            const costate_backend *b = costate_backend_find(names[k]);
            int status, r = order & 1, c = order >> 1;      /* which is the first equation, the first unknown */
            int at[4] = {r + 2 * c, 1 - r + 2 * c, r + 2 * (1 - c), 1 - r + 2 * (1 - c)};
            double J[4] = { 0.0 }, M[4] = { 0.0 }, G[4], x[2], z[2];
            if (!b) continue;
            J[at[2]] = -1e20;
            M[at[0]] = 1.0;
            G[at[0]] = 1.0; G[at[1]] = -1e-6; G[at[2]] = 2.0; G[at[3]] = -1e-6;
            x[r] = 1e20; x[1 - r] = 1.0;
            z[r] = 1e12; z[1 - r] = 0.0;
            LS *ls = LS_Init(b, 2, NULL, 0, NULL, NULL, &status);
            assert_non_null(ls);
            if (r == c) {
                assert_int_equal(LS_Decomp(ls, 2.0, 0.0, J, NULL), COSTATE_LS_OK);      /* [2 1e20; 0 2] */
                assert_int_equal(LS_Solve(ls, 0, 1, x), COSTATE_LS_OK);
                assert_true(fabs(x[1 - c] - 0.5) < 1e-15 && fabs(x[c] / 2.5e19 - 1.0) < 1e-12);
            }
            assert_int_equal(LS_Decomp(ls, 1e12, 0.0, G, M), COSTATE_LS_OK);            /* [1e12 -2; 1e-6 1e-6] */
            assert_int_equal(LS_Solve(ls, 0, 1, z), COSTATE_LS_OK);
            assert_true(fabs(z[c] - 1.0) < 1e-11 && fabs(z[1 - c] + 1.0) < 1e-11);
            LS_Free(ls);
        }
}

static void not_finite(void **state)
{
    const double bad[3] = { NAN, INFINITY, -INFINITY };
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int is_complex = 0; is_complex < 2; is_complex++) {
            system_t *q = new_system(&shapes[4]);
            double x[2 * MAX] = { 0.0 }, keep = q->J[7];
            LS *ls;
            if (!built_in(k)) { free(q); continue; }
            ls = new_solver(names[k], q, is_complex, NULL, NULL);
            for (int i = 0; i < 3; i++) {
                q->J[7] = bad[i];
                expect_singular(names[k], ls, 1.0, q->J, NULL);
                q->J[7] = keep;
                expect_singular(names[k], ls, bad[i], q->J, NULL);
                expect_singular(names[k], ls, bad[i], q->J, q->M);
            }
            assert_int_equal(LS_Decomp(ls, 1.0, 0.0, q->J, NULL), COSTATE_LS_OK);
            x[3] = NAN;
            assert_int_equal(LS_Solve(ls, 0, 1, x), COSTATE_LS_SINGULAR);
            check_solves(names[k], ls, q, is_complex, 1.0, 0.0, q->J, NULL);
            for (int i = 0; i < 2 * MAX; i++) x[i] = 1e308;      /* finite, but the solution is not */
            for (int i = 0; i < q->nnz; i++) q->J[i] *= 1e-3;
            assert_int_equal(LS_Decomp(ls, 1e-3, 0.0, q->J, NULL), COSTATE_LS_OK);
            assert_int_equal(LS_Solve(ls, 1, 1, x), COSTATE_LS_SINGULAR);
            q->J[7] = NAN;
            expect_singular(names[k], ls, 1.0, q->J, NULL);      /* and the factors before are gone */
            LS_Free(ls);
            free(q);
        }
}

/* No backend sees what is not finite: a user's need not survive it. */
static int calls_of_factor;
static int keeps_nothing(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    (void)n, (void)pattern, (void)is_complex, (void)like;
    *self = &calls_of_factor;
    return COSTATE_LS_OK;
}
static int counts_calls(void *self, const double *A) { return (void)A, ++*(int *)self, COSTATE_LS_OK; }
static int solves_nothing(void *self, int transpose, int nrhs, double *X)
{
    return (void)self, (void)transpose, (void)nrhs, (void)X, COSTATE_LS_OK;
}
static void frees_nothing(void *self) { (void)self; }

static void finite_for_backends(void **state)
{
    static const costate_backend own = {.name = "own", .dense = 1, .init = keeps_nothing, .factor = counts_calls,
                                        .solve = solves_nothing, .free = frees_nothing};
    const double bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        int status;
        double J[4] = {1, 2, 3, 4};
        LS *ls = LS_Init(&own, 2, NULL, is_complex, NULL, NULL, &status);
        assert_non_null(ls);
        calls_of_factor = 0;
        for (int i = 0; i < 3; i++) {
            J[2] = bad[i];
            assert_int_equal(LS_Decomp(ls, 1, 0, J, NULL), COSTATE_LS_SINGULAR);
        }
        assert_int_equal(calls_of_factor, 0);
        J[2] = 3;
        assert_int_equal(LS_Decomp(ls, 1, 0, J, NULL), COSTATE_LS_OK);
        assert_int_equal(calls_of_factor, 1);
        LS_Free(ls);
    }
}

static void solve_bits(LS *ls, int length, double *x)
{
    for (int i = 0; i < length; i++) x[i] = 1.0 / (i + 1.0);
    assert_int_equal(LS_Solve(ls, 0, 1, x), COSTATE_LS_OK);
    assert_int_equal(LS_Solve(ls, 1, 1, x), COSTATE_LS_OK);
}

static void no_history(void **state)        /* the digits depend on the matrix alone: replay is bit for bit */
{
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int k = 0; k < NAMES; k++)
            for (int is_complex = 0; is_complex < 2; is_complex++) {
                system_t *q = new_system(&shapes[s]), *r = new_system(&shapes[s]);
                double a[2 * MAX] = { 0.0 }, b[2 * MAX] = { 0.0 };
                LS *ls, *like;
                if (!built_in(k)) { free(q); free(r); continue; }
                ls = new_solver(names[k], q, is_complex, NULL, NULL);
                assert_int_equal(LS_Decomp(ls, 1.0, 0.0, q->J, q->M), COSTATE_LS_OK);
                solve_bits(ls, q->n * (is_complex ? 2 : 1), a);
                assert_int_equal(LS_Decomp(ls, -300.0, 0.0, r->J, NULL), COSTATE_LS_OK);
                like = new_solver(names[k], q, is_complex, ls, NULL);
                assert_int_equal(LS_Decomp(ls, 1.0, 0.0, q->J, q->M), COSTATE_LS_OK);
                solve_bits(ls, q->n * (is_complex ? 2 : 1), b);
                assert_memory_equal(a, b, sizeof a);
                LS_Free(ls);                                    /* the original goes first */
                assert_int_equal(LS_Decomp(like, 1.0, 0.0, q->J, q->M), COSTATE_LS_OK);
                solve_bits(like, q->n * (is_complex ? 2 : 1), b);
                assert_memory_equal(a, b, sizeof a);
                check_solves(names[k], like, q, is_complex, 1.0, 0.0, q->J, q->M);
                LS_Free(like);
                free(q); free(r);
            }
}

/* ---- pivots that suit the pattern, and those that do not ---------------------------------------------------- */

/* J of good pivots on the diagonal, or with some of them zero or tiny; its rows times 2^+-spread, its columns times
   2^+-2 spread. */
enum { GOOD, ZERO, TINY, KINDS };

static void spoil(const system_t *q, int kind, int spread, double *J)
{
    for (int j = 0; j < q->n; j++)
        for (int k = q->col[j]; k < q->col[j + 1]; k++) {
            int i = q->row[k];
            double weak = kind == ZERO ? 0.0 : 1e-10 * q->J[k];
            double a = i == j && i % 4 == 1 && kind != GOOD ? weak : q->J[k];
            J[k] = ldexp(a, spread * (i % 3 - 1) + spread * (j % 5 - 2));
        }
}

/* The largest |b - A x| / |A| |x| of all rows, A = (i im - 1) J or its transpose. */
static double backward_error(const system_t *q, int parts, int transpose, double im, const double *J, const double *b,
                             const double *x)
{
    double rest[2 * MAX], size[MAX] = { 0.0 }, worst = 0.0;
    memcpy(rest, b, (size_t)(q->n * parts) * sizeof *rest);
    for (int j = 0; j < q->n; j++)
        for (int k = q->col[j]; k < q->col[j + 1]; k++) {
            int to = transpose ? j : q->row[k], from = transpose ? q->row[k] : j;
            for (int part = 0; part < parts; part++) {
                double other = parts == 2 ? x[2 * from + 1 - part] : 0.0;
                rest[parts * to + part] += J[k] * (x[parts * from + part] + (part ? -im : im) * other);
                size[to] += fabs(J[k] * x[parts * from + part]);
            }
        }
    for (int i = 0; i < q->n; i++)
        for (int part = 0; part < parts; part++) worst = fmax(worst, fabs(rest[parts * i + part]) / size[i]);
    return worst;
}

static void any_pivots(void **state)        /* what the pattern suggests is never worse than what A would have */
{
    static double J[MAX * MAX], b[2 * MAX], x[2 * MAX];
    const int spreads[3] = { 0, 20, 160 };   /* 160: of J's numbers 1e-144 to 1e144 */
    (void)state;
    for (int s = 3; s < SHAPES; s++)
        for (int k = 0; k < NAMES; k++)
            for (int c = 0; built_in(k) && c < KINDS * 3 * 2; c++) {
                int kind = c % KINDS, spread = spreads[c / KINDS % 3], parts = 1 + c / KINDS / 3;
                int dominated = kind == GOOD && !shapes[s].strong;
                if (shapes[s].has == upper) continue;          /* without its diagonal singular, or nearly */
                if (spread && !(dominated && !strcmp(names[k], "klu"))) continue;  /* the others need LS_Balance */
                system_t *q = new_system(&shapes[s]);
                LS *ls = new_solver(names[k], q, parts == 2, NULL, NULL);
                double im = parts == 2 ? 0.5 : 0.0;
                spoil(q, kind, spread, J);
                if (LS_Decomp(ls, 0.0, im, J, J)) fail_msg("%s, %s, case %d: singular", names[k], shapes[s].name, c);
                for (int transpose = 0; transpose < 2; transpose++) {
                    for (int i = 0; i < q->n * parts; i++) {
                        int l = i / parts;
                        b[i] = x[i] = ldexp(uniform(), transpose ? spread * (l % 5 - 2) : spread * (l % 3 - 1));
                    }
                    assert_int_equal(LS_Solve(ls, transpose, 1, x), COSTATE_LS_OK);
                    double error = backward_error(q, parts, transpose, im, J, b, x);
                    if (!(error <= 1e-11))
                        fail_msg("%s, %s, case %d, transposed %d: %.1e", names[k], shapes[s].name, c, transpose, error);
                }
                LS_Free(ls);
                free(q);
            }
}

/* Pivots of the pattern and of the matrix by turns: each matrix has the digits that it has alone. */
static void no_history_of_pivots(void **state)
{
    static double J[MAX * MAX], first[KINDS][2 * MAX], again[2 * MAX];
    system_t *q = new_system(&shapes[4]);
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int is_complex = 0; built_in(k) && is_complex < 2; is_complex++) {
            size_t bytes[KINDS];
            LS *ls = new_solver(names[k], q, is_complex, NULL, NULL);
            for (int turn = 0; turn < 3 * KINDS; turn++) {
                int kind = (turn + turn / KINDS) % KINDS;
                LS *alone = new_solver(names[k], q, is_complex, ls, NULL);
                spoil(q, kind, 0, J);
                assert_int_equal(LS_Decomp(alone, 0.0, 0.0, J, q->M), COSTATE_LS_OK);
                bytes[kind] = LS_Bytes(alone);
                solve_bits(alone, q->n * (is_complex ? 2 : 1), first[kind]);
                LS_Free(alone);
                assert_int_equal(LS_Decomp(ls, 0.0, 0.0, J, q->M), COSTATE_LS_OK);
                assert_int_equal(LS_Bytes(ls), bytes[kind]);
                solve_bits(ls, q->n * (is_complex ? 2 : 1), again);
                assert_memory_equal(first[kind], again, (size_t)q->n * (is_complex ? 2 : 1) * sizeof *again);
            }
            LS_Free(ls);
        }
    free(q);
}

static void many(void **state)               /* columns solved together are those solved alone, however many */
{
    enum { MOST = 91 };          /* 1 + 2 + .. + 13 */
    static double B[2 * MOST * MAX], X[2 * MOST * MAX];
    system_t *q = new_system(&shapes[4]);
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int kind = 0; built_in(k) && kind < 4; kind++) {
            int is_complex = kind & 1, transpose = kind >> 1;
            size_t length = (size_t)q->n * (is_complex ? 2 : 1);
            LS *ls = new_solver(names[k], q, is_complex, NULL, NULL);
            assert_int_equal(LS_Decomp(ls, 1.5, is_complex ? -0.5 : 0.0, q->J, q->M), COSTATE_LS_OK);
            for (size_t i = 0; i < length * MOST; i++) B[i] = X[i] = uniform();
            for (size_t j = 0; j < MOST; j++) assert_int_equal(LS_Solve(ls, transpose, 1, B + j * length), 0);
            for (int nrhs = 1, j = 0; j < MOST; j += nrhs++) {
                if (nrhs > MOST - j) nrhs = MOST - j;
                double *x = X + (size_t)j * length;
                assert_int_equal(LS_Solve(ls, transpose, nrhs, x), 0);
                for (size_t i = 0; i < length * (size_t)nrhs; i++)
                    if (!(fabs(x[i] - B[(size_t)j * length + i]) <= 1e-12 * (1 + fabs(x[i]))))
                        fail_msg("%s, kind %d, %d columns: number %zu differs", names[k], kind, nrhs, i);
            }
            LS_Free(ls);
        }
    free(q);
}

/* A balanced matrix, rows and columns scaled by up to 2^40, gives the solutions of the one before scaling, scaled back,
   to the bit where both are powers of two; and the moduli of the matrix as it was given. */
static void balanced(void **state)
{
    static double J[MAX * MAX], x[2 * MAX], z[2 * MAX], size[MAX], expected[MAX], ones[MAX];
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int kind = 0; built_in(k) && kind < 4; kind++) {
            system_t *q = new_system(&shapes[4]);
            int n = q->n, is_complex = kind & 1, transpose = kind >> 1, parts = is_complex ? 2 : 1;
            const costate_pattern *S = &q->pattern;
            for (int j = 0; j < n; j++)
                for (int e = S->col[j]; e < S->col[j + 1]; e++)
                    J[e] = ldexp(q->J[e], (S->row[e] % 5 - 2) * 20 + (j % 3 - 1) * 15);
            LS *ls = new_solver(names[k], q, is_complex, NULL, NULL);
            LS *plain = new_solver(names[k], q, is_complex, NULL, NULL);
            assert_int_equal(LS_Balance(ls), COSTATE_LS_OK);
            assert_int_equal(LS_Decomp(ls, 0, 0, J, q->M), COSTATE_LS_OK);
            assert_int_equal(LS_Decomp(plain, 0, 0, q->J, q->M), COSTATE_LS_OK);
            for (int i = 0; i < n * parts; i++) {       /* J = R J0 C: J^-1 = C^-1 J0^-1 R^-1 */
                int l = i / parts, row = (l % 5 - 2) * 20, column = (l % 3 - 1) * 15;
                z[i] = uniform();
                x[i] = ldexp(z[i], transpose ? column : row);
            }
            assert_int_equal(LS_Solve(ls, transpose, 1, x), 0);
            assert_int_equal(LS_Solve(plain, transpose, 1, z), 0);
            double worst = 0, most = 0;
            for (int i = 0; i < n * parts; i++) {
                int l = i / parts, row = (l % 5 - 2) * 20, column = (l % 3 - 1) * 15;
                worst = fmax(worst, fabs(ldexp(x[i], transpose ? row : column) - z[i]));
                most = fmax(most, fabs(z[i]));
            }
            if (!(worst <= 1e-10 * most)) fail_msg("%s, kind %d: %.2e", names[k], kind, worst / most);
            memset(size, 0, sizeof size);
            memset(expected, 0, sizeof expected);
            for (int j = 0; j < n; j++) ones[j] = 1;
            LS_AddModuli(ls, transpose, ones, size);
            for (int j = 0; j < n; j++)
                for (int e = S->col[j]; e < S->col[j + 1]; e++) expected[transpose ? j : S->row[e]] += fabs(J[e]);
            for (int i = 0; i < n; i++) assert_true(size[i] == expected[i]);
            LS_Free(ls);
            LS_Free(plain);
            free(q);
        }
}

static void counts(void **state)
{
    system_t *q = new_system(&shapes[4]);
    (void)state;
    for (int k = 0; k < NAMES; k++) {
        costate_stats c = { 0 };
        double x[2 * 3 * MAX] = { 0.0 };
        LS *real, *pairs;
        if (!built_in(k)) continue;
        real = new_solver(names[k], q, 0, NULL, &c);
        pairs = new_solver(names[k], q, 1, NULL, &c);
        assert_int_equal(LS_Bytes(real), 0);
        assert_int_equal(LS_Decomp(real, 1.0, 1.0, q->J, NULL), COSTATE_LS_UNSUPPORTED);  /* real, with im */
        assert_int_equal(LS_Decomp(real, 1.0, 0.0, q->J, NULL), 0);
        assert_int_equal(LS_Decomp(real, 2.0, 0.0, q->J, NULL), 0);
        assert_int_equal(LS_Decomp(pairs, 1.0, 1.0, q->J, NULL), 0);
        size_t factor = LS_Bytes(real);                         /* many right-hand sides may take it out, once more */
        assert_int_equal(LS_Solve(real, 0, 3, x), 0);
        assert_int_equal(LS_Solve(real, 1, 2, x), 0);
        assert_int_equal(LS_Solve(real, 1, 0, NULL), 0);
        assert_int_equal(LS_Solve(pairs, 1, 3, x), 0);
        assert_true(c.decompositions == 2 && c.complex_decompositions == 1 && c.solves == 5 && c.complex_solves == 3);
        assert_true(LS_Bytes(real) >= (size_t)q->n * sizeof(double));
        assert_true(LS_Bytes(pairs) > factor && LS_Bytes(pairs) < 1000000);
        LS_Free(real);
        LS_Free(pairs);
    }
    LS_Free(NULL);
    free(q);
}

static void pattern_faults(void **state)
{
    const int good_col[4] = { 0, 2, 2, 4 }, good_row[4] = { 0, 2, 1, 2 };
    const int first[4] = { 1, 2, 2, 4 }, down[4] = { 0, 2, 1, 4 };
    const int unsorted[4] = { 2, 0, 1, 2 }, twice[4] = { 2, 2, 1, 2 }, low[4] = { -1, 2, 1, 2 },
              high[4] = { 0, 3, 1, 2 };
    const costate_pattern good = { 3, good_col, good_row };
    const struct { costate_pattern p; const char *word; } faults[] = {
        { { 2, good_col, good_row }, "n" },     { { 3, NULL, good_row }, "col" },     { { 3, good_col, NULL }, "row" },
        { { 3, first, good_row }, "col[0]" },   { { 3, down, good_row }, "decreases" },
        { { 3, good_col, unsorted }, "increase" }, { { 3, good_col, twice }, "repeated" },
        { { 3, good_col, low }, "outside" },    { { 3, good_col, high }, "outside" },
    };
    (void)state;
    assert_null(pattern_fault(&good, 3));
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        const char *fault = pattern_fault(&faults[k].p, 3);
        int status = 0;
        assert_non_null(fault);
        assert_non_null(strstr(fault, faults[k].word));
        assert_null(LS_Init(costate_backend_find("dense"), 3, &faults[k].p, 0, NULL, NULL, &status));
        assert_int_equal(status, COSTATE_LS_UNSUPPORTED);
    }
}

static void bad_arguments(void **state)
{
    int status = 0;
    costate_backend empty = { 0 };
    (void)state;
    assert_null(LS_Init(NULL, 3, NULL, 0, NULL, NULL, &status));
    assert_int_equal(status, COSTATE_LS_UNSUPPORTED);
    assert_null(LS_Init(&empty, 3, NULL, 0, NULL, NULL, &status));
    assert_int_equal(status, COSTATE_LS_UNSUPPORTED);
    assert_null(LS_Init(costate_backend_find("dense"), 0, NULL, 0, NULL, NULL, &status));
    assert_int_equal(status, COSTATE_LS_UNSUPPORTED);
    assert_null(LS_Init(costate_backend_find("band"), 60000, NULL, 0, NULL, NULL, &status));  /* too many for int */
    assert_int_equal(status, COSTATE_LS_UNSUPPORTED);
    assert_null(LS_Init(costate_backend_find("dense"), INT32_MAX, NULL, 1, NULL, NULL, &status));
    assert_int_equal(status, COSTATE_LS_NO_MEMORY);
    assert_null(costate_backend_find("no such"));
    assert_null(costate_backend_find(NULL));
}

static void multiply(void **state)
{
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int transpose = 0; transpose < 2; transpose++) {
            static double A[2 * MAX * MAX], x[2 * MAX], y[2 * MAX], want[2 * MAX];
            system_t *q = new_system(&shapes[s]);
            int n = q->n;
            full_matrix(q, 0.0, 0.0, q->J, NULL, A);           /* -J */
            if (transpose) transpose_in_place(n, A);
            for (int k = 0; k < 2 * n; k++) x[k] = uniform();
            for (int k = 0; k < 2 * n; k++) want[k] = y[k] = uniform();
            for (int c = 0; c < 2; c++)
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < n; i++) want[i + c * n] -= 1.5 * A[2 * (i + j * n)] * x[j + c * n];
            pattern_multiply(n, q->p, q->J, transpose, 1.5, 2, x, y);
            for (int k = 0; k < 2 * n; k++) assert_true(fabs(y[k] - want[k]) < 1e-12);
            free(q);
        }
}

/* ---- a user's own backend: Jacobi's iteration ------------------------------------------------------------- */

typedef struct {
    int n, inits;
    const costate_pattern *pattern;
    double A[MAX * MAX];
    int fail_factor;
} jacobi;

static int jacobi_status;                   /* what init gives */

static int jacobi_init(void **self, int n, const costate_pattern *p, int is_complex, const void *like)
{
    jacobi *s = calloc(1, sizeof *s);
    (void)like;
    *self = s;
    if (!s) return COSTATE_LS_NO_MEMORY;
    s->n = n;
    s->pattern = p;
    return is_complex ? COSTATE_LS_UNSUPPORTED : jacobi_status;
}

static int jacobi_factor(void *self, const double *A)
{
    jacobi *s = self;
    if (s->pattern) {
        assert_null(pattern_fault(s->pattern, s->n));
        memset(s->A, 0, sizeof s->A);
        for (int j = 0; j < s->n; j++)
            for (int k = s->pattern->col[j]; k < s->pattern->col[j + 1]; k++)
                s->A[s->pattern->row[k] + j * s->n] = A[k];
    } else {
        memcpy(s->A, A, (size_t)(s->n * s->n) * sizeof *A);
    }
    return s->fail_factor;
}

static int jacobi_solve(void *self, int transpose, int nrhs, double *X)
{
    jacobi *s = self;
    for (int c = 0; c < nrhs; c++, X += s->n) {
        double x[MAX] = { 0.0 }, r[MAX];
        for (int sweep = 0; sweep < 400; sweep++) {
            memcpy(r, X, (size_t)s->n * sizeof *r);
            pattern_multiply(s->n, NULL, s->A, transpose, -1.0, 1, x, r);
            for (int i = 0; i < s->n; i++) x[i] += r[i] / s->A[i + i * s->n];
        }
        memcpy(X, x, (size_t)s->n * sizeof *x);
    }
    return COSTATE_LS_OK;
}

static void users_own(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++)
        for (int s = 1; s < 6; s++) {
            const costate_backend own = { "jacobi", dense, jacobi_init, jacobi_factor, jacobi_solve, NULL, free };
            system_t *q = new_system(&shapes[s]);
            int status = 0;
            LS *ls = LS_Init(&own, q->n, q->p, 0, NULL, NULL, &status);
            assert_non_null(ls);
            assert_int_equal(LS_Decomp(ls, 60.0, 0.0, q->J, NULL), COSTATE_LS_OK);
            check_solves("jacobi", ls, q, 0, 60.0, 0.0, q->J, NULL);
            assert_int_equal(LS_Bytes(ls), 0);
            LS_Free(ls);
            assert_null(LS_Init(&own, q->n, q->p, 1, NULL, NULL, &status));
            assert_int_equal(status, COSTATE_LS_UNSUPPORTED);
            jacobi_status = 5;                                  /* init cannot find a matrix singular */
            assert_null(LS_Init(&own, q->n, q->p, 0, NULL, NULL, &status));
            assert_int_equal(status, COSTATE_LS_FAILED);
            jacobi_status = 0;
            free(q);
        }
}

/* ---- the choice -------------------------------------------------------------------------------------------- */

static const costate_backend *chosen(int n, int (*has)(int, int, int))
{
    int *col = malloc(((size_t)n + 1) * sizeof *col), *row = malloc((size_t)n * 80 * sizeof *row), nnz = 0;
    costate_pattern p = { n, col, row };
    const costate_backend *b;
    col[0] = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            if (has(n, i, j) && nnz < 80 * n) row[nnz++] = i;
        col[j + 1] = nnz;
    }
    b = LS_Choose(COSTATE_LS_AUTO, n, &p);
    free(col);
    free(row);
    return b;
}

static int wide_grid(int n, int i, int j)
{
    int a = i / 3, b = j / 3;
    (void)n;
    return abs(a % 40 - b % 40) + abs(a / 40 - b / 40) <= 1;
}

static int cube(int n, int i, int j)            /* 10 x 10 x 10 points: few entries, much fill */
{
    (void)n;
    return abs(i % 10 - j % 10) + abs(i / 10 % 10 - j / 10 % 10) + abs(i / 100 - j / 100) <= 1;
}

static int one_way(int n, int i, int j) { return i <= j && cube(n, i, j); }

static int tree(int n, int i, int j)            /* many entries, and no fill */
{
    (void)n;
    return i == j || (j > 0 && (j * 7 - 1) / 9 == i) || (i > 0 && (i * 7 - 1) / 9 == j);
}

static int network(int n, int i, int j)
{
    return i == j || (i < j && (i * 31 + j * 17) % n < 2) || (j == 3 && i % 4 == 0);
}

static void choice(void **state)
{
    const char *const sparse[] = { "umfpack", "klu", "sparse" };
    const costate_backend *grid_best = NULL, *network_best = NULL;
    (void)state;
    for (int k = 0; k < 3 && !grid_best; k++) grid_best = costate_backend_find(sparse[k]);
    for (int k = 1; k < 3 && !network_best; k++) network_best = costate_backend_find(sparse[k]);
    assert_ptr_equal(LS_Choose(COSTATE_LS_AUTO, 1000, NULL), costate_backend_find("dense"));
    assert_ptr_equal(chosen(20, tridiagonal), costate_backend_find("dense"));
    assert_ptr_equal(chosen(200, tridiagonal), costate_backend_find("band"));
    if (grid_best) assert_ptr_equal(chosen(4800, wide_grid), grid_best);
    if (grid_best) assert_ptr_equal(chosen(1000, cube), grid_best);
    if (network_best) assert_ptr_equal(chosen(1000, one_way), network_best);
    if (network_best) assert_ptr_equal(chosen(2800, tree), network_best);
    if (network_best) assert_ptr_equal(chosen(200, network), network_best);
    assert_ptr_equal(LS_Choose(COSTATE_LS_DENSE, 5, NULL), costate_backend_find("dense"));
    assert_ptr_equal(LS_Choose(COSTATE_LS_BAND, 5, NULL), costate_backend_find("band"));
    assert_ptr_equal(LS_Choose(COSTATE_LS_UMFPACK, 5, NULL), costate_backend_find("umfpack"));
    assert_ptr_equal(LS_Choose(COSTATE_LS_SUPERLU, 5, NULL), costate_backend_find("superlu"));
    assert_ptr_equal(LS_Choose(COSTATE_LS_KLU, 5, NULL), costate_backend_find("klu"));
    assert_null(LS_Choose(99, 5, NULL));
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static void no_memory(void **state)         /* malloc fails at call k, for every k; leaks are the sanitizer's to find */
{
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int k = 0; k < NAMES; k++) {
            system_t *q = new_system(&shapes[s]);
            int status = COSTATE_LS_NO_MEMORY;
            for (int call = 1; built_in(k) && status; call++) {
                LS *ls;
                alloc_fail_at(call);
                ls = LS_Init(costate_backend_find(names[k]), q->n, q->p, 1, NULL, NULL, &status);
                if (alloc_failures() > 0) assert_int_equal(status, COSTATE_LS_NO_MEMORY);
                alloc_fail_at(0);
                assert_true(call < 100 && (ls != NULL) == (status == 0));
                if (!ls) continue;
                alloc_fail_at(1);          /* from now on, nothing asks for more but UMFPACK for several columns */
                assert_int_equal(LS_Decomp(ls, 1.0, 1.0, q->J, NULL), COSTATE_LS_OK);
                double X[2 * 3 * MAX] = {1};
                assert_int_equal(LS_Solve(ls, 0, 1, X), COSTATE_LS_OK);
                int several = LS_Solve(ls, 0, 3, X), failed = alloc_failures() > 0;
                assert_int_equal(several, failed ? COSTATE_LS_NO_MEMORY : COSTATE_LS_OK);
                assert_true(!failed || !strcmp(names[k], "umfpack"));
                if (failed) alloc_fail_at(0);
                check_solves(names[k], ls, q, 1, 1.0, 1.0, q->J, NULL);
                alloc_fail_at(0);
                LS_Free(ls);
            }
            free(q);
        }
}

/* ---- the ordering for grids --------------------------------------------------------------------------------- */

static int square(int n, int i, int j)       /* a grid of 48 x 48 */
{
    (void)n;
    return abs(i % 48 - j % 48) + abs(i / 48 - j / 48) <= 1;
}

static int halves(int n, int i, int j) { return 2 * i / n == 2 * j / n && abs(i - j) <= 3; }

static int full(int n, int i, int j) { (void)n, (void)i, (void)j; return 1; }

/* Multiplications of a factorisation, entries of its factors.  A tree, leaves first: n - 1 and 3 n - 2; a full matrix:
   the sum of k^2, k < n, and n^2. */
static void sparse_counts(void **state)
{
    static const struct { int n; int (*has)(int, int, int); double work, entries; } table[] = {
        {700, tree, 699, 2098}, {7, full, 91, 49}};
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        costate_pattern *p = big_pattern(table[k].n, table[k].has);
        double work, entries;
        alloc_fail_at(1);
        assert_int_equal(LS_Counts(&LS_sparse, p->n, p, &work, &entries), COSTATE_LS_NO_MEMORY);
        alloc_fail_at(0);
        assert_int_equal(LS_Counts(&LS_sparse, p->n, p, &work, &entries), COSTATE_LS_OK);
        assert_true(work == table[k].work && entries == table[k].entries);
        big_pattern_free(p);
    }
}

#ifdef COSTATE_HAVE_UMFPACK
static int star(int n, int i, int j) { (void)n; return i == j || i == 0 || j == 0; }
static int nothing(int n, int i, int j) { (void)n, (void)i, (void)j; return 0; }
static int pairs(int n, int i, int j) { (void)n; return i / 2 == j / 2; }
static int path(int n, int i, int j) { (void)n; return j - i == 7; }            /* seven of them, one way only */

/* Entries of the Cholesky factor of a symmetric pattern, diagonal included: row k of L is the union of the paths in the
   elimination tree from its neighbours to k (Liu, SIAM J. Matrix Anal. 11 (1990) 134). */
static long factor_entries(const costate_pattern *p, const int *order)
{
    int n = p->n, *at = malloc(3 * (size_t)n * sizeof *at), *parent = at + n, *mark = parent + n;
    long entries = n;
    assert_non_null(at);
    for (int k = 0; k < n; k++) { at[order[k]] = k; parent[k] = mark[k] = -1; }
    for (int k = 0; k < n; k++) {
        mark[k] = k;
        for (int e = p->col[order[k]]; e < p->col[order[k] + 1]; e++)
            for (int i = at[p->row[e]]; i < k && mark[i] != k; i = parent[i]) {
                if (parent[i] < 0) parent[i] = k;
                mark[i] = k;
                entries++;
            }
    }
    free(at);
    return entries;
}

static void dissection(void **state)
{
    static const struct { int n; int (*has)(int n, int i, int j); } cases[] = {
        {1, nothing}, {300, nothing}, {1, pairs}, {2002, pairs}, {250, star}, {1000, path}, {201, path}, {1200, halves},
        {2304, square}, {2350, square}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int n = cases[k].n, *order = malloc(2 * (size_t)n * sizeof *order), *seen = order + n;
        costate_pattern *p = big_pattern(n, cases[k].has);
        int calls = 0, status;
        assert_non_null(order);
        do {
            alloc_fail_at(++calls);
            status = LS_dissect(p, order);
            assert_int_equal(status, alloc_failures() ? COSTATE_LS_NO_MEMORY : COSTATE_LS_OK);
            alloc_fail_at(0);
        } while (status);
        memset(seen, 0, (size_t)n * sizeof *seen);
        for (int i = 0; i < n; i++) { assert_in_range(order[i], 0, n - 1); assert_int_equal(seen[order[i]]++, 0); }
        /* George's bound for m x m points: 31/4 m^2 log2 m entries */
        if (n == 2304) assert_true(factor_entries(p, order) < 31 / 4.0 * n * log2(48));
        big_pattern_free(p);
        free(order);
    }
}
#else
static void dissection(void **state) { (void)state; skip(); }
#endif

/* The same with LAPACK, whose band has room for what pivoting fills in. */
static void lapack_counts(void **state)
{
    costate_pattern *p = big_pattern(1200, halves);
    double work, entries;
    (void)state;
    assert_int_equal(LS_Counts(&LS_band, p->n, p, &work, &entries), COSTATE_LS_OK);
    assert_true(work == 1200 * 3 * 6 && entries == 1200 * 10);
    assert_int_equal(LS_Counts(&LS_dense, 6, NULL, &work, &entries), COSTATE_LS_OK);
    assert_true(work == 72 && entries == 36);
    const costate_backend own = {.name = "sparse, but without a pattern"};
    assert_int_equal(LS_Counts(&own, 6, NULL, &work, &entries), COSTATE_LS_OK);
    assert_true(work == 72 && entries == 36);
    big_pattern_free(p);
}

/* Up to 32 diagonals off the main one are factored by band_lu.c, whose last bits are not those of LAPACK. */
static void widths(void **state)
{
    enum { n = 60, lower = 16 };
    static int col[n + 1], row[n * n], pivot[n];
    static double A[n * n], inverse[n], x[n], y[n];
    const costate_pattern p = { n, col, row };
    (void)state;
    for (int upper = 16; upper <= 17; upper++) {
        int rows = 2 * lower + upper + 1, nnz = 0;
        double *LU = calloc((size_t)(rows * n), sizeof *LU);
        LS_band_lu lu = { 1, n, lower, upper, LU, inverse, pivot };
        void *self;
        assert_non_null(LU);
        for (int j = 0; j < n; j++) {
            x[j] = y[j] = uniform();
            for (int i = 0; i < n; i++) {
                if (i - j > lower || j - i > upper) continue;
                row[nnz] = i;
                LU[lower + upper + i - j + j * rows] = A[nnz++] = uniform();
            }
            col[j + 1] = nnz;
        }
        assert_int_equal(LS_band.init(&self, n, &p, 0, NULL), COSTATE_LS_OK);
        assert_int_equal(LS_band.factor(self, A), COSTATE_LS_OK);
        assert_int_equal(LS_band.solve(self, 0, 1, x), COSTATE_LS_OK);
        assert_int_equal(LS_band_factor(&lu), 0);
        LS_band_solve(&lu, 0, 1, y);
#ifdef COSTATE_BUILTIN_LAPACK
        int own = 1;
#else
        int own = upper == 16;
#endif
        assert_int_equal(!memcmp(x, y, sizeof x), own);
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) <= 1e-11 * (1 + fabs(x[i])));
        LS_band.free(self);
        free(LU);
    }
}

/* An analysis leaves the program's random numbers alone. */
static void no_traces(void **state)
{
    costate_pattern *p = big_pattern(2304, square);
    int status;
    (void)state;
    srand(3);
    int expected = rand();
    for (int k = 0; k < NAMES; k++) {
        if (!built_in(k)) continue;
        srand(3);
        LS *ls = LS_Init(costate_backend_find(names[k]), 2304, p, 0, NULL, NULL, &status);
        assert_non_null(ls);
        if (rand() != expected) fail_msg("%s sets rand() anew", names[k]);
        LS_Free(ls);
    }
    big_pattern_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree),          cmocka_unit_test(no_jacobian),   cmocka_unit_test(large_grid),
        cmocka_unit_test(singular),       cmocka_unit_test(rank_one_less), cmocka_unit_test(badly_scaled),
        cmocka_unit_test(not_finite),     cmocka_unit_test(no_history),    cmocka_unit_test(counts),
        cmocka_unit_test(many), cmocka_unit_test(balanced), cmocka_unit_test(finite_for_backends),
        cmocka_unit_test(any_pivots), cmocka_unit_test(no_history_of_pivots),
        cmocka_unit_test(pattern_faults), cmocka_unit_test(bad_arguments), cmocka_unit_test(multiply),
        cmocka_unit_test(users_own),      cmocka_unit_test(choice),        cmocka_unit_test(no_memory),
        cmocka_unit_test(dissection),     cmocka_unit_test(no_traces),     cmocka_unit_test(sparse_counts),
        cmocka_unit_test(lapack_counts),  cmocka_unit_test(widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
