/* steady.h (steady) - what the files of this room share: the object behind costate_steady.

   A steady state and its invariants satisfy n equations (mathematics, section 17),

       G(y, y0, p) = [ E_R(y, p);  I(y, p) - I(y0, p) ] = 0,

   E = f, or -F of a residual with y' = 0.  R are n - k rows that are independent of each other: the k invariants make
   the others superfluous.  A = G_y. */
#ifndef COSTATE_STEADY_ROOM_H
#define COSTATE_STEADY_ROOM_H

#include <costate/steady.h>
#include "base/entry.h"
#include "linsol/ls.h"
#include "maps/maps.h"

enum { KEPT = 4 };                      /* steady states that are kept for derivatives */

/* A steady state, and what belongs to it. */
typedef struct {
    int held;                           /* 0: none */
    double *y0, *p, *m, *y;             /* n, np, nm: the start; n: y* */
    int k;                              /* invariants */
    int *row;                           /* n: rows of E, those of R first */
    double *w, *W;                      /* n by k, without options.invariant: w^T f = 0, so that W^T y is constant, W
                                           = M^T w */
    int turns;                          /* w depends on parameters or memory variables, -1: it is not known; then */
    double *z;                          /* n: E_y z = M (y* - y0) */
    int *relation;                      /* values of relations there */
    double slowest;                     /* as in costate_steady_stats */
} limit;

/* Jacobians of E at the start and near it, which a linear invariant must annihilate as well as that here. */
enum { SAMPLES = 2 };

typedef struct {                        /* the run towards a steady state */
    costate *solver;
    costate_problem P;                  /* the user's without running costs */
    costate_event *event;               /* its events without costs, owned; NULL: none */
    costate_options o;
    int (*on_step)(const costate_step *, void *ctx);    /* the user's */
    void *on_step_ctx;
    double *y;                          /* L: the state */
    double *extreme;                    /* n: the largest or least value since a component turned */
    double *size;                       /* n: the largest modulus of each component so far */
    int *turns, *way;                   /* n: how often a component has set off, or turned; 1: it rises, -1: it falls,
                                           0: neither */
    int accepted, until;                /* steps so far; where the next attempt is due */
    int event_fired;                    /* its number; -1: none */
    int stopped;                        /* by the user's on_step */
} flow;

typedef struct {                        /* the user's invariants */
    maps maps;
    map map;
    double *at_start;                   /* k: I(y0, p) */
} given_invariants;

typedef struct {                        /* why no attempt was accepted */
    int rank, invariants;               /* of f_y, with so many invariants, too few; -1: it never was so */
    int free;                           /* then a component that is not determined */
    double slowest;                     /* of a zero of f that is not stable; NaN: there was none */
    double gradual;                     /* time since which Newton's iteration has converged only as to a multiple zero;
                                           0: it has not */
} refusals;

struct costate_steady {
    verdict v;
    call_entry entry;
    const costate_method *method;       /* of the runs */
    costate_problem P;
    costate_steady_options o;
    int n, np, nm;
    maps maps;                          /* of E */
    given_invariants own;
    flow flow;
    LS *ls;                             /* A, factored for limits[current] */
    int current, next, last;            /* limits: see ls; where the next goes; that of the last call; -1: none */
    limit limits[KEPT];
    limit candidate;                    /* the zero of f that the last attempt found */
    double distance;                    /* of the solution from the candidate then; infinite: there was none */
    refusals refused;
    costate_steady_stats count;
    double *block;
    int *whole;
    double *J, *D, *A, *L;              /* entries; n*n each: J dense, minus A, its elimination */
    double *M;                          /* n*n, work: M dense; NULL: identity */
    double *sample[SAMPLES];            /* n*n: see above */
    int samples;                        /* how many there are */
    double *r, *w, *d, *z, *e;          /* n each: right-hand sides, weights, increments, work */
    double *seen;                       /* n: the candidate of the attempt before, from which `distance` is */
    double *row_scale;                  /* n: of the elimination */
    double *re, *im;                    /* n each: eigenvalues */
    double *unit;                       /* np + nm: a direction */
    double *own_p, *by_p[2], *g;        /* np each, with options.fixed: parameters, directions, a gradient */
    double *to, *to2, *back, *weights;  /* n each: tangents, an adjoint, weights of rows of E */
    struct { double *w, *z; } turn;     /* n each: a sum of invariants that depend on p; z' of turning.c */
    int *pivot, *column;                /* 2 n, n: of the elimination; its columns in the order of pivots */
    int *relation;                      /* values of relations, work */
};
typedef costate_steady steady;

