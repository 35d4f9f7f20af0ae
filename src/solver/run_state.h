/* run_state.h - the state of a run: its clock, the step to try, the last step. */
#ifndef COSTATE_SOLVER_RUN_STATE_H
#define COSTATE_SOLVER_RUN_STATE_H

#include "solver/solver.h"

typedef struct run {
    int (*once)(costate *, struct run *);       /* one step of length h, not judged (run/try.c) */
    double t, low, t1, h;       /* the time is t + low; h signed: the step to try */
    double end_low;             /* the time at its end is now.end + end_low */
    double end;                 /* of the run; t1 is this, or a given time of an event before it */
    int last;                   /* the step reaches t1 */
    int cut;                    /* an event has shortened the step */
    int on;                     /* the run continues an earlier one */
    int over;                   /* a terminal event ended the run */
    double judged;              /* h of the step to which the error estimate belongs */
    double h_free;              /* the proposed step, before it was shortened to reach t1 */
    control k;
    costate_tape *tape;
    trial by;                   /* what the step may use */
    record now, prev;
    int has_prev;
    int begun;                  /* the run has a step */
    int unlinear;               /* tries of this step that ended at once, as J at its start was not finite */
    long unsolved;              /* tries of this call in which GMRES did not converge */
    long rejected;              /* rejected steps of this call; the number of accepted ones is c->at */
    directions *d;
    double *Va, *Vb;            /* tangents at t and at t + h */
    const costate_times *times;
} run;

#endif
