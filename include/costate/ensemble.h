/* ensemble.h - many runs of one problem in parallel threads: parameter studies, samples, with gradients.

   A member of an ensemble is a run with its own y, p and times.  Threads take members one by one, in the order of their
   numbers.  Each thread uses one solver for all of its members, and nothing of a member remains when the next one
   starts.  The results of a member therefore have the same bits as with a solver of its own, for any number of threads
   and any distribution of the work.  A member that fails does not affect the others.

   Conventions as in costate.h.  N = n + nq + nm.  Arrays hold one member after the other: "N by count" means y[k*N +
   i]. If the BLAS library has threads of its own, limit it to one (OPENBLAS_NUM_THREADS=1).  The Fortran module is
   costate_ensembles. */
#ifndef COSTATE_ENSEMBLE_H
#define COSTATE_ENSEMBLE_H

#include <costate/lanes.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COSTATE_ENSEMBLE_TEXT 256           /**< bytes of the message of a member, truncated if it is longer */

enum costate_same { COSTATE_SAME_P = 1, COSTATE_SAME_VP = 2, COSTATE_OWN_OBSERVED = 4 };

/** All zero is the default.  NULL: not present, or not requested. */
typedef struct {
    int count;                      /**< members */
    int threads;                    /**< most threads, including the calling one; 0: costate_cores() */
    int pin;                        /**< 1: each thread is pinned to a core of its own, if the system permits it; at the
                                         end the affinity of the calling thread is restored */
    int same;                       /**< COSTATE_SAME_P: p is np values shared by all members; COSTATE_SAME_VP: Vp is np
                                         by directions, shared by all members; COSTATE_OWN_OBSERVED: each member has
                                         observations at times of its own; for several of them, their sum */
    double t0, t1;                  /**< of all members; or, instead, */
    const double *t0_each, *t1_each;        /**< count values each */
    double *y;                      /**< N by count, in and out, as for costate_integrate */
    const double *p;                /**< np by count */

    /* tangents, as by costate_integrate_tlm */
    int directions;                 /**< per member; 0: none */
    double *V;                      /**< N by directions by count, in and out */
    const double *Vp;               /**< np by directions by count */
    const costate_times *along;     /**< t0, t1, end: directions by count */

    /* gradients, as by costate_integrate_adj */
    int m;                          /**< functionals per member; 0: none */
    double *lambda;                 /**< N by m by count, out.  Without seed in and out: on entry the gradients with
                                         respect to (y, q)(t1) */
    double *mu;                     /**< np by m by count: gradients are added to what it holds */
    const costate_times *times;     /**< t0, t1, defect, end: m by count */
    int (*seed)(int member, double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx);
                                    /**< as costate_seed, for one member: lambda N by m, mu np by m */

    /* results */
    int *status;                    /**< count */
    char (*message)[COSTATE_ENSEMBLE_TEXT];         /**< count: costate_message of each member */

    /** Callbacks, all with this ctx.  Several threads call seed, on_member and the callbacks of the problem and the
       options at the same time. */
    void *ctx;
    /** Called by the calling thread for each thread, from thread 0 on, before that thread starts.  Receives the
       thread's copies of the problem and the options, to set what the thread must not share: a ctx that is written to,
       events with such a ctx, on_step_ctx.  Sizes and method must not change.  != 0: this thread is not started (for
       thread 0: COSTATE_CALLBACK) */
    int (*each_thread)(int thread, costate_problem *, costate_options *, void *ctx);
    /** Called after each member by its thread, also if the member failed.  The arrays hold its results, the solver its
       statistics and message.  tape is NULL unless requested below.  Tape and solver may be used for anything, such as
       Hessian products, observations and continued runs.  If the status of the member is COSTATE_OK, the return value
       replaces it. */
    int (*on_member)(int member, int thread, costate *, costate_tape *, void *ctx);
    int tape;                       /**< 1: the forward run is recorded on a tape, which on_member receives */
    /** Called after each member, by one thread at a time.  != 0: no further member is started */
    int (*progress)(int done, int failed, int count, void *ctx);

    /** Maps of several members side by side (lanes.h), ended by lanes = 0; those for the most lanes that this processor
       has are used.  NULL: members run one by one.  Lanes serve explicit and Rosenbrock methods with an error estimate,
       right-hand sides and running costs without mass matrix, events and memory variables, with a dense linear solver
       (n <= 32) or that of the lanes; forward runs, tangents and gradients without along, times, tape and on_member.
       Where they do not serve, members run one by one, and report.alone says why.  A member for which a map is not
       defined or not finite, or which fails, is run again by itself.  Results have the same bits in any case. */
    const costate_lane_maps *lanes;

    /** With m > 0: terms of the functionals at given times inside the run, by dense output, as costate_observations:
       the same times for all members, in the order of their runs, or with COSTATE_OWN_OBSERVED others for each member.
       The solvers then have options.accurate_inside, unless options.members is given */
    int observations;               /**< number of times, of the member that has most; 0: none */
    const double *observed;         /**< the times; with COSTATE_OWN_OBSERVED, observations by count: NaN behind the
                                         last time of a member */
    int (*observe)(int member, int k, double t, const double *y, int m, double *w, void *ctx);
                                    /**< as costate_observations.seed, for one member; with this ctx */

    /** Hessian products, as by costate_hessian: with directions > 0 and m = 1, the gradient lambda, mu and its
       derivatives along the directions (V, Vp) of t0, which V keeps.  seed2 and observe2 replace seed and observe; what
       lambda holds on entry is not used */
    double *lambda2;                /**< N by directions by count, out; NULL: no Hessian products */
    double *mu2;                    /**< np by directions by count: added to what it holds, or NULL */
    int (*seed2)(int member, double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                 double *lambda, double *mu, double *lambda2, double *mu2, void *ctx);      /**< as costate_seed2 */
    int (*observe2)(int member, int k, double t, const double *y, int m, const double *V, double *w, double *w2,
                    void *ctx);     /**< as costate_observations.seed2 */
} costate_members;

