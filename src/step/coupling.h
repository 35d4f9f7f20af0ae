/* coupling.h - what other stages add to the equation of a stage: scale M sum_j B_ij X_j (step-maps 3.1, 4). */
#ifndef COSTATE_COUPLING_H
#define COSTATE_COUPLING_H
#include <string.h>
#include "base/vec.h"
#include "step/step.h"

/* out = base + scale M sum_j B_ij X_j, j in [from, to); transposed, base + scale M^T sum_j B_ji X_j.  B, s x s: W of
   irk, C of ros; stride: from X_j to X_j+1; scratch: n, used with M; base may be out.  In the header: a call of twelve
   arguments is 1 % of a system of two components. */
static inline void stage_coupling(stepper *c, const double *B, int transpose, int i, int from, int to, double scale,
                                  const double *X, size_t stride, double *scratch, const double *base, double *out)
{
    size_t n = (size_t)c->n;
    int s = c->s, count = to - from;
    double column[STAGES_MOST];
    const double *w = B + i * s + from;
    if (count > 0 && transpose) {
        for (int j = from; j < to; j++) column[j - from] = B[j * s + i];
        w = column;
    }
    if (count > 0 && !c->maps->M) { combine(n, out, base, scale, count, w, X + (size_t)from * stride, stride); return; }
    if (out != base) memcpy(out, base, n * sizeof *out);
    if (count <= 0) return;
    combine(n, scratch, NULL, scale, count, w, X + (size_t)from * stride, stride);
    mass_multiply(c->maps, transpose, 1, 1, scratch, out);
}

#endif
