/* loop.h - the state of the step loop. */
#ifndef COSTATE_LOOP_H
#define COSTATE_LOOP_H

#include "run/run.h"

typedef struct run {
    int (*once)(costate *, struct run *);       /* the step of h alone, not judged (loop.c) */
    double t, low, t1, h;       /* the time is t + low; h signed: the step to try */
    double end_low;             /* the time after it is now.end + end_low */
    double end;                 /* of the run: t1 is it, or a given time of an event before it */
    int last;                   /* h reaches t1 */
    int cut;                    /* it was made shorter by an event */
    int on;                     /* it goes on with an earlier one */
    int over;                   /* a terminal event ended the run */
    double judged;              /* h of the step that the error is of */
    double h_free;              /* the step proposed before it was cut to reach t1 */
    control k;
    costate_tape *tape;
    trial by;                   /* what the step may use */
    record now, prev;
    int has_prev;
    int begun;                  /* it has a step */
    long rejected;              /* steps of this call; the accepted ones are c->at */
    directions *d;
    double *Va, *Vb;            /* tangents at t and at t + h */
    const costate_times *times;
} run;

/* loop.c */
void run_begin(const costate *, run *, int predict);
int run_loop(costate *, run *);
/* integrate.c */
int run_finish(costate *, run *, int status, double *y);    /* the status of all */

/* known.c: the run begins fresh here: what it knows goes to the tape's file, if it has one; and back */
int known_keep(costate *, const run *, int begins, long source);
int known_again(costate *, run *, const fresh_run *);

/* aim.c */
void set_range(costate *, double t0, double t1);
void aim(const costate *, run *);                   /* h, and whether it is the last */
void set_times(run *);                              /* t, h, end of the step that h makes */
int too_small(const costate *, const run *);
int give_up(costate *, const run *);                /* a try failed, and h cannot be smaller */
int no_room(costate *, const run *);                /* nothing was tried: h is too small from the start */

/* start.c */
int map_run(costate *, run *, int at_end);          /* the state made consistent, on the tape, with its tangents */

/* events.c */
void events_begin(costate *, int on, const mapped *from);   /* of a run; on: it goes on, from an event, or NULL */
double next_stop(const costate *, const run *);     /* x->end, or a given time before it */
int events_at_start(costate *, run *, int *any);
int events_after_step(costate *, run *);            /* those that ended it; the run begins anew where there are some */

int refuse_algebraic(costate *, double t);          /* of a residual, by a method that cannot keep constraints */

/* warm.c */
enum { COLD, WARM, WARM_WITH_MATRICES };
int warm(const costate *, double t0, double t1, const double *y, const double *p, const costate_tape *);
void warm_go_on(const costate *, run *, int matrices);      /* from where the last run ended */
void warm_keep(costate *, const run *);                     /* where this one does */

#endif
