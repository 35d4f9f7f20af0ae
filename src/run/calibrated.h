/* calibrated.h - error norms where the estimate of the method alone would be too small. */
#ifndef COSTATE_RUN_CALIBRATED_H
#define COSTATE_RUN_CALIBRATED_H

#include "solver/run_state.h"

/* the norm of the error of the step in work.err; j: of tangent j, or STATE */
enum { STATE = -1 };
int calibrated_error(costate *, const run *, int j, double *norm);

#endif
