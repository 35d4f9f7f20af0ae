/* second.h - derivatives of second order. */
#ifndef COSTATE_SWEEPS_SECOND_H
#define COSTATE_SWEEPS_SECOND_H

#include "solver/solver.h"

/* checks the arguments: at least `least` directions, and a result for each */
int second_directions(costate *, const costate_second *, int least);
int second_derivatives(costate *, const costate_second *);

int solver_hessian(costate *, const costate_tape *, const costate_second *);
int solver_gauss_newton(costate *, const costate_tape *, const costate_second *);       /* gauss_newton.c */

#endif
