/* project.c - projection onto invariants as a map after each step, with its products (mathematics, section 10.8).

       z = y + W G^T mu,   g(t, z, p) = c,   A = g_y(z) W G^T,   G = g_y(y)

       tangent   v = y' + W [G^T mu]',   A mu' = c' - g'(z)(t', v, p'),   z' = v + W G^T mu'
       adjoint   A^T s = G W lambda,   c += s,   (t, p) -= (g_t, g_p)(z)^T s,   v = lambda - g_y(z)^T s,
                 y += v,   (t, y, p) += [mu . g''(y) (W v)]

   The derivative of the adjoint differentiates each of these along (t', y', p', c'). */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "pieces/project.h"

/* ---- calls of g ---- */

static int curve(const costate_projection *q, const costate_point *at, const costate_point *dx, const double *w,
                 const costate_gradient *g)
{
    if (q->g.linear) return 0;
    TRY(call_prepare(&q->g.g, at, q->ctx));
    return q->g.g.adjoint_tangent(at, dx, w, g, q->ctx);
}

static const double *kept_of(const costate_projection *q, const double *m) { return m ? m + q->g.memory : NULL; }

static costate_gradient without_memory(const costate_gradient *g)
{
    return (costate_gradient){.t = g->t, .y = g->y, .p = g->p};
}

/* ---- first order ---- */

/* dmu and dz along dx; overwrites v */
static int tangent_of(const costate_projection *q, work *w, const costate_point *dx, double *dmu, double *dz)
{
    costate_point d = *dx, dv = {.t = dx->t, .p = dx->p, .y = w->v};
    const double *dc = q->g.keep ? kept_of(q, dx->m) : NULL;
    size_t n = (size_t)q->n;
    d.m = NULL;
    memset(w->v, 0, n * sizeof *w->v);
    TRY(curve(q, &w->at, &d, w->mu, &(costate_gradient){.y = w->v}));
    project_move(q, w->v, w->v);
    if (dx->y) axpy(n, 1, dx->y, w->v);
    TRY(project_push(q, &w->at_z, &dv, dmu));
    for (int l = 0; l < q->g.count; l++) dmu[l] = (dc ? dc[l] : 0) - dmu[l];
    project_solve(q, w, 0, dmu);
    TRY(project_along(q, w, dmu, dz));
    axpy(n, 1, w->v, dz);
    return 0;
}

/* (t, y, p) -= (g_t, g_y, g_p)(z)^T s */
static int minus_at_z(const costate_projection *q, const work *w, const double *s, double *t, double *y, double *p)
{
    double minus[K];
    for (int l = 0; l < q->g.count; l++) minus[l] = -s[l];
    return project_pull(q, &w->at_z, minus, &(costate_gradient){.t = t, .y = y, .p = p});
}

/* s = A^-T G W lambda, v = lambda - g_y(z)^T s;  (t, p) -= (g_t, g_p)(z)^T s, NULL: not wanted */
static int multipliers(const costate_projection *q, work *w, const double *lambda, double *s, double *t, double *p)
{
    project_move(q, lambda, w->u);
    TRY(project_push(q, &w->at, &(costate_point){.y = w->u}, s));
    project_solve(q, w, 1, s);
    memcpy(w->v, lambda, (size_t)q->n * sizeof *w->v);
    return minus_at_z(q, w, s, t, w->v, p);
}

static int adjoint_of(const costate_projection *q, work *w, const double *lambda, const costate_gradient *g)
{
    double s[K];
    costate_gradient to = without_memory(g);
    TRY(multipliers(q, w, lambda, s, g->t, g->p));
    for (int k = 0; g->m && k < q->nm; k++) g->m[k] += lambda[q->n + k];
    for (int l = 0; g->m && q->g.keep && l < q->g.count; l++) g->m[q->g.memory + l] += s[l];
    if (g->y) axpy((size_t)q->n, 1, w->v, g->y);
    project_move(q, w->v, w->u);
    return curve(q, &w->at, &(costate_point){.y = w->u}, w->mu, &to);
}

