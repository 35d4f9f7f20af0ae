/* list.h - the operations of a tape: which belong to a step. */
#ifndef COSTATE_OPS_LIST_H
#define COSTATE_OPS_LIST_H

#include "ops/ops.h"

/* an observation belongs to the last step that starts before it or at its time */
int lies_in(const costate_tape *, int k, double t);
op step_of(const costate_tape *, int k, int next);          /* next: the first map after step k, if any */

#endif
