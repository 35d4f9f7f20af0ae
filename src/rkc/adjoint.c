/* adjoint.c (rkc) - m functionals back through a step: the transpose of tangent.c (mathematics, eq. 4.8 to 4.10).

   With gb the adjoint of a stage, v = h M^-T (b lambda + sum A Yb) of a last one, j = m .. 1 of the recurrence:

       v = h mut_j gb_j  (j = 1: + h phi),   (tb, Yb, pb) = f'(j-1)^T M^-T v,   t += tb,  mu += pb
       gb_j-1 += mu_j gb_j + Yb,   gb_j-2 += nu_j gb_j,   yb += eta_j gb_j,   phi += gat_j gb_j
       h += (mut_j f_j-1 + gat_j f_0)^T gb_j + c_j-1 tb,                lambda <- yb + gb_0 */
#include <string.h>
#include "rkc/rkc.h"

/* ---- a stage back ---- */

int rkc_pull(stepper *c, const record *r, const functionals *g, double at, const double *y, double *w, double *out)
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

static size_t all_of(const stepper *c, const way_back *b) { return (size_t)c->N * (size_t)b->g->m; }

/* ---- the last stages ---- */

/* Yb_i */
static double *last_back(const stepper *c, const way_back *b, int i)
{
    return rkc_of(c)->Kd + (size_t)(i - 1) * all_of(c, b);
}

const double *rkc_last_stage(const stepper *c, const record *r, const way_back *b, int i)
{
    const rkc_work *a = rkc_of(c);
    const double *row = i > b->d.r ? b->d.b : i > 1 ? rkc_row(&b->d, i) : NULL;
    combine((size_t)c->n, a->Y, b->end.g, r->h, i - 1, row, a->K, (size_t)c->N);
    return a->Y;
}

/* K: their slopes; a->Y: y+ */
static int last_slopes(stepper *c, const record *r, const way_back *b)
{
    const rkc_work *a = rkc_of(c);
    size_t N = (size_t)c->N;
    for (int i = 1; i <= b->d.r; i++)
        TRY(rkc_slope(c, rkc_time(r, b->d.cr[i - 1]), rkc_last_stage(c, r, b, i), a->K + (size_t)(i - 1) * N));
    rkc_last_stage(c, r, b, b->d.r + 1);
    return 0;
}

double *rkc_last_weights(const stepper *c, const record *r, way_back *b, int i)
{
    const rkc_work *a = rkc_of(c);
    size_t all = all_of(c, b);
    double column[LAST_MOST], *Yb = last_back(c, b, i), *v = b->v, h = r->h;
    for (int k = i + 1; k <= b->d.r; k++) column[k - i - 1] = rkc_row(&b->d, k)[i - 1];
    add_scaled(all, v, NULL, b->d.b[i - 1], b->lambda);
    combine(all, v, v, 1, b->d.r - i, column, Yb + all, all);
    by_h(c, b->g, 1, a->K + (size_t)(i - 1) * (size_t)c->N, v);
    for (size_t k = 0; k < all; k++) v[k] *= h;
    memset(Yb, 0, all * sizeof *Yb);
    return Yb;
}

void rkc_last_sum(const stepper *c, way_back *b)
{
    double ones[LAST_MOST] = {1, 1, 1, 1};
    combine(all_of(c, b), b->now, b->lambda, 1, b->d.r, ones, rkc_of(c)->Kd, all_of(c, b));
}

static int last_stages(stepper *c, const record *r, way_back *b)
{
    for (int i = b->d.r; i >= 1; i--) {
        double *Yb = rkc_last_weights(c, r, b, i);
        TRY(rkc_pull(c, r, b->g, b->d.cr[i - 1], rkc_last_stage(c, r, b, i), b->v, Yb));
    }
    rkc_last_sum(c, b);
    return 0;
}

/* ---- seeds of h X: of h f_0 into phi, of y+ - y into yb and lambda, of h f_1 into v, for a product at y+ ---- */

