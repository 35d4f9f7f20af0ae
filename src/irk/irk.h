/* irk.h - what the steps of implicit Runge-Kutta methods share.

   sdirk and firk are one stepper in residual form (mathematics, eq. 5.3), with E(t, y, k, p) of equation.c:

       R_i = -E(t + c_i h, y + Z_i, K_i, p) - g_i f(t,y,p) = 0,   K_i = (1/h) sum_j W_ij Z_j,   W = A^-1,  g = W a,

   with a the column of an explicit first stage (ESDIRK, for M y' = f alone; else g = 0).  A block is the set of stages
   that are solved together: one stage (sdirk, W lower triangular) or all of them (firk).

   The explicit first stage has the index -1, c = 0, Z = 0.  It is recomputed from (t, y), so that a step is a map of
   (t, h, y, p) alone, like every other family's.  Methods without one have it as a node of the integrals' error. */
#ifndef COSTATE_IRK_H
#define COSTATE_IRK_H

#include "base/vec.h"
#include "linsol/guess.h"
#include "step/columns.h"
#include "step/coupling.h"

/* How the equations of a block are solved: what sdirk and firk do not share. */
typedef struct stage_system stage_system;
typedef struct {
    int most_columns;           /* that are iterated together: their solves are one call, where there is more to win */
    int direct_most, band_most; /* unknowns of a block up to which its exact matrix is factored, not iterated with;
                                   where matrices of a stage are banded */
    int preconditioned;         /* matrix-free: the user's preconditioner, or the ILU, is one of a block */
    /* Z <- P^-1 Z or P^-T Z,  P = W_block x M/h - I x J  from f; Z: m columns of block*n */
    int (*solve)(stepper *, const factors *f, int transpose, int m, const accuracy *, double *Z);
    int (*exact_factor)(const stage_system *);              /* the matrix with J at each stage, into own exact */
    int (*exact_solve)(const stage_system *, int m, int from, int to, double *X);   /* columns from .. to - 1 */
    int (*exact_column)(const stage_system *, double *x);           /* of one column */
    void (*exact_moduli)(const stage_system *, const double *x, double *size);      /* size += |B| |x|, or |B^T| |x| */
    int (*exact_instead)(const stage_system *, int *changed);       /* another factorisation, after one that is not
                                                                       accurate enough; NULL: there is none */
    void (*restart)(void *own);                             /* a sweep begins; NULL: nothing is to be done */
    void (*free)(void *own);
} block_algebra;
extern const block_algebra irk_one_stage;

/* Of the linear stage systems of tangents and adjoints (stages.c). */
typedef struct {
    double *stage, *slope;      /* s*n: Y_i; K_i */
    double *kdot;               /* n*m: directions of K_i */
    double *MU, *MX;            /* s*m*n each: M^T u_i; the same of a block's product; NULL: M is the identity */
    double *rhs;                /* s*m*n: right-hand sides */
    double *column;             /* irk_stage_work: columns, residuals, corrections, moduli */
    double *krylov, *weights;   /* GMRES: work space, weights of residuals */
    double *f0dot, *sum;        /* n*m each: f'(t, y) along directions; adjoint of (t, y, p) at the start of the step */
    double *split, *pairs;      /* several columns solved together, transformed: block*n each; 2 n each */
    column_work columns;        /* y: Y'_i, or sum g_i u_i */
    guesses guesses;            /* without a matrix: first guesses of the systems of a sweep */
    LS *exact;                  /* the exact matrix of a block */
    int exact_there;            /* it is that of the last system, factored */
    int iterates;               /* or it is not factored: systems with it are solved by iteration (firk/iterated.c) */
    const factors *pre;         /* preconditioner of the systems of this step */
    int last_krylov;            /* most iterations that a system of the last step took */
} stage_systems;

/* Of adjoints of jets. */
typedef struct {
    double *P, *Kd;             /* s*(m+1)*n: M^T u_i and P_i; s*m*n: K'_i */
    double *u, *by_k;           /* n each: u_i, its k-part */
} jet_work;

/* Of starting values from the step before: forward.c. */
typedef struct {
    double *weights;            /* s*s */
    double ratio;               /* of h that they are for; 0: none yet */
    const double *D;            /* weights, or NULL: they are too large */
} continuation;

