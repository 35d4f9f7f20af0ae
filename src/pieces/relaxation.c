/* relaxation.c - an invariant that is kept by relaxation (src/ops/relax.c), as problem.after_step.invariant:

       g(t, y, p) - c,   c: 0, or with `keep` the memory variable that holds g at the start */
#include "maps/callbacks.h"
#include "pieces/project.h"

static double kept(const costate_projection *q, const double *m) { return q->g.keep && m ? m[q->g.memory] : 0; }

static int value(const costate_point *x, double *out, void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x);
    TRY(q->g.g.value(&at, out, q->ctx));
    *out -= kept(q, x->m);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x), d = alone(dx);
    TRY(project_push(q, &at, &d, out));
    *out -= kept(q, dx->m);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x);
    costate_gradient to = {.t = g->t, .y = g->y, .p = g->p};
    if (q->g.keep && g->m) g->m[q->g.memory] -= *w;
    return project_pull(q, &at, w, &to);
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    const costate_projection *q = ctx;
    costate_point at = alone(x), d = alone(dx);
    costate_gradient to = {.t = g->t, .y = g->y, .p = g->p};
    TRY(call_prepare(&q->g.g, &at, q->ctx));
    return q->g.g.adjoint_tangent(&at, &d, w, &to, q->ctx);
}

int costate_relaxation_after_step(const costate_invariants *g, costate_problem *P, costate_projection **out,
                                  costate_report *report)
{
    verdict v = {0};
    if (!out) fail(&v, COSTATE_BAD_ARGUMENT, "out is NULL, where the invariant goes.");
    costate_projection *q = out ? *out = projection_new(&v, g, P, invariant_given) : NULL;
    if (!q) return pieces_said(&v, report);
    P->after_step = (costate_after_step){
        .invariant = {.value = value, .tangent = tangent, .adjoint = adjoint,
                      .adjoint_tangent = g->g.adjoint_tangent ? adjoint_tangent : NULL}, .ctx = q};
    if (g->keep) P->after_step.start = invariants_start(g);
    return pieces_said(&v, report);
}
