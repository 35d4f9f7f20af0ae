/* adjoint.c (rkc) - m functionals back through a step: the transpose of tangent.c (step-maps 2.1, ADJ).

   With gb the adjoint of a stage, v = h M^-T (b lambda + sum A Yb) of a last one, j = m .. 1 of the recurrence:

       v = h mut_j gb_j  (j = 1: + h phi),   (tb, Yb, pb) = f'(j-1)^T M^-T v,   t += tb,  mu += pb
       gb_j-1 += mu_j gb_j + Yb,   gb_j-2 += nu_j gb_j,   yb += eta_j gb_j,   phi += gat_j gb_j
       h += (mut_j f_j-1 + gat_j f_0)^T gb_j + c_j-1 tb,                lambda <- yb + gb_0

   The stages are made again, from the first, and kept as far as there is room: else in segments, each from the last two
   stages before it. */
#include <math.h>
#include <string.h>
#include "rkc/rkc.h"

/* ---- the stages of the recurrence, backwards ---- */

typedef struct {                /* stages first .. last of 0 .. end are there, at g */
    const degree *d;
    int end, length, first, last;
    double *g, *pairs;          /* length n-vectors; two a segment: the stage before its first, its first */
} stages;

static int segments(int count, int length) { return (count + length - 1) / length; }

/* of segments: as long as the pairs of all take together */
static int shortest(int count) { return (int)fmax(2, ceil(sqrt(2.0 * count))); }

/* The stages in memory: all, or segments of a length that takes least. */
static int length_for(const stepper *c, int count)
{
    if ((size_t)count <= rkc_of(c)->room) return count;
    return shortest(count);
}

size_t rkc_stage_room(const stepper *c, int count)
{
    size_t n = (size_t)c->n * sizeof(double), limit = c->o->tape_limit ? c->o->tape_limit / n : (size_t)count;
    int length = shortest(count);
    size_t least = (size_t)length + 2 * (size_t)segments(count, length);
    return limit < least ? least : limit < (size_t)count ? limit : (size_t)count;
}

static int fill(stepper *c, const record *r, stages *s, int k)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n;
    const double *before = s->pairs + 2 * n * (size_t)k;
    s->first = k * s->length;
    s->last = s->first + s->length - 1 < s->end ? s->first + s->length - 1 : s->end;
    memcpy(s->g, k ? before + n : a->start, n * sizeof *s->g);
    for (int j = s->first + 1; j <= s->last; j++) {
        double *g = s->g + (size_t)(j - s->first) * n;
        const double *F = a->f0, *last = g - n, *last2 = j - 2 >= s->first ? last - n : k ? before : a->start;
        if (j > 1) { TRY(rkc_slope_y(c, rkc_time(r, s->d->c[j - 2]), last, a->F)); F = a->F; }
        rkc_recur(s->d, j, n, r->h, a->start, last, last2, F, a->f0, g);
    }
    return 0;
}

static int first_pass(stepper *c, const record *r, stages *s)
{
    size_t n = (size_t)c->n;
    int count = segments(s->end + 1, s->length);
    for (int k = 0; k < count; k++) {
        TRY(fill(c, r, s, k));
        if (k == count - 1) break;
        /* the first stage of the next one from the last two of this */
        double *pair = s->pairs + 2 * n * (size_t)(k + 1);
        const double *last = s->g + (size_t)(s->length - 1) * n, *before = last - n;
        int j = s->last + 1;
        TRY(rkc_slope_y(c, rkc_time(r, s->d->c[j - 2]), last, rkc_of(c)->F));
        rkc_recur(s->d, j, n, r->h, rkc_of(c)->start, last, before, rkc_of(c)->F, rkc_of(c)->f0, pair + n);
        memcpy(pair, last, n * sizeof *pair);
    }
    return 0;
}

static int stage_at(stepper *c, const record *r, stages *s, int j, const double **g)
{
    if (j < s->first) TRY(fill(c, r, s, j / s->length));
    *g = s->g + (size_t)(j - s->first) * (size_t)c->n;
    return 0;
}

