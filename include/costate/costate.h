/* costate.h - one-step ODE and DAE integrators with exact tangents, adjoints and Hessian-vector products.

   costate solves initial value problems with Runge-Kutta and Rosenbrock methods,

       M y' = f(t, y, p)    or    F(t, y, y', p) = 0,        q' = r(t, y, p),

   and differentiates the steps that it took (discretise-then-optimise).  A step is a map
   Phi: (t, h, y, p) -> y at t + h, and to the running costs q at t + h.  The contract:

       Tangents (forward sensitivities, Jacobian-vector products) and discrete adjoints
       (vector-Jacobian products) differentiate the accepted steps.  Step sizes and the decisions of
       the step size controller are treated as constants.  Adjoint and tangent are therefore transposes
       of each other to round-off, and a replay with the recorded step sizes reproduces the forward run
       bit for bit.

   Two kinds of steps are not frozen: the last one has h = t1 - t, and a step that ends at an event has the h for
   which the guard is zero.  These lengths are differentiated, too, so that derivatives with respect to t0, t1 and
   through events are exact.  The time is accumulated in twice the precision; callbacks get it rounded.

   Conventions.  n states, np parameters, nq running costs, nm memory variables, N = n + nq + nm.  A state
   vector is y[0..n) followed by q[0..nq) and m[0..nm).  Matrices are stored by columns.  Times are in the units of
   the user.  Every call returns a status (0 is success).  No call prints (except costate_progress), exits or aborts
   (except as described at COSTATE_LS_SUPERLU).  costate_message() returns a sentence about the last failure.
   Pointers in a costate_problem or costate_options are kept, not copied, unless stated otherwise; what they point to
   must outlive the solver.  Use one solver per thread, and as many solvers as you like: there is no global state. */
#ifndef COSTATE_H
#define COSTATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COSTATE_VERSION "2.0.0"       /**< of this header; costate_version(), at the end, returns that of the library */

/* ---- statuses ------------------------------------------------------------------------------------- */

enum costate_statuses {
    COSTATE_OK = 0,
    COSTATE_BAD_ARGUMENT = -1,   /**< an argument is out of its range; the message names it */
    COSTATE_MISSING = -2,        /**< the method or mode needs a callback that the problem does not provide */
    COSTATE_NO_MEMORY = -3,      /**< malloc failed; only the result of this call is lost */
    COSTATE_BACKEND = -4,        /**< this linear solver is not built in, or cannot do what was requested */
    COSTATE_MAX_STEPS = -5,      /**< options.max_steps steps were taken before t1 */
    COSTATE_STEP_TOO_SMALL = -6, /**< the step size fell below hmin, or below the round-off of t */
    COSTATE_SINGULAR = -7,       /**< the matrix stayed singular although the step size was reduced */
    COSTATE_NEWTON = -8,         /**< Newton's iteration failed although the step size was reduced */
    COSTATE_CALLBACK = -9,       /**< a callback returned a value < 0 */
    COSTATE_NOT_FINITE = -10,    /**< a callback returned NaN or Inf although the step size was reduced */
    COSTATE_TAPE_LIMIT = -11,    /**< the tape reached options.tape_limit bytes */
    COSTATE_BAD_TAPE = -12,      /**< the tape holds no step, or belongs to another problem or method */
    COSTATE_STOPPED = -13,       /**< on_step or on_event stopped the run (t, y: of the last step), or on_back a
                                      sweep */
    COSTATE_STAGNATED = -14,     /**< a stage system of a tangent or adjoint could not be solved */
    COSTATE_OUT_OF_RANGE = -15,  /**< a time lies outside the tape or the step */
    COSTATE_CHECK_FAILED = -16,  /**< a check found an error in a callback, a pattern or a gradient */
    COSTATE_INCONSISTENT = -17,  /**< M is singular, and y(t0) does not satisfy the constraints */
    COSTATE_VERSION_MISMATCH = -18, /**< the program was compiled with the header of another version */
    COSTATE_GRAZING = -19,       /**< a guard only touches zero: no derivative exists there */
    COSTATE_TOO_MANY_EVENTS = -20, /**< options.max_events events occurred before t1 */
    COSTATE_BAD_EVENT = -21,     /**< an event could not be located, or its jump leaves the wrong side */
    COSTATE_MESH_LIMIT = -22,    /**< bvp.h: the tolerance is not met with max_mesh intervals */
    COSTATE_IO = -23,            /**< a file could not be written or read; the message quotes the system */
    COSTATE_ACCURACY = -24,      /**< accuracy.h: an error cannot be estimated, or a tolerance is not met */
    COSTATE_NO_LIMIT = -25       /**< steady.h: the solution tends to no steady state, or not to a stable one that is
                                      determined */
};

/* ---- maps: everything that is differentiated -------------------------------------------------------- */

/** a point; or a direction, in which NULL means zero */
typedef struct {
    double t;
    const double *y;      /**< n states */
    const double *p;      /**< np parameters */
    const double *yp;     /**< n: y', in residuals; NULL elsewhere */
    const double *m;      /**< nm memory variables; NULL where there are none */
    int mode;             /**< of a hybrid system; 0 elsewhere, and in directions */
    int side;             /**< -1, 1: t is the number next to a stop, below or above it, and stands for the limit from
                               that side: a table with two values at that time is read on this side; 0 elsewhere.  Stops
                               are problem.stops and given times of events */
    const int *relation;  /**< nrelations values, see costate_relation; NULL where there are none, and in directions */
} costate_point;

/** where an adjoint adds its result; NULL: not requested */
typedef struct {
    double *t, *y, *p;    /**< 1, n, np */
    double *yp;           /**< n, in residuals; NULL elsewhere */
    double *m;            /**< nm; NULL where there are none */
} costate_gradient;

/** A map out = F(x) into R^k and its derivatives.  A callback returns 0 for success.  A value > 0 means that F is not
   defined at x: a forward run then tries a smaller step; elsewhere the call fails.  A value < 0 ends the call with
   COSTATE_CALLBACK. */
typedef struct {
    int (*value)(const costate_point *x, double *out, void *ctx);
    int (*tangent)(const costate_point *x, const costate_point *dx, double *dout, void *ctx);
        /**< Jacobian-vector product: dout = F'(x) dx */
    int (*adjoint)(const costate_point *x, const double *w, const costate_gradient *g, void *ctx);
        /**< vector-Jacobian product: g += F'(x)^T w.  It adds, so that a map that depends on few entries of p only
             touches those */
    int (*tangent2)(const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                    double *ddout, void *ctx);                       /**< ddout = F''(x)[dx1, dx2] */
    int (*adjoint_tangent)(const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g, void *ctx);    /**< g += (F''(x)[dx, .])^T w */
    /** The following three callbacks are optional and save time.  `tangents` and `adjoints` handle `count` >= 1
       directions in one call: dx and g are arrays of `count` elements, each with NULLs of its own; dout and w are k by
       count.  They can replace the single versions: if `tangent` is missing, `tangents` is called with count = 1, and
       if `tangents` is missing, `tangent` is called in a loop; the same holds for `adjoints` and `adjoint`. */
    int (*tangents)(const costate_point *x, int count, const costate_point *dx, double *dout, void *ctx);
    int (*adjoints)(const costate_point *x, int count, const double *w, const costate_gradient *g, void *ctx);
    /** `prepare` is called whenever a derivative is requested at a point different from that of the previous derivative
       of the same map.  What all derivatives at x share can be computed here and stored in ctx.  `value` and `jac` may
       be called elsewhere in between.  x is valid only during the call.  Each run and each sweep starts afresh.  A ctx
       that stores such values must not be used by two solvers at the same time.  `prepare` returns what the other
       callbacks return; after a failure it is called again. */
    int (*prepare)(const costate_point *x, void *ctx);
    /** g += gradient with respect to x of w . F''(x)[dx1, dx2] (third derivatives).  Only Hessian products of
       Rosenbrock methods and of consistent values of index 2 request it. */
    int (*adjoint_tangent2)(const costate_point *x, const costate_point *dx1, const costate_point *dx2, const double *w,
                            const costate_gradient *g, void *ctx);
} costate_map;

/** A sparsity pattern in compressed column form: the row indices of column j are row[col[j]] .. row[col[j+1]-1] in
   increasing order. */
typedef struct {
    int n;
    const int *col;       /**< n + 1 */
    const int *row;       /**< col[n] */
} costate_pattern;

/** Values of costate_event.from and costate_event.to that are no mode. */
enum costate_modes { COSTATE_ANY_MODE = -1, COSTATE_SAME_MODE = -2 };

