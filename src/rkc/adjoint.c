/* adjoint.c (rkc) - m functionals back through a step: the transpose of tangent.c (mathematics, eq. 4.8 to 4.10).

   With gb the adjoint of a stage, v = h M^-T (b lambda + sum A Yb) of a last one, j = m .. 1 of the recurrence:

       v = h mut_j gb_j  (j = 1: + h phi),   (tb, Yb, pb) = f'(j-1)^T M^-T v,   t += tb,  mu += pb
       gb_j-1 += mu_j gb_j + Yb,   gb_j-2 += nu_j gb_j,   yb += eta_j gb_j,   phi += gat_j gb_j
       h += (mut_j f_j-1 + gat_j f_0)^T gb_j + c_j-1 tb,                lambda <- yb + gb_0

   All of this is linear in lambda and the seeds, so that derivatives of a functional are further columns, to which
   terms are added that come from the functional (mathematics, section 2.5): the change of each product h F'^T w, F =
   (M^-1 f, r), w its weights, and of F^T w for h, x = (t' + c h', g', p') the stage's directions, whose tangents g' are
   made again with the stages (backwards.c):

       (h F'^T w)' = h F'^T w' + h' F'^T w + [h F'^T w]' along x, w held fixed,    (F^T w)' = F^T w' + (F' x)^T w */
#include <string.h>
#include "rkc/rkc.h"

/* columns on their way back, one after the other */
typedef struct {
    stepper *c;
    const record *r;
    const functionals *g;
    degree d;
    stages s;
    stage end;                  /* of the recurrence, if requested */
    size_t all;                 /* N*m */
    double nu, *now, *before;   /* gb_j; gb_j-1, to which nu gb_j+1 is still to be added */
    double *yb, *phi, *lambda, *v;  /* N*m each; v: h times the weights of a slope */
} rkc_back;

static double at_stage(const rkc_back *b, int j) { return j > 1 ? b->d.c[j - 2] : 0; }     /* c of stage j - 1 */

/* ---- a stage back ---- */

/* (F' x_j)^T w onto h of derivatives, h' w onto their h w.  F: without the integrals, (h F)' = h F' x_j + h'_j F */
static int moving_slope(const rkc_back *b, double at, stage y, const double *F)
{
    stepper *c = b->c;
    const rkc_work *a = rkc_of(c);
    const directions *d = b->g->along;
    double *v = b->v, *h = b->g->h + 1, *rates = a->columns.rates;
    size_t n = (size_t)c->n, N = (size_t)c->N, nq = (size_t)c->nq, m = (size_t)d->m;
    if (b->g->times) {
        TRY(rkc_slopes(c, b->r, d, at, y, F, n, a->second.T));
        for (size_t j = 0; j < m; j++)
            h[j] += (dot(n, a->second.T + j * n, v) - d->dh[j] * dot(n, F, v)) / b->r->h / b->r->h;
    }
    if (b->g->times && nq) {
        costate_point x = point(c->maps, rkc_time(b->r, at), y.g);
        const costate_point *dx = columns_along(c, &a->columns, d, at, y.v, n);
        TRY(map_tangents(c->maps, &c->maps->cost, &x, d->m, dx, rates, nq));
        for (size_t j = 0; j < m; j++) h[j] += dot(nq, rates + j * nq, v + n) / b->r->h;
    }
    for (size_t j = 0; j < m; j++) if (d->dh[j] != 0) axpy(N, d->dh[j] / b->r->h, v, v + (1 + j) * N);
    return 0;
}

/* [h F'^T w]' along x_j, onto out as the gradients of pull are */
static int curve(const rkc_back *b, const costate_point *x, double at, stage y)
{
    stepper *c = b->c;
    const column_work *a = &rkc_of(c)->columns;
    const costate_point *dx = columns_along(c, a, b->g->along, at, y.v, (size_t)c->n);
    TRY(columns_curve(c, &c->maps->rhs, b->g, x, dx, b->v, a->to));
    return c->nq ? columns_curve(c, &c->maps->cost, b->g, x, dx, b->v + c->n, a->to) : 0;
}

