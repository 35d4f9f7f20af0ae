/* correct.c - the operation CORRECT: problem.after_step, a map of the state at the end of a step (mathematics,
   section 10.7).

       (y, m)+ = G(t, y, m, p),    q+ = q

   Its derivatives are those of an event's jump (jump.c).  Where after_step is an invariant, the operation is that of
   relax.c.  The state before it is `uncorrected` of the record, behind the stages, so that it is kept, written and
   recomputed together with them. */
#include <string.h>
#include "ops/ops.h"

int correct_value(stepper *c, record *r, const record *as, int free, double *room, double *y1)
{
    if (relaxes(c->maps)) return relax_value(c, r, as, free, room, y1);
    const map *f = &c->maps->after_step.correction.jump;
    int acts;
    r->corrected = 0;
    if (f->rows == 0) return 0;
    costate_point x = point_at(c->maps, r->end, y1);
    TRY(map_acts(c->maps, &x, &acts));
    if (!acts) return 0;
    TRY(map_value(c->maps, f, x.t, y1, room));
    TRY(space_finite(&c->maps->space, (size_t)f->rows, room));
    r->corrected = 1;
    memcpy(uncorrected(c, r), y1, (size_t)c->N * sizeof *y1);
    set_jumped(c, y1, room);
    memory_bind(c, y1, c->maps->bound.situation);
    return 0;
}

/* the correction of a step, as the jump of an event */
static mapped correction_of(const stepper *c, const record *r)
{
    return (mapped){.event = CORRECTED, .t = r->end, .y = uncorrected(c, r), .from = (int)r->mode, .to = (int)r->mode};
}

int correct_tangent(stepper *c, const event_work *w, const record *r, int m, const double *dt, double *V,
                    const double *pm)
{
    mapped e = correction_of(c, r);
    return jump_tangent(c, w, &e, m, dt, V, pm);
}

mapped located(const sweep_state *w, const op *o)
{
    mapped at = w->tape->maps.list[o->which];
    if (w->now.corrected) at.y = uncorrected(w->st, &w->now);
    return at;
}

static int tangent(sweep_state *w, const op *o)
{
    TRY(sweep_hold(w, o->step));
    if (relaxes(w->st->maps)) return relax_tangent(w->st, &w->events, &w->now, &w->d, w->dh);
    sweep_move(w);
    return correct_tangent(w->st, &w->events, &w->now, w->d.m, w->dt, w->V, w->d.Vp);
}

static int adjoint(sweep_state *w, const op *o)
{
    TRY(sweep_hold(w, o->step));
    if (w->g.along) sweep_along(w);
    if (relaxes(w->st->maps)) return relax_adjoint(w);
    mapped e = correction_of(w->st, &w->now);
    return jump_adjoint(w, &e);
}

const op_rules correct_rules = {tangent, adjoint};
