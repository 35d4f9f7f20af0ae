/* bidiagonal.c - solves a block-bidiagonal system with boundary conditions by orthogonal elimination (mathematics, eq.
   12.4).

       y_1, y_2, .. y_{N-1} are eliminated one after the other.  The blocks before i reduce to one block row,
       G y_0 + H y_i = g.  Together with the next one, [G H 0; 0 A B] (y_0, y_i, y_{i+1}), the QR decomposition of
       [H; A] gives R y_i + U y_0 + V y_{i+1} = .., which is stored, and the next [G H].  Finally [G H] and the boundary
       conditions are 2n equations for y_0 and y_N.

   This is the QR decomposition of the whole matrix (S. J. Wright, SIAM J. Sci. Stat. Comput. 13 (1992) 742), which is
   backward stable for any growth or decay along the chain.  Gaussian elimination with partial pivoting of the same
   matrix is not: its pivots may grow like 2^N (Wright, ibid. 14 (1993) 231). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/larger.h"
#include "bvp/bidiagonal.h"
#include "linsol/lapack.h"

int chain_new(chain *c, int n, int N)
{
    size_t k = (size_t)n, inner = (size_t)N - 1;
    chain_free(c);
    *c = (chain){.n = n, .N = N};
    c->block = malloc((inner * (4 * k * k + k) + 12 * k * k + 8 * k + 2 * k * k + 8 * k) * sizeof *c->block);
    c->pivot = malloc(4 * k * sizeof *c->pivot);
    if (!c->block || !c->pivot) { chain_free(c); return 0; }
    c->iwork = c->pivot + 2 * k;
    c->Q = c->block;
    c->tau = c->Q + inner * 2 * k * k;
    c->U = c->tau + inner * k;
    c->V = c->U + inner * k * k;
    c->F = c->V + inner * k * k;
    c->before = c->F + 4 * k * k;
    c->inverse = c->before + 4 * k * k;
    c->row = c->inverse + 4 * k * k + 4 * k;
    c->col = c->row + 2 * k;
    c->running = c->col + 2 * k;
    c->work = c->running + 2 * k * k;
    return 1;
}

void chain_free(chain *c)
{
    free(c->block);
    free(c->pivot);
    *c = (chain){0};
}

/* ---- reflections: I - tau v v^T, v = (1, a below the diagonal), on columns of 2n ---- */

static double *reflections(const chain *c, int i) { return c->Q + (size_t)(i - 1) * 2 * (size_t)c->n * (size_t)c->n; }
static double *taus(const chain *c, int i) { return c->tau + (size_t)(i - 1) * (size_t)c->n; }
static double *block_of(const chain *c, double *base, int i)
{
    return base + (size_t)(i - 1) * (size_t)c->n * (size_t)c->n;
}

static inline void reflect(int rows, double tau, const double *v, double *x)
{
    double sum = x[0];
    for (int i = 1; i < rows; i++) sum += v[i] * x[i];
    sum *= tau;
    x[0] -= sum;
    for (int i = 1; i < rows; i++) x[i] -= sum * v[i];
}

/* a (rows) becomes r with v below; returns tau.  Entries are of order one, because columns were scaled. */
static double reflection(int rows, double *a)
{
    double below = 0, r;
    for (int i = 1; i < rows; i++) below += a[i] * a[i];
    if (below == 0) return 0;
    r = sqrt(a[0] * a[0] + below);
    if (a[0] > 0) r = -r;
    double tau = (r - a[0]) / r, scale = 1 / (a[0] - r);
    for (int i = 1; i < rows; i++) a[i] *= scale;
    a[0] = r;
    return tau;
}

/* x (2n) <- Q^T x, or Q x */
static void apply(const chain *c, int i, int transpose, double *x)
{
    int n = c->n;
    const double *Q = reflections(c, i), *tau = taus(c, i);
    for (int l = 0; l < n; l++) {
        int k = transpose ? l : n - 1 - l;
        if (tau[k] != 0) reflect(2 * n - k, tau[k], Q + (size_t)k * 2 * (size_t)n + k, x + k);
    }
}

/* ---- factors ---- */

void chain_first(chain *c, const double *A, const double *B, size_t ld)
{
    size_t n = (size_t)c->n;
    for (size_t j = 0; j < n; j++) {
        memcpy(c->running + j * n, A + j * ld, n * sizeof *A);
        memcpy(c->running + (n + j) * n, B + j * ld, n * sizeof *B);
    }
}

