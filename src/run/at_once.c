/* at_once.c - events that are triggered by other events at the same time.

   After events have changed the state or the mode, the guard of another event may be zero to round-off.  If the guard
   then moves in the direction of its event, no step can detect its passage through zero: the event fires immediately.
   Two events that undo each other alternate without end, which is reported as too many events: the solution slides
   along the guard.

   A short trial step shows where a guard moves to; the motion of the state before the events shows where it came from.
   */
#include <float.h>
#include <math.h>
#include <string.h>
#include "maps/callbacks.h"
#include "run/aim.h"
#include "run/watch.h"

enum { TRIES = 12 };
/* Lengths of the trial step, as fractions of the proposed step: so short that the guard has not returned to zero; a
   longer one where the first does not show the direction. */
static const double PROBES[] = {1e-6, 1e-3};
/* Of t, y and the previous step: a guard may be zero if it is less than 1e-2 of its change over this fraction. */
static const double PART = 1e-6;
/* A slope below this fraction of the change over the trial step means that the guard has a turning point at zero. */
static const double FLAT = 1e-6;

/* A guard that is zero at t0 moves strictly if its slope over the trial step is more than so many times round-off, and
   at least this part of the change, which curvature makes up where it rests. */
static const double CLEAR = 8, STRAIGHT = 0.1;

typedef struct {                                /* a guard after events were applied */
    double e, noise, zero;                      /* value; round-off; bound below which it counts as zero */
    double was, came;                           /* value and time derivative before the events; Inf, 0: unknown */
    int strict;                                 /* its slope is not zero, nor round-off */
} candidate;

/* The value of a guard in the present mode, where it need not be defined; known 0: it is not. */
static int softly(costate *c, int k, double t, const double *y, double *e, int *known)
{
    c->count.guards++;
    int status = map_value(&c->maps, &c->maps.events[k].guard, t, y, e);
    *known = status == 0 && fabs(*e) < HUGE_VAL;
    return status < 0 ? status : 0;
}

/* The guard before the events, and its time derivative by a difference over `part` of the step, along the motion of the
   state.  Only the sign and the magnitude of the derivative are used. */
static int before(costate *c, const run *x, int k, double part, double *e, double *slope, int *known)
{
    watch *w = &c->watch;
    double *z = w->jump, other;
    *slope = 0;
    memory_bind(&c->st, w->was, c->maps.bound.situation);
    int status = softly(c, k, x->t, w->was, e, known), there = *known;
    for (int i = 0; i < c->st.n; i++) z[i] = w->was[i] - part * w->rate[i];
    if (status == 0 && there && w->rate_h != 0) status = softly(c, k, x->t - part * w->rate_h, z, &other, known);
    memory_bind(&c->st, c->work.y, c->maps.bound.situation);
    if (status == 0 && *known && w->rate_h != 0) *slope = (*e - other) / (part * w->rate_h);
    return status;
}

/* times that differ by no more are equal: round-off of time, or the error with which the previous events were located
   */
static double instant(const costate *c, const run *x)
{
    return fmax(same_time(x->t, c->watch.rate_h), 4 * c->watch.missed);
}

/* Is the guard so close to zero that a trial step is needed? */
static int may_fire(costate *c, const run *x, int k, candidate *at, int *may)
{
    double moves;
    int known;
    *may = 0;
    *at = (candidate){0};
    TRY(guard_value(c, k, x->t, c->work.y, &at->e));
    TRY(guard_moves(c, k, x->t, c->work.y, at->e, PART, &moves));
    if (c->watch.starts) { at->was = at->e; known = 1; }
    else TRY(before(c, x, k, PART, &at->was, &at->came, &known));
    double near = 1e-2 * (moves + PART * fabs(at->came * c->watch.rate_h));
    if (fabs(at->e) > fmax(near, instant(c, x) * fabs(at->came))) return 0;
    TRY(guard_noise(c, k, x->t, c->work.y, at->e, &at->noise));
    double part = known && c->watch.rate_h != 0 ? PART : 1;
    while (part < 1 && fabs(part * at->came * c->watch.rate_h) <= 16 * at->noise) {
        part *= 100;
        TRY(before(c, x, k, part, &at->was, &at->came, &known));
    }
    at->zero = fmax(at->noise, instant(c, x) * fabs(at->came));
    if (!known) at->was = HUGE_VAL;
    *may = 1;
    return 0;
}