typedef struct {
    const block_algebra *by;
    void *algebra;              /* its own */
    double *Y, *v1, *v2, *f0;   /* n each; f0: f(t, y) */
    double *k, *slope_of_part;  /* n each: a value of E; k of a part of the estimate */
    double *w;                  /* N: weights at an earlier step; of a tangent's estimate */
    double *wn;                 /* n: of Newton's increments, where unknowns have index 2 */
    double *r;                  /* nq */
    double *error_b;            /* 1 + s: bhat - b, weights of the integrals' error estimate, from stage -1 on */
    double *R, *pair;           /* 2 block*n: residuals, transformed; 2 n: a complex column */
    double *last;               /* block*n: Newton's increments in the iteration before */
    continuation continued;
    double theta, size;         /* Newton: last contraction; norm of y at the start of the step */
    double *J, *M;              /* entries: the Jacobians at a stage; M: of a residual, else the maps' */
    /* without a matrix */
    pairs pool;
    double amplified, amplified_before;     /* see loose.h; at the start of the step */
    long tried;                 /* serial of the last try */
    int added;                  /* pairs, in it */
    stage_systems systems;
    jet_work jet;
} irk_work;

static inline irk_work *work(const stepper *c) { return c->own; }

int irk_forward(stepper *, record *, trial *);
int irk_stiff_part(stepper *, const record *, double *x);
int irk_estimate(stepper *, const record *, const directions *, int j, double *err);
int irk_short_form(const stepper *);        /* tangents, adjoints: their products with f_y are only in B */
double irk_remainder(const costate_method *);        /* R = 1 - sum d_j; 0 where it should be */
int irk_tangent(stepper *, const record *, const directions *);
int irk_adjoint(stepper *, const record *, const functionals *);

/* what Newton left in the equations of stage i: -R_i, after begin */
int irk_residuals_begin(stepper *, const record *);
int irk_residual_left(stepper *, const record *, int i, double *out);

/* -R_i of the block's stages into work(c)->R, y + Z of the last one into work(c)->Y; earlier: the part of earlier
   blocks (sdirk), which the other one forms in work(c)->v1: of K_i, or where M is the identity of -R_i; or NULL */
int irk_residual(stepper *, const record *, int i0, const double *Z, const double *earlier);
const double *irk_earlier(stepper *, const record *, int i);
enum newton_to { AS_ERRORS_COUNT, SO_MANY, ROUND_OFF };     /* how far newton goes; SO_MANY: t->to.iterations */
int newton(stepper *, const record *, int block, const accuracy *, enum newton_to, trial *t);
int newton_begin(stepper *, const record *);        /* before the blocks of a step that is judged */
/* of iterated solutions inside Newton; counted: its iterations are prescribed, of a run with factorisations */
accuracy irk_iterated_accuracy(const stepper *, int counted);
static inline accuracy irk_accuracy(const stepper *c, int counted)
{
    return c->sh->matfree ? irk_iterated_accuracy(c, counted) : (accuracy){.loose = 1};
}
/* out = base + (a/h) sum_{from <= j < to} W_ij X_j, as coupling.h says */
static inline void irk_coupling(const stepper *c, double h, int transpose, int i, int from, int to, double a,
                                const double *X, size_t stride, const double *base, double *out)
{
    stage_sum(c, c->m->W, transpose, i, from, to, a / h, X, stride, base, out);
}

/* Systems of one block with the exact stage Jacobians: B X = rhs or B^T X = rhs, columns from .. to - 1 of m, in place.
   Stage i of the block, column j: X + (i*m + j)*n. */
struct stage_system {
    stepper *c;
    const record *r;
    int block, transpose;
    int same;                   /* the matrix is that of the system before */
};

/* inexact.c: steps without a matrix whose stages are solved one by one, and only as far as Newton needs */
int irk_inexact_suits(const stepper *);
static inline int irk_inexact(const stepper *c) { return c->sh->matfree && irk_inexact_suits(c); }
double irk_loosely(const stepper *);                                 /* the default of newton_tol there, or 0 */
void irk_inexact_layout(stepper *, cursor *);
double irk_sigma(const stepper *, double h);                        /* of a single stage's systems sigma M - J */
int irk_inexact_stages(stepper *, record *, trial *);
int irk_inexact_bounded(const stepper *);                            /* the estimate is sum e_j Z_j as it is */
int irk_inexact_filter(stepper *, const record *, const double *w, double *x);

/* estimate.c */
int irk_error(stepper *, const record *, const trial *);             /* into t->err */
/* Most estimates are of one part, with M the identity, and filtered once by a real sigma: the same, faster. */
static inline int irk_error_is_plain(const stepper *c, const trial *t)
{
    return equation_plain(c->maps) && !c->maps->index && c->m->nreal > 0 && c->m->est.ex0 == 0 && !t->cautious &&
           !c->sh->matfree && c->o->estimator == COSTATE_EST_CLASSICAL;
}
int irk_error_plain(stepper *, const record *, double *err);
int irk_inner_value(stepper *, const map *, const record *, double *out);    /* of a map at its second point */

