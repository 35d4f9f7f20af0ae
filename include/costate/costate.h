/* costate.h - one-step ODE and DAE integrators with exact tangents, adjoints and Hessian products.

   A step is a map  Phi: (t, h, y, p) -> y at t + h  (and q at t + h for running costs).  costate takes
   steps of Runge-Kutta and Rosenbrock methods for

       M y' = f(t, y, p),      q' = r(t, y, p),

   and differentiates the steps it took.  The contract:

       Tangents and adjoints differentiate the accepted steps; step sizes and the controller's
       decisions are constants, and the controller is never called in reverse.  Adjoint and tangent
       are therefore transposes of each other to round-off, and a replay with the recorded steps
       reproduces the forward run bit for bit.

   Time is the sum of the steps in twice the precision; a callback gets it rounded.
   A step that a given time or an event ends is differentiated as that: the last has h = t1 - t, one that
   ends in an event the h where its guard is zero.  So derivatives with respect to t0 and t1 are exact, and
   those through events.

   Conventions.  n states, np parameters, nq running costs, nm memory variables, N = n + nq + nm.  A state
   vector is y[0..n) followed by q[0..nq) and m[0..nm).  Matrices are stored by columns.  Times are in the user's
   units.  Every call returns a status (0 is success) and never prints (but for costate_progress), exits or
   aborts (but see COSTATE_LS_SUPERLU); costate_message() is a sentence about the last failure.
   Pointers given in a costate_problem or costate_options are kept, not copied, unless said otherwise,
   and must outlive the solver.  One solver a thread, as many as you like; there is no global state. */
#ifndef COSTATE_H
#define COSTATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COSTATE_VERSION "1.0.0"       /* of this header; costate_version(), at the end, is the library's */

/* ---- statuses ------------------------------------------------------------------------------------- */

enum costate_status {
    COSTATE_OK = 0,
    COSTATE_BAD_ARGUMENT = -1,   /* an argument is out of its range; the message names it                */
    COSTATE_MISSING = -2,        /* the method or mode needs a callback that the problem lacks           */
    COSTATE_NO_MEMORY = -3,      /* malloc failed; nothing is lost but this call                         */
    COSTATE_BACKEND = -4,        /* this linear solver is not built in, or cannot do what is asked       */
    COSTATE_MAX_STEPS = -5,      /* options.max_steps taken before t1                                    */
    COSTATE_STEP_TOO_SMALL = -6, /* the step fell below hmin, or below round-off of t or of the interval */
    COSTATE_SINGULAR = -7,       /* the matrix stayed singular although the step was made smaller        */
    COSTATE_NEWTON = -8,         /* Newton's iteration failed although the step was made smaller         */
    COSTATE_CALLBACK = -9,       /* a callback returned < 0                                              */
    COSTATE_NOT_FINITE = -10,    /* a callback returned NaN or Inf although the step was made smaller    */
    COSTATE_TAPE_LIMIT = -11,    /* the tape reached options.tape_limit bytes                            */
    COSTATE_BAD_TAPE = -12,      /* the tape holds no step, or is of another problem or method           */
    COSTATE_STOPPED = -13,       /* on_step or on_event asked to stop; t, y are those of the last step   */
    COSTATE_STAGNATED = -14,     /* a stage system of a tangent or adjoint could not be solved           */
    COSTATE_OUT_OF_RANGE = -15,  /* a time outside the tape or step                                      */
    COSTATE_CHECK_FAILED = -16,  /* a check found a callback, a pattern or a gradient wrong              */
    COSTATE_INCONSISTENT = -17,  /* M is singular, and y(t0) does not meet the constraints               */
    COSTATE_VERSION_MISMATCH = -18, /* the program was compiled with the header of another version       */
    COSTATE_GRAZING = -19,       /* a guard only grazes zero: no derivative exists there                 */
    COSTATE_TOO_MANY_EVENTS = -20, /* options.max_events taken before t1                                 */
    COSTATE_BAD_EVENT = -21,     /* an event could not be located, or its jump leaves the wrong side     */
    COSTATE_MESH_LIMIT = -22,    /* bvp.h: the tolerance is not met with max_mesh intervals              */
    COSTATE_IO = -23             /* a file could not be written or read; the message has the system's words */
};

/* ---- maps: everything a user differentiates -------------------------------------------------------- */

typedef struct {          /* a point; or a direction, where NULL means zero */
    double t;
    const double *y;      /* n states */
    const double *p;      /* np parameters */
    const double *yp;     /* n: y', of a residual; NULL elsewhere */
    const double *m;      /* nm memory variables; NULL where there are none */
    int mode;             /* of a hybrid system; 0 elsewhere, and in directions */
} costate_point;

typedef struct {          /* where an adjoint adds its result; NULL: not wanted */
    double *t, *y, *p;    /* 1, n, np */
    double *yp;           /* n, of a residual; NULL elsewhere */
    double *m;            /* nm; NULL where there are none */
} costate_gradient;

/* out = F(x), F into R^k.  All callbacks return 0: ok, > 0: not defined here, try a smaller step (forward;
   a failure elsewhere), < 0: give up. */
