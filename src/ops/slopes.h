/* slopes.h - y' of a residual as a function of the state, for events that request it (mathematics, section 10.5).

       S: (t, y, p, m) -> (y*, k*),  values consistent at t whose kept components are those of y (start.h, `values`) */
#ifndef COSTATE_OPS_SLOPES_H
#define COSTATE_OPS_SLOPES_H

#include "start/start.h"
#include "step/step.h"

typedef struct {                /* S at a point, and what its derivatives need */
    starter start;              /* separate, so that the starter of the run keeps its results; start.mine: y*, k* */
    stepper *st;
    int held;                   /* they are of the point */
    long serial;                /* how many have been found */
    double t, *y, *p, *m;       /* n, np, nm */
    double *guess, *zero;       /* n: y' that it was found from; zeros */
    int mode;
    double *w, *whole;          /* N: weights; a state */
    double *V, *K, *pm;         /* n, n, np + nm: a direction: y*', k*' */
    double *lambda, *kappa, *mu, tau[2];        /* 2 columns of n, n, np + nm */
    double *block;
} slopes;

int slopes_init(slopes *, stepper *, shifts *, const costate_problem *);        /* allocates; 0, or a status */
void slopes_free(slopes *);
int slopes_are_at(const slopes *, const costate_point *x);
/* Evaluates S at x, in the mode that is bound; with_matrix: also Newton's matrix, which the following functions need */
int slopes_solve(slopes *, const costate_point *x, int with_matrix);
int slopes_tangent(slopes *, const costate_point *dx);          /* V, K */
/* Adjoint: the seeds of y* and k* are columns of lambda and kappa, which were cleared; results are added to g */
void slopes_clear(slopes *);
int slopes_adjoint(slopes *, const costate_gradient *g);        /* column 0 */
int slopes_second(slopes *, const costate_point *dx, const costate_gradient *g);     /* the derivative, column 1 */

/* ---- events: event_slopes.c, transition.c ---- */

typedef struct event_slopes event_slopes;

/* NULL: no event requests y' or has a transition.  Allocates; the maps of such events are replaced by maps of the state
   only.  0, or a status */
int event_slopes_new(event_slopes **, stepper *, shifts *, const costate_problem *);
void event_slopes_forget(event_slopes *);       /* another run or sweep, perhaps with other parameters */
void event_slopes_free(event_slopes *);

/* A transition as the map of the state that solves it. */
typedef struct transition transition;
int transition_new(transition **, slopes *before, slopes *after, shifts *, const costate_problem *, int event);
void transition_forget(transition *);
void transition_free(transition *);

#endif
