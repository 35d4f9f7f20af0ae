/* coupling.h - the terms of other stages in the equation of a stage: a row or column of a table times the stages. */
#ifndef COSTATE_COUPLING_H
#define COSTATE_COUPLING_H
#include "base/vec.h"
#include "step/step.h"

/* out = base + scale sum_j B_ij X_j, j in [from, to); transposed B_ji.  B, s x s: W of irk, C of ros; stride: from X_j
   to X_j+1; base may be out; NULL: 0.  In the header: a call of eleven arguments is 1 % of a system of two
   components. */
static inline void stage_sum(const stepper *c, const double *B, int transpose, int i, int from, int to, double scale,
                             const double *X, size_t stride, const double *base, double *out)
{
    int s = c->s, count = to > from ? to - from : 0;
    double column[STAGES_MOST];
    if (count == 0 && out == base) return;
    for (int j = from; transpose && j < to; j++) column[j - from] = B[j * s + i];
    combine((size_t)c->n, out, base, scale, count, transpose ? column : B + i * s + from, X + (size_t)from * stride,
            stride);
}

#endif
