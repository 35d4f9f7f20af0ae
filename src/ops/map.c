/* map.c - the operation MAP: an event (jump.c), or values made consistent (start.h). */
#include <string.h>
#include "ops/ops.h"

/* Binds the maps to the operation and sets weights, which Jacobians by differences need; integrals have none here. */
static const start_values *hold(sweep_state *w, const mapped *e)
{
    const start_values *f = &e->f;
    memory_bind(w->st, e->y1, e->to);
    (f->only_values ? maps_bind_end : maps_bind_start)(w->st->maps, f->t);
    memset(w->z, 0, (size_t)w->st->N * sizeof *w->z);
    memcpy(w->z, f->y, (size_t)w->st->n * sizeof *w->z);
    weights(w->st, w->z, w->st->w);
    verdict_at(w->st->v, f->t);
    return f;
}

static int tangent(sweep_state *w, const op *o)
{
    const mapped *e = &w->tape->maps.list[o->which];
    sweep_move(w);
    w->held = -1;
    if (e->event != CONSISTENT) return jump_tangent(w->st, &w->events, e, w->d.m, w->dt, w->V, w->d.Vp);
    return start_tangent(w->start, hold(w, e), w->d.m, w->dt, w->V, (size_t)w->st->N, w->d.Vp);
}

static int adjoint(sweep_state *w, const op *o)
{
    const mapped *e = &w->tape->maps.list[o->which];
    double *tau = w->g.times ? w->tau : NULL;
    size_t N = (size_t)w->st->N;
    w->held = -1;
    if (w->g.along) sweep_along(w);
    if (e->event != CONSISTENT) return jump_adjoint(w, e);
    if (!w->g.along) return start_adjoint(w->start, hold(w, e), w->g.m, w->g.lambda, N, w->g.mu, tau);
    start_along along = {w->d.dt, w->d.V, w->d.Vp};
    return start_second(w->start, hold(w, e), w->d.m, &along, w->g.lambda, N, w->g.mu, tau);
}

const op_rules map_rules = {tangent, adjoint};
