/* accuracy.h - how accurate are a functional, its gradient and its Hessian products? Estimated errors, and derivatives
   to a given tolerance.

   Gradients are exact derivatives of the steps that were taken. How far they are from the derivatives of the solution
   depends on the steps. The same run with every step split in two has an error that is smaller by 2^p, where p is the
   order of the method. The difference between both, times 2^p/(2^p - 1), therefore estimates the error of the first, in
   the functional, in every entry of its gradient, and in Hessian products.  The Fortran module is costate_errors. */
#ifndef COSTATE_ACCURACY_H
#define COSTATE_ACCURACY_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

/** m functionals of a run: sums of terms at its end and at `count` times, which need no steps of their own. Running
   costs and costs at events are components n .. n + nq - 1 of y at the end. The callbacks return 0 for success. All
   arrays that they fill hold zeros on entry; none is NULL, but the library may not use all of them. If states are
   distributed over processes, each adds its share. */
typedef struct {
    int m;                              /**< functionals, >= 1 */
    /** Terms at the end, y (N): value (m); their gradients lambda (N by m) with respect to y, mu (np by m) with respect
       to p, end (m) with respect to t1, the last two apart from those through y. NULL: none */
    int (*at_end)(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                  double *end, void *ctx);
    int count;                          /**< times of observation */
    const double *t;                    /**< count, inside the run, in its order */
    /** Terms at time k, y (n) by dense output: value (m), and w (n by m), their gradients with respect to y */
    int (*at_time)(int k, double t, const double *y, int m, double *value, double *w, void *ctx);
    void *ctx;
    /** Hessian products of the functional, of which there must be one (m = 1): directions and second derivatives as
       costate_hessian takes them.  `seed` belongs to at_end; `observations`, with seed2, to at_time, at the same times.
       Results are those of costate_estimate.products: of what is output in costate_second, only along.end is written,
       before each call of seed.  NULL: none */
    const costate_second *second;
    /** Instead of at_time, for terms that also depend on p, such as scale factors and standard deviations: mu (np by m)
       are their gradients with respect to p, apart from those through y.  Not with `second`.  NULL: at_time */
    int (*at_time_p)(int k, double t, const double *y, const double *p, int m, double *value, double *w, double *mu,
                     void *ctx);
} costate_functional;

/** Values of m functionals and their derivatives, or the errors of these.  NULL: not requested. */
typedef struct {
    double *value;                      /**< m */
    double *y0, *p;                     /**< N by m, np by m; p is a share where states are distributed */
    double *t0, *t1;                    /**< m */
    double *events;                     /**< costate_tape_events by m, as in costate_times */
} costate_derivatives;

/** Hessian products along the m directions of functional.second, or their errors.  NULL: not requested. */
typedef struct {
    double *y0, *p;                     /**< N by m, np by m, as lambda2 and mu2 of costate_second; p is a share where
                                             states are distributed */
} costate_products;

/** As in costate_estimate, for Hessian products; m is the number of directions. */
typedef struct {
    costate_products run, error, better;
    double *y0_error, *p_error;         /**< m: |error of the product| / |product| in the 2-norm; of y0 without q */
} costate_product_estimate;

/** Everything is output; arrays belong to the caller, NULL: not requested. What `error` and `better` request is
   computed even if `run` does not request it. */
typedef struct {
    costate_derivatives run;            /**< of the run on the tape */
    costate_derivatives error;          /**< estimates of (exact - run), entry by entry, with their signs */
    costate_derivatives better;         /**< extrapolated: of the run with halved steps, plus the estimate of its
                                             error */
    double *value_error;                /**< m: |error of the value| / |value| */
    double *y0_error, *p_error;         /**< m: |error of the gradient| / |gradient| in the 2-norm; of y0 without q */
    double *steps;                      /**< costate_tape_steps by m: the part of each step in the error of the value,
                                             lambda times the local error; their sum is error.value to first order */
    int steps_refined;                  /**< steps of the run with halved steps */
    costate_product_estimate products;  /**< requires functional.second */
} costate_estimate;

