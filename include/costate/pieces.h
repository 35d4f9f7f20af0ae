/* pieces.h - ready-made events, running costs, maps after each step and least squares, with all their derivatives.

   Doses, switches, resets, impacts and "component i crosses a value" are short formulas in the components of y, p and
   m.  You list their terms, and the library provides value, tangent, adjoint and all second derivatives (the third ones
   are zero):

       term   factor (a - a0) (b - b0)

   Bounds of components, projection onto invariants, and relaxation act after each step: problem.after_step.

   A fit to measured values needs the times, the components, the values and their standard deviations; the library
   provides the sum of squares, its gradient, Hessian and Gauss-Newton products, and the residuals with their Jacobian;
   or the negative logarithm of the likelihood, where standard deviations are outputs of the model, values are compared
   on a logarithmic scale, or errors have a Laplace distribution.

   For C and C++; there is no Fortran module. */
#ifndef COSTATE_PIECES_H
#define COSTATE_PIECES_H

#include <costate/accuracy.h>
#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events and running costs ---------------------------------------------------------------------------------- */

enum costate_quantity { COSTATE_ONE = 0, COSTATE_TIME, COSTATE_STATE, COSTATE_PARAMETER, COSTATE_MEMORY };

/** factor (a - a0) (b - b0), where a and b are the number 1, the time, a state, a parameter or a memory variable.  All
   zero, except what is set: {.row = 0, .factor = 100} is the number 100.

       jump   row 0 .. n-1: a state; n .. n+nm-1: a memory variable.  The terms are added to the component; with `set`
              in one of its terms they replace it.  Components without a term do not change.  All terms read the values
              before the jump.
       guard  row 0.  The sum of the terms is zero at the event.
       cost   row 0 .. nq-1: running costs.  The sum of the terms is added to q by an event, or to q' at all times.

           y_0 += 100               {.row = 0, .factor = 100}
           y_0 += p_2               {.row = 0, .factor = 1, .a = COSTATE_PARAMETER, .i = 2}
           m_0 = 25                 {.row = n, .factor = 25, .set = 1}
           y_1 = -0.9 y_1           {.row = 1, .factor = -0.9, .a = COSTATE_STATE, .i = 1, .set = 1}
           y_1 = -p_0 y_1           {..., .factor = -1, ..., .b = COSTATE_PARAMETER, .j = 0, .set = 1}
           guard: y_0 crosses 2     {.factor = 1, .a = COSTATE_STATE, .i = 0, .a0 = 2}
           q_0' = w (y_0 - 2)^2     {.factor = w, .a = COSTATE_STATE, .i = 0, .a0 = 2, .b = COSTATE_STATE, .j = 0,
                                     .b0 = 2} */
typedef struct {
    int row;
    double factor;
    int a, i;                 /**< enum costate_quantity, and which: y[i], p[i] or m[i] */
    double a0;                /**< 0 where a is COSTATE_ONE */
    int b, j;
    double b0;
    int set;                  /**< jumps: 1: the component before the jump is dropped */
} costate_term;

typedef struct {
    int count;                /**< 0: none */
    const costate_term *term;
} costate_terms;

/** The formulas of one event, or in `cost` those of the running costs of a problem.  The struct belongs to the user; it
   and its terms must outlive the solvers. */
typedef struct {
    costate_terms guard, jump, cost;
    int n, np, nq, nm;        /**< set by the calls below, from the problem */
} costate_formulas;

/** Sets guard, jump, cost and ctx of an event for a problem with these n, np, nq and nm; the other members of the event
   (times, direction, modes) are the caller's.  The array problem.event may be set later.  COSTATE_BAD_ARGUMENT, with a
   sentence in report->text: a term has a row, a quantity or an index that the problem does not have, or a number that
   is not finite.  The event is then unchanged.  report may be NULL. */
int costate_formulas_event(costate_formulas *, const costate_problem *, costate_event *, costate_report *);
/** Sets problem.cost to the formulas in `cost`.  The maps of a problem share problem.ctx, which must be the address of
   the formulas; it is set if it is NULL.  A ctx of your own has the formulas as its first member. */
int costate_formulas_cost(costate_formulas *, costate_problem *, costate_report *);

/* ---- maps after each step: problem.after_step ------------------------------------------------------------------ */

/** Components that leave their bounds are set to them.  The derivative of a component is 1 inside the bounds and on
   them, and 0 where it was outside.  costate_stats says how often that happened and how much it changed; after a run
   that it changed by more than the tolerances, costate_message has a remark.  The struct and its arrays belong to the
   user, and must outlive the solvers. */
