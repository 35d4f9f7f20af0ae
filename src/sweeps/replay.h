/* replay.h - the steps of a tape with other values. */
#ifndef COSTATE_SWEEPS_REPLAY_H
#define COSTATE_SWEEPS_REPLAY_H

#include "solver/solver.h"

int solver_replay(costate *, const costate_tape *, double *y, const double *p);
int solver_replay_onto(costate *, const costate_tape *, double *y, const double *p, costate_tape *onto);

#endif
