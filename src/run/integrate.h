/* integrate.h - a run from t0 to t1, and its continuation. */
#ifndef COSTATE_RUN_INTEGRATE_H
#define COSTATE_RUN_INTEGRATE_H

#include "solver/run_state.h"

/* a run without a tape up to its first step, whose length is x->h_free; nothing of it needs to be ended */
int run_start(costate *, double t0, double t1, const double *y, const double *p, run *);
int run_finish(costate *, run *, int status, double *y);    /* the common status of all processes */

int solver_integrate(costate *, double t0, double t1, double *y, const double *p, costate_tape *);
int solver_integrate_tlm(costate *, double t0, double t1, double *y, const double *p, int m, double *V,
                         const double *Vp, const costate_times *, costate_tape *);
int solver_continue(costate *, costate_tape *, double t1, double *y);

#endif
