/* measured.h - a trial solved with one method: what it costs, and how far from the reference it ends. */
#ifndef BENCH_MEASURED_H
#define BENCH_MEASURED_H

#include "json.h"
#include "recommend.h"

/* What a run leaves: one struct is used for run after run, another for the reference. */
typedef struct { double y[TRIAL_MOST], lambda[TRIAL_MOST], mu[TRIAL_MOST], gradient[TRIAL_MOST]; } outcome;

/* whole: forward and backward */
typedef struct { int status; costate_stats forward, whole; double forward_time, time; } cost;

/* Errors below this are too near to those of the references. */
#define TRIAL_ENOUGH 2e-11

/* How often a solver runs, all runs being alike: `first` times, and on for `enough` seconds, but not after `most`. */
typedef struct { int first; double enough, most; } repeats;

/* The counts of the first run of a solver, and the least times of its runs.  backward 0: no gradient, and no tape;
   repeats NULL: once. */
cost trial_run(const trial *, const costate_method *, double rtol, int max_steps, int backward, const repeats *,
               outcome *);
double trial_error(const trial *, const double *y, const double *z);
double trial_gradient_error(const trial *, const double *g, const double *z);
/* z by a tight run; a line of JSON about it.  1: a run failed */
int trial_reference(const trial *, outcome *z, outcome *other);
void trial_counts(json *, const cost *);

#endif
