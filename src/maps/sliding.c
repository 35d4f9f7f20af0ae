/* sliding.c - the right-hand side of a solution that slides along the zero of a relation's guard g (A. F. Filippov,
   Differential Equations with Discontinuous Righthand Sides, Kluwer 1988, chapter 2; mathematics, section 10.13).

   With f0, f1 of the values below and above zero, and N_i = g_t + g_y f_i, F = (1 - a) f0 + a f1 stays on the surface
   for

       a = N0 / D,   D = N0 - N1,   0 < a < 1.

   Any map h of the point, f itself or running costs, becomes H = (1 - a) h0 + a h1.  With c = (1 - a, a), dh = h1 - h0,
   and a prime for the derivative along d

       D grad a = B = sum_i c_i f_i'^T g_y + g''[(1, F), .]
       H'       = sum_i c_i h_i' + dh a',   a' = B d / D
       grad w H = sum_i c_i h_i'^T w + (w dh) grad a
       grad w E = w (1 - 2 a) grad a,       E = a (1 - a), which is zero where the solution leaves the surface

   and of second order, with N_i' = g''[(1, f_i), d] + g_y f_i', D' = N0' - N1'

       (grad a)'  = (B' - D'/D B) / D
       B'         = sum_i (c_i f_i''[d, .]^T g_y + c_i' f_i'^T g_y + c_i f_i'^T g_y') + g''[(0, F'), .]
                    + g'''[(1, F), d, .]

   Each callback asks the user's maps at the point with both values. */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/sliding.h"

struct sliding {
    int n, np, nm, count;       /* count: relations */
    void *ctx;                  /* of the problem */
    costate_map rhs, cost;      /* the user's */
    const costate_relation *relations;
    sliding_map of[2];          /* the callbacks' ctx: of rhs, cost */
    sliding_map *exits;         /* count: of guards */
    int *values[2];             /* count: of relations, below and above zero */
    double *f[2], *f1[2], *h[2], *h1[2], *F, *F1, *gy, *gy1, *mix;      /* n, or larger of n and nq */
    double *y, *p, *m, *block;  /* a gradient */
};

int relation_slides(int count, const int *values)
{
    for (int k = 0; values && k < count; k++) if (values[k] == COSTATE_SLIDES) return k;
    return -1;
}

/* ---- the user's maps with either value ---- */

typedef struct {                /* the point on the surface of a relation */
    sliding *s;
    const costate_relation *r;
    void *ctx;                  /* of its guard */
    costate_point x[2];
    double N[2], D, c[2];
} surface;

static costate_point flow(const double *f) { return (costate_point){.t = 1, .y = f}; }
static costate_point only_y(const double *y) { return (costate_point){.y = y}; }

static int guard_along(const surface *a, const costate_point *d, double *out)
{
    TRY(call_prepare(&a->r->guard, &a->x[1], a->ctx));
    return call_tangent(&a->r->guard, &a->x[1], d, out, a->ctx);
}

static int guard_along2(const surface *a, const costate_point *d, const costate_point *e, double *out)
{
    TRY(call_prepare(&a->r->guard, &a->x[1], a->ctx));
    return a->r->guard.tangent2(&a->x[1], d, e, out, a->ctx);
}

static int guard_back(const surface *a, double w, const costate_gradient *g)
{
    TRY(call_prepare(&a->r->guard, &a->x[1], a->ctx));
    return call_adjoint(&a->r->guard, &a->x[1], &w, g, a->ctx);
}

/* g += w g''[d, .] */
static int guard_back_along(const surface *a, const costate_point *d, double w, const costate_gradient *g)
{
    TRY(call_prepare(&a->r->guard, &a->x[1], a->ctx));
    return a->r->guard.adjoint_tangent(&a->x[1], d, &w, g, a->ctx);
}

static int guard_back_along2(const surface *a, const costate_point *d, const costate_point *e, double w,
                             const costate_gradient *g)
{
    TRY(call_prepare(&a->r->guard, &a->x[1], a->ctx));
    return a->r->guard.adjoint_tangent2(&a->x[1], d, e, &w, g, a->ctx);
}

/* h of the user at side i */
static int along(const surface *a, const costate_map *h, int i, const costate_point *d, double *out)
{
    TRY(call_prepare(h, &a->x[i], a->s->ctx));
    return call_tangent(h, &a->x[i], d, out, a->s->ctx);
}