static inline int steady_given(const steady *s) { return s->o.invariant.value != NULL; }

/* solver.c */
int steady_begin(steady *);                                     /* 0, or why costate_steady_new failed */
void steady_free(steady *);

/* equations.c */
void steady_weights(const steady *, const double *y, double *w);        /* 1/(atol + rtol |y|) */
/* the difference of two values of component i, relative to the largest modulus that it has had */
double steady_relative(const steady *, int i, double a, double b);
/* the maps at (y, p, m) of a limit, with its relations */
void steady_bind(steady *, const limit *);
costate_point steady_point(const steady *, const double *y);
int steady_value(steady *, double t, const double *y, double *out);     /* E */
int steady_jacobian(steady *, const double *y, double *D);      /* E_y, dense */
int steady_residual(steady *, const limit *, const double *y, double *r);       /* G; RETRY: undefined there */
int steady_factor(steady *, const limit *, const double *D);    /* A from E_y; RETRY: singular */
int steady_solve(steady *, int transpose, int m, double *X);    /* n by m: with A; RETRY: not finite */
void steady_spread(const steady *, const double *J, double *A); /* A (n by n) <- the matrix in the pattern */
/* I' of (dy, dpm) at y; g += I'^T w; k values each */
int invariant_tangent(steady *, const limit *, const double *y, const costate_point *dx, double *out);
int invariant_adjoint(steady *, const limit *, const double *y, const double *w, const costate_gradient *g);

/* invariants.c: rank of D = E_y, the rows R and the left null space, checked by the samples */
void steady_rank(steady *, const double *D, int *row, double *w, int *null);
/* Which of the `null` vectors x.w annihilate E_y at all samples, and E at x.y?  Those come first; x.k, x.W */
int steady_hold(steady *, const double *D, int null, limit *x);
void steady_sample(const steady *, const limit *, int k, double *y);    /* n: where sample k is */
int steady_turns(steady *, limit *);                            /* x.turns, x.z; with A factored */

/* newton.c: to round-off from limit.y, with D there; RETRY: it does not converge, or (*halves) only as at a double
   zero */
int steady_newton(steady *, limit *, int *halves);

/* stability.c: limit.slowest, with A factored */
int steady_stability(steady *, limit *);

/* flow.c: the solver of the runs */
int steady_flow_init(steady *);
/* follows the solution from y (n) to a steady state, into `candidate` */
int steady_follow(steady *, const double *y0, const double *p, const double *m);

/* derive.c: the products of y* at a limit whose A is factored.  dx: directions of (y0, p, m) */
int steady_tangent_at(steady *, const limit *, const costate_point *dx, double *out);
int steady_adjoint_at(steady *, const limit *, const double *w, const costate_gradient *g);
int steady_tangent2_at(steady *, const limit *, const costate_point *a, const costate_point *b, double *out);
int steady_adjoint_tangent_at(steady *, const limit *, const costate_point *dx, const double *w,
                              const costate_gradient *g);

/* turning.c: what invariants that depend on parameters add to the last k rows, along d or for weights nu of these rows:
   to out (k), to_y (n), g.  dy: how y* moves along d.  known2: may second derivatives be formed? */
int steady_turn_tangent(steady *, const limit *, const costate_point *d, double *out);
int steady_turn_adjoint(steady *, const limit *, const double *nu, const costate_gradient *g);
int steady_turn_known2(steady *, const limit *);
int steady_turn_tangent2(steady *, const limit *, const costate_point *a, const double *dya, const costate_point *b,
                         const double *dyb, double *out);
int steady_turn_adjoint_tangent(steady *, const limit *, const costate_point *d, const double *dy, const double *nu,
                                double *to_y, const costate_gradient *g);

/* fixed.c: with options.fixed: p with the values of the steady state; a direction, in `room` (np); where a gradient is
   added, and its end, which adds it to the caller's.  Without them, these are what is given. */
const double *fixed_parameters(steady *, const double *p);
costate_point fixed_direction(const steady *, const costate_point *d, double *room);
costate_gradient fixed_begin(const steady *, const costate_gradient *g);
void fixed_end(const steady *, const costate_gradient *g);

/* solve.c */
int steady_at(steady *, const double *y0, const double *p, const double *m, const limit **);
int call_steady_solve(steady *, double *y, const double *p);
int call_steady_tangent(steady *, int m, double *V, const double *Vp);
int call_steady_adjoint(steady *, int m, double *lambda, double *mu);

#endif
