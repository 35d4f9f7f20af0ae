/* warm.h - runs that start where the last one ended (options.warm). */
#ifndef COSTATE_RUN_WARM_H
#define COSTATE_RUN_WARM_H

#include "solver/run_state.h"

enum { COLD, WARM, WARM_WITH_MATRICES };
int warm(const costate *, double t0, double t1, const double *y, const double *p, const costate_tape *);
void warm_go_on(const costate *, run *, int matrices);      /* start from where the last run ended */
void warm_keep(costate *, const run *);                     /* store the end of this run */

#endif