/** What a guard does that is zero at t0, to round-off.  DEFAULT: its event fires if the guard moves strictly in the
   direction of the event.  FIRE: it fires.  IGNORE: the guard is ignored until it has left zero.

   ZERO_FALSE, ZERO_TRUE: the event fires where a condition becomes true along the solution, guard > 0, or guard >= 0
   (direction -1: < 0, <= 0), not only at t0 but wherever the guard begins at zero.  ZERO_FALSE: it fires where the
   guard leaves zero in its direction, even if it has rested there, or if its slope there is zero.  ZERO_TRUE: where a
   run begins at zero, or the jump of another event leads there, the condition is true already, and it does not fire. */
enum costate_at_start { COSTATE_START_DEFAULT, COSTATE_START_FIRE, COSTATE_START_IGNORE, COSTATE_ZERO_FALSE,
                        COSTATE_ZERO_TRUE };

/** An event of a hybrid system.  When its guard passes through zero, or at given times, the state (y, m) and the mode
   change.  The step in which a guard passes through zero is repeated with a length that makes the guard zero to
   round-off; the derivatives are those of what was computed.

   Forward runs only need the values of the maps.  Tangents need guard.tangent and jump.tangent, gradients
   guard.adjoint and jump.adjoint, and both need products of rhs with directions in t.

   Several events at one time: all events whose guards are zero to round-off are applied in the order of the list, each
   to the state that the previous one left.  After an event, the guard of another event may be zero to round-off.  That
   event fires immediately, at the same time, if its guard moves on in the direction of the event (if the event has no
   direction: if the guard turns back at zero).  Each of these events has a time of its own in derivatives: they are
   exact if the events do not depend on each other, and otherwise those of this order of events, from one side.
   Events that trigger each other without end give COSTATE_TOO_MANY_EVENTS: the solution slides along a guard.

   Start of the interval: an event whose guard is zero at t0, to round-off, and moves strictly in the direction of the
   event, fires at t0.  A guard that rests there (its slope is zero), moves the other way, or has no direction, is
   ignored until it has left zero, and so is a guard after its own event.  at_start changes this.

   End of the interval: an event whose guard reaches zero at t1, to round-off, is not applied by this run;
   costate_continue applies it first.  Given times lie in [t0, t1): an event at t0 is applied to the initial values, one
   at t1 belongs to a run that starts there.  The maps of the problem may jump in t at given times of events, as at
   problem.stops (where algebraic unknowns jump with them, list the times there, too); the jump and the cost of the
   event receive x->t as given, with x->side = 0.

   Where M is singular, and for residuals, the values after a jump or a change of mode are made consistent in the new
   mode, as with options.consistent. */
typedef struct {
    costate_map guard;    /**< 1 value; or, instead of a guard, */
    int ntimes;
    const double *times;  /**< ntimes times in non-decreasing order: met exactly, whatever the direction of the run */
    costate_map jump;     /**< n + nm values: y and m after the event; x: before it; value NULL: y and m do not
                               change */
    costate_map cost;     /**< nq values that are added to q; x: before the jump; value NULL: none */
    int direction;        /**< of the guard along the run: -1: falling, 0: either, 1: rising */
    int from, to;         /**< modes >= 0.  from: where the guard is active, or COSTATE_ANY_MODE; to: mode after the
                               event, or COSTATE_SAME_MODE */
    int terminal;         /**< 1: the run ends here, after the jump */
    int passes;           /**< 1: the jump may leave the guard beyond zero, or moving there, in the same mode; 0: for a
                               guard with a direction and a jump this is COSTATE_BAD_EVENT */
    void *ctx;            /**< of guard, jump and cost; NULL: that of the problem */
    int slopes;           /**< residuals only.  1: guard, jump and cost receive x->yp, the y' that satisfies F(t,y,y',p)
                               = 0 at x->y; algebraic unknowns are solved for with it, and their y' is 0.  Each
                               evaluation of the guard solves this system.  0: x->yp is NULL */
    costate_map transition; /**< residuals only, instead of jump: n values T that are 0 at the state after the event.
                                 x->y holds y after it and y before it (2n), x->yp y' of both (2n), as with slopes;
                                 x->p, x->m and x->mode are those before it.  T of algebraic unknowns is ignored; m does
                                 not change.  Solved for y, starting from y before the event, with transition.tangent;
                                 value NULL: none */
    int at_start;         /**< of a guard that is zero at t0: enum costate_at_start */
} costate_event;

/** The value of a relation along whose guard the solution slides: guards, jumps and costs of events receive it; rhs and
   cost are called with the values on both sides instead. */
enum costate_relation_values { COSTATE_SLIDES = -0x7fffffff };

/** A relation: a truth value on which the maps depend, for what has a branch: if(y0 < c), |y1|, floor(t).  A step never
   crosses a zero of its guard: it ends there as at an event, and its stages see the value x->relation[k] that it began
   with, so that the maps are smooth in a step and derivatives include the change of the time of crossing.  Maps must
   choose their branch by x->relation[k], not by a comparison.

   The value is 1 where the guard is positive, else 0; with whole = 1 it is the integer below the guard, with sign = 1
   the sign of the guard, 1 or -1, and 0 where it rests at zero.  The library determines it from the guards where a run
   starts or is continued, and after each event.  A guard that is zero there, to round-off, decides by its slope, with f
   of that value; one that rests at zero has the value of zero, unless f of this value makes it leave.

   Where f of both values drives the guard back to zero, the solution slides along it.  The run then ends with
   COSTATE_TOO_MANY_EVENTS, or follows the surface, as options.sliding says.

   Relations are determined in their order: a guard may depend on x->relation[j], j < k.  They need the products that
   guards of events need.  On tapes and for on_step they appear as event nevents + k; on_event is not called. */
typedef struct {
    costate_map guard;    /**< 1 value */
    int whole;            /**< 1: the value is floor(guard); 0: guard > 0 */
    int sign;             /**< 1: the value is 1, 0 or -1; with whole = 0 */
    void *ctx;            /**< of the guard; NULL: that of the problem */
} costate_relation;

/** A map after each accepted step: the state of the next step is map(t, y, m, p) of what the step computed, for example
   with bounds enforced, a limiter applied, or projected onto an invariant.  It is a part of the step: tangents,
   gradients and Hessian products include it exactly, with its own products, as they do the jump of an event.

   The error estimate, event detection and dense output are those of the step before the map; dense output is therefore
   not continuous where the map acts.  Where a step ends at an event, the map precedes the jump; a jump that the map
   should follow may call it.  A guard that the map, not the solution, moves through zero does not fire.  Running costs
   are not changed.  Where M is singular, and for residuals, the map must return values that satisfy the constraints.
   A value that is > 0, NaN or Inf rejects the step; it is tried again with half of h.

   Instead of a map, an invariant: relaxation.  Each accepted step from y to y1 becomes y + gamma (y1 - y), with the
   gamma near 1 for which the invariant is 0.  It must be convex, or at least so along the solution, and 0 at the start.
   t and q take the same part gamma of the step, so that the order of the method remains.  The step that ends at t1,
   those that end at given times of events, and a prescribed one that might go beyond them, remain as they are: there
   the invariant is off by the error of that one step, until the next one.  So do steps after which it is 0 to
   round-off.  Where no gamma in [1/2, 3/2] makes the invariant 0, the step is tried again with half of h.

   For methods of order 2 or more, problem.rhs with a nonsingular M, and problems without guards.  Forward runs need
   invariant.tangent; derivatives also products of rhs with directions in t, unless options.autonomous = 1; Hessian
   products also invariant.adjoint_tangent. */
typedef struct {
    costate_map map;      /**< n + nm values: y and m; x: at the end of the step.  value NULL: none */
    int (*acts)(const costate_point *x, void *ctx);     /**< optional.  0: the map is the identity at and near x:
                                                             neither it nor its products are called; 1: it is not; < 0:
                                                             ends the call */
    costate_map start;    /**< optional: a map of the initial values of a run, before anything else; it may be `map`.
                               Not applied if a run is continued: costate_continue, costate_resume, options.warm */
    void *ctx;            /**< of these callbacks; NULL: that of the problem */
    costate_map invariant;      /**< instead of map: 1 value, 0 at the end of each step; x: there */
} costate_after_step;

