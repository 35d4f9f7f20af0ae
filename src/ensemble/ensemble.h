/* ensemble.h - internals of an ensemble: the data shared by its threads and the data of each thread. */
#ifndef COSTATE_ENSEMBLE_ROOM_H
#define COSTATE_ENSEMBLE_ROOM_H

#include <stdatomic.h>
#include <costate/ensemble.h>
#include "base/cores.h"
#include "base/verdict.h"
#include "lanes/members.h"

typedef struct ensemble ensemble;

typedef struct {                    /* of one thread, which alone uses it until it ends */
    ensemble *of;
    int number;
    costate_problem P;              /* as each_thread set them */
    costate_options o;
    costate *c;                     /* NULL: this worker runs no members */
    costate_tape *tape;             /* NULL: none is needed */
    double *block;                  /* of the arrays below, private: threads share no cache lines */
    size_t doubles;                 /* in block */
    double *V, *lambda, *mu, *lambda2, *mu2;
    costate_times along, times;
    int member;                     /* the member being run, and its message */
    char said[sizeof ((verdict *)0)->text];
    struct batch *lanes;            /* NULL: members run one by one */
    const char *alone;              /* why lanes do not serve; NULL: they do, or none were given */
    int in_lanes;                   /* members that lanes ran */
    int done, failed, first;        /* first: first failed member; -1: none */
    int status;                     /* its status and message; without a solver: the reason */
    char text[400];
    costate_stats stats;
} worker;

struct ensemble {
    const costate_members *all;
    const costate_method *method;
    const costate_problem *P;
    costate_options o;
    verdict v;                      /* errors before any member is started */
    size_t N, np;
    affinity cores;                 /* of the calling thread */
    atomic_size_t next;             /* the next member; >= count: none is left */
    atomic_int stop;
    struct lock *lock;              /* protects the members below */
    int done, failed;
    worker *workers;
    int threads;                    /* number of workers */
};

/* given.c */
int given_sound(ensemble *);
/* worker.c */
int worker_given(worker *);     /* copies of problem and options, changed by each_thread */
int worker_open(worker *);      /* makes its solver and memory: both, or neither */
void worker_run(worker *);      /* members, until none is left */
void worker_close(worker *);    /* frees what worker_open made */
/* member.c: runs w->member; returns its status, message in w->said */
int member_run(worker *);
void cut(char *to, size_t size, const char *text);
/* member.c, for lanes: member k in the arrays of the caller; the seeds of its gradients */
lane_member member_of(const worker *, int k);
int member_seed(worker *, const lane_member *, const double *y, double *lambda, double *mu);
int member_seed2(worker *, const lane_member *, const double *y, const double *V, double *lambda, double *mu);
/* threads.c: runs the workers on as many threads as can be started; worker 0 is ready and runs on the calling thread */
void threads_run(ensemble *);
/* lock.c: NULL: no lock is needed */
struct lock *lock_new(void);
void lock_free(struct lock *);
void lock(struct lock *);
void unlock(struct lock *);

#endif
