/* step.h - the interface of a family of methods: one step and its derivatives.

   A step is a map (t, h, y, p) -> y at t + h.  forward computes it and stores in the record all that derivatives of
   the step need; tangent, adjoint and estimate read the record; they compute no stage and make no decision.  Shapes: n
   states, nq integrals, nm memory variables, N = n + nq + nm, np parameters, m columns, s stages.  A family reads
   memory variables through the maps and does not write them: the run copies them. */
#ifndef COSTATE_STEP_H
#define COSTATE_STEP_H

#include "base/arena.h"
#include "linsol/shifts.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "step/method.h"
#include "step/spectrum.h"

typedef struct {                /* one step, as stored on the tape */
    double t, h, end;           /* end: t + h, rounded as in aim.c: t of the next step, unless it is relaxed */
    double part;                /* relaxed: the next step begins at t + part h; else 0 */
    int degree : 24;            /* rkc: degree chosen for this step; else 0 */
    unsigned member : 8;        /* of a composite method; else 0 */
    unsigned mode : 29;         /* of a hybrid system */
    unsigned corrected : 1;     /* problem.after_step has changed the state at its end */
    unsigned exact : 1;         /* its stages were solved to round-off */
    unsigned fresh : 1;         /* it depends on no earlier step, though there are some, except through a linearisation
                                   whose state is on the tape */
    long jacobian;              /* serial number of the linearisation used; explicit methods: 0 */
    double held;                /* h for which the matrix of the stages was made, where it is the user's own
                                   (COSTATE_LS_PRECONDITIONER); else 0 */
    const double *y;            /* N: state at t, memory variables last */
    const double *yp;           /* n: for residuals, the y' of the linearisation; NULL for right-hand sides */
    const double *X;            /* s*n: stages; behind them room for `uncorrected`; NULL on a states-only tape */
    const unsigned char *iterations; /* irk: Newton iterations of each block */
    factors *kept;              /* the factorisations of the step if the tape stores them, else NULL */
} record;

typedef struct { double *X; unsigned char *iterations; } place; /* where forward writes X and iterations */

typedef struct {                /* decisions of a step that is to be repeated */
    long jacobian;              /* use the linearisation with this serial number */
    const record *from;         /* the step at whose start it was made; NULL: this one */
    const unsigned char *iterations; /* use these numbers of iterations; NULL: iterate to convergence */
    int counted;                /* they are counts of an iteration with factorisations */
    int degree;                 /* rkc */
    double held;                /* as in the record */
} decisions;

typedef struct {                /* what the next try changes when one was rejected */
    double factor;              /* h_new/h: 0.5 where no estimate is known; 1 with a new Jacobian */
    int new_jacobian;           /* the try may succeed with the same h, because it used the Jacobian of an earlier step;
                                   the next one computes it anew */
} adjustment;

typedef struct {                /* one attempt at a step */
    const record *before;       /* the previous step, for starting values and its last stage; NULL: there is none */
    const decisions *as;        /* NULL: free to decide */
    long serial;                /* serial number for a linearisation made in this step */
    place to;
    int cautious;               /* 1: first step, or the last attempt was rejected */
    int predict;                /* 1: starting values of Newton's iteration from the previous step */
    int estimate;               /* 1: compute err */
    double wanted, span;        /* for longest: |h| as proposed, and the length of the run */
    int exact;                  /* 1: solve stages to round-off, so that y1 is a smooth function of h */
    int differentiated;         /* 1: the step will have tangents or adjoints, which must transpose to round-off */
    int started;                /* in and out: 1: values that depend only on (t, y) are known from an earlier attempt */
    int newton;                 /* out: most Newton iterations of a block; 0: there is no Newton's iteration */
    double contraction;         /* out: largest contraction of Newton's iteration, by the last two of several */
    adjustment next;            /* out, when RETRY is returned; factor is 0.5 before */
    double *y1, *err;           /* N each, out */
    double *yp1;                /* n, out: an approximation of y' at the end, for residuals */
} trial;

/* Is the slope at the end of the previous step that at the start of this one?  A corrected state has another. */
static inline int slope_is_known(const trial *t) { return t->before && !t->before->corrected; }

/* status; RETRY with this factor of h */
static inline int cut_by(trial *t, double factor, int status)
{
    if (status == RETRY) t->next.factor = factor;
    return status;
}