/* (top, bottom) <- Q^T (first, second), n columns; NULL: zero */
static void rotate(chain *c, int i, const double *first, const double *second, size_t ld, double *top, double *bottom)
{
    size_t n = (size_t)c->n;
    double *x = c->work;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < n; k++) {
            x[k] = first ? first[j * n + k] : 0;
            x[n + k] = second ? second[j * ld + k] : 0;
        }
        apply(c, i, 1, x);
        memcpy(top + j * n, x, n * sizeof *x);
        memcpy(bottom + j * n, x + n, n * sizeof *x);
    }
}

int chain_next(chain *c, int i, const double *A, const double *B, size_t ld)
{
    size_t n = (size_t)c->n;
    double *Q = reflections(c, i), *tau = taus(c, i), *H = c->running + n * n;
    int undetermined = 0;
    for (size_t j = 0; j < n; j++) {
        double *a = Q + j * 2 * n, all = 0;
        memcpy(a, H + j * n, n * sizeof *a);
        memcpy(a + n, A + j * ld, n * sizeof *a);
        for (size_t k = 0; k < 2 * n; k++) all += a[k] * a[k];
        for (size_t k = 0; k < j; k++)
            if (tau[k] != 0) reflect((int)(2 * n - k), tau[k], Q + k * 2 * n + k, a + k);
        tau[j] = reflection((int)(2 * n - j), a + j);
        undetermined |= !(fabs(a[j]) > 4 * DBL_EPSILON * sqrt(all));
    }
    rotate(c, i, c->running, NULL, 0, block_of(c, c->U, i), c->running);
    rotate(c, i, NULL, B, ld, block_of(c, c->V, i), H);
    return undetermined;
}

/* scales rows and columns to a largest entry of one */
static void equilibrate(chain *c)
{
    size_t k = 2 * (size_t)c->n;
    for (size_t i = 0; i < k; i++) {
        double most = 0;
        for (size_t j = 0; j < k; j++) most = fmax(most, fabs(c->F[j * k + i]));
        c->row[i] = most > 0 ? 1 / most : 1;
        for (size_t j = 0; j < k; j++) c->F[j * k + i] *= c->row[i];
    }
    for (size_t j = 0; j < k; j++) {
        double most = 0;
        for (size_t i = 0; i < k; i++) most = fmax(most, fabs(c->F[j * k + i]));
        c->col[j] = most > 0 ? 1 / most : 1;
        for (size_t i = 0; i < k; i++) c->F[j * k + i] *= c->col[j];
    }
}

static double norm1(const double *A, size_t k)
{
    double most = 0;
    for (size_t j = 0; j < k; j++) {
        double sum = 0;
        for (size_t i = 0; i < k; i++) sum += fabs(A[j * k + i]);
        most = fmax(most, sum);
    }
    return most;
}

/* The reciprocal condition number of F under the best scaling of rows and columns: the largest eigenvalue of |F^-1| |F|
   is the least condition number of all scalings (F. L. Bauer, Numer. Math. 5 (1963) 73).  Bad units of components that
   are not known yet increase the condition number of F, but not this one.  0: singular. */
static double best_rcond(const chain *c)
{
    const double *A = c->before;
    enum { STEPS = 30 };
    size_t k = 2 * (size_t)c->n;
    int order = 2 * c->n, one = 1, info;
    double *inverse = c->inverse, *x = inverse + k * k, *y = x + k, largest = 0;
    memset(inverse, 0, k * k * sizeof *inverse);
    for (size_t j = 0; j < k; j++) {
        inverse[j * k + j] = 1;
        dgetrs_("N", &order, &one, c->F, &order, c->pivot, inverse + j * k, &order, &info, 1);
        x[j] = 1;
    }
    for (int step = 0; step < STEPS; step++) {
        double most = 0;
        memset(y, 0, k * sizeof *y);
        for (size_t j = 0; j < k; j++) for (size_t i = 0; i < k; i++) y[i] += fabs(A[j * k + i]) * x[j];
        memset(x, 0, k * sizeof *x);
        for (size_t j = 0; j < k; j++) for (size_t i = 0; i < k; i++) x[i] += fabs(inverse[j * k + i]) * y[j];
        for (size_t i = 0; i < k; i++) most = larger(most, x[i]);
        largest = most;
        if (!(most > 0 && most < HUGE_VAL)) break;
        for (size_t i = 0; i < k; i++) x[i] /= most;
    }
    return largest >= 1 && largest < HUGE_VAL ? 1 / largest : 0;
}

