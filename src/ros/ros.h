/* ros.h - what the three steps of Rosenbrock methods share. */
#ifndef COSTATE_ROS_H
#define COSTATE_ROS_H
#include "core.h"
int ros_forward(costate *, record *, const record *prev, double *y1, double *err);
int ros_tangent(costate *, const record *, const directions *);
int ros_adjoint(costate *, const record *, const functionals *);
int ros_matrices(costate *, const record *, const factors **);  /* E = M/(h gamma) - f_y(t, y), factored */
int ros_time_slope(costate *, const record *);                  /* c->ft <- f_t(t, y) */
/* out += (1/h) M sum_{from <= j < to} C_ij X_j (transposed: (1/h) M^T sum C_ji X_j) */
void ros_coupling(costate *, double h, int transpose, int i, int from, int to, const double *X, size_t stride, double *out);
/* h K_i = U_i/gamma - sum_{j<i} c_ij U_j */
void ros_slope(const costate *, const record *, int i, double *out);
const double *ros_stage(const costate *, const record *, int i, double *out);   /* Y_i = y + sum a_ij U_j */
int ros_solve(costate *, const factors *, int transpose, int m, double *X);
#endif
