/* aim.h - the length of the next step: limits, the end of the run, and steps that are too short. */
#ifndef COSTATE_RUN_AIM_H
#define COSTATE_RUN_AIM_H

#include <math.h>
#include "solver/pace.h"
#include "solver/run_state.h"

void set_range(costate *, double t0, double t1);
int longest_step(costate *, run *, double *h);      /* that the family and options.step_bound allow here; RETRY: it is
                                                       not known */
int give_up(costate *, const run *);                /* a try failed, and h cannot be reduced */
int no_jacobian(costate *, const run *);            /* tries failed, and a smaller h does not change why */
int no_room(costate *, const run *);                /* h is too small before anything was tried */

/* The following is inline, as every step does it. */

/* Shortens or lengthens the proposed step so that it ends at t1: sets h, and whether the step is the last. */
static inline void aim(const costate *c, run *x)
{
    double left = (x->t1 - x->t) - x->low;
    x->last = reaches(left, x->h_free, x->t, x->k.rejected);
    x->h = x->last ? left : x->h_free;
    if (!x->last && c->o.controller != COSTATE_FIXED && !c->halves.tape) x->h = halved(left, x->h, c->in.hmin);
}

static inline int too_small(const costate *c, const run *x)
{
    return !x->last && fabs(x->h) < least_step(c->in.hmin, x->t);
}

/* sets t, h and end of the step */
static inline void set_times(run *x)
{
    x->now.t = x->t;
    x->now.h = x->h;
    x->now.end = end_of(x->t, x->low, x->h, &x->end_low);
    if (x->last) { x->now.end = x->t1; x->end_low = 0; }
}

#endif
