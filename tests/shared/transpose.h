/* transpose.h - how far the adjoint of a run is from the transpose of its tangent. */
#ifndef TESTS_TRANSPOSE_H
#define TESTS_TRANSPOSE_H

#include "common.h"

enum { GAP_N = 8, GAP_M = 3 };       /* largest N, columns */

typedef struct {
    const costate_method *m;
    const costate_problem *P;
    double t0, t1;
    const double *y0, *p0;           /* n, np */
    costate_options o;
    int columns;
    const double *scale;             /* n: of the functionals, or NULL */
} transposed_run;

/* the largest relative gap of <lambda1, V1> = <lambda0, V0> + <mu, Vp> + times, random directions of all of them */
static inline double transpose_gap(const transposed_run *s)
{
    int N = s->P->n + s->P->nq, np = s->P->np, m = s->columns;
    unsigned seed = 5;
    double y[GAP_N] = {0}, V[GAP_N * GAP_M], V0[GAP_N * GAP_M], Vp[GAP_N * GAP_M], dt[2 * GAP_M];
    double lambda[GAP_N * GAP_M], end[GAP_N * GAP_M], mu[GAP_N * GAP_M] = {0}, g0[GAP_M], g1[GAP_M], worst = 0;
    costate *c = new_for_test(s->m, s->P, &s->o);
    costate_tape *tape = costate_tape_new();
    costate_times d = {.t0 = dt, .t1 = dt + GAP_M}, g = {.t0 = g0, .t1 = g1};
    memcpy(y, s->y0, (size_t)s->P->n * sizeof *y);
    random_fill(&seed, GAP_N * GAP_M, V);
    random_fill(&seed, GAP_N * GAP_M, Vp);
    random_fill(&seed, GAP_N * GAP_M, lambda);
    random_fill(&seed, 2 * GAP_M, dt);
    memcpy(V0, V, sizeof V);
    for (int k = 0; s->scale && k < N * m; k++) lambda[k] *= k % N < s->P->n ? s->scale[k % N] : 1;
    memcpy(end, lambda, sizeof lambda);
    CHECK_OK(c, costate_integrate(c, s->t0, s->t1, y, s->p0, tape));
    assert_true(costate_tape_steps(tape) > 2);
    CHECK_OK(c, costate_tangent(c, tape, m, V, np ? Vp : NULL, &d, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, m, lambda, np ? mu : NULL, &g, NULL));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double left = 0, right = g0[i] * dt[j] + g1[i] * dt[GAP_M + j],
                   size = fabs(g0[i] * dt[j]) + fabs(g1[i] * dt[GAP_M + j]);
            for (int k = 0; k < N; k++) {
                left += end[i * N + k] * V[j * N + k];
                size += fabs(end[i * N + k] * V[j * N + k]);
            }
            for (int k = 0; k < N; k++) right += lambda[i * N + k] * V0[j * N + k];
            for (int k = 0; k < np; k++) right += mu[i * np + k] * Vp[j * np + k];
            worst = larger_of(worst, fabs(left - right) / size);
            assert_true(isfinite(left) && isfinite(right));
        }
    costate_tape_free(tape);
    costate_free(c);
    return worst;
}

#endif