static int back(const surface *a, const costate_map *h, int i, const double *w, const costate_gradient *g)
{
    TRY(call_prepare(h, &a->x[i], a->s->ctx));
    return call_adjoint(h, &a->x[i], w, g, a->s->ctx);
}

static int back_along(const surface *a, const costate_map *h, int i, const costate_point *d, const double *w,
                      const costate_gradient *g)
{
    TRY(call_prepare(h, &a->x[i], a->s->ctx));
    return h->adjoint_tangent(&a->x[i], d, w, g, a->s->ctx);
}

/* sum_i c_i v_i */
static void mixed(const surface *a, size_t n, double *const *v, double *out)
{
    for (size_t i = 0; i < n; i++) out[i] = a->c[0] * v[0][i] + a->c[1] * v[1][i];
}

/* ---- the point ---- */

static int surface_at(sliding *s, const costate_point *x, int k, surface *a)
{
    double u;
    *a = (surface){.s = s, .r = &s->relations[k]};
    a->ctx = a->r->ctx ? a->r->ctx : s->ctx;
    for (int i = 0; i < 2; i++) memcpy(s->values[i], x->relation, (size_t)s->count * sizeof *x->relation);
    s->values[1][k] = 1;
    a->x[0] = a->x[1] = *x;
    for (int i = 0; i < 2; i++) a->x[i].relation = s->values[i];
    TRY(a->r->guard.value(&a->x[1], &u, a->ctx));
    for (int i = 0; i < 2; i++) s->values[i][k] = relation_beside(a->r, u, i == 0 ? -1 : 1);
    for (int i = 0; i < 2; i++) {
        costate_point d = flow(s->f[i]);
        TRY(s->rhs.value(&a->x[i], s->f[i], s->ctx));
        TRY(guard_along(a, &d, &a->N[i]));
    }
    a->D = a->N[0] - a->N[1];
    if (a->D == 0) return 1;
    a->c[1] = a->N[0] / a->D;
    a->c[0] = 1 - a->c[1];
    mixed(a, (size_t)s->n, s->f, s->F);
    return 0;
}

/* h0, h1 into s->h: f itself is known */
static int values_of(const surface *a, const costate_map *h)
{
    sliding *s = a->s;
    if (h == &s->rhs) {
        for (int i = 0; i < 2; i++) memcpy(s->h[i], s->f[i], (size_t)s->n * sizeof(double));
        return 0;
    }
    for (int i = 0; i < 2; i++) TRY(h->value(&a->x[i], s->h[i], s->ctx));
    return 0;
}

/* f_i' d into s->f1, and a' */
static int part_along(const surface *a, const costate_point *d, double *part)
{
    sliding *s = a->s;
    double by_state, by_guard;
    costate_point F = flow(s->F), phi = only_y(s->mix);
    for (int i = 0; i < 2; i++) TRY(along(a, &s->rhs, i, d, s->f1[i]));
    mixed(a, (size_t)s->n, s->f1, s->mix);
    TRY(guard_along(a, &phi, &by_state));
    TRY(guard_along2(a, &F, d, &by_guard));
    *part = (by_state + by_guard) / a->D;
    return 0;
}

/* h0' d, h1' d into s->h1; with f_i' d at hand */
static int moved_values(const surface *a, const sliding_map *of, const costate_point *d)
{
    sliding *s = a->s;
    for (int i = 0; i < 2; i++) {
        if (of->map == &s->rhs) memcpy(s->h1[i], s->f1[i], (size_t)s->n * sizeof(double));
        else TRY(along(a, of->map, i, d, s->h1[i]));
    }
    return 0;
}

static int gradient_of_guard(const surface *a)
{
    sliding *s = a->s;
    costate_gradient to = {.y = s->gy};
    memset(s->gy, 0, (size_t)s->n * sizeof *s->gy);
    return guard_back(a, 1, &to);
}

/* g += B w / D; with g_y at hand */
static int part_back(const surface *a, double w, const costate_gradient *g)
{
    sliding *s = a->s;
    costate_point F = flow(s->F);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < s->n; j++) s->mix[j] = w * a->c[i] / a->D * s->gy[j];
        TRY(back(a, &s->rhs, i, s->mix, g));
    }
    return guard_back_along(a, &F, w / a->D, g);
}