/* ---- second order ---- */

/* s' along d where s and v are known:  A^T s' = [G W lambda]' - [A^T]' s = g''(y)[d, W v] + G W e,
   where e = -[g_y(z)^T s]' with s held */
static int multipliers_along(const costate_projection *q, work *w, const costate_point *d, double *ds)
{
    double more[K];
    costate_point along = {.y = w->u};
    memset(ds, 0, (size_t)q->g.count * sizeof *ds);
    if (q->g.linear) return 0;
    project_move(q, w->v, w->u);
    TRY(call_prepare(&q->g.g, &w->at, q->ctx));
    TRY(q->g.g.tangent2(&w->at, d, &along, ds, q->ctx));
    project_move(q, w->e, w->u);
    TRY(project_push(q, &w->at, &along, more));
    for (int l = 0; l < q->g.count; l++) ds[l] += more[l];
    project_solve(q, w, 1, ds);
    return 0;
}

/* the derivative of the last term, [mu . g''(y) (W v)], along d: v' is in dv */
static int curve_along(const costate_projection *q, work *w, const costate_point *d, const double *dmu, double *dv,
                       const costate_gradient *to)
{
    if (q->g.linear) return 0;
    project_move(q, dv, dv);
    TRY(curve(q, &w->at, &(costate_point){.y = dv}, w->mu, to));
    project_move(q, w->v, w->u);
    costate_point along = {.y = w->u};
    TRY(curve(q, &w->at, &along, dmu, to));
    return q->g.g.adjoint_tangent2(&w->at, d, &along, w->mu, to, q->ctx);
}

static int second_of(const costate_projection *q, work *w, const costate_point *dx, const double *lambda,
                     const costate_gradient *g)
{
    double dmu[K], s[K], ds[K], minus[K];
    costate_point d = *dx, dz = {.t = dx->t, .p = dx->p, .y = w->dz};
    costate_gradient to = without_memory(g), held = {.t = g->t, .y = w->e, .p = g->p};
    size_t n = (size_t)q->n;
    d.m = NULL;
    TRY(tangent_of(q, w, dx, dmu, w->dz));
    TRY(multipliers(q, w, lambda, s, NULL, NULL));
    for (int l = 0; l < q->g.count; l++) minus[l] = -s[l];
    memset(w->e, 0, n * sizeof *w->e);
    TRY(curve(q, &w->at_z, &dz, minus, &held));
    TRY(multipliers_along(q, w, &d, ds));
    for (int l = 0; g->m && q->g.keep && l < q->g.count; l++) g->m[q->g.memory + l] += ds[l];
    TRY(minus_at_z(q, w, ds, g->t, w->e, g->p));                /* e is now v' = -[g_y(z)^T s]' */
    if (g->y) axpy(n, 1, w->e, g->y);
    return curve_along(q, w, &d, dmu, w->e, &to);
}

/* ---- callbacks; ctx: the projection ---- */

/* work at x, given back by done */
static int project_begin(void *ctx, const costate_point *x, int products, work **w)
{
    costate_projection *q = ctx;
    *w = work_take(q);
    return *w ? project(q, x, products, *w) : COSTATE_NO_MEMORY;
}

static int done(void *ctx, work *w, int status)
{
    if (w) work_give(ctx, w);
    return status;
}

static void copy_memory(const costate_projection *q, const double *m, double *out)
{
    for (int k = 0; k < q->nm; k++) out[q->n + k] = m ? m[k] : 0;
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const costate_projection *q = ctx;
    work *w;
    int status = project_begin(ctx, x, 0, &w);
    if (status == 0) memcpy(out, w->z, (size_t)q->n * sizeof *out);
    copy_memory(q, x->m, out);
    return done(ctx, w, status);
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const costate_projection *q = ctx;
    work *w;
    double dmu[K];
    int status = project_begin(ctx, x, 1, &w);
    if (status == 0) status = tangent_of(q, w, dx, dmu, out);
    copy_memory(q, dx->m, out);
    return done(ctx, w, status);
}

