/* irk.h - what the steps of implicit Runge-Kutta methods share.

   sdirk and firk are one stepper in the residual form of step-maps 3 with M y' = f:

       R_i = (1/h) M sum_j W_ij Z_j - g_i f(t,y,p) - f(t + c_i h, y + Z_i, p) = 0,   W = A^-1,  g = W a,

   with a the column of an explicit first stage (ESDIRK; else g = 0).  A block is the set of stages that are solved
   together: one stage (sdirk, W lower triangular) or all of them (firk).  The explicit first stage is recomputed from
   (t, y): a step is a map of (t, h, y, p) alone, like every other family's. */
#ifndef COSTATE_IRK_H
#define COSTATE_IRK_H

#include "base/vec.h"
#include "linsol/guess.h"
#include "step/columns.h"

/* How the equations of a block are solved: what sdirk and firk do not share. */
typedef struct stage_system stage_system;
typedef struct {
    int most_columns;           /* that are iterated together: their solves are one call, where there is more to win */
    int dense_most;             /* unknowns of a block up to which its exact matrix is factored, not iterated with */
    int sparse;                 /* 0: never where the backend is sparse */
    int preconditioned;         /* matrix-free: the user's preconditioner, or the ILU, is one of a block */
    /* Z <- P^-1 Z or P^-T Z,  P = W_block x M/h - I x J  from f; Z: m columns of block*n */
    int (*solve)(stepper *, const factors *f, int transpose, int m, const accuracy *, double *Z);
    int (*exact_factor)(const stage_system *);              /* the matrix with J at each stage, into own exact */
    int (*exact_solve)(const stage_system *, int m, int from, double *X);       /* columns from .. m - 1 */
    void (*free)(void *own);
} block_algebra;
extern const block_algebra irk_one_stage;

typedef struct {
    const block_algebra *by;
    void *algebra;              /* its own */
    double *Y, *v1, *v2, *f0;   /* n each; f0: f(t, y) */
    double *w;                  /* N: weights at an earlier step */
    double *r;                  /* nq */
    double *error_b, error_b0;  /* s: bhat - b, weights of the integrals' error estimate; of the explicit first stage */
    double *R, *pair;           /* 2 block*n: residuals, transformed; 2 n: a complex column */
    double *split, *pairs;      /* of several columns solved together: transformed, block*n each; 2 n each */
    double theta, eta;          /* Newton: last contraction; estimate theta/(1 - theta) */
    double *J;                  /* entries: a Jacobian at a stage */
    /* without a matrix */
    pairs pool;
    double amplified, amplified_before;     /* see loose.h; at the begin of the step */
    long tried;                 /* serial of the last try */
    int added;                  /* pairs, in it */
    /* of stage systems */
    double *stage;              /* s*n: Y_i */
    double *rhs;                /* s*m*n: right-hand sides */
    double *column;             /* irk_stage_work: columns, residuals, corrections, moduli */
    double *krylov, *weights;   /* GMRES: work space, weights of residuals */
    double *f0dot, *sum;        /* n*m each: f'(t, y) along directions; adjoint of (t, y, p) at the start of the step */
    column_work columns;        /* y: directions of the integrals, or sum g_i u_i */
    guesses guesses;            /* without a matrix: of a sweep's systems */
    LS *exact;                  /* the exact matrix of a block */
    const factors *pre;         /* preconditioner of this step's systems */
    int last_krylov;            /* most iterations of the last step's systems */
} irk_work;

static inline irk_work *work(const stepper *c) { return c->own; }

int irk_forward(stepper *, record *, trial *);
int irk_estimate(stepper *, const record *, const directions *, int j, double *err);
int irk_tangent(stepper *, const record *, const directions *);
int irk_adjoint(stepper *, const record *, const functionals *);

/* -R_i of the block's stages into work(c)->R, y + Z of the last one into work(c)->Y; constant: the part of earlier
   blocks, g_i f(t,y) - (1/h) M sum_{j<i} W_ij Z_j, which the other one forms in work(c)->v1 (sdirk), or NULL */
