/* erk.h - what the three steps of explicit Runge-Kutta methods share. */
#ifndef COSTATE_ERK_H
#define COSTATE_ERK_H
#include "core.h"
int erk_forward(costate *, record *, const record *prev, double *y1, double *err);
int erk_tangent(costate *, const record *, const directions *);
int erk_adjoint(costate *, const record *, const functionals *);
/* Y_i = y + h sum_{j<i} a_ij K_j: out, or y itself for the first stage */
const double *erk_stage(const costate *, const record *, int i, double *out);
/* t + c_i h; at the end of the step the time at which the next begins, whose first slope may be this one (FSAL) */
double erk_time(const costate *c, const record *r, int i);
#endif
