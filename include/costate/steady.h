/* steady.h - the steady state that a solution tends to, a map with exact first and second derivatives.

       f(y*, p) = 0,    I(y*, p) = I(y0, p)

   y* is where the solution that starts at y0 comes to rest.  The solver follows that solution until Newton's iteration
   converges to a point that the solution approaches, and iterates to round-off.  Derivatives are those of the two
   equations, solved with one factorisation; they do not depend on the way to y*.

   I are invariants: sums of states that the equations conserve, such as the total of an enzyme and its complexes.
   Linear ones are found: vectors w with w^T f(y, p) = 0 for all y, so that w^T M y is conserved.  With them f_y is
   singular, and y* depends on y0.

   A steady state serves as the start of a run (the jump of an event at t0), as a change at an event, or as the end of a
   model: costate_steady_map gives it as a costate_map.

   Conventions as in costate.h.  States are y[0..n) followed by m[0..nm), which are constant: L = n + nm. */
#ifndef COSTATE_STEADY_H
#define COSTATE_STEADY_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct costate_steady costate_steady;

/** All zero is the default. */
typedef struct {
    double t0;                      /**< where the runs start.  f must not depend on t */
    double longest;                 /**< most time that the solution is followed: 0: as far as max_steps lead */
    costate_map invariant;          /**< invariants of your own instead of those that are found: `invariants` values, a
                                         function of y, p and m, which need not be linear.  value NULL: found ones */
    void *ctx;                      /**< of invariant; NULL: that of the problem */
    const int *fixed;               /**< `nfixed` indices of parameters that have values of their own in the steady
                                         state, such as a dose that is 0 before an experiment; NULL: none */
    const double *values;           /**< nfixed: these values.  Derivatives with respect to such parameters are 0 */
    int invariants;                 /**< how many values the map has; without it 0, or -1: none are sought */
    int unstable;                   /**< 1: Newton's iteration starts from y0, without following the solution, and a
                                         steady state is accepted although disturbances of it grow */
    size_t nfixed;                  /**< how many */
} costate_steady_options;

typedef struct {
    int rank, invariants;           /**< of f_y at y*; their number.  rank + invariants = n */
    double slowest;                 /**< stability: the largest real part of an eigenvalue of f_y (of the pencil f_y - z
                                         M) on the surface of constant invariants; negative: disturbances decay at least
                                         as fast as exp(slowest t).  -HUGE_VAL: there is none */
    double t;                       /**< to which the solution was followed */
    int steps;                      /**< accepted and rejected */
    int attempts, iterations;       /**< Newton's iterations that were begun; steps of all of them */
    costate_stats calls;            /**< of the solver's own calls of callbacks, without those of its runs */
} costate_steady_stats;

/** Creates a solver.  NULL is returned only if malloc fails.  If an argument is wrong, every call returns the same
   status and the message explains it.  method NULL: auto.  run: options of the runs towards the steady state, NULL:
   defaults: tolerances, linear solver, max_steps; on_step receives their steps; with `differences` missing products are
   replaced by finite differences in derivatives, too (inexact).  on_event and sum are refused.  The structs are copied;
   what they point to is not copied and must outlive the solver.  Problems may have relations, memory variables and a
   singular M; not events whose times are given, stops or after_step; an event that fires on the way ends the call.  */
costate_steady *costate_steady_new(const costate_method *, const costate_problem *, const costate_options *run,
                                   const costate_steady_options *);
void costate_steady_free(costate_steady *);
/** Like costate_abandon in costate.h. */
void costate_steady_abandon(costate_steady *);
const char *costate_steady_message(const costate_steady *);
const costate_steady_stats *costate_steady_get_stats(const costate_steady *);

/** Solves for the steady state that the solution from y (L, in and out) tends to.  After a failure y is as it was:
       COSTATE_NO_LIMIT     none was reached: the solution drifts, oscillates, or approaches a steady state that is
                            unstable or not determined by its invariants.  The message says which
       COSTATE_BAD_ARGUMENT f depends on t, an event fired, or an argument is wrong
       others               the run failed, or callbacks did */
int costate_steady_solve(costate_steady *, double *y, const double *p);

/** The invariants at y* of the last solve: k vectors (n by k, by columns) whose products with the state are conserved:
   M^T w.  NULL: none were found.  They belong to the solver, and are valid until the next call. */
const double *costate_steady_invariants(const costate_steady *);

/** Tangents: V (L by m) holds directions of the start; out: those of the steady state.  Vp (np by m, NULL: zero). */
int costate_steady_tangent(costate_steady *, int m, double *V, const double *Vp);
/** Adjoint: lambda (L by m) holds gradients of m functionals with respect to y* (and m); out: with respect to the
   start.  Those with respect to p are added to mu (np by m, NULL: not requested). */
int costate_steady_adjoint(costate_steady *, int m, double *lambda, double *mu);

/** The steady state as a map of L values (y*, m): x->y is the start, with x->p and x->m; x->t and x->mode are ignored.
   It has all products that f has: value, tangent, adjoint, tangent2 (with tangent2 of f) and adjoint_tangent.  ctx is
   the solver.  Where no steady state is found it returns a value < 0, and costate_steady_message says why.  Points that
   were solved last are kept, so that derivatives do not follow the solution again.  One thread at a time. */
costate_map costate_steady_map(const costate_steady *);

costate_steady *costate_steady_new_sized(size_t run_size, size_t options_size, const costate_method *,
                                         const costate_problem *, const costate_options *run,
                                         const costate_steady_options *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_steady_new(...) \
    costate_steady_new_sized(sizeof(costate_options), sizeof(costate_steady_options), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
