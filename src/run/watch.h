/* watch.h - event detection in a run: the state of guards, the steps that end at events, what is applied there. */
#ifndef COSTATE_RUN_WATCH_H
#define COSTATE_RUN_WATCH_H

#include "solver/run_state.h"

typedef struct {                /* the search for the length of a step; solve: solves the step with h and returns the
                                   guard */
    int (*solve)(void *ctx, double h, double *e);
    void *ctx;
    verdict *v;
    const char *name;           /* of the event, for a sentence */
    double t, slope, enough;    /* start of the step; about de/dh; an e/slope that is accepted immediately */
    double low, high;           /* h where the guard has one sign and the other; equal: no bracket is known */
    int sign;                   /* at low */
    double least;               /* the shortest h, which is not located more closely; 0: none */
} search;

typedef struct {                /* a passage through zero between low and high, about at theta */
    int event;
    double low, high, theta, size;      /* size: the largest modulus of the guard before it */
    double noise;               /* a guard up to this counts as zero */
} crossing;

enum { DONE_HERE = 2 };                         /* watch.done */
enum { BEGINS = 1, GOES_ON };                   /* watch.starts: at t0; where a run is continued */
enum { UNTIL_IT_LEAVES = 2 };                   /* guarded.holds */

static inline int sign_of(double x) { return (x > 0) - (x < 0); }

static inline int in_mode(const costate *c, const costate_event *e)
{
    return e->from == COSTATE_ANY_MODE || e->from == c->maps.bound.mode;
}

static inline int is_condition(const costate_event *e) { return e->at_start >= COSTATE_ZERO_FALSE; }

static inline int is_false_at_zero(const costate *c, int k)
{
    return k < c->P.nevents && c->maps.event[k].at_start == COSTATE_ZERO_FALSE;
}

/* the side of the guard of relation k on which its value holds; 0: that of a sign at zero holds on none */
static inline int relation_side(const costate *c, int k)
{
    const costate_relation *r = &c->P.relation[k];
    int value = c->maps.bound.relation[k];
    if (r->whole || value == COSTATE_SLIDES) return 1;
    return value > 0 ? 1 : r->sign && value == 0 ? 0 : -1;
}

/* too_many.c */
int too_many_events(costate *, const char *why);
/* do intervals between the last ones shrink to nothing?  At this time, by this factor each */
int events_accumulate(const costate *, double *limit, double *q);
/* watch.c: detects events in the step with this error; x->cut: the step was shortened to end at one */
int watch_step(costate *, run *, double err);
void watch_undo(costate *, run *);               /* the step is rejected after all */
/* shorten.c: times that differ by no more than round_off are equal; no located step is shorter than `shortest` */
double round_off(const record *);
double shortest(const record *);
int shorten_to(costate *, run *, const crossing *);
int others(costate *, const run *, int event);
void nobody_fires(costate *);
int ends_in_event(costate *, run *);
int stretch(costate *, run *, double err);
int is_the_end(const run *, const crossing *);
int at_the_end(costate *, const run *, int event);
/* arm.c: -1, 1: the guard, which has this value now, has passed zero in the direction of its event; 0: it has not */
int passes(const costate *, int event, double e);
/* at_once.c: finds guards that are zero after events were applied and move in the direction of their events, so that
   they fire immediately; overwrites c->work.y1 */
int events_at_once(costate *, run *, int *any);
int guards_at_start(costate *, run *);              /* those that fire at t0 */
/* a short step from here, or a longer one, into x->now; it overwrites work.y1 */
int step_ahead(costate *, run *, int longer, int *done);
/* arm.c: initialises guards for a segment that starts with this step */
int watch_arm(costate *, const record *);
double same_time(double t, double length);                  /* times that differ by no more are equal */
int wrong_side(costate *, int event, double t);
int must_turn(const costate *, int event);                  /* its jump should have moved its guard back */
int active(const costate *, int event);                     /* its guard is evaluated in this mode */
int guard_value(costate *, int event, double t, const double *y, double *e);
/* that of a condition may rest at zero from here, within what it is off zero now */
int guard_may_rest(costate *, int event, double t, const double *y);
/* its largest change if t and y change by a fraction `part` of themselves; guard_noise: by round-off */
int guard_moves(costate *, int event, double t, const double *y, double e, double part, double *moves);
int guard_noise(costate *, int event, double t, const double *y, double e, double *noise);
/* is e no more than this band, or the round-off of its terms? */
int guard_is_zero(costate *, int event, double t, const double *y, double e, double band, int *zero);
/* arm.c: the derivative of a guard along the dense output with respect to theta */
int guard_slope(costate *, const record *, int event, double theta, double *slope);
/* the same with fewer calls, where only its sign is used: it may be round-off */
int guard_turns(costate *, const record *, int event, double theta, double *slope);
/* locate.c: h in and out: the length for which the guard is zero to round-off; *miss: error of the time, *slope: de/dh.
   RETRY: a step could not be solved; ABSENT: the guard does not change its sign up to `high`, the length of the last
   step */
enum { ABSENT = 2, TURNS };                     /* TURNS: watch.turns, whose guard rested at zero, leaves it */
int search_step(const search *, double *h, double *miss, double *slope);

#endif
