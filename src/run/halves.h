/* halves.h - runs that take the steps of a tape, each split in two. */
#ifndef COSTATE_RUN_HALVES_H
#define COSTATE_RUN_HALVES_H

#include "solver/run_state.h"

/* The next run takes the steps of the tape, each split in two, and ends steps at these times, too.  first:
   costate_tape_steps numbers, or NULL.  halves_ended, at its end: COSTATE_ACCURACY if other events occurred than on
   the tape. */
void halves_of(costate *, const costate_tape *, int count, const double *times, int *first);
int halves_ended(costate *, const costate_tape *onto);
int halves_next(costate *, run *);                  /* sets h_free before a step */
void halves_took(costate *, const run *);           /* after it was accepted */

#endif