typedef struct {
    int (*value)(const costate_point *x, double *out, void *ctx);
    int (*tangent)(const costate_point *x, const costate_point *dx, double *dout, void *ctx);
    int (*adjoint)(const costate_point *x, const double *w, const costate_gradient *g, void *ctx);
        /* g += F'(x)^T w: adds, so a sparse dependence on p costs only what it touches */
    int (*tangent2)(const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                    double *ddout, void *ctx);                       /* F''(x)[dx1, dx2] */
    int (*adjoint_tangent)(const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g, void *ctx);    /* g += (F''(x)[dx, .])^T w */
    /* What follows is for speed.  Several directions in one call, count >= 1 of them: dx, g: arrays of count, each
       with NULLs of its own; dout, w: k by count.  They may stand alone: where tangent is missing, tangents serves
       with count = 1, and tangent in a loop where tangents is missing; adjoints and adjoint alike. */
    int (*tangents)(const costate_point *x, int count, const costate_point *dx, double *dout, void *ctx);
    int (*adjoints)(const costate_point *x, int count, const double *w, const costate_gradient *g, void *ctx);
    /* Called before a product (any but value) at a point where the product of this map before it was not: what all
       products at x share may be computed here, and kept in ctx.  value and jac may be called elsewhere in between.
       x is valid during the call only.  Each run or sweep begins anew; a ctx that holds something is for one solver at
       a time.  Returns what the others return; after a failure it is called again. */
    int (*prepare)(const costate_point *x, void *ctx);
    /* g += gradient by x of w . F''(x)[dx1, dx2]: third derivatives; asked for by Hessian products of ros alone, and
       of consistent values of index 2 */
    int (*adjoint_tangent2)(const costate_point *x, const costate_point *dx1, const costate_point *dx2, const double *w,
                            const costate_gradient *g, void *ctx);
} costate_map;

/* A sparsity pattern by columns: the rows of column j are row[col[j]] .. row[col[j+1]-1], increasing. */
typedef struct {
    int n;
    const int *col;       /* n + 1 */
    const int *row;       /* col[n] */
} costate_pattern;

/* An event: where its guard passes through zero, or at times that are given, the state (y, m) and the mode change.  The
   step that ends there is solved again until the guard is zero to round-off; derivatives are those of what was done.
   Forward runs need values alone; tangents need guard.tangent and jump.tangent, gradients guard.adjoint, jump.adjoint,
   and products of rhs with directions in t.
   All events whose guards are zero at one time, to round-off, are applied in the order of the list, each to what the
   one before left.  A guard that is zero at t0, or after its own event, is not looked at until it has left zero.  After
   events, the guard of another one may be zero to round-off: that event fires at once, at the same time, if its guard
   goes on in its direction; without a direction, if the guard turns back at zero.  Events that fire each other at once
   without end are COSTATE_TOO_MANY_EVENTS: the solution slides along a guard.
   One that reaches zero at t1, to round-off, is not taken, but by costate_continue, before all else.  Times lie in
   [t0, t1): one at t0 is applied to what is given; one at t1 belongs to a run from there.
   Where M is singular, and of residuals, values after a jump or a change of mode are made consistent, as by
   options.consistent, in the new mode. */
enum costate_modes { COSTATE_ANY_MODE = -1, COSTATE_SAME_MODE = -2 };

typedef struct {
    costate_map guard;    /* 1 value, or instead */
    int ntimes;
    const double *times;  /* ntimes, not decreasing: met exactly, whatever the direction of the run */
    costate_map jump;     /* n + nm values: y and m after it, x: before it; value NULL: they stay as they are */
    costate_map cost;     /* nq values, added to q, x: before the jump; value NULL: none */
    int direction;        /* of the guard along the run: -1: falling, 0: any, 1: rising */
    int from, to;         /* modes >= 0: where it is looked at, or COSTATE_ANY_MODE; after it, or COSTATE_SAME_MODE */
    int terminal;         /* 1: the run ends here, after the jump */
    int passes;           /* 1: the jump may leave the guard beyond zero, or going there, in the same mode; 0: for a
                             guard with a direction and a jump that is COSTATE_BAD_EVENT */
    void *ctx;            /* of guard, jump and cost; NULL: the problem's */
    int slopes;           /* 1, of a residual: guard, jump and cost are given x->yp, the y' for which F(t,y,y',p) = 0 at
                             x->y, whose algebraic unknowns are solved for with it (y' of these is 0).  Each look at the
                             guard solves for them.  0: x->yp is NULL */
    costate_map transition; /* instead of jump, of a residual: n values T, 0 where the event leaves the state: x->y is y
                             after it and y before (2n), x->yp y' of both (2n), as by slopes; x->p, x->m, x->mode as
                             before it.  T of algebraic unknowns is not looked at, m stays.  Solved for y from y before
                             it, with transition.tangent; value NULL: none */
} costate_event;

/* The problem.  What each family needs:

       needs    | erk, rkc    | sdirk, firk  | ros
       forward  | value       | value, jac   | value, jac (tangent for f_t unless autonomous)
       tangent  | + tangent   | + tangent    | + tangent, tangent2
       adjoint  | + adjoint   | + adjoint    | + adjoint, adjoint_tangent
       Hessian  | tangent, adjoint, adjoint_tangent; ros: and tangent2, adjoint_tangent2

   rkc: M is diagonal; without spectral_radius and spectral_bound it takes products with f_y in forward runs, too, or
   differences of f where rhs.tangent and jac are missing.
   jac missing: formed from rhs.tangent (exactly), else by differences of rhs.value; both coloured by the
   pattern, which must have every entry: one more product, once a solver, tells most that it leaves out.
   Differences only steer Newton in sdirk and firk; in ros they change the method (its order is kept only by
   W-methods), and no tangent or adjoint of ros is taken with them unless options.differences.
   Other products missing: formed from jac where that gives them exactly (directions in y alone), else
   COSTATE_MISSING, unless options.differences = 1.
   residual, for firk and for sdirk without an explicit first stage: as rhs; jac and jac_yp (missing: formed alike) do
   for its products with directions in y and y'.  Only y is given at the start: y' is solved for. */
typedef struct {
    int n, np, nq;
    void *ctx;
    costate_map rhs;                                          /* M y' = f(t,y,p):  n values */
    costate_map cost;                                         /* q' = r(t,y,p):   nq values; value NULL where events
                                                                 alone add to q: zero */
    int (*jac)(const costate_point *x, double *J, void *ctx); /* df/dy: n*n by columns, or in the pattern */
    int (*mass)(double *M, void *ctx);                        /* constant, same layout; NULL: identity */
    const costate_pattern *pattern;                           /* of jac, mass, jac_yp; NULL: dense */
    costate_map residual;                                     /* instead of rhs: F(t,y,y',p) = 0, n values; x->yp is
                                                                 y', jac gives dF/dy, mass is NULL */
    int (*jac_yp)(const costate_point *x, double *J, void *ctx);    /* dF/dy' of a residual, same layout */
    const int *index;                                         /* n, of each unknown: 0: y' of it is determined; 1, 2:
                                                                 algebraic, of that index; NULL: none is of index 2 */
    costate_map start;                                        /* optional: n values, 0 where y+ is consistent; x->y
                                                                 is y+ and the y given, 2n: see costate_consistent */
    int nm, nevents;                                          /* memory: constant but for jumps; x->m in every map */
    const costate_event *event;                               /* nevents */
} costate_problem;

