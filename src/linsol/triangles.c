/* triangles.c - triangular solves for several right-hand sides: each entry of L and U is read once for up to twelve.

       P R A Q = L U:   A x = b:    L (U Q^T x) = P R b        A^T x = b:   U^T (L^T P R^-1 x) = Q^T b
   The right-hand sides are stored next to each other in Y, complex ones as their real parts and then their imaginary
   ones, so the inner loops are vector operations.  The solve of a sparse code reads its factor once for each right-hand
   side, and this reading limits its speed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <costate/linsol.h>
#include "linsol/triangles.h"

int LS_triangles_init(LS_triangles *t, int n, int is_complex, int lnz, int unz)
{
    size_t N = (size_t)n, l = (size_t)lnz, u = (size_t)unz, parts = is_complex ? 2 : 1;
    *t = (LS_triangles){.n = n, .parts = (int)parts};
    t->Lp = malloc((2 * (N + 1) + l + u + 2 * N) * sizeof *t->Lp);
    t->Lx = malloc((parts * (l + u) + (1 + TRIANGLES_TOGETHER) * N) * sizeof *t->Lx);
    if (!t->Lp || !t->Lx) { LS_triangles_free(t); return COSTATE_LS_NO_MEMORY; }
    t->Up = t->Lp + N + 1;
    t->Lj = t->Up + N + 1;
    t->Ui = t->Lj + l;
    t->P = t->Ui + u;
    t->Q = t->P + N;
    t->Ux = t->Lx + parts * l;
    t->R = t->Ux + parts * u;
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
    size_t n = (size_t)t->n, parts = (size_t)t->parts;
    if (!t->Lx) return 0;
    size_t entries = (size_t)t->Lp[n] + (size_t)t->Up[n];
    return (parts * entries + (1 + TRIANGLES_TOGETHER) * n) * sizeof *t->Lx + (entries + 4 * n) * sizeof *t->Lp;
}

/* Inverts the diagonal of a complex U (Smith, CACM 5 (1962) 435), so that each right-hand side only needs a product. */
void LS_triangles_ready(LS_triangles *t)
{
    for (int k = 0; t->parts == 2 && k < t->n; k++) {
        double *a = t->Ux + 2 * (size_t)(t->Up[k + 1] - 1);
        int wide = fabs(a[0]) >= fabs(a[1]);
        double r = wide ? a[1] / a[0] : a[0] / a[1], d = wide ? a[0] + a[1] * r : a[0] * r + a[1];
        a[0] = (wide ? 1 : r) / d;
        a[1] = -(wide ? r : 1) / d;
    }
}

/* What follows is compiled for real and for complex numbers, for 2, 4 .. right-hand sides next to each other, K: loops
   over them are unrolled. */

/* y -= x z, K numbers y and z */
static inline void subtract(int parts, int K, double *y, const double *x, const double *z)
{
    double re = x[0], im = parts == 2 ? x[1] : 0;
    if (parts == 1) {
        for (int r = 0; r < K; r++) y[r] -= re * z[r];
        return;
    }
    for (int r = 0; r < K; r++) {
        y[r] -= re * z[r] - im * z[K + r];
        y[K + r] -= re * z[K + r] + im * z[r];
    }
}

/* y <- u^-1 y, u as LS_triangles_ready leaves it */
static inline void divide(int parts, int K, double *y, const double *u)
{
    for (int r = 0; r < K; r++) {
        double re = y[r];
        if (parts == 1) { y[r] /= u[0]; continue; }
        y[r] = u[0] * re - u[1] * y[K + r];
        y[K + r] = u[0] * y[K + r] + u[1] * re;
    }
}

/* a triangle: entries, and the diagonal last; unit: not to be divided by */
typedef struct { int n, unit; const int *start, *row; const double *x; } triangle;

/* y_k <- (y_k - sum over the entries e of x_e Y[row_e]) / diagonal, from the first on: y_k stays in registers */
static inline void gather(int parts, int K, const triangle *t, double *Y)
{
    size_t width = (size_t)(parts * K);
    for (int k = 0; k < t->n; k++) {
        double sum[TRIANGLES_TOGETHER], *y = Y + width * (size_t)k;
        int last = t->start[k + 1] - 1;
        for (size_t r = 0; r < width; r++) sum[r] = y[r];
        for (int e = t->start[k]; e < last; e++)
            subtract(parts, K, sum, t->x + (size_t)parts * (size_t)e, Y + width * (size_t)t->row[e]);
        if (!t->unit) divide(parts, K, sum, t->x + (size_t)parts * (size_t)last);
        for (size_t r = 0; r < width; r++) y[r] = sum[r];
    }
}

