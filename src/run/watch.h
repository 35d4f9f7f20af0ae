/* watch.h - events of a run: what is known of their guards, where they end steps, what is done there. */
#ifndef COSTATE_RUN_WATCH_H
#define COSTATE_RUN_WATCH_H

#include "run/loop.h"

/* The guard of one event. */
typedef struct guarded {
    int sign;                   /* where it was looked at last; 0: it was zero where the segment began */
    int from_zero;              /* it was, and has not been looked at since */
    int fires;                  /* it is zero, to round-off, at the end of the step that was taken */
    int fired;                  /* -1, 1: how it passed zero where the segment began; 0: it did not */
    double value, next, size;   /* where it was looked at last, and now; the largest in this step */
    double end, change;         /* at the end of the step; its change over the step before */
    double looked;              /* theta where it was looked at last */
    int near;                   /* it is looked at inside the step, too */
    double slope, miss;         /* where it fires: along the run, a unit of time; by how much time it is missed */
    double band;                /* what is round-off of it where the segment began */
} guarded;

typedef struct {                /* how a step is solved with another h, and what its guard is then */
    int (*solve)(void *ctx, double h, double *e);
    void *ctx;
    verdict *v;
    int event;
    double t, slope, enough;    /* start of the step; of the guard by h, about; e/slope to be content with at once */
    double low, high;           /* h where the guard has the one sign and the other; the same: not known */
    int sign;                   /* at low */
} search;

static inline int sign_of(double x) { return (x > 0) - (x < 0); }

static inline int in_mode(const costate *c, const costate_event *e)
{
    return e->from == COSTATE_ANY_MODE || e->from == c->maps.mode;
}

/* events.c */
int too_many_events(costate *, const char *why);
/* watch.c: the step that was taken, with this error, or the first part of it, where it ends in an event: then x->cut */
int watch_step(costate *, run *, double err);
/* arm.c: a segment begins with this step */
int watch_arm(costate *, const record *);
int wrong_side(costate *, int event, double t);
int must_turn(const costate *, int event);                  /* its jump should have turned its guard back */
int active(const costate *, int event);                     /* its guard is looked at in this mode */
int guard_value(costate *, int event, double t, const double *y, double *e);
/* arm.c: the slope of a guard along the dense output, by theta */
int guard_slope(costate *, const record *, int event, double theta, double *slope);
/* locate.c: h in and out: the guard is zero to round-off; by how much time it is missed with this slope; RETRY: a step
   could not be solved; ABSENT: its sign does not change up to `high`, which the last step was */
enum { ABSENT = 2 };
int search_step(const search *, double *h, double *miss, double *slope);

#endif