/* Adds h F'^T w of all columns to out (n*m each N apart), its parts by t, h and p to g; spoils v = h w; F: the slope */
static int pull(const rkc_back *b, double at, stage y, const double *F, double *out)
{
    stepper *c = b->c;
    const rkc_work *a = rkc_of(c);
    const functionals *g = b->g;
    size_t n = (size_t)c->n, N = (size_t)c->N;
    double *v = b->v;
    if (g->along) TRY(moving_slope(b, at, y, F));
    costate_point x = point(c->maps, rkc_time(b->r, at), y.g);
    for (size_t j = 0; a->inverse && j < (size_t)g->m; j++)
        for (size_t i = 0; i < n; i++) v[j * N + i] *= a->inverse[i];
    const costate_gradient *to = columns_to(c, &a->columns, g, out, N);
    TRY(map_adjoints(c->maps, &c->maps->rhs, &x, g->m, v, N, to));
    if (c->nq) TRY(map_adjoints(c->maps, &c->maps->cost, &x, g->m, v + n, N, to));
    if (g->along) TRY(curve(b, &x, at, y));
    columns_times(&a->columns, g, at);
    return 0;
}

/* h += F^T w for the columns w (N*m) */
static void by_h(const rkc_back *b, double scale, const double *F, const double *w)
{
    const functionals *g = b->g;
    size_t N = (size_t)b->c->N;
    for (int j = 0; g->times && j < g->m; j++) g->h[j] += scale * dot(N, F, w + (size_t)j * N);
}

/* ---- the last stages ---- */

/* Yb_i */
static double *last_back(const rkc_back *b, int i) { return rkc_of(b->c)->Kd + (size_t)(i - 1) * b->all; }

static double *last_slope(const rkc_back *b, int i) { return rkc_of(b->c)->K + (size_t)(i - 1) * (size_t)b->c->N; }

/* Y_i, i > r: of y+, and its tangents, from those of stages before */
static stage last_stage(const rkc_back *b, int i)
{
    const rkc_work *a = rkc_of(b->c);
    const directions *d = b->g->along;
    size_t n = (size_t)b->c->n, all = d ? n * (size_t)d->m : 0;
    const double *row = i > b->d.r ? b->d.b : i > 1 ? rkc_row(&b->d, i) : NULL;
    combine(n, a->Y, b->end.g, b->r->h, i - 1, row, a->K, (size_t)b->c->N);
    if (d) combine(all, a->second.Y1d, b->end.v, 1, i - 1, row, a->second.KT, all);
    return (stage){a->Y, a->second.Y1d};
}

/* K: their slopes; KT: tangents of h K */
static int last_slopes(const rkc_back *b)
{
    stepper *c = b->c;
    const rkc_work *a = rkc_of(c);
    const directions *d = b->g->along;
    size_t n = (size_t)c->n;
    for (int i = 1; i <= b->d.r; i++) {
        stage Y = last_stage(b, i);
        double *K = last_slope(b, i);
        TRY(rkc_slope(c, rkc_time(b->r, b->d.cr[i - 1]), Y.g, K));
        if (d) TRY(rkc_slopes(c, b->r, d, b->d.cr[i - 1], Y, K, n, a->second.KT + (size_t)(i - 1) * n * (size_t)d->m));
    }
    return 0;
}

static int last_stages(const rkc_back *b)
{
    double ones[LAST_MOST] = {1, 1, 1, 1}, column[LAST_MOST], *v = b->v, h = b->r->h;
    size_t all = b->all;
    for (int i = b->d.r; i >= 1; i--) {
        double *Yb = last_back(b, i);
        for (int k = i + 1; k <= b->d.r; k++) column[k - i - 1] = rkc_row(&b->d, k)[i - 1];
        add_scaled(all, v, NULL, b->d.b[i - 1], b->lambda);
        combine(all, v, v, 1, b->d.r - i, column, Yb + all, all);
        by_h(b, 1, last_slope(b, i), v);
        for (size_t k = 0; k < all; k++) v[k] *= h;
        memset(Yb, 0, all * sizeof *Yb);
        TRY(pull(b, b->d.cr[i - 1], last_stage(b, i), last_slope(b, i), Yb));
    }
    combine(all, b->now, b->lambda, 1, b->d.r, ones, rkc_of(b->c)->Kd, all);
    return 0;
}

/* ---- seeds of h X: of h f_0 into phi, of y+ - y into yb and lambda, of h f_1 into v, for a product at y+ ---- */

