/* gmres.c - GMRES with right preconditioning and residuals in a weighted norm (Saad, Schultz, SISSC 7 (1986) 856).

       A x = b,  x = P^-1 v:  minimise | w (b - A P^-1 v) |  over the Krylov space of  w A P^-1 w^-1.

   Several columns are iterated simultaneously, each with its own Krylov space, so that their preconditioner solves are
   one call.  A cycle has at most `limit` iterations.  The recurrence of a cycle provides a value of its residual.  If P
   or A is badly conditioned, the true residual is larger by many orders of magnitude.  A solution is therefore judged
   by b - A x, and corrected by further cycles as long as they reduce it. */
#include <math.h>
#include <string.h>
#include "base/modulus.h"
#include "base/vec.h"
#include "linsol/gmres.h"
#include "linsol/orthogonal.h"

/* LEAST_GAIN: every cycle has to gain a digit at least, even if the tolerance is nearer: the first vectors of a cycle
   cost the same, however little they are to gain. */
static const double LEAST_GAIN = 0.1;

/* For each column: basis (limit+1)*n, preconditioned basis limit*n, H by columns (limit+1)*limit, rotations 2 limit,
   right-hand side limit+1, inner products limit+1, and a column in each of the two blocks that are passed to the
   preconditioner and to A.  For all together: 1/w */
static size_t column_work(size_t n, size_t k) { return (2 * k + 1) * n + (k + 1) * k + 2 * k + 2 * (k + 1); }

size_t gmres_work(int n, int columns, int limit)
{
    return (size_t)columns * (column_work((size_t)n, (size_t)limit) + 2 * (size_t)n) + (size_t)n;
}

/* Arnoldi's process for one right-hand side: A Z = Q H, H by rotations (cs, sn) to a triangle.  l: most iterations. */
typedef struct {
    double *Q, *Z;              /* n*(l + 1), n*l: orthonormal basis; preconditioned directions */
    double *H, *cs, *sn, *g;    /* (l + 1)*l; l, l: rotations; l + 1: the right-hand side, rotated */
    double *again;              /* l: inner products of the second orthogonalisation */
    double scale, unit;         /* divisors of b and of A where squares would overflow or underflow */
    double size, rest, tol;     /* |b|; |residual| in units of it; at which the column stops */
    double growth;              /* the largest |A z|/|z| so far */
    int k, going;               /* iterations so far; 0: it has stopped */
} krylov_column;

/* applies the earlier rotations to the new column, then adds one that annihilates h[k+1], also to the right-hand
   side */