/** The problem.  What the families of methods need:

       needs    | erk, rkc    | sdirk, firk  | ros
       forward  | value       | value, jac   | value, jac (tangent for f_t unless autonomous)
       tangent  | + tangent   | + tangent    | + tangent, tangent2
       adjoint  | + adjoint   | + adjoint    | + adjoint, adjoint_tangent
       Hessian  | tangent, adjoint, adjoint_tangent; ros: and tangent2, adjoint_tangent2

   rkc: M must be diagonal.  Without spectral_radius and spectral_bound, forward runs also use products with f_y, or
   differences of f if rhs.tangent and jac are missing.

   jac missing: the Jacobian is formed from rhs.tangent (exactly), or else by differences of rhs.value.  Both use a
   colouring of the pattern, which must contain every nonzero; one additional product per solver detects most omissions.
   In sdirk and firk an approximate Jacobian only affects Newton's iteration.  In ros it changes the method, which keeps
   its order only if it is a W-method; tangents and adjoints of ros then require options.differences.

   Other missing products are computed from jac where that is exact (directions in y only).  Otherwise the call returns
   COSTATE_MISSING, unless options.differences = 1.

   residual (for firk, and for sdirk without an explicit first stage): the same rules apply; jac and jac_yp (formed in
   the same way if missing) replace its products with directions in y and y'.  Only y is given at the start; y' is
   solved for. */
typedef struct {
    int n, np, nq;
    void *ctx;
    costate_map rhs;                                          /**< f in M y' = f(t,y,p): n values */
    costate_map cost;                                         /**< r in q' = r(t,y,p): nq values; value NULL if only
                                                                   events add to q */
    int (*jac)(const costate_point *x, double *J, void *ctx); /**< df/dy: n*n by columns, or in the pattern */
    int (*mass)(double *M, void *ctx);                        /**< constant, same layout; NULL: identity */
    const costate_pattern *pattern;                           /**< of jac, mass and jac_yp; NULL: dense */
    costate_map residual;                                     /**< instead of rhs: F(t,y,y',p) = 0, n values; x->yp is
                                                                   y', jac returns dF/dy, mass is NULL */
    int (*jac_yp)(const costate_point *x, double *J, void *ctx);    /**< dF/dy' of a residual, same layout */
    const int *index;                                         /**< n, one for each unknown.  0: y' is determined; 1, 2:
                                                                   algebraic, of that index.  NULL: no unknown has index
                                                                   2 */
    costate_map start;                                        /**< optional: n values, 0 where y+ is consistent; x->y is
                                                                   y+ followed by the given y, 2n: see
                                                                   costate_consistent */
    int nm, nevents;                                          /**< memory variables are constant between jumps; every
                                                                   map receives them in x->m */
    const costate_event *event;                               /**< nevents */
    int jac_is_w;                                             /**< 1: jac returns a matrix W instead of df/dy, for ros
                                                                   methods with the property COSTATE_W_METHOD, which
                                                                   see.  0: df/dy */
    costate_after_step after_step;                            /**< a map after each step; zero: none */
    int nstops;                                               /**< known times at which the maps jump in t: tables,
                                                                   doses, controls */
    const double *stops;                                      /**< nstops, in non-decreasing order; NULL: none.  A step
                                                                   ends at each, and evaluates the maps before it; the
                                                                   next one evaluates them behind it (see
                                                                   costate_point.side) and begins as after an event.
                                                                   Stops are fixed or, over a tape, moved by
                                                                   costate_times.events */
    int nrelations;
    const costate_relation *relation;                         /**< nrelations, or NULL */
} costate_problem;

/* ---- methods ---------------------------------------------------------------------------------------- */

enum costate_limits { COSTATE_MEMBERS_MOST = 8 };              /**< members of a composite method */

typedef struct costate_method costate_method;   /**< generated by the build from methods/FAMILY/NAME.toml */

enum costate_family {
    COSTATE_ERK,                                /**< explicit Runge-Kutta */
    COSTATE_SDIRK,                              /**< diagonally implicit Runge-Kutta */
    COSTATE_FIRK,                               /**< fully implicit Runge-Kutta */
    COSTATE_ROS,                                /**< Rosenbrock */
    COSTATE_RKC,                                /**< stabilised explicit Runge-Kutta */
    COSTATE_COLLOCATION,                        /**< collocation, for boundary value problems: not accepted by
                                                     costate_new */
    COSTATE_COMPOSITE                           /**< several methods, among which a rule chooses at each step */
};

/** Properties of a method: determined by the build, not claimed by its file.

   A W-method keeps its order with any matrix W in place of f_y, so it can treat a part of f implicitly and the rest
   explicitly: with problem.jac_is_w = 1, jac returns W in the layout of the pattern, for example that of linear gravity
   waves or of diffusion.  W may depend on p, but not on t, y or the mode; it is formed once in a run or sweep, and
   sigma M - W is factored when sigma = 1/(gamma h) changes.  Derivatives hold W, as they hold h, so that they need
   only first derivatives of f; products of f are never taken from jac.  How much softer than f_y the matrix may be is
   said at costate_preconditioner.  M must be nonsingular. */
enum costate_property {
    COSTATE_FSAL = 1,                           /**< the last stage is the first of the next step */
    COSTATE_STIFFLY_ACCURATE = 2,
    COSTATE_A_STABLE = 4,
    COSTATE_L_STABLE = 8,
    COSTATE_DAE = 16,                           /**< M may be singular (index 1) */
    COSTATE_W_METHOD = 32,                      /**< ros: keeps its order with any matrix for f_y */
    COSTATE_EXPLICIT_FIRST = 64                 /**< sdirk: the first stage is explicit (ESDIRK) */
};

typedef struct {
    const char *name, *title, *source;
    int family, stages;                         /**< rkc: stages of the highest degree; a step takes as many as
                                                     needed */
    int order, embedded, dense;                 /**< of the method, of its error estimate, of its dense output */
    unsigned properties;
    double r_infinity;                          /**< the stability function at infinity; NaN where it is unbounded */
} costate_method_info;

int costate_method_count(void);                                  /**< number of methods that costate_new accepts */
const costate_method *costate_method_at(int k);                  /**< method k, 0 <= k < count, else NULL */
/** Member k of a composite method, 0 <= k < COSTATE_MEMBERS_MOST; NULL: there are no more, or the method is not
   composite.  A composite method takes each step with one of its members.  Explicit members need rhs.value only; a
   stiff member is prepared when stiffness first limits the steps.  The record of a step names its member, so that
   derivatives are exact through changes. */
const costate_method *costate_method_member(const costate_method *, int k);
const costate_method *costate_method_find(const char *name);     /**< any method, by the name of its file, else NULL */
/** Method number k among those whose names resemble this one, the nearest first; NULL: there are no more.  For error
   messages after costate_method_find returned NULL. */
const costate_method *costate_method_near(const char *name, int k);
int costate_method_describe(const costate_method *, costate_method_info *);

/* ---- options ---------------------------------------------------------------------------------------- */

enum costate_stability { COSTATE_STABILITY_ON = 0, COSTATE_STABILITY_OFF };
enum costate_estimate_of_gradients { COSTATE_ESTIMATE_ON = 0, COSTATE_ESTIMATE_LOCAL, COSTATE_ESTIMATE_OFF };
enum costate_controller { COSTATE_AUTO = 0, COSTATE_ELEMENTARY, COSTATE_PI, COSTATE_GUSTAFSSON, COSTATE_FIXED };
enum costate_estimator { COSTATE_EST_CLASSICAL = 0, COSTATE_EST_SDIRK };
enum costate_stage_solve { COSTATE_STAGE_AUTO = 0, COSTATE_STAGE_DIRECT, COSTATE_STAGE_ITERATIVE };
enum costate_storage { COSTATE_ALL_STAGES = 0, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS };
enum costate_consistent_when { COSTATE_CONSISTENT_START = 1, COSTATE_CONSISTENT_END = 2, COSTATE_CONSISTENT_NONE = -1 };
enum costate_predictor { COSTATE_PREDICT = 0, COSTATE_PREDICT_NONE };
/** Linear solvers.

   COSTATE_LS_SUPERLU, and options.ilu, which uses SuperLU: if memory runs out, SuperLU may print a line and end the
   process, where the other solvers return COSTATE_NO_MEMORY; memory that it allocated before may leak.  Use another
   solver where that matters.  COSTATE_LS_AUTO does, unless no other sparse solver is built in. */
enum costate_solver {
    COSTATE_LS_AUTO = 0,    /**< dense without a pattern or for n <= 20; else chosen by the pattern:
                                 docs/howto/linear-solvers.md */
    COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU, COSTATE_LS_KLU,
    COSTATE_LS_GMRES,
    COSTATE_LS_PRECONDITIONER,  /**< ros methods with the property COSTATE_W_METHOD: the preconditioner is the matrix of
                                     the stages, see costate_preconditioner */
    COSTATE_LS_SPARSE           /**< sparse LU of our own, which is always there */
};