typedef struct {
    const double *low, *high; /**< n each, low <= high; -INFINITY, INFINITY: no bound; NULL: none of them has one */
    int at_start;             /**< 1: initial values are set to their bounds, too */
    int n, nm;                /**< set by the call below */
} costate_bounds;

/** Sets problem.after_step.  COSTATE_BAD_ARGUMENT, with a sentence in report->text (report may be NULL): a bound is
   NaN, or low > high; after_step is then unchanged. */
int costate_bounds_after_step(costate_bounds *, costate_problem *, costate_report *);

enum costate_piece_limits { COSTATE_INVARIANTS_MOST = 8 };

/** Projection onto invariants g(t, y, p) = c: y moves to

       z = y + W g_y(y)^T mu,     g(t, z, p) = c,     W = diag(move),

   where Newton's iteration finds mu to round-off.  For small changes this is the smallest one, in the norm with the
   weights 1/move.  It keeps the order of the method.  c is 0, or with `keep` what g is at the start of the run.  It is
   then in memory variables, which after_step.start sets: problem.nm has room for them, and what they hold before does
   not count.  Rows of g may also be algebraic equations of a problem with singular M, which must also hold
   after a step.  A state that cannot be projected rejects the step.  The rows of g_y must be linearly independent: on a
   circular orbit those of energy and angular momentum are not, so that the projection has no derivative there. */
typedef struct {
    int count;                /**< of invariants, at most COSTATE_INVARIANTS_MOST */
    costate_map g;            /**< `count` values.  Tangents and gradients of runs need its tangent, adjoint and
                                   adjoint_tangent; Hessian products also tangent2 and adjoint_tangent2.  x->m is
                                   NULL */
    int linear;               /**< 1: g is linear in (t, y, p): its second and third derivatives are not called */
    void *ctx;                /**< of g; NULL: that of the problem */
    int keep;                 /**< 1: c is g at the start, in memory variables memory .. memory + count - 1; 0: c = 0 */
    int memory;
    const double *move;       /**< n, not negative.  0: the component stays; NULL: 1 for all */
    int at_start;             /**< 1, without keep: initial values are projected, too */
} costate_invariants;

typedef struct costate_projection costate_projection;
/** Makes a projection and sets problem.after_step to it.  The invariants are copied, the array `move` is not.  Any
   number of solvers and threads may use it.  *out belongs to the caller; NULL after a failure, with a sentence in
   report->text (report may be NULL): COSTATE_BAD_ARGUMENT, COSTATE_MISSING, COSTATE_NO_MEMORY. */
int costate_projection_after_step(const costate_invariants *, costate_problem *, costate_projection **out,
                                  costate_report *);
void costate_projection_free(costate_projection *);         /**< after the solvers that use it; accepts NULL */
/** Relaxation: sets problem.after_step to one nonlinear invariant, which is kept by taking a part of each step
   (costate_after_step).  A run with it also keeps linear invariants.  count is 1; linear, move and at_start are 0.
   Otherwise as for a projection. */
int costate_relaxation_after_step(const costate_invariants *, costate_problem *, costate_projection **out,
                                  costate_report *);

/* ---- least squares ---------------------------------------------------------------------------------------------- */

/** The scale on which a value and an output are compared: s(x) = x, log x or log10 x. */
enum costate_scale { COSTATE_SCALE_LINEAR = 0, COSTATE_SCALE_LOG, COSTATE_SCALE_LOG10 };
/** The distribution of s(value) around s(output): normal with the standard deviation sigma, or Laplace's,
   exp(-|s(value) - s(output)|/sigma)/(2 sigma). */
enum costate_noise { COSTATE_NOISE_NORMAL = 0, COSTATE_NOISE_LAPLACE };
/** Added to a distribution: the value is censored.  It is a bound, as a limit of quantification, and all that is known
   is that the quantity lies below or above it. */
enum costate_censored { COSTATE_BELOW = 2, COSTATE_ABOVE = 4 };

/** In the outputs of one measured value, p[parameter] is p[by], or with by < 0 the number `value`. */
typedef struct {
    int parameter, by;
    double value;
} costate_replaced;

/** One measured value of a list.  All zero, except what is set, and noise. */
typedef struct {
    int time;                 /**< measured at t[time]; times do not decrease along the list */
    int output;               /**< which output it is a value of */
    int noise;                /**< the output that is its sigma; -1: the number `sigma` */
    double sigma, value;
    int scale, distribution;  /**< enum costate_scale; enum costate_noise + costate_censored */
    int first, replaced;      /**< costate_measurements.replaced[first], and so many from there on, hold for it.  Values
                                   that follow each other with the same time, first and replaced share an evaluation */
} costate_measured;

