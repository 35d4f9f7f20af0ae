/* orthogonal.h - makes a vector orthogonal to others (Gram-Schmidt). */
#ifndef COSTATE_LINSOL_ORTHOGONAL_H
#define COSTATE_LINSOL_ORTHOGONAL_H

#include "base/space.h"

/* removes from v its components along the k orthonormal vectors Q; h: these components, then |v| of what remains.
   again: k numbers, work */
int orthogonalise(const space *, size_t n, int k, const double *Q, double *v, double *h, double *again);

#endif