/* The derivative of a along d, with F' and g_y' */
typedef struct { double a, D; const costate_point *d; } motion;

static int motion_along(const surface *a, const costate_point *d, motion *m)
{
    sliding *s = a->s;
    double N[2], by_state;
    *m = (motion){.d = d};
    TRY(part_along(a, d, &m->a));
    for (int i = 0; i < 2; i++) {
        costate_point f = flow(s->f[i]), moved = only_y(s->f1[i]);
        TRY(guard_along2(a, &f, d, &N[i]));
        TRY(guard_along(a, &moved, &by_state));
        N[i] += by_state;
    }
    m->D = N[0] - N[1];
    for (int j = 0; j < s->n; j++) s->F1[j] = s->mix[j] + m->a * (s->f[1][j] - s->f[0][j]);
    memset(s->gy1, 0, (size_t)s->n * sizeof *s->gy1);
    costate_gradient to = {.y = s->gy1};
    return guard_back_along(a, d, 1, &to);
}

/* g += w (grad a)' */
static int part_back_along(const surface *a, const motion *m, double w, const costate_gradient *g)
{
    sliding *s = a->s;
    double c1[2] = {-m->a, m->a}, by = w / a->D;
    costate_point F = flow(s->F), F1 = only_y(s->F1);
    TRY(part_back(a, -by * m->D, g));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < s->n; j++) s->mix[j] = by * a->c[i] * s->gy[j];
        TRY(back_along(a, &s->rhs, i, m->d, s->mix, g));
        for (int j = 0; j < s->n; j++) s->mix[j] = by * (c1[i] * s->gy[j] + a->c[i] * s->gy1[j]);
        TRY(back(a, &s->rhs, i, s->mix, g));
    }
    TRY(guard_back_along(a, &F1, by, g));
    return guard_back_along2(a, &F, m->d, by, g);
}

/* what a gradient says along e */
static double along_gradient(const sliding *s, double t, const costate_point *e)
{
    return t * e->t + (e->y ? dot((size_t)s->n, s->y, e->y) : 0) + (e->p ? dot((size_t)s->np, s->p, e->p) : 0) +
           (e->m ? dot((size_t)s->nm, s->m, e->m) : 0);
}

/* a''[d, e] */
static int part_along2(const surface *a, const motion *m, const costate_point *e, double *out)
{
    sliding *s = a->s;
    double t = 0;
    costate_gradient to = {.t = &t, .y = s->y, .p = s->np > 0 ? s->p : NULL, .m = s->nm > 0 ? s->m : NULL};
    memset(s->y, 0, (size_t)(s->n + s->np + s->nm) * sizeof *s->y);
    TRY(part_back_along(a, m, 1, &to));
    *out = along_gradient(s, t, e);
    return 0;
}

/* ---- H ---- */

static int sliding_value(const costate_point *x, double *out, void *ctx)
{
    const sliding_map *of = ctx;
    int k = relation_slides(of->s->count, x->relation);
    surface a;
    if (k < 0) return of->map->value(x, out, of->s->ctx);
    TRY(surface_at(of->s, x, k, &a));
    TRY(values_of(&a, of->map));
    mixed(&a, (size_t)of->rows, of->s->h, out);
    return 0;
}

static int sliding_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const sliding_map *of = ctx;
    sliding *s = of->s;
    int k = relation_slides(s->count, x->relation);
    surface a;
    double part;
    if (k < 0) return call_tangent(of->map, x, d, out, s->ctx);
    TRY(surface_at(s, x, k, &a));
    TRY(values_of(&a, of->map));
    TRY(part_along(&a, d, &part));
    TRY(moved_values(&a, of, d));
    mixed(&a, (size_t)of->rows, s->h1, out);
    for (int i = 0; i < of->rows; i++) out[i] += part * (s->h[1][i] - s->h[0][i]);
    return 0;
}

/* w (h1 - h0) */
static double across(const sliding_map *of, double *const *h, const double *w)
{
    return dot((size_t)of->rows, w, h[1]) - dot((size_t)of->rows, w, h[0]);
}

/* g += sum_i c_i h_i'^T w */
static int mixed_back(const surface *a, const sliding_map *of, const double *c, const double *w,
                      const costate_gradient *g)
{
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < of->rows; j++) a->s->h1[i][j] = c[i] * w[j];
        TRY(back(a, of->map, i, a->s->h1[i], g));
    }
    return 0;
}