/* ---- methods ---------------------------------------------------------------------------------------- */

typedef struct costate_method costate_method;   /* made by the build from methods/<family>/<name>.toml */

enum costate_family {
    COSTATE_ERK, COSTATE_SDIRK, COSTATE_FIRK, COSTATE_ROS, COSTATE_RKC,
    COSTATE_COLLOCATION                         /* boundary values alone: costate_new takes none of these */
};

enum costate_property {                         /* found by the build, not claimed */
    COSTATE_FSAL = 1,                           /* the last stage is the first of the next step   */
    COSTATE_STIFFLY_ACCURATE = 2,
    COSTATE_A_STABLE = 4,
    COSTATE_L_STABLE = 8,
    COSTATE_DAE = 16,                           /* M may be singular (index 1)                    */
    COSTATE_W_METHOD = 32,                      /* ros: keeps its order with any matrix for f_y   */
    COSTATE_EXPLICIT_FIRST = 64                 /* sdirk: the first stage is explicit (ESDIRK)    */
};

typedef struct {
    const char *name, *title, *source;
    int family, stages;                         /* rkc: of the highest degree; a step takes as many as it needs */
    int order, embedded, dense;                 /* of the method, of its error estimate, of its dense output */
    unsigned properties;
    double r_infinity;                          /* the stability function at infinity; NaN where unbounded */
} costate_method_info;

int costate_method_count(void);                                  /* of those that costate_new takes */
const costate_method *costate_method_at(int k);                  /* one of them, 0 <= k < count, else NULL */
const costate_method *costate_method_find(const char *name);     /* any, by the name of its file, else NULL */
/* Method k of those with names like this one, the nearest first; NULL: no more are near.  For a sentence where
   costate_method_find knows no such name. */
const costate_method *costate_method_near(const char *name, int k);
int costate_method_describe(const costate_method *, costate_method_info *);

/* ---- options ---------------------------------------------------------------------------------------- */

enum costate_controller { COSTATE_AUTO = 0, COSTATE_ELEMENTARY, COSTATE_PI, COSTATE_GUSTAFSSON, COSTATE_FIXED };
enum costate_estimator { COSTATE_EST_CLASSICAL = 0, COSTATE_EST_SDIRK };
enum costate_stage_solve { COSTATE_STAGE_AUTO = 0, COSTATE_STAGE_DIRECT, COSTATE_STAGE_ITERATIVE };
enum costate_storage { COSTATE_ALL_STAGES = 0, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS };
enum costate_consistent_when { COSTATE_CONSISTENT_START = 1, COSTATE_CONSISTENT_END = 2, COSTATE_CONSISTENT_NONE = -1 };
enum costate_predictor { COSTATE_PREDICT = 0, COSTATE_PREDICT_NONE };
enum costate_solver {
    COSTATE_LS_AUTO = 0,    /* dense for no pattern or n <= 20; else by the pattern: see docs */
    COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU, COSTATE_LS_KLU,
    COSTATE_LS_GMRES
};
/* COSTATE_LS_SUPERLU, and options.ilu, which is SuperLU's: without memory SuperLU prints a line and ends the process,
   where the others return COSTATE_NO_MEMORY; what it reports instead leaks.  Take another where that matters.
   COSTATE_LS_AUTO does, unless no other sparse solver is built in. */

/* Approximates sigma M - J at x for COSTATE_LS_GMRES: setup when sigma or x changes (may be NULL), solve in place,
   x <- P^-1 x or P^-T x.  Both return 0: ok, > 0: smaller step, < 0: give up. */
typedef struct {
    int (*setup)(double sigma, const costate_point *x, void *ctx);
    int (*solve)(int transpose, double *x, void *ctx);
    void *ctx;
} costate_preconditioner;

struct costate_backend;               /* linsol.h */
typedef struct costate_step costate_step;