typedef struct {                /* the step that would follow one with this error norm; few steps ask */
    double (*length)(const void *of, double norm);
    const void *of;
} next_step;

typedef struct {                /* m directions through a step */
    int m;
    int stages;                 /* 1: compute Xd also of stages that do not enter V1, for dense output or estimates */
    int solved;                 /* 1: the right-hand side of the last column is the stage residual, so that it is the
                                   correction to exactly solved stages */
    const double *dt, *dh;      /* m each */
    const double *V;            /* N*m in */
    const double *Vp;           /* (np + nm)*m, NULL: zero */
    double *V1;                 /* N*m out */
    double *Xd;                 /* s*m*n out: tangents of the stage variables (erk: of h K) */
} directions;

/* m functionals, propagated backward through a step; or a jet: column 0 is one functional, and columns 1 .. m - 1 are
   its derivatives along m - 1 directions.  In every member with m columns, these columns are derivatives of column 0,
   before and after the step: the adjoint of a jet is the second-order adjoint. */
typedef struct {
    int m;
    const directions *along;    /* NULL: m functionals; else a jet along these, with V, Xd, dt, dh of the tangent */
    int times;                  /* 1: compute t and h */
    double *lambda;             /* N*m in and out */
    double *mu;                 /* (np + nm)*m, added to; NULL: not requested */
    double *t, *h;              /* m each, added to when times */
    double *defect;             /* m, added to; NULL: not requested */
    const double *seed;         /* s*m*n adjoint of the stage variables (erk: of h K), or NULL */
    double *U;                  /* s*m*n out: adjoints of the stages */
} functionals;

enum mode { FORWARD, TANGENT, ADJOINT, SECOND, MODES };
enum trait {
    IMPLICIT = 1,               /* solves with sigma M - J, and needs w at the start of each step */
    REGULAR_MASS = 2,           /* M must be nonsingular */
    DIAGONAL_MASS = 64,         /* M must be diagonal */
    SLOPES = 4,                 /* X are slopes: u = y + h sum D_j X_j, else y + sum D_j X_j */
    REMAKES = 16,               /* sweeps recompute the stages and need no X */
    WEIGHTS = 8,                /* needs w at the start of each step, as implicit families do */
    RUNGE_KUTTA_INVERSE = 32    /* implicit Runge-Kutta stages Z, solved with W = A^-1: takes residuals F(t, y, y', p)
                                   and unknowns of index 2, and serves boundary value problems */
};

typedef struct {                /* columns of tangents from `from` on have these absolute tolerances; NULL: none has */
    int from;
    const double *atol;         /* N */
} random_columns;

/* family.lanes: which functions take its steps of several members side by side (lanes/lanes.h) */
enum lane_family { NO_LANES, LANES_OF_SLOPES, LANES_OF_ROSENBROCK, LANE_FAMILIES };

typedef struct family family;

typedef struct {                /* a method at work: the only one of a solver, or a member of a composite method */
    const costate_method *m;
    const family *F;
    const costate_options *o;   /* with its own tolerances */
    shifts *sh;
    factors *fac;
    void *own;
    int ready;                  /* 0: its work space does not exist yet */
    double looser;              /* its tolerance over the one that is asked for */
} member_method;

typedef struct stepper {        /* what a family works with: method, problem, linear solver */
    const costate_method *m;    /* the member at hand: these, s, fac and own belong to it (member.c) */
    const family *F;
    const costate_options *o;
    maps *maps;
    shifts *sh;
    verdict *v;
    int n, np, nq, nm, N, s;
    double *w;                  /* N: 1/(atol + rtol |y|) at the start of the step; written by the run */
    linearisation lin;          /* the last one made */
    factors *fac;               /* factorisations of the step, unless they are stored; NULL: explicit */
    random_columns random;      /* of a run */
    spectrum spectrum;          /* of families with explicit stages, and of ros with a matrix of the user's */
    void *own;                  /* private to the family: erk_work, irk_work .. */
    const costate_method *method;       /* of the solver: it may be composite */
    const costate_options *options;     /* of the solver */
    member_method *members;      /* the only method, or those of the composite one */
    int at, most;               /* the member at hand; stages of the one with most */
    shifts *left;               /* which carries errors of inexact solutions through a sweep (linsol/left.h) */
    int (*prepare)(struct stepper *, int k);    /* makes the work space of a member, which is at hand then */
} stepper;