static int sliding_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const sliding_map *of = ctx;
    int k = relation_slides(of->s->count, x->relation);
    surface a;
    if (k < 0) return call_adjoint(of->map, x, w, g, of->s->ctx);
    TRY(surface_at(of->s, x, k, &a));
    TRY(values_of(&a, of->map));
    TRY(gradient_of_guard(&a));
    TRY(mixed_back(&a, of, a.c, w, g));
    return part_back(&a, across(of, of->s->h, w), g);
}

static int sliding_tangent2(const costate_point *x, const costate_point *d, const costate_point *e, double *out,
                            void *ctx)
{
    const sliding_map *of = ctx;
    sliding *s = of->s;
    int k = relation_slides(s->count, x->relation);
    surface a;
    motion m;
    double of_e, curve;
    if (k < 0) return of->map->tangent2(x, d, e, out, s->ctx);
    TRY(surface_at(s, x, k, &a));
    TRY(values_of(&a, of->map));
    TRY(gradient_of_guard(&a));
    TRY(part_along(&a, e, &of_e));
    TRY(motion_along(&a, d, &m));
    TRY(part_along2(&a, &m, e, &curve));
    memset(out, 0, (size_t)of->rows * sizeof *out);
    for (int i = 0; i < 2; i++) {
        double sign = i == 0 ? -1 : 1;
        TRY(call_prepare(of->map, &a.x[i], s->ctx));
        TRY(of->map->tangent2(&a.x[i], d, e, s->h1[0], s->ctx));
        axpy((size_t)of->rows, a.c[i], s->h1[0], out);
        TRY(along(&a, of->map, i, d, s->h1[0]));
        axpy((size_t)of->rows, sign * of_e, s->h1[0], out);
        TRY(along(&a, of->map, i, e, s->h1[0]));
        axpy((size_t)of->rows, sign * m.a, s->h1[0], out);
        axpy((size_t)of->rows, sign * curve, s->h[i], out);
    }
    return 0;
}

static int sliding_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                                   const costate_gradient *g, void *ctx)
{
    const sliding_map *of = ctx;
    sliding *s = of->s;
    int k = relation_slides(s->count, x->relation);
    surface a;
    motion m;
    if (k < 0) return of->map->adjoint_tangent(x, d, w, g, s->ctx);
    TRY(surface_at(s, x, k, &a));
    TRY(values_of(&a, of->map));
    TRY(gradient_of_guard(&a));
    TRY(motion_along(&a, d, &m));
    TRY(moved_values(&a, of, d));
    TRY(part_back(&a, across(of, s->h1, w), g));
    TRY(part_back_along(&a, &m, across(of, s->h, w), g));
    TRY(mixed_back(&a, of, (double[]){-m.a, m.a}, w, g));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < of->rows; j++) s->h1[i][j] = a.c[i] * w[j];
        TRY(back_along(&a, of->map, i, d, s->h1[i], g));
    }
    return 0;
}

/* Where nothing slides, the point is prepared; otherwise each product prepares the points where it asks. */
static int sliding_prepare(const costate_point *x, void *ctx)
{
    const sliding_map *of = ctx;
    return relation_slides(of->s->count, x->relation) < 0 ? call_prepare(of->map, x, of->s->ctx) : 0;
}

/* ---- E ---- */

int exit_value(sliding_map *of, const costate_point *x, double *out)
{
    surface a;
    TRY(surface_at(of->s, x, of->rows, &a));
    *out = a.c[0] * a.c[1];
    return 0;
}

int exit_tangent(sliding_map *of, const costate_point *x, const costate_point *d, double *out)
{
    surface a;
    double part;
    TRY(surface_at(of->s, x, of->rows, &a));
    TRY(part_along(&a, d, &part));
    *out = (a.c[0] - a.c[1]) * part;
    return 0;
}

int exit_adjoint(sliding_map *of, const costate_point *x, double w, const costate_gradient *g)
{
    surface a;
    TRY(surface_at(of->s, x, of->rows, &a));
    TRY(gradient_of_guard(&a));
    return part_back(&a, w * (a.c[0] - a.c[1]), g);
}