/** A preconditioner for COSTATE_LS_GMRES: P approximates sigma M - J at x. `setup` is called when sigma or x changes
   (may be NULL); `solve` replaces x by P^-1 x or P^-T x. Both return 0: success, > 0: try a smaller step, < 0: end the
   call.

   With COSTATE_LS_PRECONDITIONER P itself is the matrix of the stages: a stage takes one `solve` and no iteration. A
   W-method keeps its order with any P, as close to sigma M - J as smooth vectors make necessary: an ADI splitting, a
   few cycles of multigrid (see operators.h). `solve` must be linear with an exact transpose, the same for a given
   sigma and p, whatever x->t and x->y are; `setup` is called when sigma changes. P is held in derivatives, as h is,
   so that they need only first derivatives of f, and not those of P. P may be stiffer than sigma M - J by any
   factor, but softer by a small part only (24 % with w6s4os, 62 % with ros34pw2). */
typedef struct {
    int (*setup)(double sigma, const costate_point *x, void *ctx);
    int (*solve)(int transpose, double *x, void *ctx);
    void *ctx;
    int (*solves)(int transpose, int count, double *X, void *ctx);  /**< optional: `count` >= 1 columns at once, n by
                                                                         count; tangents and adjoints of several columns
                                                                         use it with COSTATE_LS_PRECONDITIONER.  If
                                                                         `solve` is missing, it is called with count =
                                                                         1 */
    size_t splits;          /**< 1: P can be the matrix of a W-method, as described above.  With COSTATE_LS_AUTO, `auto`
                                 then takes it as that of w6s4os where the problem is stiff; the operators of
                                 operators.h say so */
} costate_preconditioner;

struct costate_backend;               /**< linsol.h */
typedef struct costate_step costate_step;

/** All zero is the default.  h0, hmin and hmax are lengths (positive for either direction of time). */
typedef struct {
    /** tolerances: |error_i| <= atol_i + rtol_i |y_i| in the root mean square over the components */
    double rtol, atol;                /**< 1e-6, 1e-6 */
    const double *rtol_vector;        /**< n values instead of rtol, or NULL */
    const double *atol_vector;        /**< n values instead of atol, or NULL */
    int cost_error;                   /**< 1: the running costs enter the error norm (with rtol, atol) */
    int tangent_error;                /**< 1: tangents enter the error norm, too (the largest norm of all directions);
                                           see tangent_rtol below for their tolerances */

    /* step size control */
    double h0;                        /**< first step size; 0: chosen automatically */
    double hmin;                      /**< 0: round-off of t, or eps^(3/2) |t1 - t0| */
    double hmax;                      /**< 0: |t1 - t0| */
    int max_steps;                    /**< 100000, accepted and rejected */
    int controller;                   /**< COSTATE_AUTO: PI for erk, Gustafsson for the others; COSTATE_FIXED: h = h0 */
    double safety;                    /**< 0.9 */
    double fac_min, fac_max;          /**< 0.2, 8: limits of h_new/h */
    double fac_reject;                /**< 0.1: after two rejections in a row, or a rejected first step, h_new/h is
                                           halved once more, but not below this */
    double q_min, q_max;              /**< 1, 1.2: h is kept if h_new/h lies between these: sdirk, firk, and ros with a
                                           matrix of the user's */
    int estimator;                    /**< firk: COSTATE_EST_CLASSICAL (from f(t, y) and the stages; with c_1 = 0 it
                                           costs one more f), or COSTATE_EST_SDIRK (one more stage) */
    int autonomous;                   /**< 1: f and r do not depend on t; saves ros the computation of f_t */
    int warm;                         /**< 1: a call that starts where the last one ended (same t, y and p to the bit,
                                           same direction of time) starts with the step size and controller memory of
                                           that call and, without a tape, with its matrices; 0: every call starts
                                           afresh */

    /** Newton's iteration (sdirk, firk) */
    int newton_max;                   /**< iterations per stage (sdirk) or per step (firk): 7; for firk with s > 3
                                           stages 7 + 5 (s - 3)/2 */
    double newton_tol;                /**< in the error norm.  0: max(10 eps/rtol, min(0.03, sqrt(rtol))); for firk with
                                           s > 3 stages rtol^((s-1)/(s+1)) replaces the square root.  sdirk with
                                           COSTATE_LS_GMRES and regular M: max(10 eps/rtol, 0.1), or 0.03 for trbdf2,
                                           sdirk3a, sdirk4a, sdirk4b, esdirk54i8, kencarp5, kvaerno54 and methods
                                           without an error estimate; for a preconditioned residual 0.003 */
    double theta_reuse;               /**< 0.03: Jacobian and factorisation are kept while Newton's iteration contracts
                                           faster than this; negative: never kept */
    int predictor;                    /**< COSTATE_PREDICT: start from the last step; COSTATE_PREDICT_NONE: from zero */
    int derivative_mode;              /**< 1: Newton iterates to round-off, so that finite differences of runs are
                                           derivatives; rkc: uses no degree whose round-off exceeds 2e-12 of y; in each
                                           run with a tape or tangents it is 2.5e-11 */

    /* linear algebra */
    int solver;                       /**< enum costate_solver */
    int stage_solve;                  /**< enum costate_stage_solve: for tangents and adjoints of sdirk, firk */
    const struct costate_backend *backend;  /**< a linear solver of your own, instead of `solver` */
    double krylov_tol;                /**< 1e-14: relative residual of GMRES in stage systems, and in matrix-free ros.
                                           A value above 1e-13 makes tangents and adjoints inexact, by about as much */
    const costate_preconditioner *preconditioner;  /**< for COSTATE_LS_GMRES, or NULL */
    int keep_factors;                 /**< whether the tape keeps factorisations for the sweeps.  0: for n >= 200, up to
                                           a quarter of the memory of the machine or of the limit of the process (at
                                           least 256 MB); 1: always; -1: never.  tape_limit includes them */
    int ilu;                          /**< COSTATE_LS_GMRES: 1: precondition with the incomplete LU factorisation of
                                           SuperLU of sigma M - J (drop tolerance 1e-3), formed from jac in the pattern;
                                           requires SuperLU */
    int differences;                  /**< 1: missing derivatives are replaced by finite differences (inexact) */

    /** rkc, and stability of erk (below).  The spectral radius of M^-1 f_y comes from the callback, else from the
       bound, else it is measured.  A value that is too large costs evaluations of f (rkc: in proportion to its square
       root); one that is too small gives unstable steps, which y survives and gradients do not. */
    int degree_max;                   /**< rkc: most evaluations of f per step; 0: the limit of the method.  rock4 is
                                           also limited by round-off, depending on the tolerance, and with a tape
                                           or tangents to 13: docs/howto/stabilised-methods.md */
    int (*spectral_radius)(const costate_point *x, double *rho, void *ctx);     /**< NULL: none; ctx and return values
                                                                                     as for maps; called at each attempt
                                                                                     of a step */
    double spectral_bound;            /**< for the whole run; 0: none */

    /* tape */
    int storage;                      /**< COSTATE_ALL_STAGES; COSTATE_STATES_ONLY: stages are recomputed, bit for bit
                                           with the linear solver and options of the run, otherwise to the accuracy of
                                           Newton's tolerance; COSTATE_CHECKPOINTS: some states are stored (see
                                           checkpoints) and the steps between them are repeated, in the same way.  The
                                           solver of the run must reproduce its bits; COSTATE_BAD_TAPE reports callbacks
                                           that have changed. Sweeps then use the memory of the tape: one at a time */
    int checkpoints;                  /**< COSTATE_CHECKPOINTS: memory for states and stages, in units of one state (at
                                           least 2 plus one step with its stages).  0: as many as fit into tape_limit,
                                           or 200 without one.  A block of steps takes a sixth of the memory (a third
                                           for ros, sdirk and firk).  Its first step is fresh: it uses no earlier steps
                                           or matrices, except those that an earlier block started with and that stay
                                           valid while h does not change */
    size_t tape_limit;                /**< bytes, including factorisations; 0: unlimited */

    /* output */
    int (*on_step)(const costate_step *, void *ctx);   /**< called after each accepted step; != 0 stops the run */
    void *on_step_ctx;

    /* differential-algebraic equations */
    int consistent;                   /**< COSTATE_CONSISTENT_START: the run starts by making y consistent, as
                                           costate_consistent does; COSTATE_CONSISTENT_END: it ends by doing so, keeping
                                           the unknowns of index 0; the sum: both.  Derivatives include these
                                           operations. 0: at the start, if a Rosenbrock method may take the first step,
                                           M is singular, and it is diagonal or has problem.index; a start that is far
                                           from consistent is refused all the same. And at the end, if problem.index
                                           names unknowns of index 2 and second products are available (tangent2,
                                           adjoint_tangent, or differences). COSTATE_CONSISTENT_NONE: neither */

    /* event detection */
    int mode;                         /**< at t0 */
    int max_events;                   /**< per run; 0: 1000000 */
    int event_samples;                /**< equidistant points per step, including its end, at which guards are
                                           evaluated; 0: the order of the method, at least 4.  If the slope of a guard
                                           points towards zero at one point and away from it at the next, an excursion
                                           beyond zero is searched for between them.  Two cases are missed: a guard that
                                           crosses zero twice between two points without such slopes; and one that does
                                           so in a step at whose ends it is farther from zero than 3 times its change
                                           over this step and the previous one, because such guards are not evaluated
                                           inside the step */
    int sliding;                      /**< relations of right-hand sides without a mass matrix.  0: a solution that
                                           slides along the zero of a guard ends with COSTATE_TOO_MANY_EVENTS; 1: it
                                           follows the surface with F = (1 - a) f0 + a f1, a from g_t + g_y F = 0
                                           (Filippov), until a leaves [0, 1].  Tangents need tangent2 of the guards,
                                           gradients adjoint_tangent, Hessian products adjoint_tangent2; those of
                                           Rosenbrock methods need options.differences.  Jacobians are dense, formed
                                           by products; problem.jac and pattern are not used */
    int (*on_event)(int event, double t, const double *before, const double *after, void *ctx);     /**< called after
                                                                                                         each event with
                                                                                                         N values each;
                                                                                                         != 0 stops the
                                                                                                         run */
    void *on_event_ctx;

    /** parallel computing: states distributed over processes, each with its part of y, V and lambda and its share of q
       and mu */
    int (*sum)(int count, double *x, void *ctx);        /**< replaces x by its sum over all processes, with the same
                                                             bits on each; returns 0 on success; NULL: one process */
    void *sum_ctx;

    /** tolerances for the tangents of costate_integrate_tlm, with tangent_error = 1.  For direction j:
       |error of V_ij| <= atol_ij + rtol_j |V_ij| in the root mean square over i.  NULL: the tolerances of y */
    int tangent_count;                /**< directions for which values are given below; runs with more are refused */
    const double *tangent_rtol;       /**< tangent_count values, or NULL */
    const double *tangent_atol;       /**< tangent_count values, positive, or NULL */
    const double *tangent_atol_vector;  /**< n by tangent_count values, positive, instead of tangent_atol, or NULL */

    /** called in sweeps of adjoints, after each step on the way back: the step of the tape that starts at t with length
       h; y (N) at its start; lambda (N by m) and mu (np by m, NULL: not requested): the gradients of all that follows
       t, with respect to y there, after the events at t, and to p.  != 0 stops the sweep (COSTATE_STOPPED) */
    int (*on_back)(int step, double t, double h, const double *y, int m, const double *lambda, const double *mu,
                   void *ctx);
    void *on_back_ctx;

    int stability;                    /**< COSTATE_STABILITY_ON: steps of explicit methods stay where the method is
                                           stable for all modes of the problem, also for those that y does not show but
                                           a gradient does.  The spectral radius is that of spectral_radius or
                                           spectral_bound, else it is measured with products with f_y or its transpose;
                                           without products there is no limit.  ros with a matrix of the user's: steps
                                           are as short as a matrix requires that is too soft, see
                                           costate_preconditioner. COSTATE_STABILITY_OFF: steps follow only the
                                           error of y */
    int gradient_control;             /**< so many tangents along random directions of y0 and p, at most 1000, take part
                                           in the error test with rtol, relative to their own size: errors of gradients
                                           are then proportional to rtol.  Needs rhs.tangent (jac for y0 only), a
                                           method with an error estimate and, for singular M or a residual, another
                                           solver than COSTATE_LS_GMRES.  Each costs a tangent through every step, and
                                           steps are shorter where a gradient is harder than y: often 1.5 to 3 times as
                                           many, more with waves.  0: none */
    int gradient_estimate;            /**< COSTATE_ESTIMATE_ON: costate_adjoint and costate_integrate_adj estimate the
                                           relative error of their gradients (costate_stats.gradient_error) for at most
                                           a twentieth of their products more, and costate_message says so where it is
                                           large.  Unless autonomous is 1, up to 20 evaluations of f and r at t0 and t1,
                                           for states of other times, find whether these depend on t;
                                           COSTATE_ESTIMATE_LOCAL: they are left out, and with them a part of the
                                           estimate.  COSTATE_ESTIMATE_OFF: there is none */
    int accurate_inside;              /**< composite methods: 1: steps are taken only by members whose dense output has
                                           the order of their error estimate.  Radau IIA, which otherwise works with
                                           looser tolerances, takes those above, and explicit members a quarter of them.
                                           Values between steps (observations, costate_tape_eval, costate_step_eval) are
                                           then about as accurate as those at their ends.  0: all members.
                                           costate_gradient_within with times and ensembles with observations set it
                                           themselves, unless `members` is given.  No effect on other methods */
    const char *members;              /**< of a composite method: names of the members that may be chosen, as "bs54
                                           radau2a5", or of those that may not, with a minus sign, as "-rodas5p";
                                           separated by spaces or commas.  NULL: all that the problem allows */
    int (*step_bound)(const costate_point *x, double *h, void *ctx);    /**< *h > 0: no step from x is longer, for
                                                                             example by a CFL condition under which
                                                                             ssp33 and ssp54 preserve what Euler's
                                                                             method preserves; INFINITY: no bound.  ctx
                                                                             and return values as for maps; called once
                                                                             for each step.  COSTATE_STABILITY_OFF and
                                                                             COSTATE_FIXED do not follow it, but
                                                                             costate_message says by how much steps were
                                                                             longer.  NULL: none */
} costate_options;

