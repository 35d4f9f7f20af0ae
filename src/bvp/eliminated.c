/* eliminated.c - solves the linear system by elimination: first the stages of each interval, then the mesh points
   (mathematics, eq. 12.3).

       [h J_j a_jl - M_j]  h J_j   0     X_i         s n rows of stages
       [     -b_l       ]  -I      I     y_i         n rows of continuity
                                         y_{i+1}

   The X_i are eliminated with pivots from all (s + 1) n rows: the rows of the stages alone may form a singular matrix,
   where a growing mode e^(h lambda) is a pole of the method, although the interval as a whole is regular.  The
   remaining n rows are A_i y_i + B_i y_{i+1} (bidiagonal.h).

   Unknowns are scaled by b->linear.unit and rows to a largest entry of about one, both by powers of 2, so that the
   choice of pivots does not depend on the units of the user. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/larger.h"
#include "bvp/bidiagonal.h"
#include "bvp/bvp.h"
#include "linsol/lapack.h"

typedef struct {
    int N, R, S, W;                 /* rows, stages' unknowns, columns of an interval */
    double *A;                      /* N R W: columns X, y_i, y_{i+1}; L and U of X, then the remainder of the others */
    double *row;                    /* N R: scale of the rows */
    int *pivot;                     /* N S */
    double *y;                      /* (N + 1) n: of a solve */
    double *g;                      /* n 2n: work */
    chain c;
    double *block;
} elimination;

static void elimination_free(bvp *b)
{
    elimination *e = b->linear.own;
    if (!e) return;
    chain_free(&e->c);
    free(e->block);
    free(e->pivot);
    free(e);
    b->linear.own = NULL;
}

static int elimination_prepare(bvp *b, int N)
{
    size_t n = (size_t)b->n, S = (size_t)b->s * n, R = S + n, W = R + n, k = (size_t)N;
    elimination *e = b->linear.own ? b->linear.own : calloc(1, sizeof *e);
    if (!(b->linear.own = e)) return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the linear system.");
    if (e->N == N) return 0;
    e->N = 0;
    free(e->block);
    free(e->pivot);
    e->pivot = malloc(k * S * sizeof *e->pivot);
    e->block = malloc((k * (R * W + R) + (k + 1) * n + 2 * n * n) * sizeof *e->block);
    if (!e->block || !e->pivot || !chain_new(&e->c, b->n, N))
        return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the linear system of %d intervals.", N);
    e->A = e->block;
    e->row = e->A + k * R * W;
    e->y = e->row + k * R;
    e->g = e->y + (k + 1) * n;
    e->N = N;
    e->R = (int)R;
    e->S = (int)S;
    e->W = (int)W;
    return 0;
}

static double *matrix_of(const elimination *e, int i) { return e->A + (size_t)i * (size_t)e->R * (size_t)e->W; }
static double *rows_of(const elimination *e, int i) { return e->row + (size_t)i * (size_t)e->R; }
static int *pivots_of(const elimination *e, int i) { return e->pivot + (size_t)i * (size_t)e->S; }

/* ---- the matrix of an interval ---- */

/* column c of J, v in row r of stage j: to y_i and all X that Y_j has */
static void put_J(const bvp *b, const elimination *e, double *A, int j, int r, int c, double v)
{
    const double *a = b->rk.A + (size_t)j * (size_t)b->s;
    double *at = A + (size_t)j * (size_t)b->n + r;
    at[(size_t)(e->S + c) * (size_t)e->R] += v;
    for (int l = 0; l < b->s; l++)
        if (a[l] != 0) at[(size_t)(l * b->n + c) * (size_t)e->R] += v * a[l];
}

static void put_M(const bvp *b, const elimination *e, double *A, int j, int r, int c, double v)
{
    A[(size_t)(j * b->n + c) * (size_t)e->R + (size_t)(j * b->n + r)] -= v;
}

static void put_stage(const bvp *b, const elimination *e, double *A, int j, double h)
{
    const costate_pattern *p = b->P.pattern;
    int n = b->n;
    for (int c = 0; c < n; c++) {
        double unit = b->linear.unit[c];
        size_t from = p ? (size_t)p->col[c] : (size_t)c * (size_t)n, to = p ? (size_t)p->col[c + 1] : from + (size_t)n;
        for (size_t k = from; k < to; k++) {
            int r = p ? p->row[k] : (int)(k - from);
            if (b->stage.J[k] != 0) put_J(b, e, A, j, r, c, h * b->stage.J[k] * unit);
            if (b->stage.M && b->stage.M[k] != 0) put_M(b, e, A, j, r, c, b->stage.M[k] * unit);
        }
        if (!b->stage.M) put_M(b, e, A, j, c, c, unit);
    }
}

static void put_continuity(const bvp *b, const elimination *e, double *A)
{
    size_t R = (size_t)e->R, S = (size_t)e->S, n = (size_t)b->n;
    for (size_t c = 0; c < n; c++) {
        double *at = A + S + c;
        for (size_t l = 0; l < (size_t)b->s; l++) at[(l * n + c) * R] = -b->rk.b[l] * b->linear.unit[c];
        at[(S + c) * R] = -b->linear.unit[c];
        at[(S + n + c) * R] = b->linear.unit[c];
    }
}

