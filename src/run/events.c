/* events.c - the events of a run: at given times, or at the end of a step that a guard has ended; then the run
   restarts. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/events.h"
#include "run/instant.h"
#include "run/relations.h"
#include "run/start.h"
#include "run/watch.h"

enum { MOST_STILL = 100 };

/* the round-off of a guard with this slope: that of a few units in the last place of the time */
static double band(double slope, double miss, double t, double h)
{
    return 4 * fabs(slope) * fmax(miss, 8 * DBL_EPSILON * fmax(fabs(t), fabs(h)));
}

void events_begin(costate *c, int on, const mapped *from)
{
    watch *w = &c->watch;
    int here = on && w->stamp == c->stamp;       /* it continues the last run of this solver */
    w->armed = w->still = 0;
    w->done = from && from->event >= 0;
    w->taken = w->at_once = w->open = 0;
    w->missed = 0;
    if (!here) w->rate_h = 0;
    for (int k = 0; k < w->count; k++) {
        guarded *g = &w->guard[k];
        int this_one = from && from->event == k && !from->timed;
        g->fires = g->fires && here;
        g->size = g->rest = 0;
        g->fired = this_one ? sign_of(from->slope * c->in.dir) : 0;
        g->band = this_one ? band(from->slope, from->miss, from->t, 0) : 0;
        g->probed = g->turned = 0;
        if (!here) g->way = g->looked_before = 0;
    }
}

/* ---- given times ---- */

static double earlier(const costate *c, double s, double t) { return c->in.dir * (s - t) > 0 ? t : s; }

double next_stop(const costate *c, const run *x)
{
    double stop = earlier(c, x->end, times_next(c->P.nstops, c->P.stops, x->t, c->in.dir));
    for (int k = 0; k < c->watch.count; k++) {
        const costate_event *e = &c->maps.event[k];
        if (e->ntimes > 0 && in_mode(c, e)) stop = earlier(c, stop, times_next(e->ntimes, e->times, x->t, c->in.dir));
    }
    return stop;
}

static int is_due(const costate_event *e, double t)
{
    int i = times_below(e->ntimes, e->times, t, 0);
    return i < e->ntimes && e->times[i] == t;
}

/* ---- one event ---- */

static int count_one(costate *c, const run *x, int event)
{
    watch *w = &c->watch;
    w->latest = event;
    if (w->taken >= c->o.max_events) return too_many_events(c, "and no more are allowed (options.max_events)");
    w->when[w->taken++ % LAST_EVENTS] = x->t;
    c->count.events++;
    return 0;
}

/* Detects events that follow each other without the time advancing: they would never end. */
static int stands_still(costate *c, const run *x)
{
    watch *w = &c->watch;
    w->still = fabs(x->prev.h) <= 16 * DBL_EPSILON * fabs(x->t) ? w->still + 1 : 0;
    return w->still <= MOST_STILL ? 0 : too_many_events(c, "the last of them while the time stood still");
}

/* the situation after event k, before relations whose thresholds its jump crosses are determined anew */
static int situation_after(costate *c, const run *x, int k, int *to)
{
    const costate_event *e = &c->maps.event[k];
    int relation = k - c->P.nevents, other = e->to != COSTATE_SAME_MODE;
    *to = other ? e->to : c->maps.bound.situation;
    if (c->P.nrelations == 0 || (relation < 0 && !other)) return 0;
    return relation_flips(c, x, relation < 0 ? -1 : relation, other ? e->to : c->maps.bound.mode, to);
}

static mapped event_here(const costate *c, const run *x, int k, int timed, int to)
{
    const guarded *g = &c->watch.guard[k];
    memcpy(c->watch.y, c->work.y, (size_t)c->st.N * sizeof *c->work.y);
    return (mapped){.event = k, .timed = timed, .from = c->maps.bound.situation, .t = x->t,
                    .to = to, .slope = timed ? 0 : g->slope,
                    .miss = timed ? 0 : g->miss, .y = c->watch.y, .y1 = c->watch.y1,
                    .k = c->work.yp};
}

int map_state(costate *c, costate_tape *tape, const run *x, double *room, const mapped *instant, mapped *e)
{
    const event_work w = {.jump = room};
    TRY(jump_value(&c->st, &w, e));
    if (tape && instant) TRY(space_agree(&c->maps.space, tape_event(&c->st, tape, instant)));
    if (tape) TRY(space_agree(&c->maps.space, tape_event(&c->st, tape, e)));
    if (x && x->d) TRY(jump_tangent(&c->st, &c->d.events, e, x->d->m, c->d.dt, x->Va, x->d->Vp));
    memcpy(c->work.y, e->y1, (size_t)c->st.N * sizeof *e->y1);
    memory_bind(&c->st, c->work.y, e->to);
    return 0;
}

