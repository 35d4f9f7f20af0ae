/* check_residual.c - a map of (t, y, y', p), a residual or one of an event that sees y', as one of (y, y'), 2n states:
   what checks a map checks it. */
#include <string.h>
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

static const double *slopes(const slope_map *f, const double *y) { return y ? y + f->n : NULL; }

static costate_point parted(const slope_map *f, const costate_point *z)
{
    return (costate_point){.t = z->t, .y = z->y, .p = z->p, .yp = slopes(f, z->y), .m = z->m, .mode = z->mode};
}

static costate_gradient parted_gradient(const slope_map *f, const costate_gradient *g)
{
    return (costate_gradient){.t = g->t, .y = g->y, .p = g->p, .yp = g->y ? g->y + f->n : NULL, .m = g->m};
}

static int value(const costate_point *z, double *out, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z);
    return f->map->value(&x, out, f->ctx);
}

static int tangent(const costate_point *z, const costate_point *dz, double *out, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z), dx = parted(f, dz);
    return call_tangent(f->map, &x, &dx, out, f->ctx);
}

static int adjoint(const costate_point *z, const double *w, const costate_gradient *g, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z);
    costate_gradient to = parted_gradient(f, g);
    return call_adjoint(f->map, &x, w, &to, f->ctx);
}

static int tangent2(const costate_point *z, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z), dx1 = parted(f, a), dx2 = parted(f, b);
    return f->map->tangent2(&x, &dx1, &dx2, out, f->ctx);
}

static int adjoint_tangent(const costate_point *z, const costate_point *dz, const double *w, const costate_gradient *g,
                           void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z), dx = parted(f, dz);
    costate_gradient to = parted_gradient(f, g);
    return f->map->adjoint_tangent(&x, &dx, w, &to, f->ctx);
}

static int adjoint_tangent2(const costate_point *z, const costate_point *a, const costate_point *b, const double *w,
                            const costate_gradient *g, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z), dx1 = parted(f, a), dx2 = parted(f, b);
    costate_gradient to = parted_gradient(f, g);
    return f->map->adjoint_tangent2(&x, &dx1, &dx2, w, &to, f->ctx);
}

static int tangents(const costate_point *z, int count, const costate_point *dz, double *out, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z), dx[CHECK_COLUMNS];
    for (int j = 0; j < count; j++) dx[j] = parted(f, &dz[j]);
    return f->map->tangents(&x, count, dx, out, f->ctx);
}

static int adjoints(const costate_point *z, int count, const double *w, const costate_gradient *g, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z);
    costate_gradient to[CHECK_COLUMNS];
    for (int j = 0; j < count; j++) to[j] = parted_gradient(f, &g[j]);
    return f->map->adjoints(&x, count, w, to, f->ctx);
}

static int prepare(const costate_point *z, void *ctx)
{
    const slope_map *f = ctx;
    costate_point x = parted(f, z);
    return f->map->prepare(&x, f->ctx);
}

costate_map check_slope_map(const costate_map *F)
{
    return (costate_map){.value = value,
                         .tangent = F->tangent ? tangent : NULL,
                         .adjoint = F->adjoint ? adjoint : NULL,
                         .tangent2 = F->tangent2 ? tangent2 : NULL,
                         .adjoint_tangent = F->adjoint_tangent ? adjoint_tangent : NULL,
                         .tangents = F->tangents ? tangents : NULL,
                         .adjoints = F->adjoints ? adjoints : NULL,
                         .prepare = F->prepare ? prepare : NULL,
                         .adjoint_tangent2 = F->adjoint_tangent2 ? adjoint_tangent2 : NULL};
}

void check_join(int n, const costate_point *x, double *both, costate_point *z)
{
    memcpy(both, x->y, (size_t)n * sizeof *both);
    memcpy(both + n, x->yp, (size_t)n * sizeof *both);
    *z = *x;
    z->y = both;
    z->yp = NULL;
}