/* All zero is the default.  h0, hmin, hmax are lengths (positive, whatever the direction of time). */
typedef struct {
    /* tolerances: |error_i| <= atol_i + rtol_i |y_i| in the root mean square */
    double rtol, atol;                /* 1e-6, 1e-6 */
    const double *rtol_vector;        /* n values instead of rtol, or NULL */
    const double *atol_vector;        /* n values instead of atol, or NULL */
    int cost_error;                   /* 1: the running costs enter the error norm (with rtol, atol) */
    int tangent_error;                /* 1: so do tangents (largest norm over the directions); tolerances of their own:
                                         tangent_rtol, below */

    /* step sizes and control */
    double h0;                        /* first step; 0: chosen */
    double hmin;                      /* 0: round-off of t, or eps^(3/2) |t1 - t0| */
    double hmax;                      /* 0: |t1 - t0| */
    int max_steps;                    /* 100000, accepted and rejected */
    int controller;                   /* COSTATE_AUTO: PI for erk, Gustafsson else; FIXED: h = h0 always */
    double safety;                    /* 0.9 */
    double fac_min, fac_max;          /* 0.2, 8: limits of h_new/h */
    double fac_reject;                /* 0.1: h_new/h after two rejections in a row or a rejected first step */
    double q_min, q_max;              /* 1, 1.2: sdirk, firk: h is kept when h_new/h lies between */
    int estimator;                    /* firk: COSTATE_EST_CLASSICAL (f(t, y) and the stages; with c_1 = 0 one more f),
                                         or COSTATE_EST_SDIRK (one more stage) */
    int autonomous;                   /* 1: f and r do not depend on t; saves ros its f_t */
    int warm;                         /* 1: a call that goes on where the last one ended - the same t, y, p to the bit,
                                         the same direction of time - begins with its step size and controller memory,
                                         and without a tape with its matrices, too; 0: every call begins anew */

    /* Newton's iteration (sdirk, firk) */
    int newton_max;                   /* iterations a stage (sdirk) or step (firk): 7, firk with s > 3 stages
                                         7 + 5 (s - 3)/2 */
    double newton_tol;                /* 0: max(10 eps/rtol, min(0.03, sqrt(rtol))), in the error norm, firk with s > 3
                                         stages rtol^((s-1)/(s+1)) in place of the root; sdirk by
                                         COSTATE_LS_GMRES with regular M: max(10 eps/rtol, 0.1), or 0.03 of
                                         trbdf2, sdirk3a, sdirk4a, sdirk4b, esdirk54i8,
                                         kencarp5, no estimate; a residual, preconditioned: 0.003 */
    double theta_reuse;               /* 0.03: the Jacobian and factorisation are kept while Newton contracts
                                         faster than this; negative: never kept */
    int predictor;                    /* COSTATE_PREDICT: from the last step; COSTATE_PREDICT_NONE: zero */
    int derivative_mode;              /* 1: Newton to round-off, so that differences of runs are derivatives; rkc: no
                                         degree whose round-off is above 2e-12 of y */

    /* linear algebra */
    int solver;                       /* enum costate_solver */
    int stage_solve;                  /* stage systems of tangents and adjoints of sdirk, firk */
    const struct costate_backend *backend;  /* a user's own, instead of solver */
    double krylov_tol;                /* 1e-14: relative residual of GMRES in stage systems, and in ros when
                                         matrix-free; one above 1e-13 makes tangents and adjoints inexact, by about
                                         as much */
    const costate_preconditioner *preconditioner;  /* of COSTATE_LS_GMRES, or NULL */
    int keep_factors;                 /* the tape keeps factorisations for the sweeps: 0: for n >= 200, up to a quarter
                                         of the machine's memory, or of what limits the process (256 MB where that is
                                         more or cannot be told); 1: always; -1: never.  All within tape_limit */
    int ilu;                          /* of COSTATE_LS_GMRES: 1: SuperLU's incomplete LU of sigma M - J (drop tolerance
                                         1e-3), made from jac in the pattern; where SuperLU is built in */
    int differences;                  /* 1: missing derivatives are replaced by differences (inexact) */

    /* rkc, and its spectral radius of M^-1 f_y: by the callback, else the bound, else measured.  One too large costs f,
       by its root; one too small gives unstable steps, which y survives and gradients do not */
    int degree_max;                   /* 0: the method's; no step takes more evaluations of f; rock4: round-off bounds
                                         it, too, by the tolerance: see docs */
    int (*spectral_radius)(const costate_point *x, double *rho, void *ctx);     /* NULL: none; ctx and returns as of
                                         maps; asked at each try of a step */
    double spectral_bound;            /* for the whole run; 0: none */

    /* tape */
    int storage;                      /* COSTATE_ALL_STAGES, or COSTATE_STATES_ONLY: stages recomputed, bit for bit
                                         by the linear solver and options of the run, by others to what Newton's
                                         tolerance leaves; or COSTATE_CHECKPOINTS: some states, see checkpoints, and the
                                         steps between them made again, likewise.  By the solver of the run these must
                                         have its bits: COSTATE_BAD_TAPE tells of callbacks that changed.  Sweeps then
                                         use the tape's memory: one at a time */
    int checkpoints;                  /* of COSTATE_CHECKPOINTS: its states and stages take the memory of so many states
                                         (at least 2 and those of a step); 0: as many as tape_limit has room for, or
                                         without one 200.  A block of steps takes a sixth of it, by sdirk and firk a
                                         third; its first is fresh: it knows no step before it, and no matrices but
                                         such as a block before it began with, while h stays */
    size_t tape_limit;                /* bytes, factors included; 0: none */

    /* output */
    int (*on_step)(const costate_step *, void *ctx);   /* after each accepted step; != 0 stops the run */
    void *on_step_ctx;

    /* DAEs */
    int consistent;                   /* COSTATE_CONSISTENT_START: a run begins by making y consistent, as
                                         costate_consistent does; COSTATE_CONSISTENT_END: it ends so, y of index 0
                                         being kept; both: their sum.  Derivatives are those of what was done.
                                         0: at the end, if problem.index names unknowns of index 2 and second products
                                         are given (tangent2, adjoint_tangent, or differences); COSTATE_CONSISTENT_NONE:
                                         neither */

    /* events */
    int mode;                         /* at t0 */
    int max_events;                   /* of a run; 0: 1000000 */
    int event_samples;                /* points a step where guards are looked at, evenly spaced, its end among them; 0:
                                         the order of the method, at least 4.  Where the slope of a guard is towards
                                         zero at one point and away from it at the next, an excursion beyond zero is
                                         looked for between them.  Missed is a guard that passes zero twice between two
                                         points whose slopes do not show it; and one that does so inside a step with
                                         ends farther from zero than 3 times what it changed by over that step and the
                                         one before, where it is not looked at */
    int (*on_event)(int event, double t, const double *before, const double *after, void *ctx);     /* N values each,
                                         after each event; != 0 stops the run */
    void *on_event_ctx;

    /* scale: states spread over processes, each with its part of y, V and lambda, and its share of q, mu */
    int (*sum)(int count, double *x, void *ctx);        /* x <- its sum over all processes, the same bits on each; 0, or
                                         it failed; NULL: one process */
    void *sum_ctx;

    /* tolerances of the tangents of costate_integrate_tlm, with tangent_error = 1: for direction j
       |error of V_ij| <= atol_ij + rtol_j |V_ij| in the root mean square over i.  NULL: those of y */
    int tangent_count;                /* directions that have values below; runs with more are refused */
    const double *tangent_rtol;       /* tangent_count values, or NULL */
    const double *tangent_atol;       /* tangent_count values, positive, or NULL */
    const double *tangent_atol_vector;  /* n by tangent_count values, positive, instead of tangent_atol, or NULL */
} costate_options;