/* Applies one event to the state and its tangents, and records it on the tape; *stop: on_event requests the end. */
static int take_one(costate *c, run *x, int k, int timed, const mapped *instant, int *stop)
{
    int to;
    TRY(situation_after(c, x, k, &to));
    mapped e = event_here(c, x, k, timed, to);
    TRY(count_one(c, x, k));
    if (instant) TRY(instant_tangents(c, x, k, timed));
    TRY(frozen(&c->v, map_state(c, x->tape, x, c->watch.jump, instant, &e)));
    x->over |= c->maps.event[k].terminal;
    if (c->o.on_event && k < c->P.nevents) *stop |= c->o.on_event(k, e.t, e.y, e.y1, c->o.on_event_ctx) != 0;
    return 0;
}

static int changes(const costate *c, int k)
{
    const costate_event *e = &c->maps.event[k];
    int mode = e->to != COSTATE_SAME_MODE && e->to != c->maps.bound.mode;
    return k >= c->P.nevents || e->jump.value || e->transition.value || mode;
}

/* A correction has moved the guard off zero: up to there it still counts as zero. */
static int widen(costate *c, const run *x, int k)
{
    double e;
    TRY(guard_value(c, k, x->t, c->work.y, &e));
    c->watch.guard[k].band = fmax(c->watch.guard[k].band, 2 * fabs(e));
    return 0;
}

/* The events of one list that have been applied. */
typedef struct {
    int cut;                    /* the first guard has determined the length of the step that ends here */
    int first;                  /* the event applied last; -1: none */
    int moved;                  /* one of them had a time of its own */
    int start;                  /* at t0, with which given times move */
    int changed;                /* the state, or f, since it was made consistent */
} taking;

/* f or the state has jumped: algebraic unknowns follow. */
static int algebraic_anew(costate *c, run *x) { return constrained(c) ? map_run(c, x, 0) : 0; }

/* Separates event k from those before it: values are made consistent, and it has a step of length zero, if it has a
   time of its own.  Only derivatives use that. */
static int separate(costate *c, run *x, int k, int timed, taking *s, mapped *instant, int *own)
{
    int may = timed ? s->moved || (s->first >= 0 && !s->start) : s->first >= 0 || !s->cut;
    *own = 0;
    if (may) TRY(algebraic_anew(c, x));
    if (may) s->changed = stops_at(&c->maps, x->t);
    if (may && (x->tape || x->d)) {
        TRY(instant_needed(c, x, k, timed, instant, own));
        if (s->first >= 0 && !c->watch.at_once) together_add(c, x, s->first, k, *own);
    }
    s->moved |= *own;
    s->first = k;
    return 0;
}

int stop_at_start(costate *c, run *x) { return stops_at(&c->maps, x->t) ? algebraic_anew(c, x) : 0; }

/* Relations after events, by the values that are consistent with them, which may change these values. */
static int relations_here(costate *c, run *x, int *changed)
{
    int by_sign = 0, by_slope;
    if (c->P.nrelations == 0) return 0;
    if (constrained(c)) TRY(relations_anew(c, x, 0, &by_sign));
    if (by_sign) TRY(algebraic_anew(c, x));
    TRY(relations_anew(c, x, 1, &by_slope));
    if (changed) *changed = by_sign || by_slope;
    return by_slope ? algebraic_anew(c, x) : 0;
}

/* The run has come to a stop. */
static int stop_here(costate *c, run *x)
{
    int now = c->maps.bound.situation;
    const mapped here = {.event = WENT_ON, .timed = 1, .from = now, .to = now, .t = x->t, .y = c->work.y,
                         .y1 = c->work.y, .k = c->work.yp};
    if (x->tape) TRY(space_agree(&c->maps.space, tape_event(&c->st, x->tape, &here)));
    maps_bind_start(&c->maps, x->t);
    TRY(algebraic_anew(c, x));
    TRY(relations_before(c, x));
    return relations_here(c, x, NULL);
}

/* An event is not applied twice at one time; the guard of a condition may rest here, within what it is off zero. */
static int note_fired(costate *c, const run *x, int k)
{
    guarded *g = &c->watch.guard[k];
    g->turned = 1;
    g->turned_at = x->t;
    return is_condition(&c->maps.event[k]) ? guard_may_rest(c, k, x->t, c->work.y) : 0;
}

