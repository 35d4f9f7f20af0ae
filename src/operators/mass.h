/* mass.h - the mass matrix of a problem, for operators. */
#ifndef COSTATE_OPERATORS_MASS_H
#define COSTATE_OPERATORS_MASS_H

#include "base/verdict.h"

/* *d: the diagonal of M (n), which the caller frees; NULL where it is the identity.  Fails if M has other entries, or a
   zero on its diagonal. */
int mass_read_diagonal(verdict *, const costate_problem *, double **d);

#endif
