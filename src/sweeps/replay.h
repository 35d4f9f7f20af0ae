/* replay.h - the steps of a tape with other values. */
#ifndef COSTATE_SWEEPS_REPLAY_H
#define COSTATE_SWEEPS_REPLAY_H

#include "solver/solver.h"

int solver_replay(costate *, const costate_tape *, double *y, const double *p);
int solver_replay_onto(costate *, const costate_tape *, double *y, const double *p, costate_tape *onto);
/* The same up to t1 + later, by another length of the last step, which has to be one that ends at t1. */
int solver_replay_later(costate *, const costate_tape *, double *y, const double *p, double later, costate_tape *onto);

#endif
