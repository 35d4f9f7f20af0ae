/* inside.h - values between the ends of steps. */
#ifndef COSTATE_SWEEPS_INSIDE_H
#define COSTATE_SWEEPS_INSIDE_H

#include "solver/solver.h"

int inside_find(const costate_tape *, double t);   /* the step that contains t: the last that does not start after it */
unsigned inside_of(const costate_tape *, int k, double t);      /* its member as 1 << member; 0: t is one of its ends */
/* at the end of a sweep: how accurate the values at observations between steps can be */
void observations_remark(costate *, const costate_tape *, const costate_observations *);

#endif
