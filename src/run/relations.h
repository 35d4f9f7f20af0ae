/* relations.h - the values of relations in a run: each call does nothing where the problem has none. */
#ifndef COSTATE_RUN_RELATIONS_H
#define COSTATE_RUN_RELATIONS_H

#include "solver/run_state.h"

/* Those at the start of a run, by the signs of guards; binds the maps to them and to the mode. */
int relations_begin(costate *, costate_tape *, double t, const double *y, int mode);
int relations_first(costate *, run *);              /* records them as the first of the run */
/* After events, or where a run goes on.  with_slopes: those of guards at zero, too, for which h_free is known */
int relations_anew(costate *, run *, int with_slopes, int *changed);
int relations_before(costate *, const run *);       /* events follow, from this state */
/* The number of a mode with the values at hand, but that of relation k, if it is not -1, on the other side of zero. */
int relation_flips(costate *, const run *, int k, int mode, int *number);
int relation_turns(costate *, run *);               /* watch.turns takes its other value at the start of a step */

#endif