/* ---- solver ------------------------------------------------------------------------------------------ */

typedef struct costate costate;
typedef struct costate_tape costate_tape;

/** summed over all calls since costate_new or costate_reset_stats */
typedef struct {
    long steps, accepted, rejected;   /**< steps = accepted + rejected */
    long newton_failures;             /**< steps rejected because Newton's iteration or the matrix failed */
    long f, jac;                      /**< calls of rhs.value, of jac (or Jacobians formed) */
    long jac_products;                /**< calls of rhs.tangent or rhs.value to form Jacobians */
    long tangents, adjoints;          /**< products by rhs.tangent(s), rhs.adjoint(s) for derivatives, one per column */
    long tangents2, adjoints2;        /**< calls of rhs.tangent2, rhs.adjoint_tangent */
    long differences;                 /**< derivatives replaced by finite differences */
    long decompositions, complex_decompositions;
    long solves, complex_solves;      /**< right-hand sides */
    long newton;                      /**< Newton iterations, for each stage (sdirk) or step (firk) */
    long krylov;                      /**< GMRES iterations */
    long products;                    /**< matrix-free products (also counted among tangents and adjoints) */
    long power;                       /**< products, or differences of f, used to measure the spectral radius */
    long stage_direct, stage_iterative; /**< stage systems of tangents and adjoints solved directly, iteratively */
    size_t tape_bytes;                /**< of the last tape written; of costate_hessian, including its tangents */
    long factors_kept;                /**< factorisations (of one step, all its matrices) that tapes keep */
    long factors_not_kept;            /**< those for which there was no room: sweeps compute them again */
    double krylov_error;              /**< of the last sweep, not a sum: the estimated relative error that a krylov_tol
                                           above 1e-13 left in its tangents or gradients; 0: exact */
    double gradient_error;            /**< of the last costate_adjoint or costate_integrate_adj, not a sum: the relative
                                           error of its gradients with respect to y0, the largest of all functionals,
                                           as sampled at a few of its steps; 0: nothing was found, or nothing could be
                                           measured (fewer than 60 steps by a method without an error estimate, ...).
                                           With a matrix of the user's also what it makes of slow modes.
                                           costate_accuracy measures it */
    long events, guards;              /**< events that occurred; calls of guard.value */
    long located;                     /**< steps repeated to end at an event (not counted in `steps`) */
    long adjoints3;                   /**< calls of rhs.adjoint_tangent2 */
    long tangents_again;              /**< steps whose tangents costate_hessian computed twice for lack of memory */
    long remade;                      /**< steps repeated from checkpoints */
    long corrections;                 /**< accepted steps whose end problem.after_step changed; */
    double correction;                /**< its largest change, in the error norm: 1 is the tolerance */
    long switches;                    /**< of composite methods: changes of the member, */
    long member_steps[COSTATE_MEMBERS_MOST];    /**< accepted steps by each of them, see costate_method_member */
} costate_stats;

