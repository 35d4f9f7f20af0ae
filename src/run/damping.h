/* damping.h - do the steps of a run damp fast modes whose gradients are then wrong? */
#ifndef COSTATE_RUN_DAMPING_H
#define COSTATE_RUN_DAMPING_H

#include "solver/run_state.h"

/* after each accepted step of a run with a tape; at its end, to its message */
void damping_step(costate *, const run *);
void damping_remark(costate *, long steps);         /* so many are on the tape */
int damping_looks(const costate *);                 /* does the method damp too little for any such remark to be due? */
void damping_add(costate *, double h, double rate); /* a step, and the rate of the fastest mode */

#endif
