/* control.h - step size control of a run: the first step, and the next one. */
#ifndef COSTATE_RUN_CONTROL_H
#define COSTATE_RUN_CONTROL_H

#include "solver/run_state.h"

int error_exponent(const costate_method *);                         /* k: err ~ h^k */
law law_of(const stepper *);
control control_of(const stepper *);        /* when a run begins, or another member takes over */
/* log_err: log_of_error of the step */
double next_factor(const stepper *, const control *, int newton, double log_err, double h);
/* the next step, signed, after one of length `judged` with this error, within the limits of the run */
double next_h(costate *, const run *, double judged, double log_err);
/* yp: y' for residuals, else NULL; f, z, f1: n each, work */
int first_step(stepper *, interval *, const double *y, const double *yp, double *f, double *z, double *f1,
               double *h);

#endif
