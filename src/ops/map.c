/* map.c - the operation MAP: values made consistent (start.h), whose time is t0 or t1. */
#include <string.h>
#include "ops/ops.h"

/* Jacobians by differences ask for weights; integrals have none here. */
static const start_values *hold(world *w, const op *o)
{
    const start_values *f = &w->tape->maps[o->which].f;
    memset(w->z, 0, (size_t)w->st->N * sizeof *w->z);
    memcpy(w->z, f->y, (size_t)w->st->n * sizeof *w->z);
    weights(w->st, w->z, w->st->w);
    w->held = -1;
    verdict_at(w->st->v, f->t);
    return f;
}

static int tangent(world *w, const op *o)
{
    world_move(w);
    const start_values *f = hold(w, o);
    step_directions(w->times, w->d.m, o->last, w->dt, w->dh);
    for (int j = 0; j < w->d.m; j++) w->dt[j] += w->dh[j];
    return start_tangent(w->start, f, w->d.m, w->dt, w->V, (size_t)w->st->N, w->d.Vp);
}

static int adjoint(world *w, const op *o)
{
    const start_values *f = hold(w, o);
    double *tau = w->g.times ? w->tau : NULL;
    return start_adjoint(w->start, f, w->g.m, w->g.lambda, (size_t)w->st->N, w->g.mu, tau);
}

const op_rules map_rules = {tangent, adjoint};
