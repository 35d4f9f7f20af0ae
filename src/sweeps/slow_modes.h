/* slow_modes.h - what a matrix of the user's that is not exact on slow modes makes of the gradients of a sweep. */
#ifndef COSTATE_SWEEPS_SLOW_MODES_H
#define COSTATE_SWEEPS_SLOW_MODES_H

#include "solver/solver.h"

typedef struct {                /* of lambda, or of the part of it that departs most */
    double error, rate;         /* as in smoothness, when they were measured last */
    double sum;                 /* the relative error of the gradient */
} slow_mode;

typedef struct {
    costate *c;
    int apart, due;             /* steps from one measurement to the next; the next one */
    double passed;              /* the length of the last step, through which lambda passes before it is measured */
    slow_mode (*of)[2];         /* m */
} slow_modes;

void slow_modes_begin(slow_modes *, costate *, const costate_tape *, int m, double *room);     /* room: 6 m */
int slow_modes_step(slow_modes *, const sweep_state *, int step);       /* before its adjoint; the step is held */
double slow_modes_error(const slow_modes *, int j);             /* relative, of the gradient of functional j */

#endif
