/* cells_case.h - a run of cells.h: its start, directions, weights of its end, and how far they are from transposed. */
#ifndef TESTS_CELLS_CASE_H
#define TESTS_CELLS_CASE_H

#include <math.h>
#include "cells.h"

static const double dp[NP] = {0.3, -0.2}, dt0 = 0.4, dt1 = -0.6;

static inline double start(int i) { return sin(0.3 * (i + 1)) + 0.01 * i; }
static inline double direction(int i) { return cos(1.7 * i); }
static inline double weight(int i) { return 1 / (1.0 + i); }

/* lambda^T v0 + mu^T dp + g0 t0' + g1 t1' against weight^T V + q', relative */
static inline double cells_gap(const double *lambda, const double *mu, double g0, double g1, const double *V, double dq)
{
    double a = mu[0] * dp[0] + mu[1] * dp[1] + dt0 * g0 + dt1 * g1, b = dq, size = fabs(b);
    for (int i = 0; i < CELLS; i++) {
        a += lambda[i] * direction(i);
        b += weight(i) * V[i];
        size += fabs(weight(i) * V[i]);
    }
    return fabs(a - b) / size;
}

#endif