/** Measured values.  What is measured at the times t[k], k < times, are `outputs` functions of the solution: components
   of y, or a map of your own.  All zero, except what is set. */
typedef struct {
    int times, outputs;
    const double *t;          /**< times, in the order of the run */
    const int *component;     /**< outputs: the components of y that are measured; NULL: */
    costate_map output;       /**< `outputs` values, functions of t, y and p; memory variables are not available */
    void *ctx;                /**< of output; NULL: that of the problem */
    const double *value;      /**< outputs by times; NaN: not measured */
    const double *sigma;      /**< standard deviations > 0: outputs by times, or outputs */
    int sigma_at_times;       /**< 1: sigma has outputs by times entries; 0: outputs, the same at all times */
    int count;                /**< of a list of measured values, which takes the place of value and sigma; 0: none */
    const costate_measured *list;
    const costate_replaced *replaced;   /**< of the list; NULL: none */
    int nreplaced;
} costate_measurements;

/** The misfit  J = 1/2 sum r_i^2  of the residuals  r_i = (output - value)/sigma,  i = j + outputs k  for output j at
   time k.  For independent normal errors it is the negative logarithm of the likelihood, up to a constant, and the
   inverse of its Hessian the covariance of the estimate.

   With a list, J is the negative logarithm of the likelihood of all its values, with all constants.  The density is
   that of the values themselves: on a logarithmic scale it contains the derivative of s at the value.  Residual i
   belongs to value i of the list: r_i = (s(output) - s(value))/sigma.  Gauss-Newton products are those of the Fisher
   information.  A censored value contributes -log of the probability of its side of the bound, and to Gauss-Newton
   products the curvature of that in place of an expectation.

   The object stores the residuals of the last sweep.  It must not be used by two threads at the same time.  The
   measurements are copied, the arrays that they point to are not. */
typedef struct costate_misfit costate_misfit;

/** NULL: no memory for the object itself.  All other failures are reported by costate_misfit_status, and by each of the
   calls below. */
costate_misfit *costate_misfit_new(const costate_problem *, const costate_measurements *);
void costate_misfit_free(costate_misfit *);                 /**< accepts NULL */
int costate_misfit_status(const costate_misfit *);          /**< of the constructor or of the last call */
const char *costate_misfit_message(const costate_misfit *); /**< a sentence about it; never NULL.  If the solver failed,
                                                                 that of the solver */

/** Sweeps over a tape of the solver; p: the parameters of the run.  Each sets the residuals.  The direct dependence of
   the outputs on p is included.  lambda (N), mu (np): as in costate_adjoint for one functional, to which J is added. */
int costate_misfit_gradient(costate_misfit *, costate *, const costate_tape *, const double *p, double *lambda,
                            double *mu);
/** Jacobian of the residuals along m directions, by tangents: V and Vp as in costate_tangent; R: outputs * times by m,
   or count by m.  A value that was not measured has a row of zeros. */
int costate_misfit_jacobian(costate_misfit *, costate *, const costate_tape *, const double *p, int m, double *V,
                            const double *Vp, double *R);
/** Hessian or Gauss-Newton products: costate_hessian and costate_gauss_newton with J added to the functional;
   `observations` of the last argument is ignored, and `correct` must be 0.  The Hessian requires output.adjoint_tangent
   if the outputs are a map. */
int costate_misfit_hessian(costate_misfit *, costate *, const costate_tape *, const double *p, const costate_second *);
int costate_misfit_gauss_newton(costate_misfit *, costate *, const costate_tape *, const double *p,
                                const costate_second *);
double costate_misfit_sum(const costate_misfit *);                  /**< J of the last sweep; NaN: there is none */
const double *costate_misfit_residuals(const costate_misfit *);     /**< outputs * times: 0 where not measured; count */
const double *costate_misfit_outputs(const costate_misfit *);       /**< computed: as many as residuals */

/** Sets m, count, t, at_time_p and ctx of a functional, J, for costate_accuracy and costate_gradient_within.  The
   misfit must outlive its use.  at_time_p accepts NULL for w and mu, and may also be called directly, for a state that
   is no point of a run; it then adds the term of time k.  COSTATE_BAD_ARGUMENT: the functional is NULL; else the status
   of the constructor. */
int costate_misfit_functional(costate_misfit *, costate_functional *);

/** For other calls with observations: their value, seed (of functional 0) and seed2.  It lives as long as the misfit.
   Outputs must not depend on p. */
const costate_observations *costate_misfit_observations(costate_misfit *);

#ifdef __cplusplus
}
#endif
#endif
