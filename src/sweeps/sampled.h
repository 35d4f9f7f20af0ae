/* sampled.h - how far the gradients of a sweep may be off, by a few of its steps. */
#ifndef COSTATE_SWEEPS_SAMPLED_H
#define COSTATE_SWEEPS_SAMPLED_H

#include "sweeps/slow_modes.h"

typedef struct {
    costate *c;
    int places, at, begun;      /* where local errors are measured; how many of these are done; how many were begun */
    double apart;               /* steps of the tape for each of them */
    int steps;                  /* through which the local error at hand has been carried; 0: there is none */
    int next;                   /* the step before it, which is the next one */
    int conserves;              /* 1: lambda^T y' does not change, as far as is known */
    double allowed;             /* at the place at hand: the error of lambda that is no worse than that of y */
    double *first, *part;       /* m: r_1 of the place at hand, and the part of its errors that counts */
    double *ended, *seen;       /* m: lambda^T y' at the end of the run; what observations have added to it */
    double *change;             /* m: its relative change between both ends */
    double *r, *kappa;          /* PLACES_MOST by m */
    slow_modes slow;
} sampled;

void sampled_begin(sampled *, costate *, const costate_tape *);
int sampled_step(sampled *, sweep_state *, int step);           /* before its adjoint */
int sampled_end(sampled *, sweep_state *);                      /* the result into the statistics, and a remark */

#endif
