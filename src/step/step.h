/* step.h - one step, no run: what a family of methods is given, and what it gives.

   A step is a map (t, h, y, p) -> y at t + h.  forward takes it and leaves in the record all that a derivative of the
   step needs; tangent, adjoint and estimate read what forward left, compute no stage and judge nothing.  Shapes: n
   states, nq integrals, nm memory variables, N = n + nq + nm, np parameters, m columns, s stages.  A family reads
   memory by the maps and leaves its rows alone: who runs copies them. */
#ifndef COSTATE_STEP_H
#define COSTATE_STEP_H

#include "base/arena.h"
#include "linsol/shifts.h"
#include "maps/maps.h"
#include "step/method.h"

typedef struct {                /* one step: what the tape keeps */
    double t, h, end;           /* end: t of the next step, t + h but for the rounding of time (aim.c) */
    int degree;                 /* rkc: of this step, a decision; else 0 */
    unsigned mode : 30;         /* of a hybrid system */
    unsigned exact : 1;         /* its stages were solved to round-off */
    unsigned fresh : 1;         /* it uses nothing of the steps before, though there are some, but a linearisation that
                                   the tape has the state of */
    long jacobian;              /* serial of the linearisation that it was solved with; explicit methods: 0 */
    const double *y;            /* N: state at t, its memory behind */
    const double *yp;           /* n: of a residual: about y', where it is linearised; NULL: of right-hand sides */
    const double *X;            /* s*n: stages; NULL on a states-only tape */
    const unsigned char *iterations; /* irk: Newton iterations, one a block */
    factors *kept;              /* the step's factorisations, when the tape keeps them, or NULL */
} record;

typedef struct { double *X; unsigned char *iterations; } place; /* where forward writes what X, iterations read */

typedef struct {                /* what a step is to repeat */
    long jacobian;              /* with this linearisation, */
    const record *from;         /* taken at the start of that step; NULL: of this one */
    const unsigned char *iterations; /* so many iterations; NULL: as many as it takes */
    int counted;                /* they were those of an iteration with factorisations */
    int degree;                 /* rkc */
} decisions;

typedef struct {                /* one try */
    const record *before;       /* NULL: the first step; its stages serve as the first one, and for starting values */
    const decisions *as;        /* NULL: free to decide */
    long serial;                /* names a linearisation made at this step */
    place to;
    int cautious;               /* first step, or the last try was rejected */
    int predict;                /* starting values of Newton from the step before */
    int estimate;               /* err is wanted */
    int exact;                  /* stages to round-off: the end is to be a smooth function of h */
    int started;                /* in and out: what depends on (t, y) alone is there, from an earlier try */
    int newton;                 /* out: most iterations of a block; 0: no Newton */
    int new_jacobian;           /* out, when forward returns RETRY: it may succeed with the same h, because it used the
                                   Jacobian of an earlier step; the next try computes a new one */
    double *y1, *err;           /* N each, out */
    double *yp1;                /* n, out: about y' at the end, of a residual */
} trial;

typedef struct {                /* m directions through a step */
    int m;
    int stages;                 /* 1: Xd is wanted of stages, too, that do not enter V1 */
    int solved;                 /* 1: the last column goes to stages solved exactly, by what Newton left in them */
    const double *dt, *dh;      /* m each */
    const double *V;            /* N*m in */
    const double *Vp;           /* (np + nm)*m, NULL: zero */
    double *V1;                 /* N*m out */
    double *Xd;                 /* s*m*n out: tangents of the stage variables (erk: of h K) */
} directions;

/* m functionals back through a step.  Or a jet along directions: column 0 is one functional, and the columns behind it
   are its derivatives along each direction, so that m is one more than the number of directions.  In every member with
   m columns a derivative's column is the derivative of column 0, before the step and after it: the adjoint of a jet is
   second order. */
typedef struct {
    int m;
    const directions *along;    /* with V, Xd, dt, dh as tangent had or left them; NULL: functionals, no derivatives */
    int times;                  /* 1: t and h are wanted */
    double *lambda;             /* N*m in and out */
    double *mu;                 /* (np + nm)*m, added to; NULL: not wanted */
    double *t, *h;              /* m each, added to when times */
    double *defect;             /* m, added to; NULL: not wanted */
    const double *seed;         /* s*m*n adjoint of the stage variables (erk: of h K), or NULL */
    double *U;                  /* s*m*n out: adjoints of the stages */
} functionals;

enum mode { FORWARD, TANGENT, ADJOINT, SECOND, MODES };
enum trait {
    IMPLICIT = 1,               /* solves with sigma M - J, and asks for weights at the start of each step */
    REGULAR_MASS = 2,           /* M must be regular */
    SLOPES = 4,                 /* X are slopes: u = y + h sum D_j X_j, else y + sum D_j X_j */
    REMAKES = 16,               /* its sweeps make their stages themselves, and need no X */
    WEIGHTS = 8,                /* asks for weights at the start of each step, as implicit ones do */
    RUNGE_KUTTA_INVERSE = 32    /* implicit Runge-Kutta stages Z, solved with W = A^-1: takes residuals F(t, y, y', p)
                                   and unknowns of index 2, and serves boundary value problems */
};