/* ---- a stage back ---- */

/* Adds h f'^T M^-T w of all columns to out (n*m each N apart), its parts by t, h and p to g; w is spoilt. */
static int pull(stepper *c, const record *r, const functionals *g, double at, const double *y, double *w, double *out)
{
    const double *inverse = rkc_of(c)->inverse;
    size_t n = (size_t)c->n, N = (size_t)c->N;
    costate_point x = point(c->maps, rkc_time(r, at), y);
    for (size_t j = 0; inverse && j < (size_t)g->m; j++)
        for (size_t i = 0; i < n; i++) w[j * N + i] *= inverse[i];
    const costate_gradient *to = columns_to(c, &rkc_of(c)->columns, g, out, N);
    TRY(map_adjoints(c->maps, &c->maps->rhs, &x, g->m, w, N, to));
    if (c->nq) TRY(map_adjoints(c->maps, &c->maps->cost, &x, g->m, w + n, N, to));
    columns_times(&rkc_of(c)->columns, g, at);
    return 0;
}

/* h += F^T w for the columns w (N*m) */
static void by_h(const stepper *c, const functionals *g, double scale, const double *F, const double *w)
{
    size_t N = (size_t)c->N;
    for (int j = 0; g->times && j < g->m; j++) g->h[j] += scale * dot(N, F, w + (size_t)j * N);
}

/* ---- the last stages ---- */

static double *row_of(double *x, size_t i, const stepper *c, const functionals *g)
{
    return x + i * (size_t)c->N * (size_t)g->m;
}

/* K: their slopes; a->Y: y+ */
static int last_slopes(stepper *c, const record *r, const degree *s, const double *gm)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, N = (size_t)c->N;
    for (int i = 1; i <= s->r; i++) {
        combine(n, a->Y, gm, r->h, i - 1, i > 1 ? rkc_row(s, i) : NULL, a->K, N);
        TRY(rkc_slope(c, rkc_time(r, s->cr[i - 1]), a->Y, a->K + (size_t)(i - 1) * N));
    }
    combine(n, a->Y, gm, r->h, s->r, s->b, a->K, N);
    return 0;
}

/* gb_m into out from lambda, both N*m */
static int last_stages(stepper *c, const record *r, const functionals *g, const degree *s, const double *gm,
                       const double *lambda, double *out)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, N = (size_t)c->N, all = N * (size_t)g->m;
    double ones[LAST_MOST] = {1, 1, 1, 1}, *v = a->gd[2];
    for (int i = s->r; i >= 1; i--) {
        double column[LAST_MOST], *Yb = row_of(a->Kd, (size_t)(i - 1), c, g);
        for (int k = i + 1; k <= s->r; k++) column[k - i - 1] = rkc_row(s, k)[i - 1];
        add_scaled(all, v, NULL, s->b[i - 1], lambda);
        combine(all, v, v, 1, s->r - i, column, row_of(a->Kd, (size_t)i, c, g), all);
        by_h(c, g, 1, a->K + (size_t)(i - 1) * N, v);
        for (size_t k = 0; k < all; k++) v[k] *= r->h;
        combine(n, a->Y, gm, r->h, i - 1, i > 1 ? rkc_row(s, i) : NULL, a->K, N);
        memset(Yb, 0, all * sizeof *Yb);
        TRY(pull(c, r, g, s->cr[i - 1], a->Y, v, Yb));
    }
    combine(all, out, lambda, 1, s->r, ones, a->Kd, all);
    return 0;
}

/* ---- the step ---- */

