/* loop.h - the step loop. */
#ifndef COSTATE_RUN_LOOP_H
#define COSTATE_RUN_LOOP_H

#include "solver/run_state.h"

void run_begin(const costate *, run *, int predict);
int run_loop(costate *, run *);
int run_first(costate *, run *);            /* x->h_free of a run that begins */

#endif
