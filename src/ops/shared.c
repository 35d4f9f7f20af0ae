/* shared.c - functions that all kinds of operations share. */
#include <string.h>
#include "base/vec.h"
#include "linsol/left.h"
#include "ops/ops.h"

int sweep_hold(sweep_state *w, int step)
{
    stepper *c = w->st;
    if (w->held == step) return 0;
    w->held = -1;
    verdict_at(c->v, w->tape->list[step].t);
    int stages = !(c->members[w->tape->list[step].member].F->is & REMAKES) || (w->seen && w->seen->count > 0) ||
                 w->tape->list[step].corrected;
    TRY(tape_get(w->tape, step, w->who, stages, &w->now));
    verdict_at(c->v, w->now.t);
    memory_bind(c, w->now.y, w->now.mode);
    maps_bind_time(c->maps, w->now.t, w->now.h);
    maps_bind_sides(c->maps, w->now.t, w->now.end);
    weights(c, w->now.y, c->w);
    w->held = step;
    return 0;
}

void sweep_move(sweep_state *w)
{
    if (!w->moved) return;
    memcpy(w->V, w->d.V1, (size_t)w->st->N * (size_t)w->d.m * sizeof *w->V);
    for (int j = 0; j < w->d.m; j++) w->dt[j] += w->dh[j];
    w->moved = 0;
}

void step_directions(enum rule rule, const double *fixed, int m, const double *dt, double *dh)
{
    for (int j = 0; j < m; j++) dh[j] = rule == FROZEN ? 0 : (fixed ? fixed[j] : 0) - dt[j];
}

int step_left(stepper *c, const record *r, int transpose, int m)
{
    costate_point at = equation_point(c->maps, r->t, r->y, r->yp);
    return left_follow(c->sh, r->kept ? r->kept : c->fac, &at, r->h, transpose, m);
}

void sweep_add_seen(const sweep_state *w, double *lambda)
{
    size_t n = (size_t)w->st->n;
    for (int j = 0; w->any && j < w->g.m; j++)
        axpy(n, 1, w->sum + (size_t)j * n, lambda + (size_t)j * (size_t)w->st->N);
}

void sweep_along(sweep_state *w)
{
    w->d.V = w->along.V;
    w->d.Xd = w->along.Xd;
    w->d.dt = w->along.dt;
    w->d.dh = w->along.dh;
    memory_to_pm(w->st, w->d.m, w->along.V, w->events.pm);
}