/* ---- solver ------------------------------------------------------------------------------------------ */

typedef struct costate costate;
typedef struct costate_tape costate_tape;

typedef struct {                      /* summed over the calls since costate_new or costate_reset_stats */
    long steps, accepted, rejected;   /* steps = accepted + rejected */
    long newton_failures;             /* rejected because Newton's iteration or the matrix failed */
    long f, jac;                      /* calls of rhs.value, jac (or Jacobians formed) */
    long jac_products;                /* rhs.tangent or rhs.value calls made to form Jacobians */
    long tangents, adjoints;          /* products by rhs.tangent(s), rhs.adjoint(s) for derivatives: a column is one */
    long tangents2, adjoints2;        /* calls of rhs.tangent2, rhs.adjoint_tangent */
    long differences;                 /* derivatives replaced by differences */
    long decompositions, complex_decompositions;
    long solves, complex_solves;      /* right-hand sides */
    long newton;                      /* Newton iterations, a stage (sdirk) or a step (firk) each */
    long krylov;                      /* GMRES iterations */
    long products;                    /* matrix-free products (counted among tangents and adjoints, too) */
    long power;                       /* products, or differences of f, that measured the spectral radius */
    long stage_direct, stage_iterative; /* stage systems of tangents and adjoints solved this way */
    size_t tape_bytes;                /* of the last tape written; of costate_hessian, with the tangents beside it */
    long factors_kept;                /* factorisations (of a step, all its matrices) that tapes keep */
    long factors_not_kept;            /* those that had no room there: sweeps make them again */
    double krylov_error;              /* of the last sweep, not a sum: estimated relative error that a krylov_tol above
                                         1e-13 left in its tangents or gradients; 0: exact */
    long events, guards;              /* taken; calls of their guard.value */
    long located;                     /* steps solved again to end in an event (not among steps) */
    long adjoints3;                   /* calls of rhs.adjoint_tangent2 */
    long tangents_again;              /* steps whose tangents costate_hessian made twice, for want of room */
    long remade;                      /* steps made again from checkpoints */
} costate_stats;

/* costate_new always returns a solver unless malloc fails (NULL); when an argument is wrong, the solver's
   status and message say so and every later call returns that status.  problem and options are copied
   (what they point to is not); options NULL: defaults.  costate_free takes NULL. */
costate *costate_new(const costate_method *, const costate_problem *, const costate_options *);
void costate_free(costate *);
/* A callback must not call its own solver: the call returns COSTATE_BAD_ARGUMENT and does nothing.  It may look
   (status, message, time, counters, mode), and costate_free waits until the call at work has ended.
   An exception or longjmp may leave a callback (not one of an ensemble or of costate_new).  Call costate_abandon then;
   without it the next call may be taken for one by a callback, if it is made from functions deeper on the stack.  The
   solver can be used again, and so can its tapes, but one that was being written holds nothing, and memory that the
   call had allocated for itself is lost. */
void costate_abandon(costate *);                 /* the call at work was left; NULL is fine */
int costate_status(const costate *);             /* of the last call */
const char *costate_message(const costate *);    /* a sentence about it; never NULL; NULL is no solver.  After a success
                                                    "No error.", and a hint behind it where n >= 1000 without a
                                                    pattern, but nine tenths of the first Jacobian are zeros */
const char *costate_status_name(int status);     /* "COSTATE_OK", ...; never NULL */
double costate_time(const costate *);            /* where the last run ended or failed */
const costate_stats *costate_get_stats(const costate *);
void costate_reset_stats(costate *);
const char *costate_solver_name(const costate *); /* of the linear solver in use, e.g. "umfpack"; "none" */

/* Derivatives with respect to the times: m entries each, NULL: zero (given) or not wanted (asked). */
typedef struct {
    double *t0, *t1;      /* tangent: directions, read.  adjoint: gradients, overwritten */
    double *defect;       /* adjoint: overwritten with the change of each functional that solving the stages
                             exactly would bring, to first order (0 for erk, ros); costs f once a stage */
    double *end;          /* of where the run ended, t1 or a terminal event: tangent: overwritten with its t'; adjoint:
                             read, the gradients of the functionals by it (zero: depend on it only through y) */
    double *events;       /* costate_tape_events by m (column j: direction or functional j), over a tape only: by the
                             times of events at given times, where a run was gone on with, and by what is added to the
                             guards of the others.  tangent: directions, read; adjoint: gradients, overwritten */
} costate_times;

/* Observations at count times anywhere in the interval, through the dense output, in the order of the run.
   They cost no steps. */
typedef struct {
    int count;
    const double *t;                  /* count, not decreasing (not increasing when t1 < t0) */
    int (*value)(int k, double t, const double *y, int m, const double *V, void *ctx);
        /* tangents over a tape: y (n) at t and V (n by m), its tangents */
    int (*seed)(int k, double t, const double *y, int m, double *w, void *ctx);
        /* adjoint: w (n by m), zero on entry: set it to the gradients by y of the m functionals' terms */
    double *dt;                       /* adjoint: count by m (column j: functional j): gradient by the times
                                         of observation through y(t), overwritten; NULL: not wanted */
    void *ctx;
    int (*seed2)(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx);
        /* second order: V (n by m): tangents of y at t; w (n), w2 (n by m), zero on entry: set them to the gradient of
           the functional's term by y, and to its derivatives along V.  costate_gauss_newton: w is NULL, and w2 is to be
           C^T W C V with the Jacobian C of what is observed */
} costate_observations;

/* Forward from t0 to t1 (t1 < t0 too).  y: N values, in and out; on failure the last accepted state.  Where M is
   singular, y must meet the constraints: COSTATE_INCONSISTENT, if to do so it would have to change by more than 100
   times its tolerance (not looked at by COSTATE_LS_GMRES).
   tape: NULL, or a tape that is emptied first (also when the call fails) and then holds this run.  Of a run that failed
   or was stopped it holds the accepted steps: it is evaluated, swept and replayed like that of a run to
   costate_time. */