/** Creates a solver.  NULL is returned only if malloc fails.  If an argument is wrong, the status and message of the
   solver say so and every later call returns that status.  method NULL: the composite method auto, which chooses the
   method of each step.  (Compare what costate_method_find returns for a name from outside with NULL.)  problem and
   options are copied (what they point to is not); options NULL: defaults.  costate_free accepts NULL. */
costate *costate_new(const costate_method *, const costate_problem *, const costate_options *);
void costate_free(costate *);
/** A callback must not call its own solver: such a call returns COSTATE_BAD_ARGUMENT and does nothing.  It may call the
   functions that only read (status, message, time, statistics, mode), and costate_free, which waits until the active
   call has returned.
   A C++ exception or longjmp may leave a callback, except callbacks of an ensemble or of costate_new.  Then call
   costate_abandon: otherwise the next call may be mistaken for one from a callback if it is made from functions deeper
   in the stack.  The solver and its tapes can be used again, except that a tape that was being written holds nothing,
   and memory that the interrupted call had allocated is lost. */
void costate_abandon(costate *);                 /**< the active call was left by an exception; NULL is allowed */
int costate_status(const costate *);             /**< of the last call */
const char *costate_message(const costate *);    /**< a sentence about it; never NULL.  After a success "No error.",
                                                      followed by a hint if n >= 1000, there is no pattern and nine
                                                      tenths of the first Jacobian are zeros */
const char *costate_status_name(int status);     /**< "COSTATE_OK", ...; never NULL */
double costate_time(const costate *);            /**< where the last run ended or failed */
const costate_stats *costate_get_stats(const costate *);
void costate_reset_stats(costate *);
const char *costate_solver_name(const costate *); /**< the linear solver in use, e.g. "umfpack"; "none" */

/** Derivatives with respect to times.  Each member has m entries; NULL: zero (input) or not requested (output). */
typedef struct {
    double *t0, *t1;      /**< tangent: directions, read.  adjoint: gradients, overwritten */
    double *defect;       /**< adjoint: overwritten with the change of each functional, to first order, that solving the
                               stages exactly would cause (0 for erk, ros); costs one f per stage */
    double *end;          /**< for the time where the run ended, t1 or a terminal event.  tangent: overwritten with its
                               derivative; adjoint: read, the direct gradients of the functionals with respect to it
                               (zero if they depend on it only through y) */
    double *events;       /**< costate_tape_events by m (column j: direction or functional j), for sweeps over a tape
                               only: with respect to the times of events at given times, of stops, of points where
                               a run was continued, and for other events with respect to a constant added to the
                               guard.  tangent: directions, read; adjoint: gradients, overwritten */
} costate_times;

/** Observations at `count` times anywhere in the interval, by dense output, in the order of the run.  They do not
   require additional steps. */
typedef struct {
    int count;
    const double *t;                  /**< count, non-decreasing (non-increasing if t1 < t0) */
    int (*value)(int k, double t, const double *y, int m, const double *V, void *ctx);
        /**< tangents over a tape: receives y (n) at t and its tangents V (n by m) */
    int (*seed)(int k, double t, const double *y, int m, double *w, void *ctx);
        /**< adjoint: sets w (n by m, zero on entry) to the gradients with respect to y of the terms of the m
             functionals */
    double *dt;                       /**< adjoint: count by m (column j: functional j), overwritten with the gradient
                                           with respect to the times of observation through y(t); NULL: not requested */
    void *ctx;
    int (*seed2)(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx);
        /**< second order: V (n by m) are the tangents of y at t.  Sets w (n) to the gradient of the term of the
             functional with respect to y, and w2 (n by m) to its derivatives along V; both are zero on entry.
             costate_gauss_newton: w is NULL, and w2 is C^T W C V, where C is the Jacobian of what is observed */
} costate_observations;

/** Integrates forward from t0 to t1 (t1 < t0 is allowed).  y: N values, in and out; after a failure the last accepted
   state.  Where M is singular, y must satisfy the constraints: COSTATE_INCONSISTENT is returned if it would have to
   change by more than 100 times its tolerance to do so (not checked with COSTATE_LS_GMRES).
   tape: NULL, or a tape that is emptied first (also if the call fails) and then records this run.  If the run fails or
   is stopped, the tape holds the accepted steps: it can be evaluated, swept and replayed like the tape of a run that
   ends at costate_time. */
int costate_integrate(costate *, double t0, double t1, double *y, const double *p, costate_tape *);

/** Computes consistent values at t.  y (n, in and out; N values with memory variables, m last) is a guess on entry; yp
   (n, in and out, or NULL) receives y' and provides a guess of it. Unknowns with problem.index 0 are kept.  The others
   (where index is NULL: the components whose y' appears in no equation) are solved for by Newton's iteration to
   round-off, starting from the guess, which selects the root.  Where unknowns have index 2 (y' = f(t,y,z), 0 = c(t,y)),
   y is moved along f_z, evaluated at the guess, onto c = 0, and z follows from dc/dt = 0; options.consistent
   differentiates this, which requires tangent2 (adjoint_tangent) for z and where y was moved.  y' of the unknowns that
   are solved for is 0.  Each iteration takes one dense or sparse direct factorisation, also with GMRES.  After a
   failure nothing is changed. COSTATE_INCONSISTENT: no consistent values were found from this guess; COSTATE_SINGULAR:
   the equations do not determine them. problem.start replaces this procedure: n equations N(t, (y+, y), p) = 0 for y+,
   where y is the guess; start.tangent forms their dense Jacobian, start.adjoint provides gradients.  Second derivatives
   are only used by Hessian products, from start.adjoint_tangent. */
int costate_consistent(costate *, double t, double *y, double *yp, const double *p);

/** Continues the run on the tape from where it ended (at t1, at a terminal event, or where it was stopped) to t1, with
   the parameters of the tape and onto the same tape: a sweep then covers both parts.  y: N values, out. */
int costate_continue(costate *, costate_tape *, double t1, double *y);
int costate_mode(const costate *);               /**< mode in which the last run ended */

/** Tangent-linear model: costate_integrate together with m tangents V (N by m, in and out) along directions that have
   Vp (np by m, NULL: zero) in p. */
int costate_integrate_tlm(costate *, double t0, double t1, double *y, const double *p, int m, double *V,
                          const double *Vp, const costate_times *, costate_tape *);

/** Discrete adjoint in one call: forward run, seed, backward sweep.  `seed` is called once at t1 with y (N).  It sets
   lambda (N by m, zero on entry) to the gradients of m functionals with respect to (y, q)(t1), and may add their direct
   derivatives with respect to p to mu (np by m).  On return, lambda holds the gradients with respect to (y, q)(t0);
   those with respect to p are added to what mu held on entry.  After a failure lambda and mu are undefined. */
typedef int (*costate_seed)(double t1, const double *y, const double *p, int m, double *lambda, double *mu,
                            void *ctx);
int costate_integrate_adj(costate *, double t0, double t1, double *y, const double *p, int m, double *lambda,
                          double *mu, const costate_times *, costate_seed seed, void *seed_ctx);

/** Discrete adjoint over a tape: a backward sweep.  lambda and mu as above, set by the caller (mu NULL: not
   requested). */
int costate_adjoint(costate *, const costate_tape *, int m, double *lambda, double *mu, const costate_times *,
                    const costate_observations *);
/** Tangent-linear model over a tape: a forward sweep. */
int costate_tangent(costate *, const costate_tape *, int m, double *V, const double *Vp, const costate_times *,
                    const costate_observations *);
/** Repeats the steps of the tape from y (N, in and out) and p.  If these are those of the recorded run, the result is
   the same: bit for bit if the solver has the linear solver and options of the run, else to the accuracy of Newton's
   tolerance. */
int costate_replay(costate *, const costate_tape *, double *y, const double *p);

/** Called once at the end of the run with y (N) and its tangents V (N by m) along directions that have Vp (np by m, or
   NULL) in p.  Sets lambda (N) to the gradient of the functional with respect to y, and lambda2 (N by m) to its
   derivatives along the directions; all are zero on entry.  May add direct derivatives with respect to p to mu (np) and
   mu2 (np by m); both are NULL if not requested.  costate_gauss_newton: lambda and mu are NULL, and lambda2 is
   C^T W C V. */
typedef int (*costate_seed2)(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                             double *lambda, double *mu, double *lambda2, double *mu2, void *ctx);

