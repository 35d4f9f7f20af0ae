/* enzyme.h - an enzyme that turns S into P, and an inhibitor that blocks it slowly: five rate constants, stiff.

       E + S -> C  k1,   C -> E + S  k2,   C -> E + P  k3,   E + I -> D  k4,   D -> E + I  k5

   y = (C, D, P), at first 0, in micromoles a litre, t in seconds; p = (k1, ..., k5).
   E = 1 - C - D, S = 20 - C - P, I = 5 - D. */
#ifndef ENZYME_H
#define ENZYME_H

#include <costate/costate.h>

enum { N = 3, K = 5 };                      /* states; reactions, and as many constants */

extern const costate_problem enzyme;

#endif