/* Seeds of h X: of h f_0 into phi, of y+ - y into yb and lambda, of h f_1 by a product at y+ (a->Y) into lambda. */
static int seeds(stepper *c, const record *r, const functionals *g, double *yb, double *phi, double *lambda)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)g->m;
    double *v = a->gd[2];
    memset(v, 0, N * m * sizeof *v);
    for (size_t j = 0; j < m; j++) {
        const double *X = g->seed + j * n;
        axpy(n, 1, X + X_SLOPE * m * n, phi + j * N);
        axpy(n, -1, X + X_MOVE * m * n, yb + j * N);
        axpy(n, 1, X + X_MOVE * m * n, lambda + j * N);
        axpy(n, 1, X + X_LAST * m * n, v + j * N);
    }
    TRY(rkc_slope(c, r->end, a->Y, a->f1));
    by_h(c, g, 1, a->f1, v);
    for (size_t k = 0; k < N * m; k++) v[k] *= r->h;
    return pull(c, r, g, 1, a->Y, v, lambda);
}

/* out <- nu out + mu g,  v <- a g: all of the columns of a stage in one pass */
static void back(size_t len, double mu, double nu, double a, const double *restrict g, double *restrict out,
                 double *restrict v)
{
    for (size_t k = 0; k < len; k++) {
        out[k] = nu * out[k] + mu * g[k];
        v[k] = a * g[k];
    }
}

/* gb_0 in *A, and the rest of yb, phi from gb_m in *A; both *A and *B are N*m, *B zero.  *B is gb_j+1, whose nu_j+1
   is left to the pass that reads it next; products add to what becomes gb_j-1 in their place. */
static int recurrence(stepper *c, const record *r, const functionals *g, stages *s, double **A, double **B)
{
    rkc_work *a = rkc_of(c);
    size_t all = (size_t)c->N * (size_t)g->m;
    double *yb = a->gd[3], *phi = a->Fd0, *v = a->gd[2], nu = 0;
    for (int j = s->d->m; j >= 1; j--) {
        const double *y;
        double mut = s->d->mut[j - 1], at = j > 1 ? s->d->c[j - 2] : 0;
        double *now = *A, *before = *B;
        if (s->d->eta) { axpy(all, s->d->eta[j - 1], now, yb); axpy(all, s->d->gat[j - 1], now, phi); }
        TRY(stage_at(c, r, s, j - 1, &y));
        if (g->times) {
            if (j > 1) TRY(rkc_slope(c, rkc_time(r, at), y, a->F));
            by_h(c, g, mut, j > 1 ? a->F : a->f0, now);
        }
        back(all, s->d->mu[j - 1], nu, r->h * mut, now, before, v);
        if (j == 1) { by_h(c, g, 1, a->f0, phi); axpy(all, r->h, phi, v); }
        TRY(pull(c, r, g, at, y, v, before));
        nu = s->d->nu[j - 1];
        *A = before;
        *B = now;
    }
    return 0;
}

int rkc_adjoint(stepper *c, const record *r, const functionals *g)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)g->m, all = N * m;
    degree d = rkc_degree(c, rkc_find(c, r->degree));
    int whole = d.r > 0 || g->seed;                    /* the last stage of the recurrence is asked for, too */
    stages s = {.d = &d, .end = whole ? d.m : d.m - 1, .g = a->stages};
    double *A = a->gd[0], *B = a->gd[1], *lambda = a->Yd, *yb = a->gd[3], *phi = a->Fd0;
    const double *gm = NULL;
    s.length = length_for(c, s.end + 1);
    s.pairs = s.g + (size_t)s.length * n;
    rkc_start(c, r);
    TRY(rkc_slope(c, r->t, a->start, a->f0));
    TRY(first_pass(c, r, &s));
    memcpy(lambda, g->lambda, all * sizeof *lambda);
    memset(B, 0, all * sizeof *B);
    memset(yb, 0, all * sizeof *yb);
    memset(phi, 0, all * sizeof *phi);
    if (whole) TRY(stage_at(c, r, &s, d.m, &gm));
    if (whole) TRY(last_slopes(c, r, &d, gm));
    if (g->seed) TRY(seeds(c, r, g, yb, phi, lambda));
    TRY(last_stages(c, r, g, &d, gm, lambda, A));
    TRY(recurrence(c, r, g, &s, &A, &B));
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < n; i++) g->lambda[j * N + i] = yb[j * N + i] + A[j * N + i];
    return 0;
}
