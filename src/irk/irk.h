/* irk.h - what the steps of implicit Runge-Kutta methods share.

   sdirk and firk are one stepper in the residual form of step-maps 3 with M y' = f:

       R_i = (1/h) M sum_j W_ij Z_j - g_i f(t,y,p) - f(t + c_i h, y + Z_i, p) = 0,   W = A^-1,  g = W a,

   with a the column of an explicit first stage (ESDIRK; else g = 0).  A block is the set of stages that are solved
   together: one stage (sdirk, W lower triangular) or all of them (firk).  The explicit first stage is recomputed from
   (t, y): a step is a map of (t, h, y, p) alone, like every other family's. */
#ifndef COSTATE_IRK_H
#define COSTATE_IRK_H

#include "base/vec.h"
#include "step/step.h"

typedef struct {
    double *Y, *v1, *v2, *f0;   /* n each; f0: f(t, y) */
    double *w;                  /* N: weights at an earlier step */
    double *r, *rq;             /* nq each */
    double *eb, eb0;            /* s: bhat - b; of the explicit first stage */
    double *R, *pair;           /* 2 block*n: residuals, transformed; 2 n: a complex column */
    double theta, eta;          /* Newton: last contraction; estimate theta/(1 - theta) */
    double *J;                  /* entries: a Jacobian at a stage */
    /* of stage systems */
    double *stage;              /* s*n: Y_i */
    double *rhs;                /* s*m*n: right-hand sides */
    double *column;             /* irk_stage_work: columns, residuals, corrections, moduli */
    double *krylov, *weights;   /* GMRES: work space, weights of residuals */
    double *f0dot, *sum;        /* n*m each: f'(t, y) along directions; adjoint of (t, y, p) at the start of the step */
    LS *exact;                  /* stage matrices of the direct option */
    struct kron *kron;          /* firk: their pattern and values, see direct.c */
    const factors *pre;         /* preconditioner of this step's systems */
    int last_krylov;            /* most iterations of the last step's systems */
} irk_work;

static inline irk_work *work(const stepper *c) { return c->own; }

int irk_forward(stepper *, record *, trial *);
int irk_estimate(stepper *, const record *, const directions *, int j, double *err);
int irk_tangent(stepper *, const record *, const directions *);
int irk_adjoint(stepper *, const record *, const functionals *);

int newton(stepper *, const record *, int block, const accuracy *, double *Z, unsigned char *its, int fixed);
/* of iterated solutions inside Newton; counted: its iterations are prescribed, of a run with factorisations */
accuracy irk_accuracy(const stepper *, int counted);
/* Z <- P^-1 Z or P^-T Z,  P = W_block x M/h - I x J  from f; Z: m columns of block*n */
int irk_solve_block(stepper *, const factors *f, int transpose, int m, const accuracy *, double *Z);
/* out += (1/h) M sum_{from <= j < to} W_ij X_j (transposed: (1/h) M^T sum W_ji X_j), X_j = X + j stride */
void irk_coupling(stepper *, double h, int transpose, int i, int from, int to, double a, const double *X, size_t stride,
                  double *out);

/* Systems of one block with the exact stage Jacobians: B X = rhs or B^T X = rhs, m columns, in place.
   Stage i of the block, column j: X + (i*m + j)*n.  stages.c */
typedef struct { stepper *c; const record *r; int block, transpose; } stage_system;
int irk_stage_states(stepper *, const record *);                    /* stage <- Y_i */
int irk_stage_start(stepper *, const record *);                     /* the preconditioner of the step */
int irk_stage_solve(const stage_system *, int m, double *X);
int irk_stage_apply(const stage_system *, const double *x, double *out);   /* out = B x or B^T x, block*n */
size_t irk_stage_work(const stepper *, int m);                      /* of column */
size_t irk_stage_krylov(const stepper *, int m);                    /* of krylov */

/* direct.c: the exact stage matrix of a block, factored */
int irk_direct_factor(const stage_system *);
int irk_direct_solve(const stage_system *, int m, double *X);
void kron_free(struct kron *);
void irk_direct_moduli(const stage_system *, const double *x, double *out);   /* out += |B||x| */
#endif