struct family {
    unsigned is;                                         /* enum trait */
    const family *fixed;                                 /* with COSTATE_LS_PRECONDITIONER; NULL: it is refused */
    unsigned needs[MODES], costs[MODES];                 /* products of rhs and of cost, by mode */
    int controller;                                      /* enum costate_controller, of COSTATE_AUTO */
    double pi_beta;                                      /* of the PI controller, times 1/k */
    enum lane_family lanes;
    int (*prepare)(stepper *);                           /* allocates `own`; once */
    void (*layout)(stepper *, cursor *);                 /* forward work space */
    void (*layout_derivatives)(stepper *, cursor *, int m);
    void (*layout_second)(stepper *, cursor *, int m);   /* additional work space of a jet along m directions, besides
                                                            m + 1 columns; may be NULL */
    void (*ready)(stepper *);                            /* called when the work space exists; may be NULL */
    void (*restart)(stepper *);                          /* a run begins: forget earlier ones; may be NULL */
    void (*sweep)(stepper *);                            /* a sweep begins, of tangents or adjoints */
    int (*forward)(stepper *, record *, trial *);
    int (*tangent)(stepper *, const record *, const directions *);
    int (*adjoint)(stepper *, const record *, const functionals *);
    int (*estimate)(stepper *, const record *, const directions *, int j, double *err);  /* of tangent j */
    int (*stiff_part)(stepper *, const record *, double *x);    /* x <- x - sigma (sigma M - J)^-1 M x, for estimates of
                                                                    the step just made; may be NULL */
    /* *again <- the error norm of the step just made by the matrix at its end, or 0; norm: that of its estimate; may be
       NULL */
    int (*confirm)(stepper *, const record *, const trial *, const next_step *, double norm, double *again);
    int (*longest)(stepper *, const record *, trial *, double *h);  /* *h <- the longest stable step; may be NULL */
    /* stabilised methods: the largest h rho that their degrees permit, where |y| is `size` tolerances */
    double (*reach)(const member_method *, int differentiated, double size);
    int (*divide)(const stepper *, int transpose, double *x);   /* x <- M^-1 x or M^-T x, for the spectrum */
    double (*keep)(stepper *, double factor);            /* h_new/h, or 1 to keep h and the factors; may be NULL */
    /* |R| of this step for the fastest modes, and z, h times their rate; NULL: known from |R(inf)| */
    double (*keeps)(const stepper *, const record *, double *z);
    /* with a matrix of the user's: out <- how exact it is for v (n, destroyed), which is made smooth so many times
       before, and for the part of it for which it is least exact.  RETRY: not known.  NULL: the matrix is exact */
    int (*smooth)(stepper *, const record *, int transpose, int times, double *v, smoothness out[2]);
    const char *damps;                                   /* what damps them better; NULL: radau2a */
    double (*loosely)(const stepper *);                  /* default of newton_tol, whatever rtol, if stages are solved
                                                            only to the accuracy of the error estimate; 0: they are not;
                                                            may be NULL */
    int (*watched)(stepper *, double t, const double *y, const double *v, double *out);     /* the operator of which the
                                                            spectrum is an eigenvalue, times v; NULL: f_y */
    void (*remark)(const stepper *, int failed, char *text, size_t room);   /* remark about a run, "": none; may be NULL
                                                                               */
    void (*free)(void *own);
};

int own_new(stepper *, size_t size);                     /* own: zeros */

/* family.divide, where M is factored */
static inline int divide_by_mass(const stepper *c, int transpose, double *x)
{
    return mass_solve(c->sh, transpose, 1, x);
}

/* Of spectrum.h: does the problem provide products with f_y or f_y^T?  Is the radius given by options.spectral_radius
   or spectral_bound? */
static inline int spectrum_products(const maps *a)
{
    return has_tangent(&a->user.rhs) || has_adjoint(&a->user.rhs) || a->user.jac;
}
static inline int spectrum_given(const stepper *c) { return c->maps->user.radius || c->o->spectral_bound > 0; }

/* member.c */
void stepper_put(stepper *);                             /* what the member at hand has made, into `members` */
void stepper_look(stepper *, int k);                     /* member k is at hand, which need not be ready */
int stepper_take(stepper *, int k);                      /* member k is at hand from now on, prepared if it is new; else
                                                            the one before still is */
