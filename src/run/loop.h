/* loop.h - the state of the step loop. */
#ifndef COSTATE_LOOP_H
#define COSTATE_LOOP_H

#include "run/run.h"

typedef struct run {
    int (*once)(costate *, struct run *);       /* one step of length h, not judged (loop.c) */
    double t, low, t1, h;       /* the time is t + low; h signed: the step to try */
    double end_low;             /* the time at its end is now.end + end_low */
    double end;                 /* of the run; t1 is this, or a given time of an event before it */
    int last;                   /* the step reaches t1 */
    int cut;                    /* an event has shortened the step */
    int on;                     /* the run continues an earlier one */
    int over;                   /* a terminal event ended the run */
    double judged;              /* h of the step to which the error estimate belongs */
    double h_free;              /* the proposed step, before it was shortened to reach t1 */
    control k;
    costate_tape *tape;
    trial by;                   /* what the step may use */
    record now, prev;
    int has_prev;
    int begun;                  /* the run has a step */
    int unlinear;               /* tries of this step that ended at once, as J at its start was not finite */
    long unsolved;              /* tries of this call in which GMRES did not converge */
    long rejected;              /* rejected steps of this call; the number of accepted ones is c->at */
    directions *d;
    double *Va, *Vb;            /* tangents at t and at t + h */
    const costate_times *times;
} run;

/* loop.c */
void run_begin(const costate *, run *, int predict);
int run_loop(costate *, run *);
int run_first(costate *, run *);            /* x->h_free of a run that begins */
/* integrate.c */
/* a run without a tape up to its first step, whose length is x->h_free; nothing of it needs to be ended */
int run_start(costate *, double t0, double t1, const double *y, const double *p, run *);
int run_finish(costate *, run *, int status, double *y);    /* the common status of all processes */

/* known.c: at a fresh step, writes the memory of the run to the file of the tape, if there is one; reads it back */
int known_keep(costate *, const run *, int begins, long source);
int known_again(costate *, run *, const fresh_run *);

/* aim.c */
void set_range(costate *, double t0, double t1);
int longest_step(costate *, run *, double *h);      /* that the family and options.step_bound allow here; RETRY: it is
                                                       not known */
void aim(const costate *, run *);                   /* sets h, and whether the step is the last */
void set_times(run *);                              /* sets t, h and end of the step */
int too_small(const costate *, const run *);
int give_up(costate *, const run *);                /* a try failed, and h cannot be reduced */
int no_jacobian(costate *, const run *);            /* tries failed, and a smaller h does not change why */
int no_room(costate *, const run *);                /* h is too small before anything was tried */

/* halves.c: the steps of c->halves */
int halves_next(costate *, run *);                  /* sets h_free before a step */
void halves_took(costate *, const run *);           /* after it was accepted */

/* calibrated.c: the norm of the error of the step in work.err, where the estimate alone would be too small; j: of
   tangent j, < 0: of the state */
enum { STATE = -1 };
int calibrated_error(costate *, const run *, int j, double *norm);

/* damping.c: after each accepted step of a run with a tape; at its end, to its message */
void damping_step(costate *, const run *);
void damping_remark(costate *, long steps);         /* so many are on the tape */
int damping_looks(const costate *);                 /* does the method damp too little for any such remark to be due? */
void damping_add(costate *, double h, double rate); /* a step, and the rate of the fastest mode */

/* corrected.c: problem.after_step */
int correct_start(costate *, run *);                /* its start, of tangents and on the tape, too */
int correct_step(costate *, run *);                 /* the end of a step that will be accepted; RETRY: not defined */
int relaxed_tangents(costate *, const run *);       /* of a step that relaxation scaled, before they become x->Va */
int correct_run(costate *, run *);                  /* what follows from that after the step was accepted */

/* start.c */
int map_run(costate *, run *, int at_end);          /* makes the state and its tangents consistent, on the tape, too */

/* events.c */
/* e, with y and y1, is applied to the state, and recorded; x: and to its tangents, RETRY: they are not defined; NULL:
   without tangents.  room: n + nm */
int map_state(costate *, costate_tape *, const run *x, double *room, mapped *e);
void events_begin(costate *, int on, const mapped *from);   /* on: the run continues an earlier one, from an event, or
                                                               NULL */
double next_stop(const costate *, const run *);     /* x->end, or a given time before it */
int events_at_start(costate *, run *, int *any);
int events_after_step(costate *, run *);            /* the events that ended it; after some the run restarts */

int refuse_algebraic(costate *, double t);          /* a residual with constraints, for a method that cannot keep them
                                                       */

/* warm.c */
enum { COLD, WARM, WARM_WITH_MATRICES };
int warm(const costate *, double t0, double t1, const double *y, const double *p, const costate_tape *);
void warm_go_on(const costate *, run *, int matrices);      /* start from where the last run ended */
void warm_keep(costate *, const run *);                     /* store the end of this run */

#endif