int exit_tangent2(sliding_map *of, const costate_point *x, const costate_point *d, const costate_point *e, double *out)
{
    surface a;
    motion m;
    double of_e, curve;
    TRY(surface_at(of->s, x, of->rows, &a));
    TRY(gradient_of_guard(&a));
    TRY(part_along(&a, e, &of_e));
    TRY(motion_along(&a, d, &m));
    TRY(part_along2(&a, &m, e, &curve));
    *out = (a.c[0] - a.c[1]) * curve - 2 * m.a * of_e;
    return 0;
}

int exit_adjoint_tangent(sliding_map *of, const costate_point *x, const costate_point *d, double w,
                         const costate_gradient *g)
{
    surface a;
    motion m;
    TRY(surface_at(of->s, x, of->rows, &a));
    TRY(gradient_of_guard(&a));
    TRY(motion_along(&a, d, &m));
    TRY(part_back(&a, -2 * m.a * w, g));
    return part_back_along(&a, &m, w * (a.c[0] - a.c[1]), g);
}

int sliding_slopes(sliding *s, const costate_point *x, int k, double *below, double *above)
{
    surface a;
    int code = surface_at(s, x, k, &a);
    *below = a.N[0];
    *above = a.N[1];
    return code > 0 && a.D == 0 ? 0 : code;
}

/* ---- setting up ---- */

sliding_map *sliding_exit(sliding *s, int k) { return &s->exits[k]; }

costate_map sliding_of(sliding *s, int of_cost)
{
    const costate_map *f = of_cost ? &s->cost : &s->rhs, *rhs = &s->rhs;
    int tangent = has_tangent(f) && has_tangent(rhs), adjoint = has_adjoint(f) && has_adjoint(rhs), second = 1;
    for (int k = 0; k < s->count; k++) {
        const costate_map *g = &s->relations[k].guard;
        tangent = tangent && g->tangent2;
        adjoint = adjoint && has_adjoint(g) && g->adjoint_tangent;
        second = second && tangent && adjoint && g->adjoint_tangent2 != NULL;
    }
    second = second && f->adjoint_tangent && rhs->adjoint_tangent;
    return (costate_map){.value = sliding_value, .tangent = tangent ? sliding_tangent : NULL,
                         .adjoint = adjoint ? sliding_adjoint : NULL,
                         .tangent2 = second && f->tangent2 ? sliding_tangent2 : NULL,
                         .adjoint_tangent = second ? sliding_adjoint_tangent : NULL,
                         .prepare = f->prepare ? sliding_prepare : NULL};
}

const costate_map *sliding_rhs(const sliding *s) { return &s->rhs; }

void *sliding_ctx(sliding *s, int of_cost) { return &s->of[of_cost]; }

sliding *sliding_new(const maps *a)
{
    size_t n = (size_t)a->n, np = (size_t)a->np, nm = (size_t)a->nm, count = (size_t)a->nrelations;
    size_t rows = (size_t)(a->nq > a->n ? a->nq : a->n);
    sliding *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (sliding){.n = a->n, .np = a->np, .nm = a->nm, .count = a->nrelations, .ctx = a->user.ctx, .rhs = a->user.rhs,
                   .cost = a->user.cost, .relations = a->user.relations};
    s->exits = calloc(count, sizeof *s->exits);
    s->values[0] = calloc(2 * count, sizeof(int));
    s->block = calloc(10 * n + 4 * rows + np + nm + 1, sizeof *s->block);
    if (!s->exits || !s->values[0] || !s->block) return sliding_free(s), NULL;
    s->values[1] = s->values[0] + count;
    s->of[0] = (sliding_map){s, &s->rhs, a->n};
    s->of[1] = (sliding_map){s, &s->cost, a->nq};
    for (int k = 0; k < a->nrelations; k++) s->exits[k] = (sliding_map){s, NULL, k};
    double **arrays[] = {&s->f[0], &s->f[1], &s->f1[0], &s->f1[1], &s->F, &s->F1, &s->gy, &s->gy1, &s->mix};
    double *at = s->block;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++, at += n) *arrays[i] = at;
    s->y = at;
    s->p = s->y + n;
    s->m = s->p + np;
    at = s->m + nm;
    for (int i = 0; i < 2; i++) { s->h[i] = at + (size_t)(2 * i) * rows; s->h1[i] = s->h[i] + rows; }
    return s;
}

void sliding_free(sliding *s)
{
    if (!s) return;
    free(s->exits);
    free(s->values[0]);
    free(s->block);
    free(s);
}
