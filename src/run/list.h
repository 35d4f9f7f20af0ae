/* list.h - the operations of a tape: which belong to a step. */
#ifndef COSTATE_RUN_LIST_H
#define COSTATE_RUN_LIST_H

#include "solver/solver.h"

/* an observation belongs to the last step that starts before it or at its time */
int lies_in(const costate_tape *, int k, double t);
op step_of(const costate_tape *, int k, int next);          /* next: the first map after step k, if any */

#endif
