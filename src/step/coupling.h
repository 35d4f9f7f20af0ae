/* coupling.h - what other stages add to the equation of a stage: scale M sum_j B_ij X_j (step-maps 3.1, 4). */
#ifndef COSTATE_COUPLING_H
#define COSTATE_COUPLING_H
#include "base/vec.h"
#include "step/step.h"

/* out += scale M sum_j B_ij X_j, j in [from, to); transposed, scale M^T sum_j B_ji X_j; B, s x s: W of irk, C of ros;
   stride: from X_j to X_j+1; scratch: n, used with M.  In the header: a call of eleven arguments is 1 % of a system of
   two components. */
static inline void stage_coupling(stepper *c, const double *B, int transpose, int i, int from, int to, double scale,
                                  const double *X, size_t stride, double *scratch, double *out)
{
    size_t n = (size_t)c->n;
    int s = c->s;
    double w[STAGES_MOST];
    if (from >= to) return;
    for (int j = from; j < to; j++) w[j - from] = B[transpose ? j * s + i : i * s + j];
    if (!c->maps->M) { combine(n, out, out, scale, to - from, w, X + (size_t)from * stride, stride); return; }
    combine(n, scratch, NULL, scale, to - from, w, X + (size_t)from * stride, stride);
    mass_multiply(c->maps, transpose, 1, 1, scratch, out);
}

#endif
