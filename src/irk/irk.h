/* irk.h - what the steps of implicit Runge-Kutta methods share.

   sdirk and firk are one stepper in the residual form of step-maps 3 with M y' = f:

       R_i = (1/h) M sum_j W_ij Z_j - g_i f(t,y,p) - f(t + c_i h, y + Z_i, p) = 0,   W = A^-1,  g = W a,

   with a the column of an explicit first stage (ESDIRK; else g = 0).  A block is the set of stages that are solved
   together: one stage (sdirk, W lower triangular) or all of them (firk).  The explicit first stage is recomputed from
   (t, y): a step is a map of (t, h, y, p) alone, like every other family's. */
#ifndef COSTATE_IRK_H
#define COSTATE_IRK_H
#include "core.h"

int irk_forward(costate *, record *, const record *prev, double *y1, double *err);
int irk_tangent(costate *, const record *, const directions *);
int irk_adjoint(costate *, const record *, const functionals *);

accuracy irk_accuracy(const costate *);      /* of iterated solutions inside Newton */
/* Z <- P^-1 Z or P^-T Z,  P = W_block x M/h - I x J  from f; Z: m columns of block*n */
int irk_solve_block(costate *, const factors *f, int transpose, int m, double *Z);
/* out += (1/h) M sum_{from <= j < to} W_ij X_j (transposed: (1/h) M^T sum W_ji X_j), X_j = X + j stride */
void irk_coupling(costate *, double h, int transpose, int i, int from, int to, double a, const double *X, size_t stride, double *out);

/* Systems of one block with the exact stage Jacobians: B X = rhs or B^T X = rhs, m columns, in place.
   Stage i of the block, column j: X + (i*m + j)*n.  stages.c */
typedef struct { costate *c; const record *r; int block, transpose; } stage_system;
int irk_stage_states(costate *, const record *);                    /* c->stage <- Y_i */
int irk_stage_start(costate *, const record *);                     /* the preconditioner of the step */
int irk_stage_solve(const stage_system *, int m, double *X);
int irk_stage_apply(const stage_system *, const double *x, double *out);   /* out = B x or B^T x, block*n */
size_t irk_stage_work(const costate *, int m);                      /* of c->U */
size_t irk_stage_krylov(const costate *, int m);                    /* of c->krylov */

/* direct.c: the exact stage matrix of a block, factored */
int irk_direct_factor(const stage_system *);
int irk_direct_solve(const stage_system *, int m, double *X);
void irk_direct_moduli(const stage_system *, const double *x, double *out);   /* out += |B||x| */
#endif
