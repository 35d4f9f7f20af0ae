/* orthogonal.h - makes a vector orthogonal to others (Gram-Schmidt). */
#ifndef COSTATE_LINSOL_ORTHOGONAL_H
#define COSTATE_LINSOL_ORTHOGONAL_H

#include "base/space.h"

/* v, after the k orthonormal vectors Q: its parts along them out of it, into h; h[k]: |v| of what is left.  again: k */
int orthogonalise(const space *, size_t n, int k, const double *Q, double *v, double *h, double *again);

#endif