static void scale_rows(const elimination *e, double *A, double *row)
{
    size_t R = (size_t)e->R;
    for (size_t r = 0; r < R; r++) {
        double most = 0;
        int exponent = 0;
        for (size_t c = 0; c < (size_t)e->W; c++) most = larger(most, fabs(A[c * R + r]));
        if (most > 0) frexp(most, &exponent);
        row[r] = ldexp(1, -exponent);
        for (size_t c = 0; c < (size_t)e->W; c++) A[c * R + r] *= row[r];
    }
}

static int form(bvp *b, const elimination *e, int i)
{
    double *A = matrix_of(e, i);
    memset(A, 0, (size_t)e->R * (size_t)e->W * sizeof *A);
    const double *y = y_of(b, b->now.z, i);
    weights_at(b, y, y + b->L, b->stage.w);
    for (int j = 0; j < b->s; j++) {
        TRY(stage_matrix(b, &b->now, i, j));
        put_stage(b, e, A, j, b->now.h[i]);
    }
    put_continuity(b, e, A);
    scale_rows(e, A, rows_of(e, i));
    return 0;
}

/* ---- its elimination ---- */

static inline void exchange(double *x, int k, int p)
{
    double swap = x[k];
    x[k] = x[p];
    x[p] = swap;
}

/* The same with LAPACK, for matrices large enough for blocked elimination to pay. */
static int eliminate_large(const elimination *e, double *A, int *pivot)
{
    const double one = 1, minus = -1;
    int R = e->R, S = e->S, left = R - S, columns = e->W - S, first = 1, info;
    double *rest = A + (size_t)S * (size_t)R;
    dgetrf_(&R, &S, A, &R, pivot, &info);
    if (info != 0) return info;
    dlaswp_(&columns, rest, &R, &first, &S, pivot, &first);
    dtrsm_("L", "L", "N", "U", &S, &columns, &one, A, &R, rest, &R, 1, 1, 1, 1);
    dgemm_("N", "N", &left, &columns, &S, &minus, A + S, &R, rest, &R, &one, rest + S, &R, 1, 1);
    for (int k = 0; k < S; k++) pivot[k]--;
    return 0;
}

/* L and U of the columns of X, applied to all; 0, or 1 + the column without a pivot */
static int eliminate(const elimination *e, double *A, int *pivot)
{
    enum { LARGE = 64 };
    int R = e->R, W = e->W;
    if (e->S >= LARGE) return eliminate_large(e, A, pivot);
    for (int k = 0; k < e->S; k++) {
        double *a = A + (size_t)k * (size_t)R, most = 0;
        int p = k;
        for (int r = k; r < R; r++) if (fabs(a[r]) > most) { most = fabs(a[r]); p = r; }
        if (!(most > 0)) return 1 + k;
        pivot[k] = p;
        if (p != k)
            for (int c = 0; c < W; c++) exchange(A + (size_t)c * (size_t)R, k, p);
        for (int r = k + 1; r < R; r++) a[r] /= a[k];
        for (int c = k + 1; c < W; c++) {
            double *restrict x = A + (size_t)c * (size_t)R;
            const double *restrict l = a;
            double v = x[k];
            if (v != 0) for (int r = k + 1; r < R; r++) x[r] -= v * l[r];
        }
    }
    return 0;
}

static int undetermined(bvp *b, int i)
{
    return fail(&b->v, COSTATE_SINGULAR, "The equations between t = %.10g and %.10g, of a mesh of %d intervals, do not "
                "determine y there: their matrix is singular.", b->now.t[i], b->now.t[i + 1], b->now.N);
}

static int elimination_factor(bvp *b)
{
    elimination *e = b->linear.own;
    size_t R = (size_t)e->R, S = (size_t)e->S, n = (size_t)b->n;
    for (int i = 0; i < e->N; i++) {
        double *A = matrix_of(e, i), *left = A + S * R + S, *right = left + n * R;
        TRY(form(b, e, i));
        if (eliminate(e, A, pivots_of(e, i))) return undetermined(b, i);
        if (i == 0) chain_first(&e->c, left, right, R);
        else if (chain_next(&e->c, i, left, right, R)) return undetermined(b, i);
    }
    TRY(conditions_matrix(b, &b->now));
    int singular = chain_close(&e->c, b->edge.B, b->linear.unit);
    b->count.rcond = e->c.rcond;
    b->edge.loose = e->c.loose;
    return singular ? not_determined(b) : 0;
}

/* ---- solves ---- */

/* x -= v a and y -= w a, two columns of L or U at a time: x is read and written half as often */
static inline void subtract(int count, double *restrict x, const double *restrict a, double v,
                            const double *restrict b, double w)
{
    for (int r = 0; r < count; r++) x[r] -= v * a[r] + w * b[r];
}