/** Input and output of a Hessian-vector product.  NULL or zero: not present, or not requested. */
typedef struct {
    int m;                            /**< directions; 0 together with `correct`: the gradient only */
    const double *V, *Vp;             /**< N by m, np by m: directions of y at t0, of p */
    const costate_times *along;       /**< t0, t1, events: directions of times, m each; end: out, its tangents */
    costate_seed2 seed;               /**< for the values at the end */
    void *ctx;                        /**< of seed */
    const costate_observations *observations;   /**< with seed2 */
    double *lambda, *mu;              /**< N, np, out: the gradient with respect to y at t0; with respect to p, added to
                                           what mu holds, or NULL */
    const costate_times *times;       /**< t0, t1, defect, events: out, the gradient with respect to these; end: read
                                           after seed, the gradient with respect to where the run ended; or NULL */
    double *lambda2, *mu2;            /**< N by m, np by m, out: derivatives of lambda, mu along the directions */
    const costate_times *times2;      /**< m each, derivatives of times */
    int correct;                      /**< 1: the error that Newton's iteration left in the stages is removed from
                                           lambda, mu and times, to first order.  This uses one additional direction,
                                           the last one: seed and seed2 are called with m + 1 */
} costate_second;

/** Hessian-vector products over a tape: the gradient of one functional and its derivatives along m directions, exact
   for the steps that were taken; one sweep of tangents forward and one sweep back.  The functional consists of its
   values at the end (seed), its observations, q with the rows of lambda that belong to it, and costs at events.  The
   tangents are stored at all steps, together with the tape within options.tape_limit.  If there is not enough room,
   they are stored at some steps and recomputed from there; COSTATE_TAPE_LIMIT if they do not fit in that way either.
   With COSTATE_CHECKPOINTS they take m times the memory of the tape, or the minimum that they need. */
int costate_hessian(costate *, const costate_tape *, const costate_second *);
/** Gauss-Newton products over a tape: J^T W J v along m directions, where J is the Jacobian of what is observed.
   Tangents forward; lambda2, mu2, times2 back.  Second derivatives are not used (except by ros, whose gradients contain
   them). lambda, mu and times are ignored. */
int costate_gauss_newton(costate *, const costate_tape *, const costate_second *);

/** Like costate_replay, recording the steps onto another tape: gradients over that tape are those of the frozen steps.
   */
int costate_replay_onto(costate *, const costate_tape *, double *y, const double *p, costate_tape *onto);

/* ---- tape --------------------------------------------------------------------------------------------- */

/** A sweep only reads its tape.  Several threads may sweep the same tape at the same time, each with a solver of its
   own. The exceptions are tapes with COSTATE_CHECKPOINTS or in a file: they support one sweep at a time, and another
   sweep gets COSTATE_BAD_TAPE.  While a tape is written or freed, no other thread may use it or the solver that wrote
   it, because they may share factorisations.  A tape may outlive that solver, but not the options.backend that its
   factorisations belong to. Over one tape, tangents by one solver and adjoints by another are transposes of each other.
   A solver that would repeat steps differently from the run is therefore refused with COSTATE_BAD_TAPE.  A tape with
   COSTATE_CHECKPOINTS, in memory or in a file, requires the linear solver of its run.  One with COSTATE_STATES_ONLY
   requires any factorisation if the run used one, else COSTATE_LS_GMRES; either will do if both solvers have
   derivative_mode.  With COSTATE_ALL_STAGES any linear solver will do. */
costate_tape *costate_tape_new(void);                  /**< NULL: no memory */
void costate_tape_free(costate_tape *);                /**< NULL is allowed */
/** Creates a tape that is stored in a file: a run writes it as it proceeds, and sweeps read it back.  Decisions (about
   120 bytes per step) and states at events stay in memory.  With COSTATE_ALL_STAGES the file contains everything.
   Otherwise (COSTATE_CHECKPOINTS, and COSTATE_STATES_ONLY, which is treated alike) it contains a state every few steps,
   from which each sweep repeats the others once.  A run overwrites the file if it is a tape; any other file is refused
   (COSTATE_BAD_TAPE).  A full disk ends the run with COSTATE_IO: y is the last accepted state, the tape is empty, and
   the file is like that of a run that was killed.  costate_tape_free does not delete the file.  path is copied; only
   one process may use a file.  NULL: no memory, or path is NULL. */
costate_tape *costate_tape_open(const char *path);
/** Reads what the file holds, for sweeps by solvers with the same problem and method: a whole run; a run that failed;
   or of a run that was killed everything up to the last state from which it can be resumed.  COSTATE_BAD_TAPE: the file
   is damaged, or does not belong to this problem and method. */
int costate_tape_read(costate *, costate_tape *);
/** Resumes the run in the file that was killed, stopped or failed, up to its own t1 and with its p.  The result has the
   same bits as that of an uninterrupted run if the problem, method and options are the same.  y: N values, out.  If the
   run had ended, y is its end.  Where states are distributed, the files of all processes must end at the same step. */
int costate_resume(costate *, costate_tape *, double *y);
int costate_tape_steps(const costate_tape *);
size_t costate_tape_bytes(const costate_tape *);
int costate_tape_get(const costate_tape *, int k, double *t, double *h, double *y); /**< step k: start, length, y (N) at
                                                                                         its start; COSTATE_BAD_TAPE: y
                                                                                         is not stored, use
                                                                                         costate_tape_eval */
/** What sweeps over a tape will cost.  With COSTATE_STATES_ONLY they repeat every step once, from its state.  For
   COSTATE_CHECKPOINTS the numbers hold if nothing else is done with the tape before. */
typedef struct {
    int steps;                  /**< of the tape */
    size_t bytes;               /**< upper bound of the memory that it then takes */
    long remade_back;           /**< steps that a backward sweep (gradients) repeats */
    long remade_forward;        /**< steps that a forward sweep (tangents) repeats */
} costate_forecast;
int costate_tape_forecast(const costate_tape *, costate_forecast *);
/** Event k of the run: its time, its number in problem.event (-1: none, a stop or where the run was continued), and y
   before and after it (N each).  NULL: not requested. */
int costate_tape_events(const costate_tape *);
int costate_tape_event(const costate_tape *, int k, double *t, int *event, double *before, double *after);
/** y (n states) at t in the interval of the tape, by dense output (states-only tapes recompute the step). */
int costate_tape_eval(costate *, const costate_tape *, double t, double *y);

/* ---- a step, inside on_step ----------------------------------------------------------------------------- */

double costate_step_start(const costate_step *);       /**< t at its start */
double costate_step_end(const costate_step *);
const double *costate_step_state(const costate_step *);  /**< N values at its end */
int costate_step_eval(const costate_step *, double t, double *y);  /**< n states at a time inside, by dense output */

/** A ready-made on_step, which your own may also call: prints percent of the interval, t, h, the number of steps and
   the remaining time on one line of stderr, five times a second, only if stderr is a terminal; the line is cleared at
   the end.  ctx is not used.  Returns 0. */
int costate_progress(const costate_step *, void *ctx);

/* ---- checks ---------------------------------------------------------------------------------------------- */

typedef struct {
    double tangent, adjoint, tangent2, adjoint_tangent, jac; /**< worst relative errors; NaN: callback not provided.  If
                                                                  jac is missing: the entry that the pattern omits,
                                                                  relative to the sum of the moduli of its row */
    double transpose, taylor;   /**< check_adjoint: relative gap; ratio of Taylor remainders (correct: 4) */
    char text[512];             /**< the same as text, with the worst entry of each */
    double adjoint_tangent2;    /**< like adjoint_tangent */
    double symmetry, hessian;   /**< check_hessian: relative gap of w.Hv and v.Hw; of Hv and differences of gradients */
    double accuracy;            /**< check_adjoint: the estimated relative error of the gradient, exact as it is for the
                                     steps taken (see accuracy.h); NaN: it could not be estimated */
    double linear, repeats;     /**< check_matrix: relative departure from linearity; change with t and y */
    double softness;            /**< check_matrix: the largest eigenvalue; NaN: not measured */
    double smooth;              /**< check_matrix: the relative departure from sigma M - f_y on smooth vectors, of the
                                     one with which slow modes move most wrongly; NaN: not measured */
} costate_report;

/** Checks a map into R^k at a point: tangent against 8th-order differences of value, adjoint against tangent, second
   derivatives against differences of the first, third against differences of the second; and that all values are set,
   are finite, and none beyond the k-th is written.  x->m is passed on but not differentiated.  Returns COSTATE_OK if
   everything that is provided is correct to 1e-6, else COSTATE_CHECK_FAILED.  For a bad argument or a missing value,
   the report holds a sentence, and no callback is called. */
