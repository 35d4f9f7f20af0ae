/* triangles.c - triangular solves for several right-hand sides: each entry of L and U is read once for up to eight.

       P R A Q = L U:   A x = b:    L (U Q^T x) = P R b        A^T x = b:   U^T (L^T P R^-1 x) = Q^T b
   The right-hand sides stand beside each other in Y, so the inner loops are vector operations.  A sparse code's own
   solve is bound by reading its factor, once a right-hand side. */
#include <stdlib.h>
#include <string.h>

#include <costate/linsol.h>
#include "linsol/triangles.h"

int LS_triangles_init(LS_triangles *t, int n, int lnz, int unz)
{
    size_t N = (size_t)n, l = (size_t)lnz, u = (size_t)unz;
    *t = (LS_triangles){.n = n};
    t->Lp = malloc((2 * (N + 1) + l + u + 2 * N) * sizeof *t->Lp);
    t->Lx = malloc((l + u + N + TRIANGLES_TOGETHER * N) * sizeof *t->Lx);
    if (!t->Lp || !t->Lx) { LS_triangles_free(t); return COSTATE_LS_NO_MEMORY; }
    t->Up = t->Lp + N + 1;
    t->Lj = t->Up + N + 1;
    t->Ui = t->Lj + l;
    t->P = t->Ui + u;
    t->Q = t->P + N;
    t->Ux = t->Lx + l;
    t->R = t->Ux + u;
    t->Y = t->R + N;
    return COSTATE_LS_OK;
}

void LS_triangles_free(LS_triangles *t)
{
    free(t->Lp);
    free(t->Lx);
    *t = (LS_triangles){0};
}

size_t LS_triangles_bytes(const LS_triangles *t)
{
    size_t n = (size_t)t->n;
    if (!t->Lx) return 0;
    size_t entries = (size_t)t->Lp[n] + (size_t)t->Up[n];
    return (entries + 9 * n) * sizeof *t->Lx + (entries + 4 * n) * sizeof *t->Lp;
}

/* What follows is compiled for 2, 4 and 8 right-hand sides beside each other, K: loops over them are unrolled. */

/* y -= sum over the entries e of x_e Y[row_e]: y stays in registers */
static inline void gather(int K, double *y, int from, int to, const int *row, const double *x, const double *Y)
{
    double sum[TRIANGLES_TOGETHER];
    for (int r = 0; r < K; r++) sum[r] = y[r];
    for (int e = from; e < to; e++) {
        const double *z = Y + (size_t)K * (size_t)row[e];
        for (int r = 0; r < K; r++) sum[r] -= x[e] * z[r];
    }
    for (int r = 0; r < K; r++) y[r] = sum[r];
}

/* Y[row_e] -= x_e y */
static inline void spread(int K, const double *y, int from, int to, const int *row, const double *x, double *Y)
{
    double a[TRIANGLES_TOGETHER];
    for (int r = 0; r < K; r++) a[r] = y[r];
    for (int e = from; e < to; e++) {
        double *z = Y + (size_t)K * (size_t)row[e];
        for (int r = 0; r < K; r++) z[r] -= x[e] * a[r];
    }
}

/* Y <- L^-1 Y, then U^-1 Y */
static inline void solve(int K, const LS_triangles *t)
{
    for (int k = 0; k < t->n; k++)
        gather(K, t->Y + (size_t)K * (size_t)k, t->Lp[k], t->Lp[k + 1] - 1, t->Lj, t->Lx, t->Y);
    for (int k = t->n - 1; k >= 0; k--) {
        double *y = t->Y + (size_t)K * (size_t)k;
        int last = t->Up[k + 1] - 1;
        for (int r = 0; r < K; r++) y[r] /= t->Ux[last];
        spread(K, y, t->Up[k], last, t->Ui, t->Ux, t->Y);
    }
}

/* Y <- U^-T Y, then L^-T Y */
static inline void solve_transposed(int K, const LS_triangles *t)
{
    for (int k = 0; k < t->n; k++) {
        double *y = t->Y + (size_t)K * (size_t)k;
        int last = t->Up[k + 1] - 1;
        gather(K, y, t->Up[k], last, t->Ui, t->Ux, t->Y);
        for (int r = 0; r < K; r++) y[r] /= t->Ux[last];
    }
    for (int k = t->n - 1; k >= 0; k--)
        spread(K, t->Y + (size_t)K * (size_t)k, t->Lp[k], t->Lp[k + 1] - 1, t->Lj, t->Lx, t->Y);
}

/* row k of Y from entry `from[k]` of each right-hand side, scaled by R where given */
static inline void load(int K, const LS_triangles *t, const int *from, const double *R, int count, const double *X)
{
    for (int k = 0; k < t->n; k++) {
        const double *x = X + from[k];
        double *y = t->Y + (size_t)K * (size_t)k, scale = R ? R[from[k]] : 1;
        for (int r = 0; r < K; r++) y[r] = r < count ? scale * x[(size_t)r * (size_t)t->n] : 0;
    }
}

static inline void store(int K, const LS_triangles *t, const int *to, const double *R, int count, double *X)
{
    for (int k = 0; k < t->n; k++) {
        const double *y = t->Y + (size_t)K * (size_t)k;
        double *x = X + to[k], scale = R ? R[to[k]] : 1;
        for (int r = 0; r < count; r++) x[(size_t)r * (size_t)t->n] = scale * y[r];
    }
}

static inline void some(int K, const LS_triangles *t, int transpose, int count, double *X)
{
    load(K, t, transpose ? t->Q : t->P, transpose ? NULL : t->R, count, X);
    if (transpose) solve_transposed(K, t);
    else solve(K, t);
    store(K, t, transpose ? t->P : t->Q, transpose ? t->R : NULL, count, X);
}

void LS_triangles_solve(const LS_triangles *t, int transpose, int nrhs, double *X)
{
    for (int j = 0, count; j < nrhs; j += count) {
        double *x = X + (size_t)j * (size_t)t->n;
        count = nrhs - j < TRIANGLES_TOGETHER ? nrhs - j : TRIANGLES_TOGETHER;
        if (count <= 2) some(2, t, transpose, count, x);
        else if (count <= 4) some(4, t, transpose, count, x);
        else some(TRIANGLES_TOGETHER, t, transpose, count, x);
    }
}
