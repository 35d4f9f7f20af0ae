/* gmres.c - GMRES with right preconditioning and residuals in a weighted norm (Saad, Schultz, SISSC 7 (1986) 856).

       A x = b,  x = P^-1 v:  minimise | w (b - A P^-1 v) |  over the Krylov space of  w A P^-1 w^-1.

   Several columns go in step, each with its own space: their preconditioner solves are one call.  At most
   `limit` iterations; gmres_restarted begins anew then. */
#include <math.h>
#include <string.h>
#include "core.h"

/* a column: basis (limit+1)*n, preconditioned basis limit*n, H by columns (limit+1)*limit, rotations 2 limit, right-hand
   side limit+1; for all: the block that goes to the preconditioner, one vector, 1/w */
static size_t column_work(size_t n, size_t k) { return (2 * k + 1) * n + (k + 1) * k + 2 * k + k + 1; }

size_t gmres_work(int n, int columns, int limit)
{
    return (size_t)columns * (column_work((size_t)n, (size_t)limit) + (size_t)n) + 2 * (size_t)n;
}

typedef struct { double *Q, *Z, *H, *cs, *sn, *g, size, rest; int k, going; } column;

/* modified Gram-Schmidt, once: GMRES stays backward stable with it (Paige, Rozloznik, Strakos, SIMAX 28 (2006) 264) */
static void orthogonalise(size_t n, int k, const double *Q, double *v, double *h)
{
    for (int j = 0; j < k; j++) {
        h[j] = dot(n, Q + (size_t)j * n, v);
        axpy(n, -h[j], Q + (size_t)j * n, v);
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

static column start(const gmres_system *s, int j, const double *b)
{
    size_t n = (size_t)s->n, m = (size_t)s->limit;
    column c = {.Q = s->work + (size_t)j * column_work(n, m), .rest = 1};
    c.Z = c.Q + (m + 1) * n;
    c.H = c.Z + m * n;
    c.cs = c.H + (m + 1) * m;
    c.sn = c.cs + m;
    c.g = c.sn + m;
    for (size_t i = 0; i < n; i++) c.Q[i] = s->w[i] * b[i];
    c.size = sqrt(dot(n, c.Q, c.Q));
    c.going = c.size > 0;
    if (!c.going) { c.rest = 0; return c; }
    for (size_t i = 0; i < n; i++) c.Q[i] *= 1 / c.size;
    c.g[0] = 1;
    return c;
}

/* one Arnoldi step with the preconditioned vector z, v: work */
static int advance(const gmres_system *s, column *c, const double *z, double *v)
{
    size_t n = (size_t)s->n;
    int k = c->k;
    double *h = c->H + (size_t)k * (size_t)(s->limit + 1), *next = c->Q + (size_t)(k + 1) * n;
    memcpy(c->Z + (size_t)k * n, z, n * sizeof *z);
    int status = s->apply(s->ctx, z, v);
    if (status != 0) return status;
    for (size_t i = 0; i < n; i++) next[i] = s->w[i] * v[i];
    orthogonalise(n, k + 1, c->Q, next, h);
    double norm = h[k + 1] = sqrt(dot(n, next, next));
    c->rest = rotate(k, h, c->cs, c->sn, c->g);
    c->k++;
    c->going = c->rest <= 1 && c->rest > s->tol && norm > 0 && c->k < s->limit;     /* NaN: no */
    double inverse = 1 / norm;
    if (c->going) for (size_t i = 0; i < n; i++) next[i] *= inverse;
    return 0;
}

/* all columns that go on: one call of the preconditioner for them together */
static int sweep(const gmres_system *s, column *c, int *active)
{
    size_t n = (size_t)s->n;
    double *B = s->work + (size_t)s->columns * column_work(n, (size_t)s->limit), *v = B + (size_t)s->columns * n;
    const double *inverse = v + n;
    int count = 0, at = 0;
    for (int j = 0; j < s->columns; j++) {
        if (!c[j].going) continue;
        const double *q = c[j].Q + (size_t)c[j].k * n;
        double *z = B + (size_t)count++ * n;
        for (size_t i = 0; i < n; i++) z[i] = q[i] * inverse[i];
    }
    *active = count;
    int status = count ? s->precondition(s->ctx, count, B) : 0;
    for (int j = 0; status == 0 && j < s->columns; j++)
        if (c[j].going) status = advance(s, &c[j], B + (size_t)at++ * n, v);
    return status;
}

/* b, x: n by columns; iterations, residual: those of each column.  Returns what the callbacks return, else 0.  The
   preconditioned vectors are kept: a solve is dearer than a vector. */
int gmres(const gmres_system *s, const double *b, double *x, int *iterations, double *residual)
{
    size_t n = (size_t)s->n;
    column c[GMRES_COLUMNS];
    double *inverse = s->work + (size_t)s->columns * (column_work(n, (size_t)s->limit) + n) + n;
    int active = 1;
    for (size_t i = 0; i < n; i++) inverse[i] = 1 / s->w[i];
    for (int j = 0; j < s->columns; j++) c[j] = start(s, j, b + (size_t)j * n);
    while (active) {
        int status = sweep(s, c, &active);
        if (status != 0) return status;
    }
    memset(x, 0, (size_t)s->columns * n * sizeof *x);
    for (int j = 0; j < s->columns; j++) {
        iterations[j] = c[j].k;
        residual[j] = c[j].rest;
        if (!(c[j].rest <= 1)) continue;
        back_substitute(c[j].k, s->limit + 1, c[j].H, c[j].g);
        combine_many(n, x + (size_t)j * n, c[j].size, c[j].k, c[j].g, c[j].Z);
    }
    return 0;
}

/* One column, restarted with its true residual until tol, or until a cycle gains less than a factor of two.  x may be b. */
int gmres_restarted(const gmres_system *s, double *b, double *x, double *work, int *iterations, double *residual)
{
    size_t n = (size_t)s->n;
    double *r = work, *dx = work + n, *sum = work + 2 * n, first = 0, last = 2;
    gmres_system cycle = *s;
    int its;
    memcpy(r, b, n * sizeof *r);
    memset(sum, 0, n * sizeof *sum);
    *iterations = 0;
    for (*residual = 1;; last = *residual) {
        double size = norm_weighted(n, s->w, r), rest;
        if (first == 0) first = size;
        if (first == 0) { *residual = 0; break; }
        cycle.tol = s->tol * first / size;
        int status = gmres(&cycle, r, dx, &its, &rest);
        *iterations += its;
        if (status != 0) return status;
        *residual = rest * size / first;
        axpy(n, 1, dx, sum);
        if (*residual <= s->tol || !(*residual < last / 2)) break;
        status = s->apply(s->ctx, sum, r);
        if (status != 0) return status;
        for (size_t i = 0; i < n; i++) r[i] = b[i] - r[i];
    }
    memcpy(x, sum, n * sizeof *x);
    return 0;
}