static int adjoint(const costate_point *x, const double *lambda, const costate_gradient *g, void *ctx)
{
    work *w;
    int status = project_begin(ctx, x, 1, &w);
    return done(ctx, w, status ? status : adjoint_of(ctx, w, lambda, g));
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *lambda,
                           const costate_gradient *g, void *ctx)
{
    work *w;
    int status = project_begin(ctx, x, 1, &w);
    return done(ctx, w, status ? status : second_of(ctx, w, dx, lambda, g));
}

/* ---- the start, with `keep`: memory takes g(t, y, p) ---- */

static int start_value(const costate_point *x, double *out, void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x);
    memcpy(out, x->y, (size_t)q->n * sizeof *out);
    copy_memory(q, x->m, out);
    return q->g.g.value(&at, out + q->n + q->g.memory, q->ctx);
}

static int start_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x), d = alone(dx);
    for (int j = 0; j < q->n; j++) out[j] = dx->y ? dx->y[j] : 0;
    copy_memory(q, dx->m, out);
    return project_push(q, &at, &d, out + q->n + q->g.memory);
}

static int start_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x);
    costate_gradient to = without_memory(g);
    if (g->y) axpy((size_t)q->n, 1, w, g->y);
    for (int k = 0; g->m && k < q->nm; k++)
        if (k < q->g.memory || k >= q->g.memory + q->g.count) g->m[k] += w[q->n + k];
    return project_pull(q, &at, w + q->n + q->g.memory, &to);
}

static int start_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                 const costate_gradient *g, void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x), d = alone(dx);
    costate_gradient to = without_memory(g);
    return curve(q, &at, &d, w + q->n + q->g.memory, &to);
}

/* ---- public ---- */

/* the products for which g has its own */
static costate_map map_of(const costate_invariants *g)
{
    int first = g->linear || g->g.adjoint_tangent;
    int second = g->linear || (first && g->g.tangent2 && g->g.adjoint_tangent2);
    return (costate_map){.value = value, .tangent = first ? tangent : NULL, .adjoint = first ? adjoint : NULL,
                         .adjoint_tangent = second ? adjoint_tangent : NULL};
}

costate_map invariants_start(const costate_invariants *g)
{
    return (costate_map){.value = start_value, .tangent = start_tangent, .adjoint = start_adjoint,
                         .adjoint_tangent = g->linear || g->g.adjoint_tangent ? start_adjoint_tangent : NULL};
}

costate_projection *projection_new(verdict *v, const costate_invariants *g, const costate_problem *P,
                                   int (*judge)(verdict *, const costate_invariants *, const costate_problem *))
{
    if (judge(v, g, P)) return NULL;
    costate_projection *q = calloc(1, sizeof *q);
    if (!q) {
        fail(v, COSTATE_NO_MEMORY, "No memory for invariants.");
        return NULL;
    }
    *q = (costate_projection){.g = *g, .n = P->n, .np = P->np, .nm = P->nm, .ctx = g->ctx ? g->ctx : P->ctx};
    atomic_flag_clear(&q->guard);
    return q;
}

int costate_projection_after_step(const costate_invariants *g, costate_problem *P, costate_projection **out,
                                  costate_report *report)
{
    verdict v = {0};
    if (!out) fail(&v, COSTATE_BAD_ARGUMENT, "out is NULL, where the projection goes.");
    costate_projection *q = out ? *out = projection_new(&v, g, P, invariants_given) : NULL;
    if (!q) return pieces_said(&v, report);
    P->after_step = (costate_after_step){.map = map_of(g), .ctx = q};
    if (g->at_start) P->after_step.start = P->after_step.map;
    if (g->keep) P->after_step.start = invariants_start(g);
    return pieces_said(&v, report);
}

void costate_projection_free(costate_projection *q)
{
    if (!q) return;
    work_free(q->idle);
    free(q);
}