static double rotate(int k, double *h, double *cs, double *sn, double *g)
{
    for (int j = 0; j < k; j++) {
        double a = cs[j] * h[j] + sn[j] * h[j + 1];
        h[j + 1] = -sn[j] * h[j] + cs[j] * h[j + 1];
        h[j] = a;
    }
    double r = modulus(h[k], h[k + 1]);
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

/* 1, or, if the square of b's largest entry could overflow or underflow, the power of two by which it becomes about
   1 */
static int scale_of(const gmres_system *s, const double *b, double *scale)
{
    double most;
    TRY(space_largest(s->space, (size_t)s->n, b, &most));
    *scale = (most > 1e-100 && most < 1e100) || most == 0 || !(most < HUGE_VAL) ? 1 : ldexp(1, ilogb(most));
    return 0;
}

static void weigh(size_t n, const double *w, const double *x, double unit, double *out)
{
    if (unit == 1) for (size_t i = 0; i < n; i++) out[i] = w[i] * x[i];
    else for (size_t i = 0; i < n; i++) out[i] = w[i] * (x[i] / unit);
}

static int start(const gmres_system *s, int j, double tol, const double *b, krylov_column *out)
{
    size_t n = (size_t)s->n, m = (size_t)s->limit;
    krylov_column c = {.Q = s->work + (size_t)j * column_work(n, m), .unit = 1, .rest = 1, .tol = tol};
    c.Z = c.Q + (m + 1) * n;
    c.H = c.Z + m * n;
    c.cs = c.H + (m + 1) * m;
    c.sn = c.cs + m;
    c.g = c.sn + m;
    c.again = c.g + m + 1;
    TRY(scale_of(s, b, &c.scale));
    weigh(n, s->w, b, c.scale, c.Q);
    TRY(space_dots(s->space, n, 1, c.Q, n, c.Q, &c.size));
    c.size = sqrt(c.size);
    c.going = c.size > 0;
    c.g[0] = 1;
    if (!c.going) c.rest = c.size;                           /* 0, or NaN */
    else for (size_t i = 0; i < n; i++) c.Q[i] *= 1 / c.size;
    *out = c;
    return 0;
}

static int grown(const gmres_system *s, const double *Az, const double *z, double *growth)
{
    const double *both[] = {Az, z};
    double norms[2];
    TRY(space_norms(s->space, (size_t)s->n, 2, s->w, both, norms));
    *growth = fmax(*growth, norms[0] / norms[1]);
    return 0;
}

/* next <- w v/unit, orthogonalised.  The unit of A is determined from the first product of a cycle. */
static int extend(const gmres_system *s, krylov_column *c, const double *v, double *next, double *h)
{
    size_t n = (size_t)s->n;
    do {
        weigh(n, s->w, v, c->unit, next);
        TRY(orthogonalise(s->space, n, c->k + 1, c->Q, next, h, c->again));
        double size = fabs(h[0]) + h[c->k + 1];
        if (c->k > 0 || c->unit != 1 || (size > 1e-100 && size < 1e100)) return 0;
        TRY(scale_of(s, v, &c->unit));
    } while (c->unit != 1);
    return 0;
}

/* one Arnoldi step with the preconditioned vector z, v = A z */
static int advance(const gmres_system *s, krylov_column *c, const double *z, const double *v)
{
    size_t n = (size_t)s->n;
    int k = c->k;
    double *h = c->H + (size_t)k * (size_t)(s->limit + 1), *next = c->Q + (size_t)(k + 1) * n;
    memcpy(c->Z + (size_t)k * n, z, n * sizeof *z);
    if (!s->backward_error) TRY(grown(s, v, z, &c->growth));
    TRY(extend(s, c, v, next, h));
    double norm = h[k + 1];
    double rest = rotate(k, h, c->cs, c->sn, c->g);
    if (h[k] == 0) { c->going = 0; return 0; }                /* A z is in the space already: z adds nothing */
    c->rest = rest;
    c->k++;
    c->going = c->rest <= 1 && c->rest > c->tol && norm > 0 && c->k < s->limit;     /* NaN: no */
    double inverse = 1 / norm;
    if (c->going) for (size_t i = 0; i < n; i++) next[i] *= inverse;
    return 0;
}

/* one iteration of all unfinished columns, with one call of the preconditioner and one of A */
static int sweep(const gmres_system *s, krylov_column *c, int *active)
{
    size_t n = (size_t)s->n;
    double *B = s->work + (size_t)s->columns * column_work(n, (size_t)s->limit), *AB = B + (size_t)s->columns * n;
    const double *inverse = AB + (size_t)s->columns * n;
    int count = 0, at = 0;
    for (int j = 0; j < s->columns; j++) {
        if (!c[j].going) continue;
        const double *q = c[j].Q + (size_t)c[j].k * n;
        double *z = B + (size_t)count++ * n;
        for (size_t i = 0; i < n; i++) z[i] = q[i] * inverse[i];
    }
    *active = count;
    if (count) TRY(s->precondition(s->ctx, count, B));
    if (count) TRY(s->apply(s->ctx, count, B, AB));
    for (int j = 0; j < s->columns; j++) {
        if (!c[j].going) continue;
        TRY(advance(s, &c[j], B + (size_t)at * n, AB + (size_t)at * n));
        at++;
    }
    return 0;
}

/* A cycle.  b, x: n by columns; tol: one value per column.  Returns an error of a callback, else 0.  The preconditioned
   vectors are stored, because a further solve would cost more than their memory. */
static int cycle(const gmres_system *s, const double *tol, const double *b, double *x, krylov_column *c)
{
    size_t n = (size_t)s->n;
    double *inverse = s->work + (size_t)s->columns * (column_work(n, (size_t)s->limit) + 2 * n);
    int active = 1;
    for (size_t i = 0; i < n; i++) inverse[i] = 1 / s->w[i];
    for (int j = 0; j < s->columns; j++) TRY(start(s, j, tol[j], b + (size_t)j * n, &c[j]));
    while (active) TRY(sweep(s, c, &active));
    memset(x, 0, (size_t)s->columns * n * sizeof *x);
    for (int j = 0; j < s->columns; j++) {
        double *xj = x + (size_t)j * n;
        if (!(c[j].rest <= 1)) continue;
        back_substitute(c[j].k, s->limit + 1, c[j].H, c[j].g);
        combine_many(n, xj, c[j].size, c[j].k, c[j].g, c[j].Z);
        int e = ilogb(c[j].scale) - ilogb(c[j].unit);
        for (size_t i = 0; e && i < n; i++) xj[i] = ldexp(xj[i], e);
    }
    return 0;
}

/* first, size: |w r| initially and now; growth: the largest |A z|/|z| so far; going: 1 while unfinished; column: its
   number */
typedef struct { double first, size, growth; int going, column; } krylov_progress;

/* the errors of x that follow from its true residual r, of size |w r| */
static int measure(const gmres_system *s, const krylov_progress *q, const double *b, const double *x, const double *r,
                   gmres_result *out)
{
    double length;
    out->residual = q->size / q->first;
    if (s->backward_error) return s->backward_error(s->ctx, b, x, r, out);
    TRY(space_norm(s->space, (size_t)s->n, s->w, x, &length));
    out->error = out->norm = q->size / (q->growth * length + q->first);
    return 0;
}

static void keep(const gmres_system *s, const krylov_progress *q, const double *r)
{
    if (s->left) memcpy(s->left + (size_t)q->column * (size_t)s->n, r, (size_t)s->n * sizeof *r);
}

/* Judges the candidate in dx by its true residual; r holds A dx on entry, and this residual afterwards.  The candidate
   is accepted if the residual is smaller.  The column is finished if the residual is within the tolerance, at
   round-off, or if neither it nor the error decreases fast enough. */
static int judge(const gmres_system *s, krylov_progress *q, const double *b, double *x, double *dx, double *r,
                 gmres_result *out)
{
    size_t n = (size_t)s->n;
    double last = q->size;
    q->going = 0;
    for (size_t i = 0; i < n; i++) r[i] = b[i] - r[i];
    double size, error = out->error;
    TRY(space_norm(s->space, n, s->w, r, &size));
    if (!(size < last)) return 0;
    memcpy(x, dx, n * sizeof *x);
    keep(s, q, r);
    q->size = size;
    TRY(measure(s, q, b, x, r, out));
    q->going = !at_round_off(out->error) && (another_cycle(size / last, s->tol * q->first / size) ||
                                             another_cycle(out->error / error, LEAST_BACKWARD_ERROR / out->error));
    if (!s->backward_error && out->residual <= s->tol) q->going = 0;
    return 0;
}

/* 1 if the residual of the recurrence is accepted and small enough */
static int believed(const gmres_system *s, const krylov_column *c, krylov_progress *q, double *x,
                    const double *dx, gmres_result *out)
{
    double rest = c->rest * q->size / q->first;
    if (!s->believe || !(rest <= s->tol)) return 0;
    axpy((size_t)s->n, 1, dx, x);
    out->residual = rest;
    q->going = 0;
    return 1;
}

/* r = b - A x and |w r| of an initial guess; x = 0 if the guess is no better than that */
static int gmres_begin(const gmres_system *s, krylov_progress *q, const double *b, double *x, double *r,
                       gmres_result *out)
{
    size_t n = (size_t)s->n;
    double size = q->first;
    if (s->guess && q->going) {
        TRY(s->apply(s->ctx, 1, x, r));
        for (size_t i = 0; i < n; i++) r[i] = b[i] - r[i];
        TRY(space_norm(s->space, n, s->w, r, &size));
        if (size < q->first) {
            q->size = size;
            keep(s, q, r);
            TRY(measure(s, q, b, x, r, out));
            int done = at_round_off(out->error) || (!s->backward_error && out->residual <= s->tol);
            q->going = !done;
            if (done) memset(r, 0, n * sizeof *r);            /* no cycle is necessary */
            return 0;
        }
    }
    memcpy(r, b, n * sizeof *r);
    keep(s, q, r);
    memset(x, 0, n * sizeof *x);
    return 0;
}

/* After a cycle: its corrections dx are accepted by the residual of the recurrence, or the candidates x + dx are
   judged. Products of adjacent columns are computed in one call. */
static int correct(const gmres_system *s, const krylov_column *c, krylov_progress *q, const double *b, double *x,
                   double *dx, double *r, gmres_result *out)
{
    size_t n = (size_t)s->n;
    for (int j = 0, end; j < s->columns; j = end + 1) {
        for (end = j; end < s->columns && q[end].going; end++) {
            size_t at = (size_t)end * n;
            if (believed(s, &c[end], &q[end], x + at, dx + at, &out[end])) break;
            axpy(n, 1, x + at, dx + at);
        }
        if (end > j) TRY(s->apply(s->ctx, end - j, dx + (size_t)j * n, r + (size_t)j * n));
        for (int k = j; k < end; k++) {
            size_t at = (size_t)k * n;
            TRY(judge(s, &q[k], b + at, x + at, dx + at, r + at, &out[k]));
        }
    }
    return 0;
}

int gmres(const gmres_system *s, const double *b, double *x, double *work, gmres_result *out)
{
    size_t n = (size_t)s->n;
    double *r = work, *dx = work + n * (size_t)s->columns, tol[GMRES_COLUMNS];
    krylov_progress q[GMRES_COLUMNS];
    krylov_column c[GMRES_COLUMNS];
    for (int j = 0; j < s->columns; j++) {
        double size;
        TRY(space_norm(s->space, n, s->w, b + (size_t)j * n, &size));
        q[j] = (krylov_progress){size, size, 0, size > 0, j};
        double whole = size > 0 ? 1 : size;                   /* b = 0: x = 0; NaN stays NaN */
        out[j] = (gmres_result){.residual = whole, .error = whole, .norm = whole};
        TRY(gmres_begin(s, &q[j], b + (size_t)j * n, x + (size_t)j * n, r + (size_t)j * n, &out[j]));
    }
    for (int active = 1; active;) {
        for (int j = 0; j < s->columns; j++) tol[j] = fmin(LEAST_GAIN, s->tol * q[j].first / q[j].size);
        TRY(cycle(s, tol, r, dx, c));
        for (int j = 0; j < s->columns; j++) {
            if (!q[j].going) continue;
            out[j].iterations += c[j].k;
            if (c[j].k > out[j].longest) out[j].longest = c[j].k;
            q[j].growth = fmax(q[j].growth, c[j].growth);
        }
        TRY(correct(s, c, q, b, x, dx, r, out));
        active = 0;
        for (int j = 0; j < s->columns; j++) {
            if (q[j].going) active = 1;
            else memset(r + (size_t)j * n, 0, n * sizeof *r);   /* the next cycle ignores it */
        }
    }
    return 0;
}