/* x (R): rows of an interval; P, then L^-1 */
static void forward(const elimination *e, int i, double *x)
{
    int R = e->R, S = e->S, k = 0;
    const double *l = matrix_of(e, i), *row = rows_of(e, i);
    const int *pivot = pivots_of(e, i);
    for (int r = 0; r < R; r++) x[r] *= row[r];
    for (; k < S; k++) exchange(x, k, pivot[k]);
    for (k = 0; k + 1 < S; k += 2, l += 2 * R) {
        x[k + 1] -= x[k] * l[k + 1];
        subtract(R - k - 2, x + k + 2, l + k + 2, x[k], l + R + k + 2, x[k + 1]);
    }
    if (k < S) for (int r = k + 1; r < R; r++) x[r] -= x[k] * l[r];
}

static void forward_transposed(const elimination *e, int i, double *x)
{
    int R = e->R;
    const double *A = matrix_of(e, i), *row = rows_of(e, i);
    const int *pivot = pivots_of(e, i);
    for (int k = e->S - 1; k >= 0; k--) {
        const double *l = A + (size_t)k * (size_t)R;
        for (int r = k + 1; r < R; r++) x[k] -= l[r] * x[r];
    }
    for (int k = e->S - 1; k >= 0; k--) exchange(x, k, pivot[k]);
    for (int r = 0; r < R; r++) x[r] *= row[r];
}

/* x (S) <- U^-1 (x - U_y (y_i, y_{i+1})) */
static void backward(const elimination *e, int n, int i, const double *y, double *x)
{
    int R = e->R, k = e->S - 1;
    const double *A = matrix_of(e, i), *u = A + (size_t)e->S * (size_t)R;
    for (int c = 0; c < 2 * n; c += 2, u += 2 * R) subtract(e->S, x, u, y[c], u + R, y[c + 1]);
    for (; k > 0; k -= 2) {
        u = A + (size_t)k * (size_t)R;
        x[k] /= u[k];
        x[k - 1] = (x[k - 1] - u[k - 1] * x[k]) / u[k - 1 - R];
        subtract(k - 1, x, u, x[k], u - R, x[k - 1]);
    }
    if (k == 0) x[0] /= A[0];
}

/* x <- U^-T x, and (y_i, y_{i+1}) -= U_y^T x */
static void backward_transposed(const elimination *e, int n, int i, double *x, double *y)
{
    size_t R = (size_t)e->R;
    const double *A = matrix_of(e, i), *ends = A + (size_t)e->S * R;
    for (int k = 0; k < e->S; k++) {
        const double *u = A + (size_t)k * R;
        for (int r = 0; r < k; r++) x[k] -= u[r] * x[r];
        x[k] /= u[k];
    }
    for (int c = 0; c < 2 * n; c++) {
        const double *u = ends + (size_t)c * R;
        for (int r = 0; r < e->S; r++) y[c] -= u[r] * x[r];
    }
}

/* x: the rows of an interval are its stages, then continuity; its unknowns y_i, then X */
static void eliminated_solve(bvp *b, elimination *e, double *x)
{
    size_t n = (size_t)b->n, S = (size_t)e->S, L = (size_t)b->L, N = (size_t)e->N;
    for (size_t i = 0; i < N; i++) forward(e, (int)i, x + i * L);
    chain_solve(&e->c, x + S, L, x + N * L, e->y);
    for (size_t i = 0; i < N; i++) {
        double *z = x + i * L;
        backward(e, b->n, (int)i, e->y + i * n, z);
        memmove(z + n, z, S * sizeof *z);
        for (size_t k = 0; k < S; k++) z[n + k] *= b->linear.unit[k % n];
    }
    for (size_t i = 0; i <= N; i++)
        for (size_t k = 0; k < n; k++) x[i * L + k] = e->y[i * n + k] * b->linear.unit[k];
}

static void solve_transposed(bvp *b, elimination *e, double *x)
{
    size_t n = (size_t)b->n, S = (size_t)e->S, L = (size_t)b->L, N = (size_t)e->N;
    for (size_t i = 0; i <= N; i++)
        for (size_t k = 0; k < n; k++) e->y[i * n + k] = x[i * L + k] * b->linear.unit[k];
    for (size_t i = 0; i < N; i++) {
        double *z = x + i * L;
        memmove(z, z + n, S * sizeof *z);
        for (size_t k = 0; k < S; k++) z[k] *= b->linear.unit[k % n];
        backward_transposed(e, b->n, (int)i, z, e->y + i * n);
    }
    chain_solve_transposed(&e->c, e->y, x + S, L, x + N * L);
    for (size_t i = 0; i < N; i++) forward_transposed(e, (int)i, x + i * L);
}

static int elimination_solve(bvp *b, int transpose, int m, double *x)
{
    size_t all = unknowns(b);
    void (*solve_one)(bvp *, elimination *, double *) = transpose ? solve_transposed : eliminated_solve;
    for (int j = 0; j < m; j++) solve_one(b, b->linear.own, x + (size_t)j * all);
    return space_finite(&b->maps.space, all * (size_t)m, x);
}

const linear_system eliminated = {"elimination", elimination_prepare, elimination_factor, elimination_solve,
                                  elimination_free};
