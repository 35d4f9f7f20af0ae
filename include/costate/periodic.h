/* periodic.h - periodic orbits, their multipliers, and exact derivatives of both.

       y' = f(t, y, p), with events, jumps, M y' or F(t, y, y', p) = 0 as in costate.h;   y(t0 + T) = y(t0)

   Use it for the limit cycle of an oscillator, whose period T is unknown, for the response to a periodic force, and for
   a dosing interval that repeats until it changes nothing (periodic steady state).

   One period is a run of a solver of costate.h: a map Phi(y0, T, p).  Newton's iteration solves Phi(y0, T, p) = y0
   directly (single shooting), first with steps chosen by the error estimate, then to round-off with the steps frozen.
   Orbits may be unstable.  An orbit without a force may begin anywhere on it: the corrections are orthogonal to the
   flow at y0, so that the start stays near the guess.

   Tangents, adjoints and Hessian products differentiate the discrete fixed point.  They are exact to round-off, do not
   depend on the way to the orbit, and share one factorisation.  Nothing of the transient is differentiated.

   Conventions as in costate.h.  n states, np parameters, nq running costs.  What is differentiated is

       X = (y(t0), T, q),   N = n + 1 + nq values,

   where q are the running costs over one period.  Arrays of several columns are stored by columns. */
#ifndef COSTATE_PERIODIC_H
#define COSTATE_PERIODIC_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct costate_periodic costate_periodic;

/* ---- options and results --------------------------------------------------------------------------------------- */

/** All zero is the default: an autonomous system whose period is unknown. */
typedef struct {
    double t0;                      /**< where a period begins: events and forces at given times depend on it */
    double period;                  /**< > 0: the period is given, for problems that depend on t.  0: it is unknown, and
                                         f, the costs and the events must not depend on t */
    double settle;                  /**< follow the flow over so many periods before Newton's iteration, rounded up if
                                         the period is given; 0: none */
    const double *invariants;       /**< n by ninvariants: W.  W^T y does not change along any solution (a conserved
                                         total); the orbit has the W^T y of the guess.  NULL: none */
    int ninvariants;
    int newton_max;                 /**< iterations with new steps: 50 */
} costate_periodic_options;

/** An orbit. */
typedef struct {
    double period;                  /**< T */
    double residual;                /**< largest |y_i(t0 + T) - y_i(t0)| in units of the size of y_i on the orbit */
    double sensitivity;             /**< the largest change of y(t0) and T, in units of their sizes, that a change of
                                         Phi by 1 in these units causes; it multiplies the errors of the run */
    double multiplier;              /**< largest modulus of the multipliers, without those that are 1 on every orbit:
                                         that of the flow's direction if T is unknown, and those of invariants */
    int stable;                     /**< 1: `multiplier` < 1 */
    int iterations;                 /**< with new steps */
    int frozen;                     /**< with frozen steps */
    int steps;                      /**< of one period */
} costate_orbit;

/* ---- solving --------------------------------------------------------------------------------------------------- */

/** Creates a solver.  NULL is returned only if malloc fails.  If an argument is wrong, every call returns the same
   status and the message explains it.  method NULL: auto.  run: options of the runs, of which storage, warm, on_step,
   on_event, on_back, tangent_error, gradient_control and gradient_estimate are not used, and derivative_mode is 1.
   The structs are copied; what they point to is not copied and must outlive the solver.  Refused: memory variables, and
   states that are distributed over processes (options.sum). */
costate_periodic *costate_periodic_new(const costate_method *, const costate_problem *, const costate_options *run,
                                       const costate_periodic_options *);
void costate_periodic_free(costate_periodic *);        /**< NULL is allowed */
/** Like costate_abandon in costate.h. */
void costate_periodic_abandon(costate_periodic *);
const char *costate_periodic_message(const costate_periodic *);

/** Finds an orbit.  y: n values, in: a guess of y(t0), out: y(t0).  T: in: a guess of the period, out: the period; if
   the period is given, NULL or not read.  After a failure y and T are unchanged, and there is no orbit.

       COSTATE_NEWTON       no orbit was found from this guess: the message says how the iteration ended
       COSTATE_SINGULAR     the equations do not determine an orbit: the iteration ended in a steady state, or orbits
                            are not isolated (a conserved quantity, an orbit at its birth)
       COSTATE_BAD_EVENT    a terminal event ended the period, or it ends in another mode than it began in
   and the statuses of the first run. */
int costate_periodic_solve(costate_periodic *, double *y, double *T, const double *p);
/** The orbit that was found.  COSTATE_BAD_TAPE: there is none. */
int costate_periodic_orbit(costate_periodic *, costate_orbit *);
/** y (n) at any time, by dense output. */
int costate_periodic_eval(costate_periodic *, double t, double *y);
/** X (n + 1 + nq): y(t0), T, and the running costs of one period. */
int costate_periodic_get(costate_periodic *, double *X);
/** The multipliers (Floquet), the eigenvalues of dPhi/dy0: n values re[k] + i im[k], ordered by decreasing modulus.  Of
   a complex pair, im > 0 comes first. */
int costate_periodic_multipliers(costate_periodic *, double *re, double *im);

/* ---- derivatives ------------------------------------------------------------------------------------------------ */

/** m tangents of X along directions of p.  Vp: np by m; V: n + 1 + nq by m, out. */
int costate_periodic_tangent(costate_periodic *, int m, const double *Vp, double *V);
/** Gradients of m functionals of X.  lambda: n + 1 + nq by m, their gradients with respect to X; mu: np by m, the
   gradients with respect to p are added to what it holds.  Each takes one backward sweep over one period. */
int costate_periodic_adjoint(costate_periodic *, int m, const double *lambda, double *mu);

/** Sets lambda (n + 1 + nq) to the gradient of the functional with respect to X, and lambda2 (n + 1 + nq by m) to its
   derivatives along the directions; both are zero on entry.  V holds the derivatives of X along the directions.  May
   add direct derivatives with respect to p to mu (np) and mu2 (np by m).  Returns 0 for success. */
typedef int (*costate_periodic_seed)(const double *X, const double *p, int m, const double *V, const double *Vp,
                                     double *lambda, double *mu, double *lambda2, double *mu2, void *ctx);

/** The gradient of one functional with respect to p, added to mu (np), and its derivatives along m directions Vp
   (np by m), added to mu2 (np by m). */
int costate_periodic_hessian(costate_periodic *, int m, const double *Vp, costate_periodic_seed seed, void *ctx,
                             double *mu, double *mu2);

/** The gradient of multiplier k (in the order of costate_periodic_multipliers) with respect to p: re and im (np each)
   are overwritten with those of its real and imaginary part; im may be NULL.  Needs second products.
   COSTATE_SINGULAR: the multiplier is not simple to within the accuracy of the run, so that it has no gradient. */
int costate_periodic_multiplier_gradient(costate_periodic *, int k, double *re, double *im);

/* ---- a program and its library: see costate.h ------------------------------------------------------------------- */

costate_periodic *costate_periodic_new_sized(size_t run_size, size_t options_size, const costate_method *,
                                             const costate_problem *, const costate_options *run,
                                             const costate_periodic_options *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_periodic_new(...) \
    costate_periodic_new_sized(sizeof(costate_options), sizeof(costate_periodic_options), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