const member_method *stiff_member(const stepper *);             /* the first with implicit stages, or the first */
static inline int members_count(const stepper *c) { return method_members(c->method); }
static inline const costate_method *method_of_step(const stepper *c, const record *r)
{
    return c->members[r->member].m;
}

/* the count of numbers in record.X: s stages and, with problem.after_step, N of the state before that map */
static inline size_t stage_doubles(const stepper *c, int s)
{
    return (size_t)s * (size_t)c->n + (corrects(c->maps) ? (size_t)c->N : 0);
}
static inline double *uncorrected(const stepper *c, const record *r)
{
    return (double *)r->X + (size_t)method_of_step(c, r)->s * (size_t)c->n;
}

/* may relaxation keep this part of a step? */
#define PART_MOST 1.5
static inline int part_allowed(double gamma) { return gamma >= 0.5 && gamma <= PART_MOST; }

/* the start of this step, or of an earlier one, whose memory variables were others */
static inline costate_point start_of_step(const stepper *c, const record *r)
{
    costate_point x = equation_point(c->maps, r->t, r->y, r->yp);
    if (c->maps->stops.any) { x.t = r->t; point_beginning(c->maps, r->end, &x); }
    x.m = c->nm > 0 ? r->y + c->n + c->nq : NULL;
    x.mode = (int)r->mode;
    if (c->maps->nrelations > 0) {
        const situation *s = c->maps->bound.known->list[r->mode];
        x.mode = s->mode;
        x.relation = s->values;
    }
    return x;
}

/* Are steps prescribed, or do they follow the error alone?  Then a run only says that they were not stable. */
static inline int follows_error_alone(const stepper *c)
{
    return c->o->controller == COSTATE_FIXED || c->o->stability == COSTATE_STABILITY_OFF;
}

/* dense.c: u(theta) = y + sum_j D_j(theta) X_j */
void dense_weights(const costate_method *, double theta, double *D, double *D1);   /* s each; D1 = dD/dtheta or NULL */
void dense_curvature(const costate_method *, double theta, double *D2);            /* s: its second derivative */
double dense_scale(const stepper *, const record *);     /* the factor of X_j: h or 1 */
void dense_state(const stepper *, const record *, const double *D, double *y);
void dense_eval(const stepper *, const record *, double t, double *y);

/* stability.c: |R|, by which a step multiplies y of y' = -a y */
double implicit_growth(const costate_method *, double z);       /* sdirk, firk, ros: z = h a >= 0 */
double rosenbrock_growth(const costate_method *, double x, double s);  /* of the user's matrix: ros/guard.c */
double rosenbrock_slow_error(const costate_method *, double x);         /* the same: ros/smooth.c */

/* norm.c */
/* multiplies x_i by |h|^(index - 1) for index-2 unknowns, whose errors are larger by 1/h than those of the others
   (mathematics, eq. 13.2); x: increments, estimates or weights of their norms */
void index_scale(const stepper *, double h, double *x);
void weights(const stepper *, const double *y, double *w);
double state_rtol(const stepper *, int i);               /* of component i, by the options */
double state_atol(const stepper *, int i);
/* NaN: y1 is not finite */
int error_norm(const stepper *, const double *y, const double *y1, const double *err, double *norm);
/* the name of an option that sets tolerances of tangents; NULL: they have those of y */
const char *tangent_tolerances(const costate_options *);
int tangent_has_tolerances(const stepper *, int j);     /* of its own */
/* the error norm of direction j, V to V1, with its own tolerances if there are any */
int tangent_error_norm(const stepper *, int j, const double *V, const double *V1, const double *err, double *norm);
/* 1/(atol_ij + rtol_j |V_ij|) in room (N) if tangents have their own tolerances, else w of the step */
const double *tangent_weights(const stepper *, int j, const double *V, double *room);

int stage_estimate(stepper *, const record *, const directions *, int j, double *err);     /* sum e_i X'_i: erk, ros */

/* Singular M: an accepted step leaves a residual in the constraints, of the size of Newton's error, or larger if the
   method is not stiffly accurate.  The stages of the next step remove it.  An estimate computed from the last state and
   these stages contains it, with the same size for every h, so that no step would be small enough.  Such an estimate is
   filtered a second time, from M err: M err is 0 on the kernel of M, which contains the removed residual, and elsewhere
   the filter is 1 + O(h), so that the order of the estimate does not change.  Each family chooses the estimates that
   need this. */

#endif
