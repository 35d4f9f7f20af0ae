/* bvp.h - shared by the files for boundary value problems: the system of equations on a mesh, its solution and its
   factors.

   An interval of the mesh, from t of length h, in K-form (mathematics, eq. 7.1 to 7.2) with X_j = h K_j:

       h E(t + c_j h, Y_j, X_j/h, p) = 0,  Y_j = y_i + sum_l a_jl X_l        s stages,     E = f - M k or -F
       y_{i+1} - y_i - sum_j b_j X_j = 0                                    continuity
       g(y_0, y_N, p) = 0                                                   boundary conditions, last

   Vectors of unknowns are stored as y_0, X_1 .. X_s, y_1, .. , y_N, and vectors of equations as the s stages,
   continuity, .. , g: both have L = (s + 1) n values for each interval, and n at the end. */
#ifndef COSTATE_BVP_INTERNAL_H
#define COSTATE_BVP_INTERNAL_H

#include <costate/bvp.h>
#include "base/entry.h"
#include "linsol/ls.h"
#include "maps/maps.h"
#include "step/method.h"

/* ---- rk.c: the tables of a method in the form used here ---- */

enum { SAMPLES_MOST = 4 };
typedef struct {
    const char *name;
    int s, order, dense, degree;
    double *A, *b, *c;              /* s*s by rows, s, s: including an explicit first stage */
    double *D;                      /* s*degree: u(theta) = y + sum_j D_j(theta) X_j */
    int collocates;
    int samples;                    /* points of an interval at which the defect is evaluated */
    double theta[SAMPLES_MOST];
    double at[SAMPLES_MOST][2][STAGES_MOST];    /* D and D' there */
    double share[SAMPLES_MOST];     /* largest error of u / (h defect there), to leading order, with its sign */
} rk;
int rk_takes(const costate_method *);
int rk_init(rk *, const costate_method *, verdict *);
/* D_j(theta), and its first two derivatives; NULL: not requested */
void rk_weights(const rk *, double theta, double *D, double *D1, double *D2);
void rk_free(rk *);

/* ---- solution.c: values on a mesh ---- */

typedef struct {
    int N;                          /* intervals; 0: there is no solution */
    int *piece;                     /* N: the piece between breaks that the interval is in, from 0 */
    double *from, *part;            /* N: t = e + from (e' - e), h = part (e' - e), e and e' the ends of its piece */
    double *t, *h;                  /* N + 1, N */
    double *z;                      /* N L + n */
    double *q;                      /* (N + 1) nq */
    double *block;
} solution;
typedef struct {                    /* position of a point of [a, b] in the mesh */
    int i;                          /* its interval */
    int end;                        /* number of the end (a, break or b) that it is; -1: none */
    int right;                      /* of an end: 1: it is at the end of the interval, 0: at its start */
    double theta;                   /* of other points: its place in the interval, from 0 to 1 */
} mesh_point;

/* ---- eliminated.c, whole.c: the linear system ---- */

typedef struct costate_bvp bvp;
typedef struct {
    const char *name;
    int (*prepare)(bvp *, int N);                   /* allocates for a mesh of N intervals */
    int (*factor)(bvp *);                           /* at b->now */
    int (*solve)(bvp *, int transpose, int m, double *x);   /* in place, m columns */
    void (*free)(bvp *);
} linear_system;
extern const linear_system eliminated, whole;       /* elimination interval by interval; a sparse solver */
int whole_fits(verdict *, int N, size_t all, size_t entries);           /* COSTATE_BACKEND: sizes overflow int */

typedef struct {                    /* the solver of the linear system */
    const linear_system *by;
    void *own;                      /* its data */
    int factored;                   /* the factors are those at `now`, to round-off */
    double *unit;                   /* n: powers of 2, by which the columns of unknowns are scaled */
} linear_solver;

typedef struct {                    /* the boundary conditions, a map of (y(a), y(b)), and work space for it */
    costate_conditions user;
    maps maps;
    map g;
    double *y, *dy, *gradient, *w;  /* 2 n each: the point (y(a), y(b)), directions, gradients, weights */
    double *B;                      /* n * 2n: their Jacobian */
    int loose;                      /* the unknown of (y(a), y(b)) that they determine worst */
} boundary;

typedef struct { int points; double *t, *y; } given_points;         /* points 0: not given */

typedef struct {                    /* work space of one stage, and its linearisation */
    double *w, *Y, *K, *E, *E2;     /* N_all, n, n, n, max(n, nq) */
    double *J, *M;                  /* entries; M NULL: identity */
    LS *mass;                       /* of M or F_y', which must be nonsingular */
} stage_work;

typedef struct {                    /* work space of error estimates: see errors.c */
    LS *filter;                     /* of defects, complex */
    double *filtered;               /* n pairs */
    double *rates;                  /* s nq: r at the stages of an interval */
    double *errors, *defects;       /* SAMPLES_MOST N_all each */
    double *forcing;                /* N n: h times the largest defect of each interval */
    char *rough;                    /* N: 1 if the samples of an interval disagree */
} error_work;

struct costate_bvp {
    verdict v;
    call_entry entry;
    int fixed;                      /* options.fixed, which checks set temporarily */
    costate_problem P;
    costate_bvp_options o;
    costate_bvp_stats count;
    rk rk;
    int n, np, nq, s, N_all, L;     /* N_all = n + nq; L = (s + 1) n */
    maps maps;
    boundary edge;
    double *atol;                   /* N_all: of each component */