int chain_close(chain *c, const double *g, const double *unit)
{
    const double SINGULAR = 4 * DBL_EPSILON;
    size_t n = (size_t)c->n;
    int k = 2 * c->n, info;
    for (size_t j = 0; j < 2 * n; j++) {
        memcpy(c->F + j * 2 * n, c->running + j * n, n * sizeof *c->F);
        for (size_t i = 0; i < n; i++) c->F[j * 2 * n + n + i] = g[j * n + i] * unit[j % n];
    }
    equilibrate(c);
    double norm = norm1(c->F, 2 * n);
    memcpy(c->before, c->F, 4 * n * n * sizeof *c->F);
    dgetrf_(&k, &k, c->F, &k, c->pivot, &info);
    c->loose = 0;
    for (int j = 1; j < k; j++)
        if (fabs(c->F[j * k + j]) < fabs(c->F[c->loose * k + c->loose])) c->loose = j;
    c->rcond = 0;
    if (info == 0) dgecon_("1", &k, c->F, &k, &norm, &c->rcond, c->work, c->iwork, &info, 1);
    if (c->rcond > 0 && c->rcond <= SINGULAR) c->rcond = fmax(c->rcond, best_rcond(c));
    return !(c->rcond > SINGULAR);
}

/* ---- solves ---- */

/* x <- R^-1 x, or R^-T x */
static void triangle(const chain *c, int i, int transpose, double *x)
{
    int n = c->n;
    const double *R = reflections(c, i);
    for (int l = 0; l < n; l++) {
        int k = transpose ? l : n - 1 - l;
        const double *column = R + (size_t)k * 2 * (size_t)n;
        if (transpose) for (int j = 0; j < k; j++) x[k] -= column[j] * x[j];
        x[k] /= column[k];
        if (!transpose) for (int j = 0; j < k; j++) x[j] -= column[j] * x[k];
    }
}

/* y -= A x, or A^T x */
static void subtract(const chain *c, const double *A, int transpose, const double *x, double *y)
{
    size_t n = (size_t)c->n;
    for (size_t j = 0; j < n; j++) {
        const double *a = A + j * n;
        double sum = 0;
        if (transpose) {
            for (size_t i = 0; i < n; i++) sum += a[i] * x[i];
            y[j] -= sum;
        }
        else for (size_t i = 0; i < n; i++) y[i] -= a[i] * x[j];
    }
}

/* F (y_0, y_N) = x, or transposed, in place */
static void ends(chain *c, int transpose, double *x)
{
    int k = 2 * c->n, one = 1, info;
    const double *before = transpose ? c->col : c->row, *after = transpose ? c->row : c->col;
    for (int i = 0; i < k; i++) x[i] *= before[i];
    dgetrs_(transpose ? "T" : "N", &k, &one, c->F, &k, c->pivot, x, &k, &info, 1);
    for (int i = 0; i < k; i++) x[i] *= after[i];
}

void chain_solve(chain *c, double *r, size_t stride, const double *g, double *y)
{
    size_t n = (size_t)c->n, bytes = n * sizeof *r;
    double *x = c->work;
    memcpy(x + n, r, bytes);
    for (int i = 1; i < c->N; i++) {
        memcpy(x, x + n, bytes);
        memcpy(x + n, r + (size_t)i * stride, bytes);
        apply(c, i, 1, x);
        memcpy(r + (size_t)i * stride, x, bytes);
    }
    memcpy(x, x + n, bytes);
    memcpy(x + n, g, bytes);
    ends(c, 0, x);
    memcpy(y, x, bytes);
    memcpy(y + (size_t)c->N * n, x + n, bytes);
    for (int i = c->N - 1; i > 0; i--) {
        double *yi = y + (size_t)i * n;
        memcpy(yi, r + (size_t)i * stride, bytes);
        subtract(c, block_of(c, c->U, i), 0, y, yi);
        subtract(c, block_of(c, c->V, i), 0, yi + n, yi);
        triangle(c, i, 0, yi);
    }
}

void chain_solve_transposed(chain *c, double *y, double *r, size_t stride, double *g)
{
    size_t n = (size_t)c->n, bytes = n * sizeof *r;
    double *x = c->work;
    for (int i = 1; i < c->N; i++) {
        double *yi = y + (size_t)i * n;
        triangle(c, i, 1, yi);
        subtract(c, block_of(c, c->U, i), 1, yi, y);
        subtract(c, block_of(c, c->V, i), 1, yi, yi + n);
    }
    memcpy(x, y, bytes);
    memcpy(x + n, y + (size_t)c->N * n, bytes);
    ends(c, 1, x);
    memcpy(g, x + n, bytes);
    for (int i = c->N - 1; i > 0; i--) {
        memcpy(x + n, x, bytes);
        memcpy(x, y + (size_t)i * n, bytes);
        apply(c, i, 0, x);
        memcpy(r + (size_t)i * stride, x + n, bytes);
    }
    memcpy(r, x, bytes);
}
