/* finer.h - the run on a tape again, with halved steps, or with others. */
#ifndef COSTATE_ESTIMATES_FINER_H
#define COSTATE_ESTIMATES_FINER_H

#include "solver/solver.h"

/* The run on the tape again, with halved steps that also end at these times, onto another tape.  *finer: its solver, to
   be freed by the caller also after a failure; first: costate_tape_steps numbers of steps, or NULL */
int finer_run(costate *, const costate_tape *, int count, const double *times, int *first, costate_tape *onto,
              costate **finer);

/* Another solver like this one, which watches nothing, for plain runs: *made, to be freed by the caller also after a
   failure.  plain_run: the run on the tape again, from its start and in its pieces, but with steps that this solver
   chooses. */
int plain_solver(costate *, const costate_tape *, double hmax, costate **made);
int plain_run(costate *, const costate_tape *, costate *plain, costate_tape *onto);

int storage_beside(const costate *, const costate_tape *);     /* options.storage of another tape beside this one */

#endif