int costate_integrate(costate *, double t0, double t1, double *y, const double *p, costate_tape *);

/* Consistent values at t: y (n, in and out; with memory N values, m last) a guess on entry; yp (n, in and out, or
   NULL) y' and a guess of it.  What problem.index calls 0 is kept, the rest - or, where index is NULL, the components
   whose y' no equation has - is solved for from the guess, which chooses among roots, by Newton's iteration to
   round-off.  Where unknowns are of index 2 (y' = f(t,y,z), 0 = c(t,y)), y is moved along f_z, as it is at the guess,
   onto c = 0, and z follows from dc/dt = 0; options.consistent differentiates this, and needs tangent2
   (adjoint_tangent) for z, and where y was moved. y' of the unknowns that are solved for is 0.  One dense or sparse
   direct factorisation an iteration, by GMRES solvers too.  Nothing is changed on failure.
   COSTATE_INCONSISTENT: none were found from this guess; COSTATE_SINGULAR: the equations do not determine them.
   problem.start replaces this: n equations N(t, (y+, y), p) = 0 for y+, y being the guess; start.tangent forms their
   dense Jacobian, start.adjoint gives gradients.  No second derivatives are asked for but by Hessian products, which
   take start.adjoint_tangent. */
int costate_consistent(costate *, double t, double *y, double *yp, const double *p);

/* Goes on from where the run on the tape ended - at t1, a terminal event, or where it was stopped - to t1, with the
   parameters of the tape, onto the same tape: a sweep then goes through both.  y: N values, out. */
int costate_continue(costate *, costate_tape *, double t1, double *y);
int costate_mode(const costate *);               /* where the last run ended */

/* costate_integrate, carrying m tangents: V (N by m, in and out), Vp (np by m directions, NULL: zero). */
int costate_integrate_tlm(costate *, double t0, double t1, double *y, const double *p, int m, double *V,
                          const double *Vp, const costate_times *, costate_tape *);

/* Forward, seed, backward.  seed is called once at t1 with y (N): it sets lambda (N by m, zero on entry) to the
   gradients of m functionals by (y, q)(t1), and may add to mu (np by m) their direct derivatives by p.
   lambda returns the gradients by (y, q)(t0), mu those by p (added to what mu held on entry).
   On failure lambda and mu are undefined. */
typedef int (*costate_seed)(double t1, const double *y, const double *p, int m, double *lambda, double *mu,
                            void *ctx);
int costate_integrate_adj(costate *, double t0, double t1, double *y, const double *p, int m, double *lambda,
                          double *mu, const costate_times *, costate_seed seed, void *seed_ctx);

/* Over a tape: backward; lambda and mu as above, seeded by the caller (mu NULL: not wanted). */
int costate_adjoint(costate *, const costate_tape *, int m, double *lambda, double *mu, const costate_times *,
                    const costate_observations *);
/* Over a tape: tangents forward. */
int costate_tangent(costate *, const costate_tape *, int m, double *V, const double *Vp, const costate_times *,
                    const costate_observations *);
/* Over a tape: the same steps again, from y (N, in and out) and p: the recorded run if they are its, bit for bit if
   the solver has the linear solver and the options of the run, else to what Newton's tolerance leaves. */
int costate_replay(costate *, const costate_tape *, double *y, const double *p);

/* Called once at the end of the run with y (N), its tangents V (N by m) along directions that have Vp (np by m, or
   NULL) in p: sets lambda (N) to the gradient of the functional by y, lambda2 (N by m) to its derivatives along the
   directions, all zero on entry, and may add to mu (np) and mu2 (np by m; both NULL where not wanted) what is direct by
   p.  costate_gauss_newton: lambda and mu are NULL, and lambda2 is to be C^T W C V. */
typedef int (*costate_seed2)(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                             double *lambda, double *mu, double *lambda2, double *mu2, void *ctx);

/* What a Hessian product is given and gives.  What is NULL or zero is not there, or not wanted. */
typedef struct {
    int m;                            /* directions; 0 with correct: the gradient alone */
    const double *V, *Vp;             /* N by m, np by m: directions of y at t0, of p */
    const costate_times *along;       /* t0, t1, events: directions of times, m each; end: out, its tangents */
    costate_seed2 seed;               /* of the end values */
    void *ctx;                        /* of seed */
    const costate_observations *observations;   /* by seed2 */
    double *lambda, *mu;              /* N, np, out: the gradient by y at t0; by p, added to what mu holds, or NULL */
    const costate_times *times;       /* t0, t1, defect, events: out, the gradient by them; end: read after seed, the
                                         gradient by where the run ended; or NULL */
    double *lambda2, *mu2;            /* N by m, np by m, out: their derivatives along the directions, likewise */
    const costate_times *times2;      /* m each, likewise */
    int correct;                      /* 1: what Newton's iteration left in the stages is removed from lambda, mu and
                                         times, to first order; by one direction more, the last: seed, seed2 are called
                                         with m + 1 */
} costate_second;

/* Over a tape: the gradient of one functional and its derivatives along m directions, those of the steps that were
   taken: tangents forward, one sweep back.  The functional: its end values (seed), its observations, q with lambda's
   rows of it, costs at events.  The tangents are kept at all steps, beside the tape within options.tape_limit; where
   there is no room at some, and made again from there: COSTATE_TAPE_LIMIT where they do not fit that way either.  With
   COSTATE_CHECKPOINTS they take m times the memory of the tape, or what they need at least. */
int costate_hessian(costate *, const costate_tape *, const costate_second *);
/* Over a tape: J^T W J v along m directions, J the Jacobian of what is observed: tangents forward, lambda2, mu2, times2
   back.  Of second derivatives none are asked for (but by ros, whose gradients have them).  lambda, mu, times: not
   looked at. */