typedef struct {
    int done, failed;               /**< members that were run; those of them whose status is not COSTATE_OK */
    int first;                      /**< lowest number of a member that failed or was not started; -1: none */
    int threads;                    /**< number of threads that took part */
    costate_stats stats;            /**< summed over all members; of tape_bytes and krylov_error the largest;
                                         gradient_error is 0: ensembles do not sample it */
    char text[512];                 /**< a sentence, about member `first` if there is one */
    int lanes;                      /**< of members.lanes that were used; 1: none */
    int in_lanes;                   /**< members that they ran; the others were run one by one */
    double active;                  /**< mean number of lanes with a member in the tries of steps; */
    double accepted;                /**< of those, the ones whose step was accepted */
    char alone[128];                /**< why lanes do not serve these members; "": they do, or none were given */
} costate_ensemble_report;

/** Runs an ensemble; method NULL: auto, as in costate_new.  COSTATE_OK: all members succeeded.  COSTATE_STOPPED:
   progress stopped the ensemble; members that were not started also have this status.  Otherwise the status of the
   lowest-numbered member that failed.  If nothing could be started (a bad argument, no memory for a solver), all
   members have that status.  If the system provides memory or threads for fewer threads than requested, these do all
   the work.  After its first members, a thread only allocates memory for tapes. */
int costate_ensemble(const costate_method *, const costate_problem *, const costate_options *, const costate_members *,
                     costate_ensemble_report *);

/** Compares members.lanes with the callbacks of the problem: every product at points near x, a different one in each
   lane, with every set of directions and gradients that may be NULL; jac, and the linear solver with its backend.
   COSTATE_OK: all have the same bits, so that members in lanes have those of separate runs; COSTATE_CHECK_FAILED: the
   report says which map differs, in which lane and number.  Widths that this processor does not have are not
   compared. */
int costate_check_lanes(const costate_problem *, const costate_lane_maps *, const costate_point *x, costate_report *);

int costate_cores(void);            /**< number of cores that this process may use: its affinity and cgroup quota */

/* ---- a program and its library: see costate.h ------------------------------------------------------------------ */

int costate_ensemble_sized(size_t options_size, const costate_method *, const costate_problem *,
                           const costate_options *, const costate_members *, costate_ensemble_report *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_ensemble(...) costate_ensemble_sized(sizeof(costate_options), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
