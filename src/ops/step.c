/* step.c - the operations STEP and INSTANT: tangents and adjoints of a step whose h is frozen, or fixed by a time or an
   event.

   Backward recursion (mathematics, eq. 2.4 to 2.5): lambda, mu by the step's adjoint; tau = d/dt of what follows.
   A step to a given time T is h = T - t:  T gets eta = tau + h_bar, and tau loses it. */
#include <string.h>
#include "base/vec.h"
#include "linsol/left.h"
#include "ops/ops.h"

/* gathers or scatters the entries of one event of the tape, by functional or direction; NULL: not wanted */
static double *of_event(const sweep_state *w, const op *o, int m, int scatter, double *x)
{
    double *all = w->times ? w->times->events : NULL;
    size_t count = (size_t)w->tape->maps.events;
    if (!all || o->which < 0) return NULL;
    size_t at = (size_t)w->tape->maps.list[o->which].number;
    for (size_t j = 0; j < (size_t)m; j++) {
        if (scatter) all[j * count + at] = x[j];
        else x[j] = all[j * count + at];
    }
    return x;
}

/* T' of the given time at the end of a step, or s' of its guard; NULL: zero */
static const double *fixed_directions(const sweep_state *w, const op *o)
{
    if (o->rule == FROZEN) return NULL;
    if (o->rule == TO_END) return w->times ? w->times->t1 : NULL;
    return of_event(w, o, w->d.m, 0, w->tau);
}

static int hold(sweep_state *w, const op *o)
{
    return o->kind == INSTANT ? instant_hold(w, o) : sweep_hold(w, o->step);
}

/* the errors of inexactly solved systems, of which instants have none */
static int left(sweep_state *w, const op *o, int transpose, int m)
{
    return o->kind == INSTANT ? 0 : step_left(w->st, &w->now, transpose, m);
}

static int tangent(sweep_state *w, const op *o)
{
    sweep_move(w);
    TRY(hold(w, o));
    const double *fixed = fixed_directions(w, o);
    left_step(w->st->sh);
    if (o->rule == TO_EVENT) {
        mapped at = located(w, o);
        TRY(event_tangent(w->st, &w->events, &w->now, &at, &w->d, fixed, w->dh));
    } else {
        step_directions(o->rule, fixed, w->d.m, w->dt, w->dh);
        TRY(step_tangent(w->st, &w->events, &w->now, &w->d));
    }
    TRY(left(w, o, 0, w->d.m));
    w->moved = 1;
    return 0;
}

/* tau of the steps that follow and eta of a step to a given time become gradients with respect to t0 and that time */
static void keep_times(sweep_state *w, const op *o)
{
    double *fixed = o->rule == TO_END && w->times ? w->times->t1 : NULL;
    for (int j = 0; j < w->g.m; j++) {
        double eta = w->tau[j] + w->g.h[j] + (w->any ? w->eta_seen[j] : 0);
        w->tau[j] += w->g.t[j] + (w->any ? w->tau_seen[j] : 0);
        if (o->rule == FROZEN) continue;
        if (fixed) fixed[j] = eta;
        w->g.h[j] = eta;
        w->tau[j] -= eta;
    }
    if (o->rule == TO_TIME) of_event(w, o, w->g.m, 1, w->g.h);
}

/* the adjoint of a step, and the contributions of observations inside it */
static int through(sweep_state *w)
{
    for (int j = 0; j < w->g.m; j++) w->g.t[j] = w->g.h[j] = 0;
    w->g.seed = w->any ? w->seeds : NULL;
    TRY(step_adjoint(w->st, &w->events, &w->now, &w->g));
    sweep_add_seen(w, w->g.lambda);
    return 0;
}

/* what relaxation has added to the state at the start of the step */
static void add_carried(sweep_state *w)
{
    if (w->carries) axpy((size_t)w->st->N * (size_t)w->g.m, 1, w->events.carried, w->g.lambda);
    w->carries = 0;
}

static int adjoint(sweep_state *w, const op *o)
{
    TRY(hold(w, o));
    if (w->g.along) sweep_along(w);
    left_step(w->st->sh);
    if (o->rule == TO_EVENT) {
        mapped at = located(w, o);
        TRY(w->g.along ? event_second(w, &at, w->g.h) : event_adjoint(w, &at, w->g.h));
        of_event(w, o, w->g.m, 1, w->g.h);
    } else TRY(through(w));
    TRY(left(w, o, 1, w->g.m));
    add_carried(w);
    if (w->g.times && o->rule != TO_EVENT) keep_times(w, o);
    w->any = 0;
    return 0;
}

const op_rules step_rules = {tangent, adjoint};
