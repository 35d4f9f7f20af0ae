/* finer.h - the run on a tape again, with halved steps. */
#ifndef COSTATE_ESTIMATES_FINER_H
#define COSTATE_ESTIMATES_FINER_H

#include "solver/solver.h"

/* The run on the tape again, with halved steps that also end at these times, onto another tape.  *finer: its solver, to
   be freed by the caller also after a failure; first: costate_tape_steps numbers of steps, or NULL */
int finer_run(costate *, const costate_tape *, int count, const double *times, int *first, costate_tape *onto,
              costate **finer);

int storage_beside(const costate *, const costate_tape *);     /* options.storage of another tape beside this one */

#endif
