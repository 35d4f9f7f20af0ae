/* ensemble.h - many runs of one problem over threads: parameter sets, initial values, samples; gradients included.

   A member of an ensemble is a run with its own y, p and times.  Threads take members one by one, in the order of their
   numbers; each thread has one solver for all of its members, and nothing of a member is left when the next one begins.
   So what a member gives has the bits that a solver of its own would give, whatever the number of threads and whoever
   did what.  A member that fails harms no other.

   Conventions as in costate.h.  N = n + nq + nm.  Arrays hold member after member: "N by count" is y[k*N + i].  A BLAS
   with threads of its own is best told to have one (OPENBLAS_NUM_THREADS=1).  For Fortran: module
   costate_ensembles. */
#ifndef COSTATE_ENSEMBLE_H
#define COSTATE_ENSEMBLE_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COSTATE_ENSEMBLE_TEXT 256           /* bytes of a member's sentence, cut where it is longer */

enum costate_same { COSTATE_SAME_P = 1, COSTATE_SAME_VP = 2 };

/* All zero is the default.  What is NULL is not there, or not wanted. */
typedef struct {
    int count;                      /* members */
    int threads;                    /* at most so many, the calling one among them; 0: as many as costate_cores() */
    int pin;                        /* 1: each thread stays on a core of its own, where the system lets it; in the end
                                       the calling one may run where it could before */
    int same;                       /* COSTATE_SAME_P: p is np values, COSTATE_SAME_VP: Vp is np by directions, those of
                                       all members; both: their sum */
    double t0, t1;                  /* of all members, or */
    const double *t0_each, *t1_each;        /* count each, instead */
    double *y;                      /* N by count, in and out, as costate_integrate's */
    const double *p;                /* np by count */

    /* tangents, as by costate_integrate_tlm */
    int directions;                 /* a member; 0: none */
    double *V;                      /* N by directions by count, in and out */
    const double *Vp;               /* np by directions by count */
    const costate_times *along;     /* t0, t1, end: directions by count */

    /* gradients, as by costate_integrate_adj */
    int m;                          /* functionals of a member; 0: none */
    double *lambda;                 /* N by m by count, out; without seed in and out: the gradients by (y, q)(t1) */
    double *mu;                     /* np by m by count: added to what it holds */
    const costate_times *times;     /* t0, t1, defect, end: m by count */
    int (*seed)(int member, double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx);
                                    /* as costate_seed, of one member: lambda N by m, mu np by m */

    /* results */
    int *status;                    /* count */
    char (*message)[COSTATE_ENSEMBLE_TEXT];         /* count: what costate_message says of each */

    /* Callbacks, all with this ctx.  Those of the problem and the options, seed and on_member are called by several
       threads at the same time. */
    void *ctx;
    /* Before a thread begins, by the calling thread, from thread 0 on: its copies of the problem and the options, to
       put into them what must be its own: a ctx that is written to, events with such a ctx, on_step_ctx.  Sizes and
       method stay.  != 0: this thread is not started; COSTATE_CALLBACK where it is thread 0 */
    int (*each_thread)(int thread, costate_problem *, costate_options *, void *ctx);
    /* After a member, by its thread, also where it failed: the arrays have its results, the solver its counters and
       message.  tape: NULL unless asked for; it and the solver may be used for all that they are for, as Hessian
       products, observations and runs that go on.  A status that it returns is the member's, if that is COSTATE_OK. */
    int (*on_member)(int member, int thread, costate *, costate_tape *, void *ctx);
    int tape;                       /* 1: the forward run is on a tape, and on_member gets it */
    /* After each member, by one thread at a time.  != 0: no further member is begun */
    int (*progress)(int done, int failed, int count, void *ctx);
} costate_members;

typedef struct {
    int done, failed;               /* members that were run; those of them whose status is not COSTATE_OK */
    int first;                      /* the first, by number, that failed or was not begun; -1: none */
    int threads;                    /* that took part */
    costate_stats stats;            /* of all members: sums; of tape_bytes and krylov_error the largest */
    char text[512];                 /* a sentence, about the member `first` where there is one */
} costate_ensemble_report;

/* COSTATE_OK: all members are; COSTATE_STOPPED: progress stopped it, and the status of members not begun is that, too;
   else the status of the first one that failed, by number.  Or nothing was begun: a bad argument, no memory for a
   solver; then that is the status of all.  Where there is memory, or leave of the system, for some threads alone, those
   do the work.  After its first members a thread allocates nothing but what tapes need. */
int costate_ensemble(const costate_method *, const costate_problem *, const costate_options *, const costate_members *,
                     costate_ensemble_report *);

int costate_cores(void);            /* that this process may use: by its affinity, and by its control group's quota */

/* ---- a program and its library: see costate.h ------------------------------------------------------------------ */

static inline const costate_size *costate_ensemble_sizes(void)
{
    static const costate_size sizes[] = {
        {COSTATE_VERSION, 0},
        {"costate_point", sizeof(costate_point)},
        {"costate_gradient", sizeof(costate_gradient)},
        {"costate_map", sizeof(costate_map)},
        {"costate_pattern", sizeof(costate_pattern)},
        {"costate_event", sizeof(costate_event)},
        {"costate_problem", sizeof(costate_problem)},
        {"costate_preconditioner", sizeof(costate_preconditioner)},
        {"costate_options", sizeof(costate_options)},
        {"costate_stats", sizeof(costate_stats)},
        {"costate_times", sizeof(costate_times)},
        {"costate_members", sizeof(costate_members)},
        {"costate_ensemble_report", sizeof(costate_ensemble_report)},
        {NULL, 0}
    };
    return sizes;
}

int costate_ensemble_sized(const costate_size *, const costate_method *, const costate_problem *,
                           const costate_options *, const costate_members *, costate_ensemble_report *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_ensemble(...) costate_ensemble_sized(costate_ensemble_sizes(), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