typedef struct family family;

typedef struct stepper {        /* what a family sees: a method, the problem, a linear room */
    const costate_method *m;
    const family *F;
    const costate_options *o;
    maps *maps;
    shifts *sh;
    verdict *v;
    int n, np, nq, nm, N, s;
    double *w;                  /* N: 1/(atol + rtol |y|) at the start of the step; written by who runs */
    linearisation lin;          /* the last one made, and */
    factors *fac;               /* factorisations: of the step, unless it was kept; NULL: explicit */
    void *own;                  /* erk_work, irk_work, ros_work: theirs alone */
} stepper;

struct family {
    unsigned is;                                         /* enum trait */
    unsigned needs[MODES], costs[MODES];                 /* products of rhs and of cost, by mode */
    int controller;                                      /* enum costate_controller, of COSTATE_AUTO */
    double pi_beta;                                      /* of the PI controller, times 1/k */
    int (*prepare)(stepper *);                           /* makes own and what it holds; once */
    void (*layout)(stepper *, cursor *);                 /* forward work space */
    void (*layout_derivatives)(stepper *, cursor *, int m);
    void (*layout_second)(stepper *, cursor *, int m);   /* what a jet along m directions needs beside m + 1 columns;
                                                            may be NULL */
    void (*ready)(stepper *);                            /* what needs the work space; may be NULL */
    void (*restart)(stepper *);                          /* a run begins: own remembers no other; may be NULL */
    void (*sweep)(stepper *);                            /* a sweep begins, the same for tangents and adjoints */
    int (*forward)(stepper *, record *, trial *);
    int (*tangent)(stepper *, const record *, const directions *);
    int (*adjoint)(stepper *, const record *, const functionals *);
    int (*estimate)(stepper *, const record *, const directions *, int j, double *err);  /* of tangent j */
    int (*longest)(stepper *, const record *, trial *, double *h);  /* that a step from here may have; may be NULL */
    double (*keep)(stepper *, double factor);            /* h_new/h as it is, or 1 to keep what is held; may be NULL */
    double (*loosely)(const stepper *);                  /* stages are solved as far as errors count: the default of
                                                            newton_tol, whatever rtol; 0: not so; may be NULL */
    void (*remark)(const stepper *, int failed, char *text, size_t room);   /* on a run; "": none; may be NULL */
    void (*free)(void *own);
};

int own_new(stepper *, size_t size);                     /* own: zeros */

/* dense.c: u(theta) = y + sum_j D_j(theta) X_j */
void dense_weights(const costate_method *, double theta, double *D, double *D1);   /* s each; D1 = dD/dtheta or NULL */
void dense_curvature(const costate_method *, double theta, double *D2);            /* s: its second derivative */
double dense_scale(const stepper *, const record *);     /* what X_j is multiplied by: h or 1 */
void dense_state(const stepper *, const record *, const double *D, double *y);
void dense_eval(const stepper *, const record *, double t, double *y);

/* norm.c */
/* x_i times |h|^(index - 1) of unknowns of index 2, whose errors are larger by 1/h than those of the others
   (mathematics, eq. 13.2): of increments, estimates, or the weights they are measured with */
void index_scale(const stepper *, double h, double *x);
void weights(const stepper *, const double *y, double *w);
/* NaN: y1 is not finite */
int error_norm(const stepper *, const double *y, const double *y1, const double *err, double *norm);
/* The option that gives tangents tolerances of their own, one of them; NULL: they have those of y */
const char *tangent_tolerances(const costate_options *);
/* The norm of direction j, V to V1, with tolerances of its own if there are any */
int tangent_error_norm(const stepper *, int j, const double *V, const double *V1, const double *err, double *norm);
/* 1/(atol_ij + rtol_j |V_ij|) in room (N) where tangents have tolerances of their own, else w of the step */
const double *tangent_weights(const stepper *, int j, const double *V, double *room);

int stage_estimate(stepper *, const record *, const directions *, int j, double *err);     /* sum e_i X'_i: erk, ros */

/* Singular M: an accepted step leaves a residual in the constraints, Newton's remainder, or more where the method is
   not stiffly accurate.  The stages of the next step remove it, and an estimate from the last state and these stages
   holds it, the same for every h: no step would be small enough.  Such an estimate is filtered once more, from M err:
   this is 0 on the kernel of M, where what was removed lies, and elsewhere the filter is 1 + O(h), so that the order
   stays.  A family says which of its estimates these are. */

#endif