int irk_residual(stepper *, const record *, int i0, const double *Z, const double *constant);
const double *irk_earlier(stepper *, const record *, int i);
int newton(stepper *, const record *, int block, const accuracy *, double *Z, unsigned char *iterations, int fixed);
/* of iterated solutions inside Newton; counted: its iterations are prescribed, of a run with factorisations */
accuracy irk_accuracy(const stepper *, int counted);
/* out += (1/h) M sum_{from <= j < to} W_ij X_j (transposed: (1/h) M^T sum W_ji X_j), X_j = X + j stride */
void irk_coupling(stepper *, double h, int transpose, int i, int from, int to, double a, const double *X, size_t stride,
                  double *out);

/* Systems of one block with the exact stage Jacobians: B X = rhs or B^T X = rhs, m columns, in place.
   Stage i of the block, column j: X + (i*m + j)*n. */
struct stage_system { stepper *c; const record *r; int block, transpose; };

/* inexact.c: steps without a matrix whose stages are solved one by one, and only as far as Newton needs */
int irk_inexact(const stepper *);
double irk_loosely(const stepper *);                                 /* the default of newton_tol there, or 0 */
void irk_inexact_layout(stepper *, cursor *);
double irk_sigma(const stepper *, double h);                        /* of a single stage's systems sigma M - J */
int irk_inexact_stages(stepper *, record *, trial *);
int irk_inexact_bounded(const stepper *);                            /* the estimate is sum e_j Z_j as it is */
int irk_inexact_filter(stepper *, const record *, double *x);

/* product.c */
void irk_stage_states(stepper *, const record *);                    /* stage <- Y_i */
int irk_stage_apply(const stage_system *, int m, const double *X, double *out);  /* B X or B^T X, block*n by m */
void irk_gather(const stage_system *, int m, int j, const double *X, double *x);     /* column j of X, and back */
void irk_scatter(const stage_system *, int m, int j, const double *x, double *X);

/* exact.c: by the exact matrix, len = block*n numbers a column */
int irk_exact_status(const stage_system *, int code);               /* of LS_Decomp, or of LS_Init (own exact NULL) */
int irk_exact_columns(const stage_system *, int m, double *x);      /* m columns side by side */
int irk_exact_solve(const stage_system *, int m, int from, double *X);     /* columns from .. m - 1, refined */

/* stages.c: the way that suits the system */
int irk_stage_start(stepper *, const record *);                     /* the preconditioner of the step */
int irk_stage_solve(const stage_system *, int m, double *X);
void irk_stage_layout(stepper *, cursor *, int m);                  /* the pools of first guesses */
size_t irk_stage_work(const stepper *, int m);                      /* of column */
size_t irk_stage_krylov(const stepper *, int m);                    /* of krylov */
int irk_stage_together(const stepper *, int m);                     /* columns of m that are solved in one call */

/* family.c: what the tables of sdirk and firk share */
int irk_prepare(stepper *, const block_algebra *);
void irk_layout(stepper *, cursor *);
void irk_layout_derivatives(stepper *, cursor *, int m);
void irk_ready(stepper *);
void irk_restart(stepper *);
void irk_sweep(stepper *);
double irk_keep(stepper *, double factor);
void irk_free(void *own);

/* the table of sdirk or firk, which differ in how they prepare: with which algebra of blocks */
#define IRK_FAMILY(prepare_it) {                            \
    .is = IMPLICIT,                                         \
    .needs = {0, TANGENT_OF, ADJOINT_OF},                   \
    .costs = {0, TANGENT_OF, ADJOINT_OF},                   \
    .controller = COSTATE_GUSTAFSSON,                       \
    .pi_beta = 0.4,                                         \
    .prepare = prepare_it,                                  \
    .layout = irk_layout,                                   \
    .layout_derivatives = irk_layout_derivatives,           \
    .ready = irk_ready,                                     \
    .restart = irk_restart,                                 \
    .forward = irk_forward,                                 \
    .tangent = irk_tangent,                                 \
    .adjoint = irk_adjoint,                                 \
    .estimate = irk_estimate,                               \
    .sweep = irk_sweep,                                     \
    .keep = irk_keep,                                       \
    .loosely = irk_loosely,                                 \
    .free = irk_free,                                       \
}

#endif