int costate_gauss_newton(costate *, const costate_tape *, const costate_second *);

/* costate_replay, and its steps onto another tape: gradients over it are those of the frozen steps. */
int costate_replay_onto(costate *, const costate_tape *, double *y, const double *p, costate_tape *onto);

/* ---- tape --------------------------------------------------------------------------------------------- */

/* A sweep only reads its tape: several threads may sweep one at the same time, each with a solver of its own; but one
   with COSTATE_CHECKPOINTS or in a file is for one sweep at a time, and COSTATE_BAD_TAPE for another.  Who writes a
   tape or frees it must be alone with it, and with the solver that wrote it, whose factorisations it may share.  A tape
   may outlive that solver, but not the options.backend that those are of.
   Over one tape, tangents by one solver and adjoints by another are transposes.  A solver that would make other steps
   again than those of the run is therefore refused (COSTATE_BAD_TAPE): a tape with COSTATE_CHECKPOINTS, also in a file,
   is swept with the linear solver of its run, and one with COSTATE_STATES_ONLY with any factorisation if the run had
   one, else with COSTATE_LS_GMRES, and with either if both solvers have derivative_mode.  With COSTATE_ALL_STAGES any
   linear solver will do. */
costate_tape *costate_tape_new(void);                  /* NULL: no memory */
void costate_tape_free(costate_tape *);                /* NULL is fine */
/* A tape in a file: a run writes it there as it goes, and sweeps read it back; in memory stay decisions, about 120
   bytes a step, and states at events.  With COSTATE_ALL_STAGES the file has all; else (COSTATE_CHECKPOINTS, likewise
   COSTATE_STATES_ONLY) a state every few steps, from which the others are made again once a sweep.  A run empties the
   file, if it is a tape; any other is refused (COSTATE_BAD_TAPE).  A full disk ends the run with COSTATE_IO: y is the
   last accepted state, the tape is empty, and its file as that of a run that was killed.  costate_tape_free leaves the
   file.  path is copied; a file is for one process.  NULL: no memory, or path is NULL. */
costate_tape *costate_tape_open(const char *path);
/* What the file holds, for sweeps by solvers of the same problem and method: a whole run, one that failed, or of one
   that was killed all up to the last state from which it can go on.  COSTATE_BAD_TAPE: damaged, or not of these. */
int costate_tape_read(costate *, costate_tape *);
/* Goes on with the run in the file that was killed, stopped or failed, to the t1 it was for, with its p: the same bits
   as if that had not happened, by a solver of the same problem, method and options.  y: N values, out.  Of a run that
   had ended: that end.  Where states are spread, the files of all processes must end at the same step. */
int costate_resume(costate *, costate_tape *, double *y);
int costate_tape_steps(const costate_tape *);
size_t costate_tape_bytes(const costate_tape *);
int costate_tape_get(const costate_tape *, int k, double *t, double *h, double *y); /* step k: start, y (N);
                                         COSTATE_BAD_TAPE: y is not there, but by costate_tape_eval */
/* What sweeps over a tape will cost.  They make as many steps again with COSTATE_STATES_ONLY, which has the states, and
   with COSTATE_CHECKPOINTS, if nothing else is done with the tape before. */
typedef struct {
    int steps;                  /* of the tape */
    size_t bytes;               /* of memory that it takes then, at most */
    long remade_back;           /* steps that a sweep back makes again: gradients */
    long remade_forward;        /* a sweep forward: tangents */
} costate_forecast;
int costate_tape_forecast(const costate_tape *, costate_forecast *);
/* Event k of the run: its time, which of problem.event it is (-1: none, a run was gone on with there), y before and
   after (N each).  NULL: not wanted. */
int costate_tape_events(const costate_tape *);
int costate_tape_event(const costate_tape *, int k, double *t, int *event, double *before, double *after);
/* y (n states) at t in the taped interval, by the dense output (states-only tapes recompute the step). */
int costate_tape_eval(costate *, const costate_tape *, double t, double *y);

/* ---- a step, inside on_step ----------------------------------------------------------------------------- */

double costate_step_start(const costate_step *);       /* t at its begin */
double costate_step_end(const costate_step *);
const double *costate_step_state(const costate_step *);  /* N values at its end */
int costate_step_eval(const costate_step *, double t, double *y);  /* n states at t inside, by the dense output */

/* An on_step ready made, or to be called by yours: percent of the interval, t, h, steps, time left, in one line on
   stderr, five times a second, only if that is a terminal; the line is cleared at the end.  ctx: not used.
   Returns 0. */
int costate_progress(const costate_step *, void *ctx);

/* ---- checks ---------------------------------------------------------------------------------------------- */

typedef struct {
    double tangent, adjoint, tangent2, adjoint_tangent, jac; /* worst relative errors; NaN: not given */
                                /* jac missing: the entry that the pattern leaves out, beside the moduli of its row */
    double transpose, taylor;   /* check_adjoint: relative gap; ratio of remainders (4 is right) */
    char text[512];             /* the same for people, with the worst entry of each */
    double adjoint_tangent2;    /* as adjoint_tangent */
    double symmetry, hessian;   /* check_hessian: relative gap of w.Hv and v.Hw; of Hv and differences of gradients */
} costate_report;

/* A user's map into R^k at a point: tangent against 8th-order differences of value, adjoint against tangent, second
   derivatives against differences of the first, third ones of the second; values are all set, finite, and none beyond
   k.  x->m is passed on, and not differentiated by.  Returns COSTATE_OK when all given are right to 1e-6, else
   COSTATE_CHECK_FAILED.  A bad argument or a missing value is a status and a sentence in the report, before any
   callback is called. */
