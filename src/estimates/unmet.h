/* unmet.h - what to say if a goal is not met. */
#ifndef COSTATE_ESTIMATES_UNMET_H
#define COSTATE_ESTIMATES_UNMET_H

#include "estimates/accuracy.h"

typedef struct {
    const costate_estimate *e;          /* with all that is wanted of the run */
    const judgement *found;
    const double *y, *p;                /* at the start */
    const costate_second *second;       /* NULL: no Hessian products */
} errors_of_goal;

/* COSTATE_ACCURACY, with a sentence that says which error is too large, and of what */
int goal_unmet(costate *, const costate_functional *, const costate_goal *, const errors_of_goal *);

#endif
