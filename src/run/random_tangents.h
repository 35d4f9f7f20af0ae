/* random_tangents.h - tangents along random directions, for options.gradient_control. */
#ifndef COSTATE_RUN_RANDOM_TANGENTS_H
#define COSTATE_RUN_RANDOM_TANGENTS_H

#include "solver/run_state.h"

/* the tangents that the user wants through a run; m 0: none */
typedef struct { int m; double *V; const double *Vp; const costate_times *times; } user_tangents;
extern const user_tangents no_tangents;

/* Memory for them behind m tangents of the user; COSTATE_MISSING: products are not there.  with_p: the user has
   directions of p. */
int random_tangents_prepare(costate *, int m, int with_p);
typedef struct { directions d; costate_times times; } directed_run;        /* of all */
/* Draws them, and places all tangents in the run, if there are any. */
void tangents_begin(costate *, const user_tangents *, const double *y, const double *p, run *, directed_run *);
void tangents_end(costate *, const user_tangents *, const run *);       /* those of the user into u->V */
int random_tangents_start(costate *, const run *);          /* the initial values are consistent */
int random_tangents_restart(costate *, const run *);        /* after events */

#endif
