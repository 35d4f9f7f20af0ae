/* confirm.h - values and gradients of a run beside plain runs from elsewhere. */
#ifndef COSTATE_ESTIMATES_CONFIRM_H
#define COSTATE_ESTIMATES_CONFIRM_H

#include "estimates/accuracy.h"

/* What is to be confirmed: a run on a tape from these values, its functionals and gradients with estimated errors (of
   `wanted`, all of them there), and what errors are allowed. */
typedef struct {
    const costate_tape *tape;
    const costate_functional *F;
    double t0, t1;
    const double *y, *p;
    const costate_estimate *e;
    unsigned wanted;
    allowed allowed;
} claim_of_run;

/* 0, or COSTATE_ACCURACY if plain runs say something else, or cannot be made */
int confirm(costate *, const claim_of_run *);

#endif
