/* watch.h - events of a run: what is known of their guards, where they end steps, what is done there. */
#ifndef COSTATE_RUN_WATCH_H
#define COSTATE_RUN_WATCH_H

#include "run/loop.h"

/* The guard of one event. */
typedef struct guarded {
    int sign;                   /* where it was looked at last; 0: it was zero where the segment began */
    int from_zero;              /* it was, and has not been looked at since; */
    int led;                    /* and a short step has seen it take its sign */
    int fires;                  /* it is zero, to round-off, at the end of the step that was taken */
    int fired;                  /* -1, 1: how it passed zero where the segment began; 0: it did not */
    double value, next, size;   /* where it was looked at last, and now; the largest in this step */
    double last_change;         /* between the last two looks */
    double end, change;         /* at the end of the step; its change over the step before */
    double looked;              /* theta where it was looked at last */
    int near;                   /* it is looked at inside the step, too */
    double slope, miss;         /* where it fires: along the run, a unit of time; by how much time it is missed */
    double band;                /* what is round-off of it where the segment began */
    int open, probed, goes;     /* at_once.c: it may be zero there; it is, and takes this sign */
    int way;                    /* how it passed zero at this very time, looked at in all modes since; 0: it did not */
    int looked_before;          /* it was looked at in the mode before the last event */
} guarded;

typedef struct {                /* how a step is solved with another h, and what its guard is then */
    int (*solve)(void *ctx, double h, double *e);
    void *ctx;
    verdict *v;
    int event;
    double t, slope, enough;    /* start of the step; of the guard by h, about; e/slope to be content with at once */
    double low, high;           /* h where the guard has the one sign and the other; the same: not known */
    int sign;                   /* at low */
    double least;               /* of h, which is not located more closely; 0: there is none */
} search;

typedef struct {                /* of zero, between low and high of theta, about there */
    int event;
    double low, high, theta, size;      /* size: the largest of the guard on the way */
    double noise;               /* the guard that small is zero */
} crossing;

enum { DONE_HERE = 2 };                         /* watch.done */

static inline int sign_of(double x) { return (x > 0) - (x < 0); }

static inline int in_mode(const costate *c, const costate_event *e)
{
    return e->from == COSTATE_ANY_MODE || e->from == c->maps.mode;
}

/* too_many.c */
int too_many_events(costate *, const char *why);
/* watch.c: the step that was taken, with this error, or the first part of it, where it ends in an event: then x->cut */
int watch_step(costate *, run *, double err);
/* shorten.c: few last digits of the time, and of h, which are one time; no located step is shorter than the other */
double round_off(const record *);
double shortest(const record *);
int shorten_to(costate *, run *, const crossing *);
int others(costate *, const run *, int event);
void nobody_fires(costate *);
int ends_in_event(costate *, run *);
int stretch(costate *, run *, double err);
int is_the_end(const run *, const crossing *);
int at_the_end(costate *, const run *, int event);
/* arm.c: -1, 1: with this value guard k has passed zero, in the direction of its event; 0: it has not */
int passes(const costate *, int event, double e);
/* at_once.c: which guards are zero where the events before left the state, go on as their events want it, and so fire
   there; c->work.y1 is used */
int events_at_once(costate *, run *, int *any);
/* arm.c: a segment begins with this step */
int watch_arm(costate *, const record *);
int wrong_side(costate *, int event, double t);
int must_turn(const costate *, int event);                  /* its jump should have turned its guard back */
int active(const costate *, int event);                     /* its guard is looked at in this mode */
int guard_value(costate *, int event, double t, const double *y, double *e);
/* its largest change where t and y are moved by that part of themselves, or by a few last digits: its round-off */
int guard_moves(costate *, int event, double t, const double *y, double e, double part, double *moves);
int guard_noise(costate *, int event, double t, const double *y, double e, double *noise);
/* arm.c: the slope of a guard along the dense output, by theta */
int guard_slope(costate *, const record *, int event, double theta, double *slope);
/* the same where its sign counts alone, with fewer calls: it may be round-off */
int guard_turns(costate *, const record *, int event, double theta, double *slope);
/* locate.c: h in and out: the guard is zero to round-off; by how much time it is missed with this slope; RETRY: a step
   could not be solved; ABSENT: its sign does not change up to `high`, which the last step was */
enum { ABSENT = 2 };
int search_step(const search *, double *h, double *miss, double *slope);

#endif