static int seeds(const rkc_back *b)
{
    stepper *c = b->c;
    double *v = b->v, *f1 = rkc_of(c)->f1;
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)b->g->m, all = n * m;
    memset(v, 0, b->all * sizeof *v);
    for (size_t j = 0; j < m; j++) {
        size_t at = j * N;
        const double *X = b->g->seed + j * n;
        axpy(n, 1, X + X_SLOPE * all, b->phi + at);
        axpy(n, -1, X + X_MOVE * all, b->yb + at);
        axpy(n, 1, X + X_MOVE * all, b->lambda + at);
        axpy(n, 1, X + X_LAST * all, v + at);
    }
    stage y1 = last_stage(b, b->d.r + 1);
    TRY(rkc_slope(c, b->r->end, y1.g, f1));
    by_h(b, 1, f1, v);
    for (size_t k = 0; k < b->all; k++) v[k] *= b->r->h;
    return pull(b, 1, y1, f1, b->lambda);
}

/* ---- the recurrence ---- */

/* out <- nu out + mu g,  v <- a g: all of the columns of a stage in one pass */
static void pass(size_t len, double mu, double nu, double a, const double *restrict g, double *restrict out,
                 double *restrict v)
{
    for (size_t k = 0; k < len; k++) {
        out[k] = nu * out[k] + mu * g[k];
        v[k] = a * g[k];
    }
}

/* from gb_j through the slope of stage j - 1 */
static int stage_back(rkc_back *b, int j)
{
    stepper *c = b->c;
    rkc_work *a = rkc_of(c);
    const degree *d = &b->d;
    double mut = d->mut[j - 1], at = at_stage(b, j), *F = j > 1 ? a->F : a->f0;
    stage y;
    if (d->eta) { axpy(b->all, d->eta[j - 1], b->now, b->yb); axpy(b->all, d->gat[j - 1], b->now, b->phi); }
    TRY(rkc_stage_at(c, b->r, &b->s, j - 1, &y));
    if (b->g->times) {
        if (j > 1) TRY(rkc_slope(c, rkc_time(b->r, at), y.g, F));
        by_h(b, mut, F, b->now);
    }
    pass(b->all, d->mu[j - 1], b->nu, b->r->h * mut, b->now, b->before, b->v);
    if (j == 1) { by_h(b, 1, F, b->phi); axpy(b->all, b->r->h, b->phi, b->v); }
    return pull(b, at, y, F, b->before);
}

/* On to j - 1: what was gb_j becomes gb_j-2, times a nu that is left to the pass that reads it next; products add to
   what becomes gb_j-1 in its place. */
static void turn(rkc_back *b, int j)
{
    double *now = b->now;
    b->now = b->before;
    b->before = now;
    b->nu = b->d.nu[j - 1];
}

/* ---- the step ---- */

static int rkc_adjoint_begin(rkc_back *b)
{
    stepper *c = b->c;
    const rkc_work *a = rkc_of(c);
    b->all = (size_t)c->N * (size_t)b->g->m;
    b->nu = 0;
    b->now = a->gd[0];
    b->before = a->gd[1];
    b->v = a->gd[2];
    b->yb = a->gd[3];
    b->phi = a->Fd0;
    b->lambda = a->Yd;
    int whole = b->d.r > 0 || b->g->seed;               /* the last stage of the recurrence is requested, too */
    TRY(rkc_stages(c, b->r, &b->d, whole ? b->d.m : b->d.m - 1, b->g->along, &b->s));
    memcpy(b->lambda, b->g->lambda, b->all * sizeof *b->lambda);
    memset(b->before, 0, b->all * sizeof *b->before);
    memset(b->yb, 0, b->all * sizeof *b->yb);
    memset(b->phi, 0, b->all * sizeof *b->phi);
    if (!whole) return 0;
    TRY(rkc_stage_at(c, b->r, &b->s, b->d.m, &b->end));
    return last_slopes(b);
}

int rkc_adjoint(stepper *c, const record *r, const functionals *g)
{
    size_t n = (size_t)c->n, N = (size_t)c->N;
    rkc_back b = {.c = c, .r = r, .g = g, .d = rkc_degree(c, rkc_find(c, r->degree))};
    TRY(rkc_adjoint_begin(&b));
    if (g->seed) TRY(seeds(&b));
    TRY(last_stages(&b));
    for (int j = b.d.m; j >= 1; j--) {
        TRY(stage_back(&b, j));
        turn(&b, j);
    }
    for (size_t j = 0; j < (size_t)g->m; j++) add_scaled(n, g->lambda + j * N, b.yb + j * N, 1, b.now + j * N);
    return 0;
}
