/* at_once.c - events that follow others at the same time.

   Where events have changed the state or the mode, the guard of another one may be zero to round-off.  If it then goes
   in the direction of its event, there is no step in which it could be seen to pass: it fires at once.  Two events that
   undo each other take turns without end, which is reported as too many events: the solution slides along the guard.

   Where a guard goes is seen by a short step, which is not taken; where it came from, by how the state moved before. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "maps/callbacks.h"
#include "run/watch.h"

enum { TRIES = 12 };
/* Of the step that is proposed: so short that the guard is not back, and longer where that does not tell its way. */
static const double PROBES[] = {1e-6, 1e-3};
/* Of t, y and the step before: a guard may be zero if it is less than 1e-2 of what it changes by over that. */
static const double PART = 1e-6;
/* A slope so small beside the change over the short step: the guard has its turning point at zero. */
static const double FLAT = 1e-6;

typedef struct {                                /* a guard where events were taken */
    double e, noise, zero;                      /* its value; its round-off; what counts as zero here */
    double was, came;                           /* before the events: it, and its slope by time; Inf, 0: not known */
} candidate;

/* its value in the present mode where it need not be defined: 0 then */
static int softly(costate *c, int k, double t, const double *y, double *e, int *known)
{
    c->count.guards++;
    int status = map_value(&c->maps, &c->maps.events[k].guard, t, y, e);
    *known = status == 0 && fabs(*e) < HUGE_VAL;
    return status < 0 ? status : 0;
}

/* Along the state as it moved before the events, by that part of the step: the guard there, and its slope by time.
   Differences do: of the slope the sign counts, and the size. */
static int before(costate *c, const run *x, int k, double part, double *e, double *slope, int *known)
{
    watch *w = &c->watch;
    double *z = w->jump, other;
    *slope = 0;
    memory_bind(&c->st, w->was, c->maps.mode);
    int status = softly(c, k, x->t, w->was, e, known), there = *known;
    for (int i = 0; i < c->st.n; i++) z[i] = w->was[i] - part * w->rate[i];
    if (status == 0 && there && w->rate_h != 0) status = softly(c, k, x->t - part * w->rate_h, z, &other, known);
    memory_bind(&c->st, c->work.y, c->maps.mode);
    if (status == 0 && *known && w->rate_h != 0) *slope = (*e - other) / (part * w->rate_h);
    return status;
}

/* what round-off of time is, or by how much the events before were missed */
static double instant(const costate *c, const run *x)
{
    return fmax(64 * DBL_EPSILON * fmax(fabs(x->t), fabs(c->watch.rate_h)), 4 * c->watch.missed);
}

/* Is it zero, or nearly so, that the short step is worth while? */
static int may_fire(costate *c, const run *x, int k, candidate *at, int *may)
{
    double moves;
    int known;
    *may = 0;
    *at = (candidate){0};
    TRY(guard_value(c, k, x->t, c->work.y, &at->e));
    TRY(guard_moves(c, k, x->t, c->work.y, at->e, PART, &moves));
    TRY(before(c, x, k, PART, &at->was, &at->came, &known));
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

/* A short step from here, with nothing of those before; *done: it could be solved. */
static int probe(costate *c, run *x, double part, int *done)
{
    const place *spare = &c->work.scratch[c->at & 1];
    fresh(c, 0);
    x->by.to = *spare;
    x->by.serial = c->at + 1;
    x->by.before = NULL;
    x->by.started = 0;
    x->now = (record){.y = c->work.y, .yp = c->work.yp, .X = spare->X, .iterations = spare->iterations,
                      .mode = (unsigned)c->maps.mode & 0x3fffffffu, .t = x->t};
    if ((c->st.F->is & (IMPLICIT | WEIGHTS)) || c->o.differences) weights(&c->st, c->work.y, c->st.w);
    double h = part * fabs(x->h_free), most = h;
    int status = c->st.F->longest ? c->st.F->longest(&c->st, &x->now, &x->by, &most) : 0;
    h = fmax(fmin(h, most), 1e4 * DBL_EPSILON * fabs(x->t));
    for (int i = 0; i < TRIES && status >= 0; i++, h /= 4) {
        x->h = c->in.dir * h;
        x->last = 0;
        c->count.located++;
        status = x->once(c, x);
        if (status == 0) status = space_finite(&c->maps.space, (size_t)c->st.N, c->work.y1, 0.2);
        if (status == 0) break;
    }
    *done = status == 0;
    return status < 0 ? status : 0;
}

/* where the guard goes from zero, and what is round-off of it, as is known now */
static int goes(costate *c, const run *x, int k, candidate *at, int *way)
{
    guarded *g = &c->watch.guard[k];
    double slope, end;
    TRY(guard_slope(c, &x->now, k, 0, &slope));
    TRY(guard_value(c, k, x->now.end, c->work.y1, &end));
    if (fabs(slope) < FLAT * fabs(end - at->e) && fabs(end - at->e) > 4 * at->zero) slope = end - at->e;
    g->slope = slope / x->now.h;
    g->miss = slope != 0 ? fabs(at->e / g->slope) : 0;
    *way = fabs(slope) > at->noise || has_tangent(&c->P.event[k].guard) ? sign_of(slope) : 0;
    at->zero = fmax(at->zero, instant(c, x) * fabs(g->slope));
    return 0;
}

/* It is zero, and goes that way: does its event take place? */
static int fires(const costate *c, int k, const candidate *at, int way)
{
    const guarded *g = &c->watch.guard[k];
    int only = c->P.event[k].direction, came = sign_of(at->came * c->in.dir);
    int continuous = fabs(at->was) <= 2 * at->zero;
    if (way == 0 || (only && only != way) || g->way == way) return 0;
    if (continuous && c->watch.rate_h == 0) return 0;       /* so it was at t0 */
    if (continuous && g->looked_before && g->sign != 0) return way == -g->sign;
    return only != 0 || (continuous && came == -way);
}

/* one that is zero here: it fires, or the segment begins with it; open: it may be, but where it goes is not clear */
static int decide(costate *c, const run *x, int k, candidate *at, int *any)
{
    guarded *g = &c->watch.guard[k];
    int way;
    TRY(goes(c, x, k, at, &way));
    g->open = way == 0;
    if (way == 0 || fabs(at->e) > at->zero) return 0;
    g->fires = fires(c, k, at, way);
    if (!g->fires) g->way = way;
    g->probed = !g->fires;
    g->goes = way;
    if (g->fires) g->sign = -way;
    *any |= g->fires;
    return 0;
}

/* those that are open, by a step of that part of the one proposed */
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

/* those that fire now, with nothing taken yet */
static int find(costate *c, run *x, int *any)
{
    *any = 0;
    for (int k = 0; k < c->watch.count; k++) {
        guarded *g = &c->watch.guard[k];
        int on = active(c, k);
        g->probed = 0;
        if (!on) g->way = 0;
        g->open = on && !g->fired;
    }
    for (int i = 0; i < 2; i++) TRY(look_ahead(c, x, PROBES[i], any));
    return 0;
}

/* The state before what fires now, and how it moves there. */
static void moved(costate *c, const run *x)
{
    watch *w = &c->watch;
    memcpy(w->was, c->work.y, (size_t)c->st.N * sizeof *w->was);
    w->rate_h = x->now.h;
    for (int i = 0; i < c->st.n; i++) w->rate[i] = c->work.y1[i] - c->work.y[i];
}

int events_at_once(costate *c, run *x, int *any)
{
    TRY(find(c, x, any));
    if (*any) moved(c, x);
    fresh(c, 0);
    return 0;
}
