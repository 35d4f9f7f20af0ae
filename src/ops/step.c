/* step.c - the operation STEP: tangents and adjoints of a frozen step.

   Backward recursion (step-maps 1): lambda, mu by the step's adjoint; tau = d/dt of what follows.
   The last step is h = t1 - t:  t1 gets eta = tau + h_bar, and tau loses it. */
#include <string.h>
#include "base/vec.h"
#include "linsol/left.h"
#include "ops/ops.h"

int world_hold(world *w, int step)
{
    stepper *c = w->st;
    if (w->held == step) return 0;
    w->held = -1;
    verdict_at(c->v, w->tape->list[step].t);
    int remade = !(c->F->is & REMAKES) || (w->seen && w->seen->count > 0);
    TRY(tape_get(w->tape, step, w->self, remade ? w->again : NULL, &w->now));
    weights(c, w->now.y, c->w);
    w->held = step;
    return 0;
}

void world_move(world *w)
{
    if (w->moved) memcpy(w->V, w->d.V1, (size_t)w->st->N * (size_t)w->d.m * sizeof *w->V);
    w->moved = 0;
}

/* t' and h' of the step: all steps but the last are fixed, the last is t1 - t */
void step_directions(const costate_times *g, int m, int last, double *dt, double *dh)
{
    for (int j = 0; j < m; j++) {
        dt[j] = g && g->t0 ? g->t0[j] : 0;
        dh[j] = last ? (g && g->t1 ? g->t1[j] : 0) - dt[j] : 0;
    }
}

int step_left(stepper *c, const record *r, int transpose, int m)
{
    costate_point at = equation_point(c->maps, r->t, r->y, r->yp);
    return left_follow(c->sh, r->kept ? r->kept : c->fac, &at, r->h, transpose, m);
}

static int tangent(world *w, const op *o)
{
    world_move(w);
    TRY(world_hold(w, o->step));
    step_directions(w->times, w->d.m, o->last, w->dt, w->dh);
    left_step(w->st->sh);
    TRY(w->st->F->tangent(w->st, &w->now, &w->d));
    TRY(step_left(w->st, &w->now, 0, w->d.m));
    w->moved = 1;
    return 0;
}

/* tau of the steps that follow and eta of the last step become gradients by t0 and t1 */
static void keep_times(world *w, int last)
{
    for (int j = 0; j < w->g.m; j++) {
        double eta = w->tau[j] + w->g.h[j] + (w->any ? w->eta_seen[j] : 0);
        w->tau[j] += w->g.t[j] + (w->any ? w->tau_seen[j] : 0);
        if (!last) continue;
        if (w->times->t1) w->times->t1[j] = eta;
        w->tau[j] -= eta;
    }
}

static int adjoint(world *w, const op *o)
{
    const stepper *c = w->st;
    size_t n = (size_t)c->n;
    TRY(world_hold(w, o->step));
    for (int j = 0; j < w->g.m; j++) w->g.t[j] = w->g.h[j] = 0;
    w->g.seed = w->any ? w->seeds : NULL;
    left_step(c->sh);
    TRY(c->F->adjoint(w->st, &w->now, &w->g));
    TRY(step_left(w->st, &w->now, 1, w->g.m));
    for (int j = 0; w->any && j < w->g.m; j++)
        axpy(n, 1, w->sum + (size_t)j * n, w->g.lambda + (size_t)j * (size_t)c->N);
    if (w->g.times) keep_times(w, o->last);
    w->any = 0;
    return 0;
}

const op_rules step_rules = {tangent, adjoint};
