/* output.h - dense output of a tape. */
#ifndef COSTATE_SWEEPS_OUTPUT_H
#define COSTATE_SWEEPS_OUTPUT_H

#include "solver/solver.h"

int solver_tape_eval(costate *, const costate_tape *, double t, double *y);

#endif