/* product.c */
double irk_row_sum(const costate_method *, int i);                   /* (W 1)_i */
void irk_stage_states(stepper *, const record *, int slopes);        /* stage <- Y_i; slope <- K_i, if requested */
/* k'_j = (1/h) (sum_{from <= l < to} W_il X_l - (W 1)_i less) - (dh_j/h) K_i, X_l = X + l stride of column j at j
   column, less at j less_column; dh, less NULL: 0 */
typedef struct {
    int i, from, to;
    const double *X;
    size_t stride, column;
    const double *dh, *less;
    size_t less_column;
} coupled_slope;
/* E'(x) (dx_j, k'_j), dx: of columns; out: columns ld apart */
int irk_tangents(stepper *, double h, const costate_point *x, const coupled_slope *, int m, double *out, size_t ld);
/* Of stages from -1 on: c_i, b_i; (t + c_i h, Y_i, p), Y_i from `stage`; (t' + c_i h', Y'_i, p') of all columns, which
   it leaves in columns.dx */
static inline double irk_c(const stepper *c, int i) { return i < 0 ? 0 : c->m->c[i]; }
static inline double irk_b(const stepper *c, int i) { return i < 0 ? c->m->b0 : c->m->b[i]; }
static inline costate_point irk_node_point(const stepper *c, const record *r, int i)
{
    return point(c->maps, r->t + irk_c(c, i) * r->h, i < 0 ? r->y : work(c)->systems.stage + (size_t)i * (size_t)c->n);
}
const costate_point *irk_stage_directions(const stepper *, const directions *, int i);
static inline costate_point irk_stage_point(const stepper *c, const record *r, int i)
{
    const irk_work *a = work(c);
    size_t at = (size_t)i * (size_t)c->n;
    return equation_point(c->maps, r->t + c->m->c[i] * r->h, a->systems.stage + at, a->systems.slope + at);
}
int irk_stage_apply(const stage_system *, int m, const double *X, double *out);  /* B X or B^T X, block*n by m */
void irk_gather(const stage_system *, int m, int j, const double *X, double *x);     /* column j of X, and back */
void irk_scatter(const stage_system *, int m, int j, const double *x, double *X);

/* exact.c: by the exact matrix, len = block*n numbers a column */
int irk_exact_status(const stage_system *, int code);               /* of LS_Decomp, or of LS_Init (own exact NULL) */
int irk_exact_columns(const stage_system *, int m, double *x);      /* m columns side by side */
int irk_exact_solve(const stage_system *, int m, int from, int to, double *X);     /* and refined */

/* stages.c: the way that suits the system */
int irk_stage_start(stepper *, const record *);                     /* the preconditioner of the step */
int irk_stage_solve(const stage_system *, int m, int from, int to, double *X);
void irk_stage_layout(stepper *, cursor *, int m);                  /* the pools of first guesses */
size_t irk_stage_work(const stepper *, int m);                      /* of column */
size_t irk_stage_krylov(const stepper *, int m);                    /* of krylov */
int irk_stage_together(const stepper *, int m);                     /* columns of m that are solved in one call */

/* family.c: what the tables of sdirk and firk share */
int irk_prepare(stepper *, const block_algebra *);
void irk_layout(stepper *, cursor *);
void irk_layout_derivatives(stepper *, cursor *, int m);
void irk_layout_second(stepper *, cursor *, int m);
void irk_ready(stepper *);
void irk_restart(stepper *);
void irk_sweep(stepper *);
double irk_keep(stepper *, double factor);
void irk_free(void *own);

/* the table of sdirk or firk, which differ in how they prepare: with which algebra of blocks */
#define IRK_FAMILY(prepare_it) {                            \
    .is = IMPLICIT | RUNGE_KUTTA_INVERSE,                   \
    .needs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF}, \
    .costs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF}, \
    .controller = COSTATE_GUSTAFSSON,                       \
    .pi_beta = 0.4,                                         \
    .prepare = prepare_it,                                  \
    .layout = irk_layout,                                   \
    .layout_derivatives = irk_layout_derivatives,           \
    .layout_second = irk_layout_second,                     \
    .ready = irk_ready,                                     \
    .restart = irk_restart,                                 \
    .forward = irk_forward,                                 \
    .tangent = irk_tangent,                                 \
    .adjoint = irk_adjoint,                                 \
    .estimate = irk_estimate,                               \
    .stiff_part = irk_stiff_part,                           \
    .divide = divide_by_mass,                               \
    .sweep = irk_sweep,                                     \
    .keep = irk_keep,                                       \
    .loosely = irk_loosely,                                 \
    .free = irk_free,                                       \
}

#endif
