/* loose.c - adaptive simpler GMRES, for the corrections of an outer iteration.

       r = P^-1 (b - A x);  z = r, or the last q if r decreased too little;  q = P^-1 A z, orthogonalised;
       x is the combination of all z that minimises |w r|

   (Walker, Zhou, Numer. Linear Algebra Appl. 1 (1994) 571; with residuals as directions, Jiranek, Rozloznik, Numer.
   Algorithms 53 (2010) 93).  In this form r itself is available at each iteration, and it is nearly the error of x.
   The iteration stops when |w r|, times a recent maximum of |x| / |P^-1 b|, is within the tolerance; r is then added to
   x, which costs nothing.  P is applied from the left, so that the norm that is minimised is also the one that stops
   the iteration. */
#include <math.h>
#include <string.h>
#include "linsol/loose.h"
#include "linsol/orthogonal.h"

/* FALLS: if a residual is larger than this part of the previous one, its direction is not new enough (0.9 in the
   paper).  FADES: the part of the amplification beyond 1 that is kept from one solve to the next. */
static const double FALLS = 0.9, FADES = 0.8;

typedef struct { double *Q, *Z, *R, *c, *again, *r; int k; } basis;

size_t loose_work(size_t n, int limit)
{
    size_t m = (size_t)limit;
    return (2 * m + 1) * n + m * (m + 1) + 2 * m + 1;
}

static basis basis_in(double *work, size_t n, int limit)
{
    size_t m = (size_t)limit;
    basis s = {.r = work, .Q = work + n};
    s.Z = s.Q + m * n;
    s.R = s.Z + m * n;
    s.c = s.R + m * (m + 1);
    s.again = s.c + m;
    return s;
}

/* Extends the basis by z, which is stored in its place already, and by q = P^-1 A z.  fell: |w r| after and before
   that, as a ratio; 1 if z adds nothing */
static int take_in(const loose_system *s, basis *a, double *fell)
{
    const double NOTHING = 1e-9;
    size_t n = s->n;
    size_t at = (size_t)a->k * n;
    double *z = a->Z + at, *q = a->Q + at, *h = a->R + (size_t)a->k * (size_t)(s->limit + 1), before[2];
    TRY(s->apply(s->ctx, 1, z, q));
    TRY(s->precondition(s->ctx, q));
    for (size_t i = 0; i < n; i++) q[i] *= s->w[i];
    before[0] = dot(n, q, q);
    before[1] = dot(n, a->r, a->r);
    TRY(space_total(s->space, 2, before));
    TRY(orthogonalise(s->space, n, a->k, a->Q, q, h, a->again));
    *fell = 1;
    double norm = h[a->k];
    if (!(norm > NOTHING * sqrt(before[0]))) return 0;
    for (size_t i = 0; i < n; i++) q[i] *= 1 / norm;
    TRY(space_dots(s->space, n, 1, q, n, a->r, &a->c[a->k]));
    axpy(n, -a->c[a->k], q, a->r);
    double part = a->c[a->k] * a->c[a->k] / before[1];
    *fell = part < 1 ? sqrt(1 - part) : 0;
    a->k++;
    return 0;
}

/* x <- Z R^-1 c + last */
static void finish(const loose_system *s, const basis *a, const double *last, double *x)
{
    for (int i = a->k - 1; i >= 0; i--) {
        for (int j = i + 1; j < a->k; j++) a->c[i] -= a->R[(size_t)j * (size_t)(s->limit + 1) + (size_t)i] * a->c[j];
        a->c[i] /= a->R[(size_t)i * (size_t)(s->limit + 1) + (size_t)i];
    }
    if (last) memcpy(x, last, s->n * sizeof *x);
    else memset(x, 0, s->n * sizeof *x);
    combine_many(s->n, x, 1, a->k, a->c, a->Z);
}

int loose_solve(const loose_system *s, double *b, double *amplified, loose_result *out)
{
    size_t n = s->n;
    basis a = basis_in(s->work, n, s->limit);
    double fell = 0, tol = s->tol, length;
    *amplified = 1 + FADES * (*amplified - 1);
    *out = (loose_result){0};
    TRY(s->precondition(s->ctx, b));
    for (size_t i = 0; i < n; i++) a.r[i] = s->w[i] * b[i];
    for (int ends = 0;;) {
        int by_residual = fell <= FALLS || a.k == 0 || ends;
        double *z = a.Z + (size_t)a.k * n;
        const double *from = by_residual ? a.r : a.Q + (size_t)(a.k - 1) * n;
        for (size_t i = 0; i < n; i++) z[i] = from[i] / s->w[i];
        if (by_residual) {
            TRY(space_norm(s->space, n, s->w, z, &out->last));
            if (a.k == 0) { out->first = out->last; tol = fmax(tol, s->part * out->first); }
            if (!(out->last * *amplified > tol)) { finish(s, &a, z, b); break; }
        }
        if (ends) { out->stalled = 1; finish(s, &a, NULL, b); break; }
        int k = a.k;
        TRY(take_in(s, &a, &fell));
        out->iterations++;
        ends = a.k == k || a.k == s->limit - 1;
    }
    if (out->iterations == 0 || !(out->first > 0)) return 0;
    TRY(space_norm(s->space, n, s->w, b, &length));
    if (length > *amplified * out->first && length < HUGE_VAL) *amplified = length / out->first;
    return 0;
}
