/* instant.h - steps of length zero before events that fire together with others. */
#ifndef COSTATE_RUN_INSTANT_H
#define COSTATE_RUN_INSTANT_H

#include "solver/run_state.h"

/* Does event k, which fires here after others, have a time of its own?  *at: the map of its step of length zero */
int instant_needed(costate *, run *, int k, int timed, mapped *at, int *own);
int instant_tangents(costate *, run *, int k, int timed);           /* of that step, if the run has any */
/* a remark on two events that fire together */
void together_add(costate *, const run *, int first, int second, int own);
void together_say(const costate *, char *text, size_t room);

#endif
