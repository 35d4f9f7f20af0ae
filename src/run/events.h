/* events.h - what events do to a run. */
#ifndef COSTATE_RUN_EVENTS_H
#define COSTATE_RUN_EVENTS_H

#include "solver/run_state.h"

/* e, with y and y1, is applied to the state, and recorded, behind its step of length zero, if that is not NULL; x: and
   to its tangents, RETRY: they are not defined; NULL: without tangents.  room: n + nm */
int map_state(costate *, costate_tape *, const run *x, double *room, const mapped *instant, mapped *e);
void events_begin(costate *, int on, const mapped *from);   /* on: the run continues an earlier one, from an event, or
                                                               NULL */
double next_stop(const costate *, const run *);     /* x->end, or a given time before it */
int events_at_start(costate *, run *, int *any);
int stop_at_start(costate *, run *);                /* a run is continued at a stop, as if it had not ended there */
int guard_turned(costate *, run *);         /* TURNS: a relation takes its other value, or an event is applied */
int events_after_step(costate *, run *);            /* the events that ended it; after some the run restarts */

#endif