/** Estimates the errors of functionals of the run on the tape, and of their gradients, by a second run whose steps
   are half as long: two forward and, for gradients, two backward runs in addition to a backward sweep. Hessian
   products take the sweeps of costate_hessian over both tapes. Newton's iteration is ten times as accurate in the
   second run; steps that fail are split further; events are located again; rkc chooses its degrees again. The second
   run is stored as the options of the solver demand, in a file or with a tape_limit as checkpoints. It calls neither
   on_step nor on_event.

   If steps are longer than a fiftieth of the interval, and options.autonomous is not 1, a third run follows, forward
   only, with steps of at most that length: the first two see nothing of what lies between the points at which they
   evaluate f, such as a pulse.  If a value changes by more than ten times its estimated error (or rtol, whichever is
   larger), and does so again with rtol/100, the status is COSTATE_ACCURACY, and the message has both values.  The
   arrays hold what the first two runs say.

   The estimate sees the errors of steps, of dense output and of Newton's iteration, not those of the model, and it
   cannot see what no run saw. Differences of round-off are no estimate: do not trust relative errors below about 1e-12.

   COSTATE_ACCURACY: also if the second run meets other events than the first, so that errors cannot be estimated; the
   first run is too coarse.  If the second or the third run fails, the status is that of its failure.  COSTATE_MISSING:
   Hessian products are requested, but functional.second or second derivatives of the problem are missing.  Unless the
   third run is the reason, no array is changed. */
int costate_accuracy(costate *, const costate_tape *, const costate_functional *, costate_estimate *);

/** What costate_gradient_within is to achieve, and what it has achieved.  The arrays of `estimate` are output, as in
   costate_accuracy; `steps` and `events` must be NULL, because their sizes are not known before the run. */
typedef struct {
    double tol;                         /**< relative error allowed, of each value and of each gradient that is
                                             requested: y0 in the 2-norm, p, and the times t0 and t1 together; and of
                                             each Hessian product that is requested: y0, and p; > 0 */
    double value_atol, gradient_atol;   /**< errors allowed in any case, in the same norms */
    double factor;                      /**< in: the first run has the tolerances of the options times this (atol is
                                             never larger than theirs); 0: rtol is a tenth of tol.  Out: that of the
                                             last run */
    costate_estimate estimate;          /**< out: of the last run */
    double worst;                       /**< out: the largest estimated error, in units of what is allowed */
    double rtol;                        /**< out: that of the last run */
    int rounds;                         /**< out: runs whose errors were to be estimated: at most 5 with different
                                             tolerances, one with tangents in its error test, and 3 that failed */
    double product_atol;                /**< as gradient_atol, for Hessian products */
} costate_goal;

/** Computes functionals and gradients to a given tolerance: runs, sweeps, estimates the errors, and repeats this with
   smaller tolerances until the estimates are within `tol`.  rtol of the first run may be larger than that of the
   options; atol never is, and becomes smaller with rtol.  Where a run fails, others follow, among them one with the
   tolerances of the options.  If the value is within and a gradient is far outside, a tangent takes part in the error
   test of the following runs (options.gradient_control).

   Before it returns COSTATE_OK, plain runs must agree.  Unless options.autonomous is 1 or all steps are that short, a
   run whose steps are at most a fiftieth of the interval must have the same values.  If gradients with respect to y0 or
   p are requested, the difference of two runs that start on both sides of (y0, p) must be what they say.  These runs
   call neither on_step nor on_event; `at_end` and the terms at times are also called for them.  Hessian products are
   not compared with differences.

   The solver keeps the tolerances of the last run and, if count > 0 and options.members is not given,
   options.accurate_inside = 1.  y: N values, in and out.  tape: receives the last run, or NULL.
   COSTATE_ACCURACY: the tolerance is not met, or plain runs disagree; the message says which value, gradient, Hessian
   product or comparison it is, and the results of the last run whose errors were estimated are there.  Not for
   COSTATE_FIXED. */
int costate_gradient_within(costate *, double t0, double t1, double *y, const double *p, const costate_functional *,
                            costate_goal *, costate_tape *);

#ifdef __cplusplus
}
#endif
#endif
