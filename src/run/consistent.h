/* consistent.h - are the values at the start of a run consistent? */
#ifndef COSTATE_RUN_CONSISTENT_H
#define COSTATE_RUN_CONSISTENT_H

#include "solver/solver.h"

int consistent(costate *, double t, double span);           /* checks work.y: 0 or COSTATE_INCONSISTENT */
int residual_start(costate *, double t, double span);       /* the same for residuals; computes work.yp */
int tangents_along_constraints(costate *, double t, double span, int m, double *V, const double *Vp);

#endif
