/* aim.h - the length of the next step: limits, the end of the run, and steps that are too short. */
#ifndef COSTATE_RUN_AIM_H
#define COSTATE_RUN_AIM_H

#include "solver/run_state.h"

void set_range(costate *, double t0, double t1);
int longest_step(costate *, run *, double *h);      /* that the family and options.step_bound allow here; RETRY: it is
                                                       not known */
void aim(const costate *, run *);                   /* sets h, and whether the step is the last */
void set_times(run *);                              /* sets t, h and end of the step */
int too_small(const costate *, const run *);
int give_up(costate *, const run *);                /* a try failed, and h cannot be reduced */
int no_jacobian(costate *, const run *);            /* tries failed, and a smaller h does not change why */
int no_room(costate *, const run *);                /* h is too small before anything was tried */

#endif
