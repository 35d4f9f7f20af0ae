/* status.h - messages of a solver: remarks that are appended to them. */
#ifndef COSTATE_SOLVER_STATUS_H
#define COSTATE_SOLVER_STATUS_H

#include "solver/solver.h"

void no_error(costate *);               /* status OK, with hints about the problem and the method, if there are any */
void bound_remark(costate *);           /* steps were longer than options.step_bound */
/* Values inside steps of these members (1 << k) were asked for. */
void inside_remark(costate *, unsigned members);
void remark(costate *, int status);     /* after a failure: what the family says of it */

#endif
