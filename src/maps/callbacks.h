/* callbacks.h - calls of a user's tangent, adjoint or preconditioner, given for one column or for several. */
#ifndef COSTATE_MAPS_CALLBACKS_H
#define COSTATE_MAPS_CALLBACKS_H

#include <costate/costate.h>

static inline int has_tangent(const costate_map *f) { return f->tangent || f->tangents; }
static inline int has_adjoint(const costate_map *f) { return f->adjoint || f->adjoints; }
static inline int has_solve(const costate_preconditioner *p) { return p->solve || p->solves; }

static inline const char *tangent_name(const costate_map *f) { return f->tangent ? "tangent" : "tangents"; }
static inline const char *adjoint_name(const costate_map *f) { return f->adjoint ? "adjoint" : "adjoints"; }

static inline int call_prepare(const costate_map *f, const costate_point *x, void *ctx)
{
    return f->prepare ? f->prepare(x, ctx) : 0;
}

static inline int call_tangent(const costate_map *f, const costate_point *x, const costate_point *dx, double *out,
                               void *ctx)
{
    return f->tangent ? f->tangent(x, dx, out, ctx) : f->tangents(x, 1, dx, out, ctx);
}

static inline int call_adjoint(const costate_map *f, const costate_point *x, const double *w, const costate_gradient *g,
                               void *ctx)
{
    return f->adjoint ? f->adjoint(x, w, g, ctx) : f->adjoints(x, 1, w, g, ctx);
}

static inline int call_solve(const costate_preconditioner *p, int transpose, double *x)
{
    return p->solve ? p->solve(transpose, x, p->ctx) : p->solves(transpose, 1, x, p->ctx);
}

#endif
