/* gmres.c - GMRES with right preconditioning and residuals in a weighted norm (Saad, Schultz, SISSC 7 (1986) 856).

       A x = b,  x = P^-1 v:  minimise | w (b - A P^-1 v) |  over the Krylov space of  w A P^-1 w^-1.

   Classical Gram-Schmidt, twice.  No restart: at most `limit` iterations. */
#include <math.h>
#include <string.h>
#include "core.h"

/* basis (limit+1)*n, preconditioned basis limit*n, one vector, H by columns (limit+1)*limit, rotations 2 limit,
   right-hand side limit+1 and coefficients limit */
size_t gmres_work(int n, int limit)
{
    size_t k = (size_t)limit;
    return (2 * k + 2) * (size_t)n + (k + 1) * k + 2 * k + k + 1 + k;
}

/* classical Gram-Schmidt, twice: two passes over the basis instead of k */
static void orthogonalise(size_t n, int k, const double *Q, double *v, double *h, double *s)
{
    memset(h, 0, (size_t)k * sizeof *h);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < k; j++) h[j] += s[j] = dot(n, Q + (size_t)j * n, v);
        combine_many(n, v, -1, k, s, Q);
    }
}

/* apply the earlier rotations to the new column, make one that clears h[k+1], turn the right-hand side */
static double rotate(int k, double *h, double *cs, double *sn, double *g)
{
    for (int j = 0; j < k; j++) {
        double a = cs[j] * h[j] + sn[j] * h[j + 1];
        h[j + 1] = -sn[j] * h[j] + cs[j] * h[j + 1];
        h[j] = a;
    }
    double r = hypot(h[k], h[k + 1]);
    cs[k] = r > 0 ? h[k] / r : 1;
    sn[k] = r > 0 ? h[k + 1] / r : 0;
    h[k] = r;
    g[k + 1] = -sn[k] * g[k];
    g[k] *= cs[k];
    return fabs(g[k + 1]);
}

static void back_substitute(int k, int ld, const double *H, double *g)
{
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) g[i] -= H[(size_t)j * (size_t)ld + (size_t)i] * g[j];
        g[i] /= H[(size_t)i * (size_t)ld + (size_t)i];
    }
}

/* x: result.  *residual: the relative residual reached.  Returns what the callbacks return, else 0.  The preconditioned
   vectors are kept: a solve is dearer than a vector. */
int gmres(const gmres_system *s, const double *b, double *x, int *iterations, double *residual)
{
    size_t n = (size_t)s->n;
    int m = s->limit, k = 0;
    double *Q = s->work, *Z = Q + (size_t)(m + 1) * n, *v = Z + (size_t)m * n, *H = v + n;
    double *cs = H + (size_t)(m + 1) * (size_t)m, *sn = cs + m, *g = sn + m, *coefficient = g + m + 1;
    for (size_t i = 0; i < n; i++) Q[i] = s->w[i] * b[i];
    double size = sqrt(dot(n, Q, Q)), rest = 1;
    *iterations = 0;
    *residual = 0;
    memset(x, 0, n * sizeof *x);
    if (size == 0) return 0;
    for (size_t i = 0; i < n; i++) Q[i] /= size;
    g[0] = 1;
    while (k < m && rest > s->tol) {
        double *h = H + (size_t)k * (size_t)(m + 1), *next = Q + (size_t)(k + 1) * n, *z = Z + (size_t)k * n;
        for (size_t i = 0; i < n; i++) z[i] = Q[(size_t)k * n + i] / s->w[i];
        int status = s->precondition(s->ctx, z);
        if (status == 0) status = s->apply(s->ctx, z, v);
        if (status != 0) return status;
        for (size_t i = 0; i < n; i++) next[i] = s->w[i] * v[i];
        orthogonalise(n, k + 1, Q, next, h, coefficient);
        double norm = sqrt(dot(n, next, next));
        h[k + 1] = norm;
        rest = rotate(k, h, cs, sn, g);
        k++;
        if (!(rest <= 1)) break;                    /* NaN */
        if (norm == 0) break;
        for (size_t i = 0; i < n; i++) next[i] /= norm;
    }
    *iterations = k;
    *residual = rest;
    if (!(rest <= 1)) return 0;
    back_substitute(k, m + 1, H, g);
    combine_many(n, x, size, k, g, Z);
    return 0;
}
