/* family_trial.h - a family of methods that the library does not have, and its steps taken one by one, by hand.

   What a newcomer writes against step.h, and what the rooms below it need to take a step: no costate, run or tape. */
#ifndef TESTS_FAMILY_TRIAL_H
#define TESTS_FAMILY_TRIAL_H

#include "step/step.h"

extern const family trial_family;       /* family_trial.c */

typedef struct {                        /* one_step.c; zeroed before it is made */
    stepper st;
    maps maps;
    costate_options o;
    costate_stats count;
    verdict v;
    double *work;
    double *y, *y1, *err, *X;           /* N each but X: s*n; those of r, the step taken last */
    record r;
} one_step;

/* At b->t0, b->y0, integrals 0, with work space for m columns, or a jet of so many.  sh: where the family solves with
   M, or NULL.  0 or a status, its sentence in v. */
int one_step_new(one_step *, const family *, const costate_method *, const costate_problem *, int m, shifts *sh);
void one_step_begin(one_step *, double t, const double *y, const double *p);
int one_step_take(one_step *, double h);        /* to y1 at r.end */
void one_step_go_on(one_step *);                /* the next begins where the last one ended */
void one_step_free(one_step *);

#endif
