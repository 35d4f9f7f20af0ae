/* ensemble.h - inside an ensemble: what its threads share, and what each has of its own. */
#ifndef COSTATE_ENSEMBLE_ROOM_H
#define COSTATE_ENSEMBLE_ROOM_H

#include <stdatomic.h>
#include <costate/ensemble.h>
#include "base/cores.h"
#include "base/verdict.h"

typedef struct ensemble ensemble;

typedef struct {                    /* of one thread; its own alone until it has ended */
    ensemble *of;
    int number;
    costate_problem P;              /* as each_thread left them */
    costate_options o;
    costate *c;                     /* NULL: it takes no members */
    costate_tape *tape;             /* NULL: none is needed */
    double *block;                  /* a member's derivatives, so that threads do not write side by side: */
    size_t doubles;                 /* in it */
    double *V, *lambda, *mu;
    costate_times along, times;
    int member;                     /* the one that is run, and its sentence */
    char said[sizeof ((verdict *)0)->text];
    int done, failed, first;        /* first: -1: none failed */
    int status;                     /* of that one, and its sentence; without a solver: why */
    char text[400];
    costate_stats stats;
} worker;

struct ensemble {
    const costate_members *all;
    const costate_method *method;
    const costate_problem *P;
    const costate_options *o;
    verdict v;                      /* before members are begun */
    size_t N, np;
    affinity cores;                 /* of the calling thread */
    atomic_size_t next;             /* the member to be begun next; beyond count: none */
    atomic_int stop;
    struct lock *lock;              /* of what follows */
    int done, failed;
    worker *workers;
    int threads;                    /* of workers */
};

/* given.c */
int given_sound(ensemble *);
/* worker.c: its copies, and each_thread; its solver and its room, both or neither; its members; all freed */
int worker_given(worker *);
int worker_open(worker *);
void worker_run(worker *);
void worker_close(worker *);
void stats_add(costate_stats *to, const costate_stats *);
/* member.c: the status of the member w->member, its sentence in w->said */
int member_run(worker *);
void cut(char *to, size_t size, const char *text);
/* threads.c: the workers' members, by as many threads as there can be; worker 0 is open, and the calling thread's */
void threads_run(ensemble *);
/* lock.c: NULL is no lock; there is nobody to be locked out */
struct lock *lock_new(void);
void lock_free(struct lock *);
void lock(struct lock *);
void unlock(struct lock *);

#endif
