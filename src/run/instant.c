/* instant.c - the step of length zero that gives an event that fires together with others a time of its own in
   derivatives (mathematics, section 10.10).

   A guard determines such a time if after the events before it it is still zero and goes on in the direction in which
   it passed zero.  Otherwise these events decide when it fires, and it shares their time. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "run/instant.h"
#include "run/start.h"
#include "run/watch.h"
#include "solver/status.h"
#include "solver/workspace.h"

/* A slope that is smaller by this factor than before the events is round-off. */
static const double STOPPED = 1e-7;
/* A change of more than so many times round-off is one; two are alike if they differ by less than this part. */
static const double CLEAR = 8, HALF = 0.5;

static int still_zero(costate *c, const run *x, int k, double *level, int *zero)
{
    TRY(guard_value(c, k, x->t, c->work.y, level));
    return guard_is_zero(c, k, x->t, c->work.y, *level, c->watch.guard[k].band, zero);
}

/* The change of the guard over a step from here, and its length; *done 0: there is none. */
static int change_ahead(costate *c, run *x, int k, int longer, double level, double *change, int *done)
{
    TRY(step_ahead(c, x, longer, done));
    if (!*done) return 0;
    TRY(guard_value(c, k, x->now.end, c->work.y1, change));
    *change -= level;
    return 0;
}

/* The slope with which the guard of a condition leaves zero, by two steps from here; 0: they show none, as where it
   leaves by its curvature.  A slope changes the guard in proportion to their lengths. */
static int slope_here(costate *c, run *x, int k, double level, double *slope, int *done)
{
    double first, second, noise;
    TRY(change_ahead(c, x, k, 0, level, &first, done));
    double h = x->now.h;
    if (*done) TRY(change_ahead(c, x, k, 1, level, &second, done));
    if (!*done) return 0;
    TRY(guard_noise(c, k, x->now.end, c->work.y1, level + second, &noise));
    double meant = second * (h / x->now.h);
    int straight = fabs(meant) > CLEAR * noise && fabs(first - meant) < HALF * fabs(meant);
    *slope = straight ? second / x->now.h : 0;
    return 0;
}

/* by a short step from here, if there is one */
static int goes_on(costate *c, run *x, int k, double level, int *on)
{
    guarded *g = &c->watch.guard[k];
    double slope, before = fabs(g->slope);
    int done;
    *on = 1;
    if (is_condition(&c->maps.event[k])) {
        TRY(slope_here(c, x, k, level, &slope, &done));
    } else {
        TRY(step_ahead(c, x, 0, &done));
        if (done) TRY(guard_slope(c, &x->now, k, 0, &slope));
        if (done) slope /= x->now.h;
    }
    if (!done) return 0;
    *on = sign_of(slope * c->in.dir) == -g->sign && fabs(slope) > STOPPED * before;
    if (*on) g->slope = slope;
    return 0;
}

int instant_needed(costate *c, run *x, int k, int timed, mapped *at, int *own)
{
    double level = 0;
    *own = 1;
    if (!timed) TRY(still_zero(c, x, k, &level, own));
    if (*own && !timed) TRY(goes_on(c, x, k, level, own));
    fresh(c, 0);
    int now = c->maps.bound.situation;
    *at = (mapped){.event = NO_LENGTH, .timed = timed, .from = now, .to = now, .t = x->t,
                   .slope = c->watch.guard[k].slope, .level = level, .y = c->work.y, .y1 = c->work.y,
                   .k = c->work.yp};
    return 0;
}

static int directed(costate *c, run *x, const record *r, int k, int timed)
{
    directions *d = x->d;
    d->V = x->Va;
    d->V1 = x->Vb;
    if (!timed) {
        mapped at = {.event = k, .t = r->t, .y = c->work.y, .k = c->work.yp};
        return event_tangent(&c->st, &c->d.events, r, &at, d, NULL, c->d.dh);
    }
    step_directions(TO_TIME, NULL, d->m, c->d.dt, c->d.dh);
    return instant_tangent(&c->st, &c->d.events, r, d);
}

int instant_tangents(costate *c, run *x, int k, int timed)
{
    const record r = {.t = x->t, .end = x->t, .y = c->work.y, .yp = c->work.yp,
                      .mode = (unsigned)c->maps.bound.situation & 0x1fffffffu, .member = (unsigned)c->st.at & 0xff,
                      .exact = 1};
    if (!x->d) return 0;
    TRY(starter_ready(c));
    maps_bind_time(&c->maps, c->in.t0, c->in.t1 - c->in.t0);
    weights(&c->st, c->work.y, c->st.w);
    TRY(frozen(&c->v, directed(c, x, &r, k, timed)));
    double *swap = x->Va; x->Va = x->Vb; x->Vb = swap;
    for (int j = 0; j < x->d->m; j++) c->d.dt[j] += c->d.dh[j];
    return 0;
}

/* ---- what a run says about it ---- */

void together_add(costate *c, const run *x, int first, int second, int own)
{
    together *s = &c->remarks.together;
    const costate_event *a = &c->maps.event[first], *b = &c->maps.event[second];
    int timed = !a->guard.value && !b->guard.value, same = a->guard.value == b->guard.value && a->ctx == b->ctx;
    if (timed || same || (s->count++ > 0 && (own || s->depends))) return;
    *s = (together){s->count, first, second, !own, x->t};
}

void together_say(const costate *c, char *text, size_t room)
{
    const together *s = &c->remarks.together;
    text[0] = 0;
    if (s->count == 0) return;
    snprintf(text, room, "  event[%d] and event[%d] fire at the same time, t = %.10g%s: %s", s->first, s->second, s->t,
             s->count > 1 ? ", and others" : "", s->depends ? "the second depends on the first, and derivatives are "
             "those of this order of events, from one side." : "derivatives are exact if neither depends on the other, "
             "and otherwise those of this order of events, from one side.");
}