int costate_check_map(const costate_map *, int n, int np, int k, const costate_point *x, void *ctx, costate_report *);
/* rhs (or residual, a map of y' too: x->yp is n values then) and cost of a problem as by costate_check_map, and by
   memory, too; start, guards, jumps and costs of events alike, these in the mode `from`, or where that is any in
   x->mode, as all else; all of jac (and jac_yp), entries outside the pattern counting as zero, or, where jac is
   missing, whether the pattern has all entries of f_y at x, and which it leaves out (by random products, which see
   an entry of 1e-8 of its row, 1e-10 with rhs.tangent); mass as far as it can be told: finite, constant, nothing
   written outside of the pattern.  All of it is reported in rhs.  cost may be NULL; what is wrong with an argument
   is said in rhs. */
int costate_check_problem(const costate_problem *, const costate_point *x, costate_report *rhs, costate_report *cost);
/* A pattern of f_y (of a residual: of F_y and F_y'), found by probing each column at x and at three random points
   within a tenth of the sizes of t, y and p: f_y e_j by rhs.tangent, else f(y + d e_j) - f(y). An entry is where
   that is not zero, to the last bit. The diagonal is always in it, and so are problem.pattern, if given, and
   (without one) the entries that mass sets in n*n. 4 n products or values; mass without a pattern takes n*n numbers.
   Memory and mode are those of x: with modes, call it in each, with problem.pattern what was found before. An entry
   that is zero at all four points (a branch not taken there, a term that underflows, or without tangents one below
   round-off of its row) is missed: add it by problem.pattern. *out is the caller's, to be freed by
   costate_pattern_free (takes NULL) after the solvers that use it; NULL on failure. report: a sentence; may be NULL. */
int costate_pattern_detect(const costate_problem *, const costate_point *x, costate_pattern **out, costate_report *);
void costate_pattern_free(costate_pattern *);
/* The whole run: transpose identity and, with the steps frozen, a Taylor test.  y (N) is not changed.  With unknowns of
   index 2 and without options.consistent, y is first made consistent as by costate_consistent, and the directions
   checked are those along the constraints: others leave them, where no solution is near.  costate_check_hessian does
   the same.
   Where the run itself fails, the report holds its sentence. */
int costate_check_adjoint(costate *, double t0, double t1, const double *y, const double *p, costate_report *);
/* The same of Hessian products, of the functional by seed (and q, where lambda has rows of it): symmetry, and the
   product along a direction against 8th-order differences of the gradients of frozen runs, with the solver's options
   but Newton to round-off.  COSTATE_CHECK_FAILED: symmetry worse than 1e-10, or differences by more than 1e-6. */
int costate_check_hessian(costate *, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                          void *ctx, costate_report *);

/* ---- a program and its library ------------------------------------------------------------------------------- */

const char *costate_version(void);               /* of the library, at run time */
size_t costate_sizeof(const char *type);         /* bytes of "costate_options", ... in the library; 0: no such struct */

/* Options may grow within 1.x, other structs from 1.x to 2.0.  So what a program calls first passes the sizes that it
   was compiled with.  Options that end earlier, of an earlier 1.x, are taken: what they lack is 0, the default.  A
   library that has other sizes else reads none of the structs and refuses: with COSTATE_VERSION_MISMATCH, and from
   costate_new with a solver whose message names the struct.  The macros at the end do this, and change nothing else:
   what is declared above says what the calls take.  Other languages call the functions themselves and compare
   costate_version or costate_sizeof with what they were written for; so may C, by (costate_new)(...), a pointer to
   costate_new, or COSTATE_NO_HANDSHAKE defined before this header. */
typedef struct {
    const char *type;
    size_t size;
} costate_size;

static inline const costate_size *costate_sizes(void)      /* of this header; first its version, last NULL */
{
    static const costate_size sizes[] = {
        {COSTATE_VERSION, 0},
        {"costate_point", sizeof(costate_point)},
        {"costate_gradient", sizeof(costate_gradient)},
        {"costate_map", sizeof(costate_map)},
        {"costate_pattern", sizeof(costate_pattern)},
        {"costate_event", sizeof(costate_event)},
        {"costate_problem", sizeof(costate_problem)},
        {"costate_method_info", sizeof(costate_method_info)},
        {"costate_preconditioner", sizeof(costate_preconditioner)},
        {"costate_options", sizeof(costate_options)},
        {"costate_stats", sizeof(costate_stats)},
        {"costate_times", sizeof(costate_times)},
        {"costate_observations", sizeof(costate_observations)},
        {"costate_second", sizeof(costate_second)},
        {"costate_forecast", sizeof(costate_forecast)},
        {"costate_report", sizeof(costate_report)},
        {NULL, 0}
    };
    return sizes;
}

costate *costate_new_sized(const costate_size *, const costate_method *, const costate_problem *,
                           const costate_options *);
int costate_method_describe_sized(const costate_size *, const costate_method *, costate_method_info *);
int costate_check_map_sized(const costate_size *, const costate_map *, int n, int np, int k, const costate_point *x,
                            void *ctx, costate_report *);
int costate_check_problem_sized(const costate_size *, const costate_problem *, const costate_point *x,
                                costate_report *rhs, costate_report *cost);
int costate_pattern_detect_sized(const costate_size *, const costate_problem *, const costate_point *x,
                                 costate_pattern **out, costate_report *);
int costate_check_adjoint_sized(const costate_size *, costate *, double t0, double t1, const double *y, const double *p,
                                costate_report *);
int costate_check_hessian_sized(const costate_size *, costate *, double t0, double t1, const double *y, const double *p,
                                costate_seed2 seed, void *ctx, costate_report *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_new(...) costate_new_sized(costate_sizes(), __VA_ARGS__)
#define costate_method_describe(...) costate_method_describe_sized(costate_sizes(), __VA_ARGS__)
#define costate_check_map(...) costate_check_map_sized(costate_sizes(), __VA_ARGS__)
#define costate_check_problem(...) costate_check_problem_sized(costate_sizes(), __VA_ARGS__)
#define costate_pattern_detect(...) costate_pattern_detect_sized(costate_sizes(), __VA_ARGS__)
#define costate_check_adjoint(...) costate_check_adjoint_sized(costate_sizes(), __VA_ARGS__)
#define costate_check_hessian(...) costate_check_hessian_sized(costate_sizes(), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
