/* try.h - one try of a step. */
#ifndef COSTATE_RUN_TRY_H
#define COSTATE_RUN_TRY_H

#include "solver/run_state.h"

int step_once(costate *, run *);                    /* of length x->h, not judged: run.once */
/* The step, *err <- its error norm, and its tangents if they enter the error norm or the step is accepted. */
int try_step(costate *, run *, double *err);
int tangents_to_event(costate *, run *);            /* those of a step that was shortened to end at an event */

#endif