/* A trial step from here that uses nothing of earlier steps; *done: it could be solved. */
static int probe(costate *c, run *x, double part, int *done)
{
    const place *spare = &c->work.scratch[c->at & 1];
    fresh(c, 0);
    x->by.to = *spare;
    x->by.serial = c->at + 1;
    x->by.before = NULL;
    x->by.started = 0;
    x->now = (record){.y = c->work.y, .yp = c->work.yp, .X = spare->X, .iterations = spare->iterations,
                      .mode = (unsigned)c->maps.bound.situation & 0x1fffffffu, .t = x->t};
    if ((c->st.F->is & (IMPLICIT | WEIGHTS)) || c->o.differences) weights(&c->st, c->work.y, c->st.w);
    double h = part * fabs(x->h_free), most;
    int status = longest_step(c, x, &most);
    h = fmax(fmin(h, most), 1e4 * DBL_EPSILON * fabs(x->t));
    for (int i = 0; i < TRIES && status >= 0; i++, h /= 4) {
        x->h = c->in.dir * h;
        x->last = 0;
        c->count.located++;
        status = x->once(c, x);
        if (status == 0) status = space_finite(&c->maps.space, (size_t)c->st.N, c->work.y1);
        if (status == 0) break;
    }
    *done = status == 0;
    return status < 0 ? status : 0;
}

/* The direction in which the guard leaves zero, and an updated bound of its round-off.  A condition depends on where
   the guard is after a while, not on its slope, which may be round-off. */
static int goes(costate *c, const run *x, int k, candidate *at, int *way)
{
    guarded *g = &c->watch.guard[k];
    double slope, end;
    TRY(guard_slope(c, &x->now, k, 0, &slope));
    TRY(guard_value(c, k, x->now.end, c->work.y1, &end));
    int condition = is_condition(&c->maps.event[k]), moves = fabs(end - at->e) > 4 * at->zero;
    int flat = moves && (condition || fabs(slope) < FLAT * fabs(end - at->e));
    at->strict = fabs(slope) > fmax(CLEAR * at->noise, STRAIGHT * fabs(end - at->e));
    if (flat) slope = end - at->e;
    g->slope = slope / x->now.h;
    g->miss = slope != 0 ? fabs(at->e / g->slope) : 0;
    int clear = condition ? moves : fabs(slope) > at->noise || has_tangent(&c->maps.event[k].guard);
    *way = clear ? sign_of(slope) : 0;
    at->zero = fmax(at->zero, instant(c, x) * fabs(g->slope));
    return 0;
}

/* Does its event fire at t0, wherever its guard goes? */
static int forced(const costate *c, int k)
{
    return c->watch.starts == BEGINS && c->maps.event[k].at_start == COSTATE_START_FIRE;
}

/* Does its event fire at t0 if its guard is zero there and goes the right way? */
static int may_start(const costate *c, int k)
{
    const costate_event *e = &c->maps.event[k];
    int ignored = e->at_start == COSTATE_START_IGNORE || e->at_start == COSTATE_ZERO_TRUE;
    return !ignored && (e->direction != 0 || forced(c, k));
}

/* A guard that is zero at t0: does its event fire there? */
static int starts(const costate *c, int k, const candidate *at, int way)
{
    return may_start(c, k) && (forced(c, k) || (at->strict && c->maps.event[k].direction == way));
}

/* Does the condition of the event include zero, and hold here or before the events? */
static int is_true(const costate *c, int k, const candidate *at)
{
    const costate_event *e = &c->maps.event[k];
    int was = fabs(at->was) < HUGE_VAL && e->direction * at->was > 2 * at->zero;
    return e->at_start == COSTATE_ZERO_TRUE && (was || e->direction * at->e >= 0);
}

