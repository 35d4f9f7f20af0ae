/* arguments.h - checks of what a caller passes to runs and sweeps. */
#ifndef COSTATE_SOLVER_ARGUMENTS_H
#define COSTATE_SOLVER_ARGUMENTS_H

#include "solver/solver.h"

int check_vector(costate *, const char *name, const double *x, size_t count);   /* not NULL and finite */
int check_arguments(costate *, double t0, double t1, const double *y, const double *p);
/* 0, or COSTATE_MISSING if this mode lacks a product: over the tape, or NULL: in any run */
int maps_available(costate *, const costate_tape *, enum mode, int with_p, int with_t);
int timed_sweep(const costate *, const costate_times *);    /* are derivatives with respect to t and h needed? */
void times_begin(const costate_times *, int m, double *dt); /* t' of t0 */
int check_no_events(costate *, const costate_times *);      /* for runs whose events are not known yet */
int tangent_begin(costate *, const costate_tape *, int m, const double *V, const double *Vp, const costate_times *);
int adjoint_begin(costate *, const costate_tape *, int m, const double *lambda, const double *mu,
                  const costate_times *);

#endif