void rkc_seeds(const stepper *c, way_back *b, int first, int m, const double *seed)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, all = n * (size_t)m;
    for (size_t j = 0; j < (size_t)m; j++) {
        size_t at = ((size_t)first + j) * N;
        const double *X = seed + j * n;
        axpy(n, 1, X + X_SLOPE * all, b->phi + at);
        axpy(n, -1, X + X_MOVE * all, b->yb + at);
        axpy(n, 1, X + X_MOVE * all, b->lambda + at);
        axpy(n, 1, X + X_LAST * all, b->v + at);
    }
}

int rkc_seed_weights(stepper *c, const record *r, way_back *b)
{
    rkc_work *a = rkc_of(c);
    TRY(rkc_slope(c, r->end, a->Y, a->f1));
    by_h(c, b->g, 1, a->f1, b->v);
    for (size_t k = 0; k < all_of(c, b); k++) b->v[k] *= r->h;
    return 0;
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

int rkc_weights(stepper *c, const record *r, way_back *b, int j, stage *y)
{
    rkc_work *a = rkc_of(c);
    const degree *d = &b->d;
    size_t all = all_of(c, b);
    double mut = d->mut[j - 1];
    if (d->eta) { axpy(all, d->eta[j - 1], b->now, b->yb); axpy(all, d->gat[j - 1], b->now, b->phi); }
    TRY(rkc_stage_at(c, r, &b->s, j - 1, y));
    if (b->g->times) {
        if (j > 1) TRY(rkc_slope(c, rkc_time(r, rkc_at(b, j)), y->g, a->F));
        by_h(c, b->g, mut, j > 1 ? a->F : a->f0, b->now);
    }
    pass(all, d->mu[j - 1], b->nu, r->h * mut, b->now, b->before, b->v);
    if (j == 1) { by_h(c, b->g, 1, a->f0, b->phi); axpy(all, r->h, b->phi, b->v); }
    return 0;
}

/* ---- the step ---- */

int rkc_back(stepper *c, const record *r, const functionals *g, const directions *along, int seeded, way_back *b)
{
    const rkc_work *a = rkc_of(c);
    b->g = g;
    b->d = rkc_degree(c, rkc_find(c, r->degree));
    b->nu = 0;
    b->now = a->gd[0];
    b->before = a->gd[1];
    b->v = a->gd[2];
    b->yb = a->gd[3];
    b->phi = a->Fd0;
    b->lambda = a->Yd;
    size_t all = all_of(c, b);
    int whole = b->d.r > 0 || seeded;                  /* the last stage of the recurrence is asked for, too */
    TRY(rkc_stages(c, r, &b->d, whole ? b->d.m : b->d.m - 1, along, &b->s));
    memcpy(b->lambda, g->lambda, all * sizeof *b->lambda);
    memset(b->before, 0, all * sizeof *b->before);
    memset(b->yb, 0, all * sizeof *b->yb);
    memset(b->phi, 0, all * sizeof *b->phi);
    if (!whole) return 0;
    TRY(rkc_stage_at(c, r, &b->s, b->d.m, &b->end));
    return last_slopes(c, r, b);
}

void rkc_arrive(const stepper *c, const way_back *b)
{
    size_t n = (size_t)c->n, N = (size_t)c->N;
    for (size_t j = 0; j < (size_t)b->g->m; j++)
        add_scaled(n, b->g->lambda + j * N, b->yb + j * N, 1, b->now + j * N);
}

int rkc_adjoint(stepper *c, const record *r, const functionals *g)
{
    way_back b;
    TRY(rkc_back(c, r, g, NULL, g->seed != NULL, &b));
    if (g->seed) {
        memset(b.v, 0, all_of(c, &b) * sizeof *b.v);
        rkc_seeds(c, &b, 0, g->m, g->seed);
        TRY(rkc_seed_weights(c, r, &b));
        TRY(rkc_pull(c, r, g, 1, rkc_of(c)->Y, b.v, b.lambda));
    }
    TRY(last_stages(c, r, &b));
    for (int j = b.d.m; j >= 1; j--) {
        stage y;
        TRY(rkc_weights(c, r, &b, j, &y));
        TRY(rkc_pull(c, r, g, rkc_at(&b, j), y.g, b.v, b.before));
        rkc_turn(&b, j);
    }
    rkc_arrive(c, &b);
    return 0;
}
