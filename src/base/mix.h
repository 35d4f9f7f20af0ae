/* mix.h - sums of a few vectors, all from the same vectors, inline where their number is known. */
#ifndef COSTATE_BASE_MIX_H
#define COSTATE_BASE_MIX_H

#include <stddef.h>
#include "base/inline.h"

enum { MIXED = 7 };             /* the most vectors */

/* k, and n where it is small, are known where this is inlined */
INLINE void mix_of(int k, size_t n, double *restrict out, int onto, double scale, const double *A,
                   const double *restrict X, size_t stride)
{
    for (int i = 0; i < k; i++, out += stride) {
        double w[MIXED];
        for (int j = 0; j < k; j++) w[j] = scale * A[i * k + j];
        for (size_t l = 0; l < n; l++) {
            double sum = onto ? out[l] : 0;
            for (int j = 0; j < k; j++) sum += w[j] * X[(size_t)j * stride + l];
            out[l] = sum;
        }
    }
}

#endif
