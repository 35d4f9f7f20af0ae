/* calibrated.h - error norms where the estimate of the method alone would be too small. */
#ifndef COSTATE_RUN_CALIBRATED_H
#define COSTATE_RUN_CALIBRATED_H

#include "solver/run_state.h"

/* the norm of the error of the step in work.err; j: of tangent j, or STATE */
enum { STATE = -1 };
int calibrated_norm(costate *, const run *, int j, double *norm);
static inline int calibrated_error(costate *c, const run *x, int j, double *norm)
{
    int does = c->st.members[c->st.at].looser > 1 && c->st.F->stiff_part && *norm <= 1;
    return does ? calibrated_norm(c, x, j, norm) : 0;
}

void calibrated_anew(costate *, const run *);      /* a new step begins: there is no earlier try of it */

#endif
