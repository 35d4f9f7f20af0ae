/* known.h - the memory of a run on the file of its tape. */
#ifndef COSTATE_RUN_KNOWN_H
#define COSTATE_RUN_KNOWN_H

#include "solver/run_state.h"

/* at a fresh step: writes the memory of the run to the file of the tape, if there is one; reads it back */
int known_keep(costate *, const run *, int begins, long source);
int known_again(costate *, run *, const fresh_run *);

#endif
