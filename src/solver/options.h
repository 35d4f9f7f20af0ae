/* options.h - defaults of options, for the solver and for each member. */
#ifndef COSTATE_SOLVER_OPTIONS_H
#define COSTATE_SOLVER_OPTIONS_H

#include "solver/solver.h"

int options_fill(costate *);
static inline int samples_for(const costate_method *m) { return m->order > 4 ? m->order : 4; }    /* event_samples */
void options_newton(costate *, costate_options *);  /* newton_tol of the current member, from its tolerances */
void options_of_member(costate *, int k);           /* of a composite method: from those of the solver */
costate_options options_unwatched(const costate *); /* of another solver: without callbacks that watch */
double options_rtol(const costate_options *, int n);        /* the smallest that is not 0; 0: all are */
double newton_round_off(double rtol);               /* a newton_tol below this cannot be reached */
/* tolerances: those given, times a factor; atol at most as given */
void options_scale(costate *, double factor);

#endif
