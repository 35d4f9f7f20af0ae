/* everything.h - every call on a solver once, in turn, and all that they give: for tests that disturb them. */
#ifndef TESTS_EVERYTHING_H
#define TESTS_EVERYTHING_H

#include <costate/accuracy.h>
#include "common.h"

enum { EVERY_N = 5, EVERY_P = 2, EVERY_M = 2 };     /* the synthetic problems, two directions and functionals */

typedef struct {
    double end[EVERY_N], tlm[EVERY_N * EVERY_M], gradient[EVERY_N * EVERY_M], gradient_p[EVERY_P * EVERY_M];
    double tangent[EVERY_N * EVERY_M], adjoint[EVERY_N * EVERY_M], adjoint_p[EVERY_P * EVERY_M];
    double again[EVERY_N], between[EVERY_N], errors[EVERY_N * EVERY_M];
} results;

static inline int every_functional(double t1, const double *y, const double *p, int m, double *value, double *lambda,
                                   double *mu, double *end, void *ctx)
{
    (void)t1, (void)p, (void)mu, (void)end, (void)ctx;
    value[0] = y[0];
    lambda[0] = m;
    return 0;
}

static inline int every_seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    (void)t1, (void)p, (void)mu, (void)ctx;
    for (int k = 0; k < EVERY_N * m; k++) lambda[k] = y[k % 3] + 0.1 * k;
    return 0;
}

static inline void every_start(const problem *b, double *y)
{
    memset(y, 0, EVERY_N * sizeof *y);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
}

/* the first status that is not COSTATE_OK ends it; *at: which call that was.  Results not reached stay as they were. */
static inline int every_call(costate *c, const problem *b, double t1, costate_tape *tape, results *r, int *at)
{
    static const double unit[EVERY_N * EVERY_M] = {1, 0.5, -0.2, 0.1, 0.3, -0.4, 1, 0.6, 0.2, -0.7};
    static const double vp[EVERY_P * EVERY_M] = {0.3, -0.2, 0.1, 0.5};
    double y[EVERY_N], V[EVERY_N * EVERY_M], mu[EVERY_P * EVERY_M] = {0};
    const double *p = b->p0, *dp = b->P.np ? vp : NULL;
    int status;
#define EVERY(call, to, from) do { \
    ++*at; \
    if ((status = (call)) != COSTATE_OK) return status; \
    memcpy(r->to, from, sizeof r->to); } while (0)
    *at = 0;
    every_start(b, y);
    EVERY(costate_integrate(c, b->t0, t1, y, p, tape), end, y);
    memcpy(V, unit, sizeof V);
    EVERY(costate_tangent(c, tape, EVERY_M, V, dp, NULL, NULL), tangent, V);
    memcpy(V, unit, sizeof V);
    EVERY(costate_adjoint(c, tape, EVERY_M, V, mu, NULL, NULL), adjoint, V);
    memcpy(r->adjoint_p, mu, sizeof mu);
    every_start(b, y);
    EVERY(costate_replay(c, tape, y, p), again, y);
    const costate_functional F = {.m = 1, .at_end = every_functional};
    costate_estimate e = {.error = {.y0 = V}};
    memset(V, 0, sizeof V);
    EVERY(costate_accuracy(c, tape, &F, &e), errors, V);
    memset(y, 0, sizeof y);
    EVERY(costate_tape_eval(c, tape, 0.4 * b->t0 + 0.6 * t1, y), between, y);
    every_start(b, y);
    memcpy(V, unit, sizeof V);
    EVERY(costate_integrate_tlm(c, b->t0, t1, y, p, EVERY_M, V, dp, NULL, NULL), tlm, V);
    every_start(b, y);
    memset(mu, 0, sizeof mu);
    EVERY(costate_integrate_adj(c, b->t0, t1, y, p, EVERY_M, V, mu, NULL, every_seed, NULL), gradient, V);
    memcpy(r->gradient_p, mu, sizeof mu);
#undef EVERY
    return COSTATE_OK;
}

#endif