/* y_k <- y_k / diagonal, then Y[row_e] -= x_e y_k, from the last on */
static inline void spread(int parts, int K, const triangle *t, double *Y)
{
    size_t width = (size_t)(parts * K);
    for (int k = t->n - 1; k >= 0; k--) {
        double a[TRIANGLES_TOGETHER], *y = Y + width * (size_t)k;
        int last = t->start[k + 1] - 1;
        for (size_t r = 0; r < width; r++) a[r] = y[r];
        if (!t->unit) divide(parts, K, a, t->x + (size_t)parts * (size_t)last);
        for (size_t r = 0; r < width; r++) y[r] = a[r];
        for (int e = t->start[k]; e < last; e++)
            subtract(parts, K, Y + width * (size_t)t->row[e], t->x + (size_t)parts * (size_t)e, a);
    }
}

/* row k of Y from entry `from[k]` of each right-hand side, scaled by R where given */
static inline void load(int parts, int K, const LS_triangles *t, const int *from, const double *R, int count,
                        const double *X)
{
    size_t length = (size_t)parts * (size_t)t->n;
    for (int k = 0; k < t->n; k++) {
        const double *x = X + (size_t)parts * (size_t)from[k];
        double *y = t->Y + (size_t)(parts * K) * (size_t)k, scale = R ? R[from[k]] : 1;
        for (int part = 0; part < parts; part++)
            for (int r = 0; r < K; r++) y[part * K + r] = r < count ? scale * x[(size_t)r * length + (size_t)part] : 0;
    }
}

static inline void store(int parts, int K, const LS_triangles *t, const int *to, const double *R, int count, double *X)
{
    size_t length = (size_t)parts * (size_t)t->n;
    for (int k = 0; k < t->n; k++) {
        const double *y = t->Y + (size_t)(parts * K) * (size_t)k;
        double *x = X + (size_t)parts * (size_t)to[k], scale = R ? R[to[k]] : 1;
        for (int part = 0; part < parts; part++)
            for (int r = 0; r < count; r++) x[(size_t)r * length + (size_t)part] = scale * y[part * K + r];
    }
}

/* of so many numbers a row, in a function each, lest they become variables */
typedef struct {
    void (*gather)(const triangle *, double *Y);
    void (*spread)(const triangle *, double *Y);
    void (*load)(const LS_triangles *, const int *from, const double *R, int count, const double *X);
    void (*store)(const LS_triangles *, const int *to, const double *R, int count, double *X);
} sweeps;

#define ROUTINES(parts, K)                                                                                            \
    static void gather_##parts##_##K(const triangle *t, double *Y) { gather(parts, K, t, Y); }                        \
    static void spread_##parts##_##K(const triangle *t, double *Y) { spread(parts, K, t, Y); }                        \
    static void load_##parts##_##K(const LS_triangles *t, const int *from, const double *R, int m, const double *X)   \
    {                                                                                                                 \
        load(parts, K, t, from, R, m, X);                                                                             \
    }                                                                                                                 \
    static void store_##parts##_##K(const LS_triangles *t, const int *to, const double *R, int m, double *X)          \
    {                                                                                                                 \
        store(parts, K, t, to, R, m, X);                                                                              \
    }
ROUTINES(1, 2) ROUTINES(1, 4) ROUTINES(1, 6) ROUTINES(1, 8) ROUTINES(1, 10) ROUTINES(1, 12)
ROUTINES(2, 2) ROUTINES(2, 4) ROUTINES(2, 6)
#define ROW(of) {gather_##of, spread_##of, load_##of, store_##of}
static const sweeps real[] = {ROW(1_2), ROW(1_4), ROW(1_6), ROW(1_8), ROW(1_10), ROW(1_12)},
                    complex[] = {ROW(2_2), ROW(2_4), ROW(2_6)};

static void some(const LS_triangles *t, int transpose, int count, double *X)
{
    const sweeps *by = (t->parts == 1 ? real : complex) + (count - 1) / 2;
    triangle L = {t->n, 1, t->Lp, t->Lj, t->Lx}, U = {t->n, 0, t->Up, t->Ui, t->Ux};
    by->load(t, transpose ? t->Q : t->P, transpose ? NULL : t->R, count, X);
    by->gather(transpose ? &U : &L, t->Y);
    by->spread(transpose ? &L : &U, t->Y);
    by->store(t, transpose ? t->P : t->Q, transpose ? t->R : NULL, count, X);
}

void LS_triangles_solve(const LS_triangles *t, int transpose, int nrhs, double *X)
{
    const int most = TRIANGLES_TOGETHER / t->parts;
    for (int j = 0, count; j < nrhs; j += count) {
        count = nrhs - j < most ? nrhs - j : most;
        some(t, transpose, count, X + (size_t)j * (size_t)t->parts * (size_t)t->n);
    }
}
