/* sweep.h - sweeps over the operations of a tape. */
#ifndef COSTATE_SWEEPS_SWEEP_H
#define COSTATE_SWEEPS_SWEEP_H

#include "solver/solver.h"
#include "sweeps/sampled.h"

typedef struct { int (*row)(void *ctx, sweep_state *, op); void *ctx; } visit;
int tangent_of(void *none, sweep_state *, op);                      /* tangent-linear maps of the operations */
int adjoint_of(void *none, sweep_state *, op);
/* steps from .. to - 1 with the maps before each (at the end of the tape, also those after the last step) and their
   observations */
int sweep_forward(sweep_state *, int from, int to, const visit *);
int sweep_backward(sweep_state *, int from, int to, const visit *);
/* lambda, mu, times <- the gradients before the tape, on which a sweep has begun (tape_begin); after: called for each
   step, with those before it, or NULL; and what their errors may be, where `sampled` is not NULL */
int adjoint_sweep(costate *, const costate_tape *, int m, double *lambda, double *mu, const costate_times *,
                  const costate_observations *, const visit *after, sampled *);
sweep_state sweep_of(costate *, const costate_tape *, const reader *, int m, const costate_times *,
                     const costate_observations *);
int check_observations(costate *, const costate_tape *, const costate_observations *, enum mode);
int total_times(const costate *, const costate_times *, int m);     /* sums over all processes */
int tape_begin(costate *, const costate_tape *);        /* checks that the tape fits, binds its parameters */
int step_of_tape(costate *, const costate_tape *, int k, record *r);    /* with its stages */

int solver_tangent(costate *, const costate_tape *, int m, double *V, const double *Vp, const costate_times *,
                   const costate_observations *);
int solver_adjoint(costate *, const costate_tape *, int m, double *lambda, double *mu, const costate_times *,
                   const costate_observations *);
int solver_integrate_adj(costate *, double t0, double t1, double *y, const double *p, int m, double *lambda,
                         double *mu, const costate_times *, costate_seed seed, void *ctx);

#endif
