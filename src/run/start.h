/* start.h - consistent values at the start and at the end of a run. */
#ifndef COSTATE_RUN_START_H
#define COSTATE_RUN_START_H

#include "solver/run_state.h"

/* work.y, and work.yp, which is the guess of y' before; how it was done is in c->start.mine */
int make_consistent(costate *, double t, int only_values);
int map_run(costate *, run *, int at_end);          /* the same of a run: of its tangents and on the tape, too */
/* a residual with constraints, for a method that cannot keep them */
int refuse_algebraic(costate *, double t);

int solver_consistent(costate *, double t, double *y, double *yp, const double *p);

#endif