int costate_check_map(const costate_map *, int n, int np, int k, const costate_point *x, void *ctx, costate_report *);
/** Checks all maps of a problem as costate_check_map does, also with respect to memory variables: rhs (or residual,
   with n values x->yp) and cost; start; guards, jumps and costs of events, each in its mode `from` (or in x->mode if
   that is COSTATE_ANY_MODE), everything else in x->mode.  Checks all of jac (and jac_yp), where entries outside the
   pattern count as zero; if jac is missing, whether the pattern contains all entries of f_y at x, and which it omits
   (an entry of 1e-8 of its row is detected, or of 1e-12 with rhs.tangent).  Checks that mass is finite, constant and
   written only within the pattern.  Results other than those of cost are in the report rhs, including errors in
   arguments; cost may be NULL. */
int costate_check_problem(const costate_problem *, const costate_point *x, costate_report *rhs, costate_report *cost);
/** Detects the sparsity pattern of f_y (of a residual: of F_y and F_y') by probing each column at x and at three random
   points within a tenth of the sizes of t, y and p, with rhs.tangent, or else with f(y + d e_j) - f(y).  An entry is in
   the pattern if it is not exactly zero at one of these points.  The diagonal is always included, as are
   problem.pattern, if given, and otherwise the entries that mass sets in n*n.  Cost: 4 n products or values; mass
   without a pattern takes n*n numbers.  Memory and mode are those of x: for several modes, call it in each, with the
   previous result as problem.pattern.  Entries that are zero at all four points are missed (a branch that is not taken
   there, a term that underflows, or without tangents an entry below the round-off of its row): add them with
   problem.pattern. *out belongs to the caller, who frees it with costate_pattern_free (accepts NULL) after the solvers
   that use it; NULL after a failure.  report: a sentence; may be NULL. */
int costate_pattern_detect(const costate_problem *, const costate_point *x, costate_pattern **out, costate_report *);
void costate_pattern_free(costate_pattern *);
/** Checks the matrix of the stages of a W-method that is the user's, COSTATE_LS_PRECONDITIONER or problem.jac_is_w, for
   a step of length h from y (N) at t: whether it is linear (one column or several), its transposed solve is the
   transpose, and it is the same at another t and y; and, if rhs.tangent or jac allows, whether the largest eigenvalue
   of P^-1 (sigma M - f_y) is within the limit of the method.  The report also says how exact the matrix is on smooth
   vectors, and warns where slow modes, and with them gradients, would be wrong by more than the tolerance permits; this
   fails nothing.  Choose y and an h as they occur in a run.  costate_check_problem, which knows no preconditioner,
   checks of W that jac does not depend on t and y.  COSTATE_CHECK_FAILED: one of them is wrong; the report says which,
   and what to do.  Other failures are those of setup and solve. */
int costate_check_matrix(costate *, double t, double h, const double *y, const double *p, costate_report *);
/** Checks a whole run: whether adjoint and tangent are transposes, and a Taylor test with frozen steps; and estimates
   how accurate the gradient is relative to the solution, which is not judged. y (N) is not changed. With unknowns of
   index 2 and without options.consistent, y is first made consistent as by costate_consistent, and the directions are
   chosen along the constraints, because other directions leave them. costate_check_hessian does the same. If the run
   itself fails, the report holds its message. */
int costate_check_adjoint(costate *, double t0, double t1, const double *y, const double *p, costate_report *);
/** Checks Hessian products of the functional given by seed (and q, where lambda has rows for it): their symmetry, and
   the product along a direction against 8th-order differences of the gradients of frozen runs, with the options of the
   solver except that Newton iterates to round-off.  COSTATE_CHECK_FAILED: symmetry worse than 1e-10, or differences
   worse than 1e-6. */
int costate_check_hessian(costate *, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                          void *ctx, costate_report *);

/* ---- a review of a model: all checks in one call ----------------------------------------------------------- */

enum costate_severity { COSTATE_RIGHT = 0, COSTATE_REMARK, COSTATE_WRONG };

typedef struct costate_review costate_review;

/** One finding of a review.  The strings belong to the review. */
typedef struct {
    int severity;             /**< enum costate_severity */
    int component;            /**< the unknown that it is about, or the event if the topic is "events"; -1: none */
    const char *topic;        /**< "run", "callbacks", "transposes", "remainders", "Hessian", "accuracy", "events",
                                   "stiffness" or "tolerances" */
    const char *text;         /**< one or two sentences: what was found, and what to do */
    double t;                 /**< the time that it is about; NaN: none */
    double number;            /**< the number that decided: an error, a ratio, a size; NaN: none */
} costate_finding;

costate_review *costate_review_new(void);              /**< empty; NULL: no memory */
void costate_review_free(costate_review *);            /**< NULL is allowed */
/** The whole review: a line about the run, a line that counts the findings, and a paragraph for each of them, beginning
   with what is wrong.  Valid until the next costate_check_run with this review; never NULL. */
const char *costate_review_text(const costate_review *);
int costate_review_count(const costate_review *);      /**< findings; 0 for NULL */
/** Finding k, 0 <= k < count, in the order of the text.  COSTATE_OUT_OF_RANGE: there is none. */
int costate_review_get(const costate_review *, int k, costate_finding *);

/** Reviews a model: the call to make once, before results are relied on.  A solver of its own, with the problem, method
   and options of this one, integrates from t0 to t1 as costate_integrate would, and the review says

     run          whether it succeeded, and whether many steps were rejected
     callbacks    whether costate_check_problem finds the maps right at six points between the start and the end of the
                  run, with their mode, memory and relations, and the maps of each event where it fired
     transposes, remainders, Hessian
                  what costate_check_adjoint and, if there are second products, costate_check_hessian say
     accuracy     how far the values at the end and their gradients are off, by costate_accuracy
     events       whether a run with twice the samples and half the longest step meets the same events
     stiffness    whether stability, not accuracy, limited the steps of an explicit method
     tolerances   whether atol fits the size of each component, and components far outside their tolerance at the end

   y (N) is not changed, nor is this solver, apart from its status and message.  Neither on_step nor on_event is called.
   review: receives the findings; what it held before is removed.  The review takes the time of a few dozen runs, and of
   n columns of costate_check_problem at each point.

   COSTATE_OK: nothing is wrong, though there may be remarks.  COSTATE_CHECK_FAILED: a callback or a derivative is
   wrong, events are missed, or a gradient cannot be trusted; the review says which.  If the run fails, its status is
   returned after the checks that need no complete run.  A callback that returns a value < 0 ends the review with
   COSTATE_CALLBACK.  Not for states that are distributed over processes (options.sum). */
int costate_check_run(costate *, double t0, double t1, const double *y, const double *p, costate_review *);

/* ---- methods at run time ------------------------------------------------------------------------------------- */

/** Loads a method from a shared library that was made from a coefficient file.  `costate-model FILE.toml -o NAME.c`
   checks the file as the build does and writes C, which needs only costate.h: `cc -shared -fPIC NAME.c -o
   NAME.so` (docs/howto/add-a-method.md).  *out is used like a built-in method: in costate_new, with tapes and files,
   and in costate_bvp_new.  costate_method_find and costate_method_at do not know it.  Loading a file executes it, like
   any shared library: load only files that you trust.

   COSTATE_IO: the file cannot be read, or is no shared library; COSTATE_BAD_ARGUMENT: it holds no method, or one whose
   name is built in; COSTATE_VERSION_MISMATCH: it was made for another version of this library; COSTATE_MISSING: this
   library was built without dlopen.  *out is then NULL, and report->text a sentence (report may be NULL). */
int costate_method_load(const char *path, const costate_method **out, costate_report *);
/** After the solvers and tapes that use it.  Not required at the end of a program.  NULL and built-in methods: nothing
   is done. */
void costate_method_unload(const costate_method *);

/* ---- a program and its library ------------------------------------------------------------------------------- */

const char *costate_version(void);               /**< of the library, at run time */
size_t costate_sizeof(const char *type);         /**< bytes of "costate_options", ... in the library; 0: unknown
                                                      struct */

/** costate_options and those of bvp.h, steady.h and periodic.h may grow within 2.x, at their ends; no other struct
   changes before 3.0.  Therefore the calls that take options also pass the size of the struct that the program was
   compiled with.  Shorter options, from an earlier 2.x, are accepted: members that they lack are 0, the default.
   Longer ones are refused with COSTATE_VERSION_MISMATCH, and a message.  The macro does this and changes nothing else.
   Other languages call costate_new itself, and compare costate_version or costate_sizeof with what they were written
   for.  C can do so, too, with (costate_new)(...), with a pointer to costate_new, or by defining COSTATE_NO_HANDSHAKE
   before this header. */
costate *costate_new_sized(size_t options_size, const costate_method *, const costate_problem *,
                           const costate_options *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_new(...) costate_new_sized(sizeof(costate_options), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