/* Applies all events that fire here, in the order of the list; due: and those of given times. */
static int take_all(costate *c, run *x, int due, int *any)
{
    int stop = 0, cut = x->cut || c->watch.at_once;
    taking s = {.cut = x->cut, .first = -1, .start = !x->begun, .changed = stops_at(&c->maps, x->t)};
    *any = 0;
    TRY(relations_before(c, x));
    if (!c->watch.at_once) c->watch.missed = 0;
    for (int k = 0; k < c->watch.count; k++) c->watch.guard[k].looked_before = active(c, k);
    for (int k = 0; k < c->watch.count; k++) {
        guarded *g = &c->watch.guard[k];
        int timed = due && !cut && is_due(&c->maps.event[k], x->t);
        int taken = (g->fires || timed) && in_mode(c, &c->maps.event[k]);
        g->fired = taken && g->fires ? -g->sign : 0;
        if (g->fired || !c->watch.at_once) g->way = g->fired;
        g->band = band(g->slope, g->miss, x->t, x->prev.h);
        if (!taken) continue;
        if (g->fired && k < c->P.nevents) TRY(note_fired(c, x, k));
        if (g->fired && x->prev.corrected) TRY(widen(c, x, k));
        if (g->fired) c->watch.missed = fmax(c->watch.missed, g->miss);
        mapped instant;
        int own;
        TRY(separate(c, x, k, timed && !g->fired, &s, &instant, &own));
        s.changed |= changes(c, k);
        TRY(take_one(c, x, k, own ? timed && !g->fired : !cut, own ? &instant : NULL, &stop));
        *any = 1;
    }
    for (int k = 0; k < c->watch.count; k++) c->watch.guard[k].fires = 0;
    c->watch.armed = 0;
    x->cut = 0;
    if (*any) maps_bind_start(&c->maps, x->t);
    if (*any && s.changed) TRY(algebraic_anew(c, x));
    if (*any) TRY(relations_here(c, x, NULL));
    stop = stop ? fail(&c->v, COSTATE_STOPPED, "on_event stopped the run at t = %.10g.", x->t) : 0;
    return space_agree(&c->maps.space, stop);
}

/* Applies the events that then fire immediately.  Where the solution slides, each triggers another; a longer sequence
   than this is not a chain of distinct events. */
static int take_with_others(costate *c, run *x, int more)
{
    watch *w = &c->watch;
    for (w->at_once = 1; more && !x->over && w->at_once <= MOST_STILL + w->count; w->at_once++) {
        TRY(events_at_once(c, x, &more));
        if (more) TRY(take_all(c, x, 0, &more));
    }
    if (more && !x->over) return too_many_events(c, "the last of them while the time stood still");
    w->at_once = 0;
    return 0;
}

/* w->done: the events due here were applied by the previous run; DONE_HERE: by this run, which was read from its file.
   */
int events_at_start(costate *c, run *x, int *any)
{
    *any = 0;
    if (c->watch.count == 0 || c->watch.done == DONE_HERE) return 0;
    watch *w = &c->watch;
    int due = w->done && w->rate_h != 0;            /* others may follow if the run that ended here is known */
    int changed = 0;
    w->at_once = 0;
    TRY(relations_before(c, x));
    TRY(relations_here(c, x, &changed));            /* guards may depend on them */
    if (!w->done) {
        w->rate_h = 0;
        memcpy(w->was, c->work.y, (size_t)c->st.N * sizeof *w->was);
        TRY(guards_at_start(c, x));
        TRY(take_all(c, x, 1, any));
        due = *any;
    }
    TRY(take_with_others(c, x, due));
    *any = w->taken > 0 || changed;
    return 0;
}

/* The guard of an event leaves zero, where it rested, in the step from here: the event is applied before it. */
static int leaves_zero(costate *c, run *x)
{
    watch *w = &c->watch;
    guarded *g = &w->guard[w->turns];
    int any;
    g->fires = 1;
    g->slope = g->miss = 0;
    w->at_once = w->rate_h = 0;
    memcpy(w->was, c->work.y, (size_t)c->st.N * sizeof *w->was);
    TRY(take_all(c, x, 0, &any));
    return take_with_others(c, x, any);
}

int guard_turned(costate *c, run *x)
{
    if (c->watch.turns < c->P.nevents) return leaves_zero(c, x);
    TRY(count_one(c, x, c->watch.turns));
    c->watch.armed = 0;
    return relation_turns(c, x);
}

int events_after_step(costate *c, run *x)
{
    int any;
    if (c->watch.count == 0) return stop_here(c, x);
    c->watch.at_once = 0;
    TRY(stands_still(c, x));
    TRY(take_all(c, x, 1, &any));
    if (!any) TRY(stop_here(c, x));
    any |= c->watch.open;
    c->watch.open = 0;
    return take_with_others(c, x, any);
}
