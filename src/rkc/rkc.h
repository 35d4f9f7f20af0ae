/* rkc.h - what the steps of stabilised explicit methods share.

   A step of degree s (mathematics, eq. 4.1 to 4.5): a recurrence of m stages, and r = s - m stages of an ordinary
   explicit method behind it (ROCK; else r = 0),

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

typedef struct {                /* radius.c: the limit by the spectral radius */
    int asked;                  /* 1: the callback was evaluated at this step */
    int tried;                  /* 1: a try was made since it was measured */
} rkc_limit;

typedef struct {                /* tries of the run */
    long all, longest, rejected;        /* those with the longest h, those that were rejected */
    int degree;                 /* of the last one */
} rkc_tries;

typedef struct {                /* work space of second order, for m directions */
    double *tangents;           /* of stages */
    size_t room;                /* blocks of n*m in tangents */
    double *Vd0, *T0, *T, *Y1d; /* n*m each: of y; F' of the start, of a stage; tangents of a last stage */
    double *KT;                 /* r*n*m: F' of the last stages */
} rkc_second;

typedef struct {
    double *inverse;            /* n: 1/M_ii; NULL: M = I */
    double *f0, *F, *f1;        /* N each: slopes at the start, of a stage, at the end */
    double *g[2];               /* N each: the last two stages of the recurrence */
    double *start;              /* N: y and no integrals */
    double *K, *Y;              /* r*N: F_i; N: Y_i */
    rkc_limit limit;
    rkc_tries tries;
    /* derivatives, for m columns */
    column_work columns;
    double *gd[4], *Fd, *Fd0, *Kd, *Yd;               /* N*m each, Kd: r*N*m; adjoint.c says what is what */
    double *stages;             /* of a step, as many as there is room for */
    size_t room;                /* n-vectors in stages */
    rkc_second second;
} rkc_work;

static inline rkc_work *rkc_of(const stepper *c) { return c->own; }

/* the time of a stage; of one at the end that at which the next step begins */
static inline double rkc_time(const record *r, double c) { return c == 1 ? r->end : r->t + c * r->h; }

typedef struct { const double *g, *v; } stage;          /* a stage and its tangents; NULL: none */

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
/* of A: A_i1 .. A_i,i-1 */
static inline const double *rkc_row(const degree *d, int i) { return d->A + (i - 1) * (i - 2) / 2; }

/* tangent.c: F' = h f' + h' f of all columns, with the slope F; rows: N, or n: without the integrals; of v and out */
int rkc_slopes(stepper *, const record *, const directions *, double at, stage, const double *F, size_t rows,
               double *out);

/* backwards.c */
typedef struct {                /* stages first .. last of 0 .. end are there, at g, with their tangents at v */
    const degree *d;
    const directions *along;    /* NULL: no tangents */
    int end, length, first, last;
    double *g, *pairs;          /* length n-vectors; two a segment: the stage before its first, its first */
    double *v, *tangent_pairs;  /* blocks of n*m alike, or NULL */
} stages;

/* blocks of so many numbers for a sweep through `count` stages, as far as options.tape_limit allows */
size_t rkc_stage_room(const stepper *, int count, size_t numbers);
int rkc_stages(stepper *, const record *, const degree *, int end, const directions *along, stages *);
int rkc_segment(stepper *, const record *, stages *, int k);         /* the k-th is there */
/* inline for systems of a few states */
static inline int rkc_stage_at(stepper *c, const record *r, stages *s, int j, stage *out)
{
    size_t n = (size_t)c->n;
    if (j < s->first) TRY(rkc_segment(c, r, s, j / s->length));
    size_t k = (size_t)(j - s->first);
    *out = (stage){s->g + k * n, s->along ? s->v + k * n * (size_t)s->along->m : NULL};
    return 0;
}

/* radius.c */
int rkc_radius(stepper *, const record *, const trial *);           /* measured again when it is too old */
int rkc_longest(stepper *, const record *, trial *, double *h);
double rkc_reach(const member_method *, int differentiated, double size);
void rkc_remark(const stepper *, int failed, char *text, size_t room);

int rkc_forward(stepper *, record *, trial *);
int rkc_tangent(stepper *, const record *, const directions *);
int rkc_adjoint(stepper *, const record *, const functionals *);

#endif
