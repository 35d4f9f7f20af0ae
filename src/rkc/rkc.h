/* rkc.h - what the steps of stabilised explicit methods share.

   A step of degree s (step-maps 2.1): a recurrence of m stages, and r = s - m stages of an ordinary explicit method
   behind it (ROCK; else r = 0),

       g_0 = y,  g_j = eta_j y + mu_j g_j-1 + nu_j g_j-2 + h (mut_j f_j-1 + gat_j f_0),  f_j = f(t + c_j h, g_j)
       Y_i = g_m + h sum_k<i A_ik F_k,  F_i = f(t + cr_i h, Y_i),   y+ = g_m + h sum b_i F_i
       est = ey (y - y+) + h (e0 f_0 + sum e_i F_i + e1 f_1),       f_1 = f(t + h, y+), the f_0 of the next step

   Integrals take the same recurrence from 0 with r(t, y) in place of f: vectors of N = n + nq.

   What a record keeps as stage variables does not depend on s:  X = f_0, (y+ - y)/h, est/h, f_1.  Dense output is
   Hermite's cubic in them.  Sweeps make the stages again. */
#ifndef COSTATE_RKC_H
#define COSTATE_RKC_H

#include "base/vec.h"
#include "step/columns.h"

enum { X_SLOPE, X_MOVE, X_ERROR, X_LAST, X_ALL };     /* the stage variables */
enum { LAST_MOST = 4 };                               /* r at most */

typedef struct {                /* the coefficients of a degree; those of the recurrence are of j at [j - 1] */
    int s, m, r;
    double beta, noise;
    const double *mu, *nu, *mut, *eta, *gat, *c;      /* eta, gat: NULL where all are 0 */
    const double *A, *b, *cr, *e;                     /* A: rows 2 .. r, one after the other */
    double ey, e0, e1;
} degree;

typedef struct {
    double *inverse;            /* n: 1/M_ii; NULL: M = I */
    double *f0, *F, *f1;        /* N each: slopes at the start, of a stage, at the end */
    double *g[2];               /* N each: the last two stages of the recurrence */
    double *start;              /* N: y and no integrals */
    double *K, *Y;              /* r*N: F_i; N: Y_i */
    /* radius.c */
    double *v, *Jv;             /* n each: the vector of the power iteration, and its product */
    double rho, real;           /* spectral radius, 0: not known; real part of its eigenvalue, in units of rho */
    int products;               /* so many made v, from a random one */
    int asked;                  /* 1: the callback that gives it, at this step */
    int age, tried;             /* steps begun since it was measured; 1: and a try made */
    double longest;             /* h that the highest degree allows */
    long steps, capped, rejected; /* tries of the run, those with that h, and the rejected ones */
    int degree;                 /* of the last try */
    /* derivatives, for m columns */
    column_work columns;
    double *gd[4], *Fd, *Fd0, *Kd, *Yd;               /* N*m each, Kd: r*N*m; adjoint.c says what is what */
    double *stages;             /* of a step, as many as there is room for */
    size_t room;                /* n-vectors in stages */
} rkc_work;

static inline rkc_work *rkc_of(const stepper *c) { return c->own; }

/* the time of a stage; of one at the end that at which the next step begins */
static inline double rkc_time(const record *r, double c) { return c == 1 ? r->end : r->t + c * r->h; }

/* stages.c */
degree rkc_degree(const stepper *, int k);                          /* the k-th */
int rkc_find(const stepper *, int s);                               /* which it is */
int rkc_slope_y(stepper *, double t, const double *g, double *F);   /* n: M^-1 f */
int rkc_slope(stepper *, double t, const double *g, double *F);     /* N: and r */
int rkc_first_slope(stepper *, const record *, trial *);            /* f_0 */
/* out = eta y + mu g1 + nu g2 + a (mut F + gat F0), for vectors of len; out may be g2 */
void rkc_recur(const degree *, int j, size_t len, double a, const double *y, const double *g1, const double *g2,
               const double *F, const double *F0, double *out);
void rkc_start(const stepper *, const record *);                    /* start <- y, and no integrals */
const double *rkc_row(const degree *, int i);                       /* of A: A_i1 .. A_i,i-1 */

size_t rkc_stage_room(const stepper *, int count);                  /* n-vectors for a sweep through so many stages */

/* radius.c */
int rkc_radius(stepper *, const record *, const trial *);           /* measured anew where it is too old */
int rkc_longest(stepper *, const record *, trial *, double *h);
void rkc_remark(const stepper *, int failed, char *text, size_t room);

int rkc_forward(stepper *, record *, trial *);
int rkc_tangent(stepper *, const record *, const directions *);
int rkc_adjoint(stepper *, const record *, const functionals *);

#endif