    double *p;                      /* np, a copy: of the last solve */
    int nends;
    double *ends;                   /* a, breaks, b; of now */
    solution now, last;             /* the last iterate; the last solution if `now` is none */
    int solved;                     /* `now` is a solution */
    given_points guess, mesh;       /* for the next solve; a mesh has no y */

    linear_solver linear;
    stage_work stage;
    error_work est;
    double *block;                  /* one allocation, for most of these arrays */
};

/* ---- solver.c ---- */
int bvp_begin(bvp *);

/* ---- solution.c ---- */
static inline size_t solution_unknowns(const bvp *b, int N) { return (size_t)N * (size_t)b->L + (size_t)b->n; }
static inline size_t unknowns(const bvp *b) { return solution_unknowns(b, b->now.N); }
int solution_new(bvp *, solution *, int N);                     /* frees the previous contents */
void solution_free(solution *);
int solution_is_valid(const bvp *, const solution *);           /* an invariant of a mesh that was placed */
void solution_place(const bvp *, solution *);                   /* computes t and h from pieces and ends */
static inline double *y_of(const bvp *b, double *z, int i) { return z + (size_t)i * (size_t)b->L; }
static inline double *X_of(const bvp *b, double *z, int i) { return z + (size_t)i * (size_t)b->L + b->n; }
/* finds t in the mesh; 0: it is not in [a, b] */
int solution_find(const bvp *, const solution *, double t, mesh_point *);
/* y at a place; dy/dtheta; n values */
void solution_state(const bvp *, const solution *, const mesh_point *, double *y);
void solution_slope(const bvp *, const solution *, int i, double theta, double *dy);
int solution_integrals(bvp *, solution *);                      /* computes q at mesh points */
int solution_integral_at(bvp *, const solution *, const mesh_point *, double *q);

/* ---- stages.c: one stage of an interval ---- */
double stage_time(const bvp *, const solution *, int i, int j);
void stage_state(const bvp *, const solution *, int i, int j, double *Y, double *K);       /* K = X_j/h */
/* the point of stage j of interval i, stored in b->stage.Y, K; for residuals with x.yp */
costate_point stage_point(bvp *, const solution *, int i, int j);
int stage_matrix(bvp *, const solution *, int i, int j);        /* into b->stage; first stage: nonsingular M */
int regular_slopes(bvp *, double t);                            /* is b->stage.M, or F_y', nonsingular? */
int bvp_residual(bvp *, const solution *, double *out);         /* all equations; RETRY if f is undefined there */
int not_determined(bvp *);                                      /* COSTATE_SINGULAR, with a message about `now` */
int bvp_failed(bvp *, int status, const char *where);           /* turns a RETRY into a failure */
int conditions_value(bvp *, const solution *, double *g);
int conditions_matrix(bvp *, const solution *);                 /* into b->edge.B */
costate_point conditions_point(bvp *, const solution *);
/* 1/(atol + rtol max(|y|, |z|)); n; z may be NULL */
void weights_at(const bvp *, const double *y, const double *z, double *w);

/* ---- newton.c ---- */
typedef struct { double rms, most; int interval, component; } size_of;
/* Iterates until corrections are at most `goal` times the tolerance; goal 0: until round-off.  kept: starts with the
   present factors, which are of this mesh.  *near: the iteration failed, but its iterate has six digits */
int bvp_newton(bvp *, double goal, int kept, double error_before, int *near);

/* ---- errors.c ---- */
typedef struct { double error, t; int component; } defects;     /* the largest, in units of the tolerance; components
                                                                   from n: of q */
int mesh_errors(bvp *, double *error, defects *worst);          /* N: error of each interval */
int mesh_amplification(bvp *, double error, double *factor);    /* >= 1: amplification of errors by an ill-conditioned
                                                                   problem */

/* ---- mesh.c ---- */
/* The mesh for these errors, refined by a further factor `more`, of at most max_mesh intervals */
int mesh_next(bvp *, const double *error, double more, solution *out);
int mesh_halved(bvp *, const solution *from, solution *out);
int mesh_given(bvp *, solution *out);           /* the user's; else that of `last` or of the guess; else equidistant */

/* ---- guess.c ---- */
void replace_points(given_points *, given_points by);           /* frees what was there */
/* y and X of `to`: those of `from`, stretched; if it is NULL, the initial guess of the next solve */
void bvp_guess(bvp *, const solution *from, solution *to);

/* calls.c: the public calls, after their checks of arguments */
int call_bvp_solve(costate_bvp *b, double from, double to, const double *p);
int call_bvp_tangent(costate_bvp *b, const costate_bvp_tangents *s);
int call_bvp_adjoint(costate_bvp *b, const costate_bvp_adjoints *s);
int call_bvp_hessian(costate_bvp *b, const costate_bvp_second *user);
int call_bvp_guess(costate_bvp *b, int points, const double *t, const double *y);
int call_bvp_mesh(costate_bvp *b, int points, const double *t);
int call_bvp_eval(costate_bvp *b, double t, double *Y);
int call_check_bvp(costate_bvp *b, double from, double to, const double *p, costate_report *r);
void bvp_free(bvp *);

#endif
