/* slopes.h - guards, jumps and costs of events that see y' of a residual. */
#ifndef COSTATE_OPS_SLOPES_H
#define COSTATE_OPS_SLOPES_H

#include "start/start.h"
#include "step/step.h"

typedef struct slopes slopes;

/* a map of an event as one of the state alone; inner: what the user gave */
typedef struct { composed as; map inner; slopes *of; } seeing;

struct slopes {                 /* of a solver; all that its events need */
    starter start;              /* its own: that of the run keeps what it found */
    stepper *st;
    seeing *seeing;             /* 3 an event */
    int held;                   /* start.mine are of the point */
    double t, *y, *p, *m;       /* n, np, nm */
    double *guess, *zero;       /* n: y' that it was found from; zeros */
    int mode;
    double *w, *whole;          /* N: weights; a state */
    double *V, *K, *pm;         /* n, n, np + nm: a direction */
    double *lambda, *kappa, *mu, tau[2];        /* 2 columns of n, n, np + nm */
    double *block;
};

/* NULL: no event asks for y'.  Allocates; the maps of events that do become those of the state alone.  0, or a status */
int slopes_new(slopes **, stepper *, shifts *, const costate_problem *);
void slopes_forget(slopes *);           /* another run or sweep, perhaps with other parameters */
void slopes_free(slopes *);

#endif
