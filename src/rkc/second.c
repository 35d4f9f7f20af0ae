/* second.c (rkc) - a functional and its derivatives along m directions back through one step: adjoint.c differentiated
   (mathematics, eq. 4.11).

   The functional is column 0 and its derivatives are the columns behind it, on their way back together as 1 + m
   functionals.  What is linear in the weights differentiates so by itself; what is left is the change of each product
   h F'^T w, F = (M^-1 f, r), w its weights, and of F^T w for h, x = (t' + c h', g', p') the stage's directions:

       (h F'^T w)' = h F'^T w' + h' F'^T w + [h F'^T w]' along x, w held fixed,    (F^T w)' = F^T w' + (F' x)^T w

   The tangents g' of the stages are made again with them (backwards.c). */
#include <string.h>
#include "rkc/rkc.h"

typedef struct { stepper *c; const record *r; const directions *d; const functionals *gd; way_back b; } step_back;

/* (F' x_j)^T w onto h; b.v: h w.  F: without the integrals, (h F)' = h F' x_j + h'_j F */
static int moving_slope(const step_back *x, double at, stage y, const double *F)
{
    stepper *c = x->c;
    const rkc_work *a = rkc_of(c);
    const directions *d = x->d;
    const double *v = x->b.v;
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    double h = x->r->h;
    if (!x->gd->times) return 0;
    TRY(rkc_slopes(c, x->r, d, at, y, F, n, a->T));
    for (size_t j = 0; j < (size_t)d->m; j++)
        x->gd->h[j] += (dot(n, a->T + j * n, v) - d->dh[j] * dot(n, F, v)) / h / h;
    if (!c->nq) return 0;
    costate_point z = point(c->maps, rkc_time(x->r, at), y.g);
    const costate_point *dx = columns_along(c, &a->columns, d, at, y.v, n);
    TRY(map_tangents(c->maps, &c->maps->cost, &z, d->m, dx, a->columns.rates, nq));
    for (size_t j = 0; j < (size_t)d->m; j++) x->gd->h[j] += dot(nq, a->columns.rates + j * nq, v + n) / h;
    return 0;
}

/* [h F'^T w]' along x_j; b.v: h M^-T w */
static int curve(const step_back *x, double at, stage y, double *out)
{
    stepper *c = x->c;
    const rkc_work *a = rkc_of(c);
    const double *v = x->b.v;
    costate_point z = point(c->maps, rkc_time(x->r, at), y.g);
    const costate_point *dx = columns_along(c, &a->columns, x->d, at, y.v, (size_t)c->n);
    const costate_gradient *to = columns_to(c, &a->columns, x->gd, out, (size_t)c->N);
    for (int j = 0; j < x->d->m; j++) {
        TRY(map_adjoint_tangent(c->maps, &c->maps->rhs, &z, &dx[j], v, &to[j]));
        if (c->nq) TRY(map_adjoint_tangent(c->maps, &c->maps->cost, &z, &dx[j], v + c->n, &to[j]));
    }
    columns_times(&a->columns, x->gd, at);
    return 0;
}

/* the product of a stage with slope F, from b.v = h w onto out */
static int pull(const step_back *x, double at, stage y, const double *F, double *out)
{
    const way_back *b = &x->b;
    size_t N = (size_t)x->c->N;
    TRY(moving_slope(x, at, y, F));
    for (size_t j = 0; j < (size_t)x->d->m; j++)
        if (x->d->dh[j] != 0) axpy(N, x->d->dh[j] / x->r->h, b->v, b->v + (j + 1) * N);
    TRY(rkc_pull(x->c, x->r, b->g, at, y.g, b->v, out));
    return curve(x, at, y, out + N);
}

/* Y_i and its tangents, i > r: of y+; from those of stages before */
static stage last_stage(const step_back *x, int i)
{
    const rkc_work *a = rkc_of(x->c);
    const degree *s = &x->b.d;
    size_t all = (size_t)x->c->n * (size_t)x->d->m;
    const double *row = i > s->r ? s->b : i > 1 ? rkc_row(s, i) : NULL;
    combine(all, a->Y1d, x->b.end.v, 1, i - 1, row, a->KT, all);
    return (stage){rkc_last_stage(x->c, x->r, &x->b, i), a->Y1d};
}

static const double *last_slope(const step_back *x, int i)
{
    return rkc_of(x->c)->K + (size_t)(i - 1) * (size_t)x->c->N;
}

/* KT: tangents of h K_i */
static int last_tangents(const step_back *x)
{
    size_t n = (size_t)x->c->n, all = n * (size_t)x->d->m;
    for (int i = 1; i <= x->b.d.r; i++) {
        double *out = rkc_of(x->c)->KT + (size_t)(i - 1) * all;
        TRY(rkc_slopes(x->c, x->r, x->d, x->b.d.cr[i - 1], last_stage(x, i), last_slope(x, i), n, out));
    }
    return 0;
}

static int seeds(step_back *x, const functionals *g)
{
    way_back *b = &x->b;
    memset(b->v, 0, (size_t)x->c->N * (size_t)b->g->m * sizeof *b->v);
    rkc_seeds(x->c, b, 0, 1, g->seed);
    rkc_seeds(x->c, b, 1, x->d->m, x->gd->seed);
    stage y1 = last_stage(x, b->d.r + 1);
    TRY(rkc_seed_weights(x->c, x->r, b));
    return pull(x, 1, y1, rkc_of(x->c)->f1, b->lambda);
}

static int last_stages(step_back *x)
{
    way_back *b = &x->b;
    for (int i = b->d.r; i >= 1; i--) {
        double *Yb = rkc_last_weights(x->c, x->r, b, i);
        TRY(pull(x, b->d.cr[i - 1], last_stage(x, i), last_slope(x, i), Yb));
    }
    rkc_last_sum(x->c, b);
    return 0;
}

int rkc_second(stepper *c, const record *r, const directions *d, const functionals *g, const functionals *gd)
{
    const rkc_work *a = rkc_of(c);
    functionals all = *g;
    step_back x = {.c = c, .r = r, .d = d, .gd = gd};
    all.m = 1 + d->m;                                  /* gd lies behind g */
    TRY(rkc_back(c, r, &all, d, g->seed != NULL, &x.b));
    TRY(last_tangents(&x));
    if (g->seed) TRY(seeds(&x, g));
    TRY(last_stages(&x));
    for (int j = x.b.d.m; j >= 1; j--) {
        stage y;
        TRY(rkc_weights(c, r, &x.b, j, &y));
        TRY(pull(&x, rkc_at(&x.b, j), y, j > 1 ? a->F : a->f0, x.b.before));
        rkc_turn(&x.b, j);
    }
    rkc_arrive(c, &x.b);
    return 0;
}
