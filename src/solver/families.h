/* families.h - the family of a method. */
#ifndef COSTATE_SOLVER_FAMILIES_H
#define COSTATE_SOLVER_FAMILIES_H

#include "step/method.h"

const struct family *family_of(const costate_method *);        /* NULL: its methods take no steps (collocation) */
int has_implicit_stages(const costate_method *);               /* of Runge-Kutta: bvp.h takes the method */

#endif
