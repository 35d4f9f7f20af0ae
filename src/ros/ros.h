/* ros.h - what the three steps of Rosenbrock methods share. */
#ifndef COSTATE_ROS_H
#define COSTATE_ROS_H

#include "base/vec.h"
#include "step/columns.h"

typedef struct {
    double *Y, *v1, *v2;        /* n each */
    double *r, *rq;             /* nq each */
    double *ft;                 /* f_t of the step */
    double *error_b;            /* s: bhat - b, weights of the integrals' error estimate */
    int filtered;               /* the error estimate is, where M is singular */
    unsigned char extends[STAGES_MOST + 1];     /* Y_i = Y_i-1 + U_i-1; the last: y+ = Y_s + U_s */
    guesses step, sweep;        /* without a matrix: of the stages of one step; of the systems of a sweep */
    column_work columns;        /* y: Y'_i */
    double *sum;                /* n*m: adjoint of (t, y, p) at the start of the step */
    double *Yb;                 /* s*m*n: adjoints of the stage points */
} ros_work;

static inline ros_work *work(const stepper *c) { return c->own; }

int ros_forward(stepper *, record *, trial *);
int ros_tangent(stepper *, const record *, const directions *);
int ros_adjoint(stepper *, const record *, const functionals *);
int ros_estimate(stepper *, const record *, const directions *, int j, double *err);
int ros_matrices(stepper *, const record *, const factors **);  /* E = M/(h gamma) - f_y(t, y), factored */
int ros_time_slope(stepper *, const record *);                  /* work(c)->ft <- f_t(t, y) */
/* out += (1/h) M sum_{from <= j < to} C_ij X_j (transposed: (1/h) M^T sum C_ji X_j) */
void ros_coupling(stepper *, double h, int transpose, int i, int from, int to, const double *X, size_t stride,
                  double *out);
/* h K_i = U_i/gamma - sum_{j<i} c_ij U_j */
void ros_slope(const stepper *, const record *, int i, double *out);
const double *ros_stage(const stepper *, const record *, int i, double *out);   /* Y_i = y + sum a_ij U_j */
/* left: what a residual counts that stays in a sweep; from: see shifts.h */
int ros_solve(stepper *, const factors *, int transpose, int m, double left, guesses *from, double *X);

#endif