/* The guard is zero and moves in direction `way`: does its event fire? */
static int fires(const costate *c, int k, const candidate *at, int way)
{
    const guarded *g = &c->watch.guard[k];
    int only = c->maps.event[k].direction, came = sign_of(at->came * c->in.dir);
    int continuous = fabs(at->was) <= 2 * at->zero;
    if (c->watch.starts) return starts(c, k, at, way);
    if (is_true(c, k, at)) return 0;
    if (way == 0 || (only && only != way) || g->way == way) return 0;
    if (continuous && c->watch.rate_h == 0) return starts(c, k, at, way);   /* it was zero at t0 */
    if (continuous && g->looked_before && g->sign != 0) return way == -g->sign;
    return only != 0 || (continuous && came == -way);
}

/* Decides about a guard that may be zero here: its event fires, or the segment starts with the guard at zero.  open: it
   may be zero, but its direction is not clear yet. */
static int decide(costate *c, const run *x, int k, candidate *at, int *any)
{
    guarded *g = &c->watch.guard[k];
    int way;
    TRY(goes(c, x, k, at, &way));
    g->open = way == 0 || (c->watch.starts && !at->strict);
    if ((way == 0 && !forced(c, k)) || fabs(at->e) > at->zero) return 0;
    g->fires = fires(c, k, at, way);
    int waits = !g->fires && !at->strict && c->watch.rate_h == 0 && is_false_at_zero(c, k);
    if (!g->fires && !waits) g->way = way;
    g->probed = !g->fires && !waits;
    g->goes = way;
    if (g->fires) { g->sign = -way; g->open = 0; }
    *any |= g->fires;
    return 0;
}

/* Decides about open guards with a trial step of this fraction of the proposed step. */
static int look_ahead(costate *c, run *x, double part, int *any)
{
    int probed = 0, done = 1;
    for (int k = 0; k < c->watch.count && done; k++) {
        guarded *g = &c->watch.guard[k];
        candidate at;
        if (!g->open) continue;
        TRY(may_fire(c, x, k, &at, &g->open));
        if (!g->open) continue;
        if (!probed) TRY(probe(c, x, part, &done));
        probed = 1;
        if (done) TRY(decide(c, x, k, &at, any));
    }
    return 0;
}

/* Finds the guards that fire now; none is applied yet. */
static int find(costate *c, run *x, int *any)
{
    *any = 0;
    for (int k = 0; k < c->watch.count; k++) {
        guarded *g = &c->watch.guard[k];
        int on = active(c, k);
        g->probed = 0;
        if (!on) g->way = 0;
        g->open = on && !g->fired && !g->fires && k < c->P.nevents && (!c->watch.starts || may_start(c, k));
    }
    for (int i = 0; i < 2; i++) TRY(look_ahead(c, x, PROBES[i], any));
    return 0;
}

/* Stores the state before the events that fire now, and its motion. */
static void moved(costate *c, const run *x)
{
    watch *w = &c->watch;
    memcpy(w->was, c->work.y, (size_t)c->st.N * sizeof *w->was);
    w->rate_h = x->now.h;
    for (int i = 0; i < c->st.n; i++) w->rate[i] = c->work.y1[i] - c->work.y[i];
}

int step_ahead(costate *c, run *x, int longer, int *done) { return probe(c, x, PROBES[longer], done); }

int guards_at_start(costate *c, run *x)
{
    int any;
    c->watch.starts = x->on ? GOES_ON : BEGINS;
    int status = find(c, x, &any);
    c->watch.starts = 0;
    for (int k = 0; k < c->watch.count; k++) c->watch.guard[k].probed = 0;
    fresh(c, 0);
    return status;
}

int events_at_once(costate *c, run *x, int *any)
{
    TRY(find(c, x, any));
    if (*any) moved(c, x);
    fresh(c, 0);
    return 0;
}
