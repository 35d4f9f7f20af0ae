/* stability.c - the stability function of a method: what one step makes of y' = -a y. */
#include <math.h>
#include "step/step.h"

/* (mathematics, eq. 6.24) with the exact matrix of the stages, x = 1, or another */
double rosenbrock_growth(const costate_method *m, double x, double s)
{
    double U[STAGES_MOST], R = 1;
    for (int i = 0; i < m->s; i++) {
        double Y = 1, rest = 0;
        for (int j = 0; j < i; j++) Y += m->A[i * m->s + j] * U[j];
        for (int j = 0; j < i; j++) rest += m->C[i * m->s + j] * U[j];
        U[i] = x * (m->gamma * (1 - s) * rest - s * Y);
        R += m->d[i] * U[i];
    }
    return fabs(R);
}

/* |e(x)| (mathematics, eq. 6.38) */
double rosenbrock_slow_error(const costate_method *m, double x)
{
    double u[STAGES_MOST], sum = 0;
    for (int i = 0; i < m->s; i++) {
        double rest = 0;
        for (int j = 0; j < i; j++) rest += m->C[i * m->s + j] * u[j];
        u[i] = x * (m->gamma * rest - 1);
        sum += m->d[i] * u[i];
    }
    return fabs(1 + m->gamma * sum);
}

/* x with A x = x, by rows with pivots; A is destroyed */
static void stability_solve(int n, double A[][STAGES_MOST], double *x)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
        for (int j = 0; j < n; j++) { double swap = A[k][j]; A[k][j] = A[p][j]; A[p][j] = swap; }
        double swap = x[k];
        x[k] = x[p];
        x[p] = swap;
        for (int i = k + 1; i < n; i++) {
            double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= factor * A[k][j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= A[k][j] * x[j];
        x[k] /= A[k][k];
    }
}

/* sdirk, firk: Z = -z (a Y_0 + A (1 + Z)), so that (W + z I) Z = -z (g + 1) */
static double runge_kutta_growth(const costate_method *m, double z)
{
    double A[STAGES_MOST][STAGES_MOST], Z[STAGES_MOST], R = 1;
    for (int i = 0; i < m->s; i++) {
        for (int j = 0; j < m->s; j++) A[i][j] = m->W[i * m->s + j] + (i == j ? z : 0);
        Z[i] = -z * (1 + (m->g ? m->g[i] : 0));
    }
    stability_solve(m->s, A, Z);
    for (int j = 0; j < m->s; j++) R += m->d[j] * Z[j];
    return fabs(R);
}

double implicit_growth(const costate_method *m, double z)
{
    double s = m->gamma * z / (1 + m->gamma * z);
    return m->W ? runge_kutta_growth(m, z) : rosenbrock_growth(m, 1, s);
}
