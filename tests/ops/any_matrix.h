/* any_matrix.h - a matrix for W-methods that has nothing to do with f_y: as a preconditioner. */
#ifndef TESTS_ANY_MATRIX_H
#define TESTS_ANY_MATRIX_H

#include "hybrid_sweeps.h"

/* sigma M - W with an arbitrary constant W */

enum { MOST_N = 8 };
typedef struct {
    int n, setups, solves, calls, code_at, code;    /* solve returns code at that call; calls: of solve_many */
    double sigma, A[MOST_N * MOST_N];
    const double *M;                                /* n*n by columns; NULL: identity */
} matrix;

static inline double W(int i, int j) { return i == j ? -1.5 - 0.4 * i : 0.3 * sin(1.7 * i + 2.9 * j); }

static inline int setup(double sigma, const costate_point *x, void *ctx)
{
    matrix *P = ctx;
    (void)x;
    P->setups++;
    P->sigma = sigma;
    for (int i = 0; i < P->n; i++)
        for (int j = 0; j < P->n; j++) P->A[i * P->n + j] = sigma * (P->M ? P->M[j * P->n + i] : i == j) - W(i, j);
    return 0;
}

/* elimination without pivots: the diagonal dominates */
static inline int solve(int transpose, double *x, void *ctx)
{
    matrix *P = ctx;
    int n = P->n;
    double A[MOST_N][MOST_N];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i][j] = transpose ? P->A[j * n + i] : P->A[i * n + j];
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            double by = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= by * A[k][j];
            x[i] -= by * x[k];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
    return ++P->solves == P->code_at ? P->code : 0;
}

static inline int is_w(const costate_method *m)
{
    return method_info(m).family == COSTATE_ROS && method_info(m).properties & COSTATE_W_METHOD;
}

#endif
