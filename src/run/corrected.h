/* corrected.h - problem.after_step in a run. */
#ifndef COSTATE_RUN_CORRECTED_H
#define COSTATE_RUN_CORRECTED_H

#include "solver/run_state.h"

int correct_start(costate *, run *);                /* its start, of tangents and on the tape, too */
int correct_step(costate *, run *);                 /* the end of a step that will be accepted; RETRY: not defined */
int relaxed_tangents(costate *, const run *);       /* of a step that relaxation scaled, before they become x->Va */
int correct_run(costate *, run *);                  /* what follows from that after the step was accepted */
void correction_remark(costate *);                  /* it changed more than the tolerances allow */

#endif
