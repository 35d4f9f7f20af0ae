/* mass.h - the mass matrix of a problem, for operators. */
#ifndef COSTATE_OPERATORS_MASS_H
#define COSTATE_OPERATORS_MASS_H

#include "base/verdict.h"

/* is this a problem that an operator can be for? */
int operator_given(verdict *, const costate_problem *);
size_t matrix_entries(int n, const costate_pattern *);         /* NULL: n*n */
/* *M: the matrix in the problem's pattern, which the caller frees; NULL where it is the identity */
int mass_read(verdict *, const costate_problem *, double **M);
/* *d: its diagonal (n), which the caller frees; NULL where it is the identity.  Fails if M has other entries or a zero
   on its diagonal. */
int mass_read_diagonal(verdict *, const costate_problem *, double **d);

#endif
