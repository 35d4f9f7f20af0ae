/* kept.c - stores the tangents of a forward sweep for the backward sweep of second order.

   If there is room, all of them are stored.  Otherwise the steps are divided into segments: the tangents at the start
   of each segment and all tangents of one segment are stored, and those of the others are recomputed when the backward
   sweep reaches them.  options.tape_limit covers the tape and these tangents; with checkpoints they take m times the
   memory of the tape, or the minimum that they need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "solver/workspace.h"
#include "sweeps/kept.h"
#include "sweeps/sweep.h"

/* Are tangents at the ends of steps stored, too?  Steps to events and corrections need them. */
static int keeps_ends(const costate *c) { return guards(c) > 0 || corrects(&c->maps); }

/* do steps of length zero precede some events? */
static int instants(const costate_tape *tape)
{
    for (int k = 0; k < tape->maps.count; k++) if (tape->maps.list[k].event == NO_LENGTH) return 1;
    return 0;
}

static int segments(int count, int length) { return count > 0 ? (count + length - 1) / length : 0; }

static size_t doubles(const kept_tangents *k, int length)
{
    return (size_t)k->tape->maps.count * k->map + (size_t)length * k->step +
           (size_t)segments(k->tape->count, length) * k->start;
}

/* the longest segment for which there is room; 0: none */
static int longest(const kept_tangents *k, size_t room)
{
    int length = k->tape->count;
    while (length > 0 && doubles(k, length) > room) length--;
    return length;
}

/* the length that minimises memory: starts of segments and steps within one take the same */
static int least(const kept_tangents *k)
{
    int length = (int)sqrt((double)k->tape->count * (double)k->start / (double)k->step);
    return length < 1 ? 1 : length;
}

/* Processes with more states have room for fewer steps: all of them take the shortest length, or a little less. */
static int agree_on_length(const costate *c, kept_tangents *k)
{
    double x = k->length > 0 ? 1 / (double)k->length : 2;
    if (!c->maps.space.sum) return 0;
    TRY(space_greatest(&c->maps.space, &x));
    int length = (int)(1 / x);
    if (length < k->length) k->length = length;
    return 0;
}

int kept_new(costate *c, const costate_tape *tape, int m, kept_tangents *k)
{
    const stepper *st = &c->st;
    int located = guards(c) > 0, ends = keeps_ends(c);
    size_t n = (size_t)st->n, NM = (size_t)st->N * (size_t)m, s = (size_t)st->most;
    *k = (kept_tangents){.tape = tape, .m = m, .length = tape->count, .from = -1};
    k->start = NM + (size_t)m;
    k->step = NM * (size_t)(1 + ends) + s * n * (size_t)(m + located) + (size_t)(2 + ends) * (size_t)m;
    k->map = instants(tape) ? k->step : k->start;
    size_t most = (size_t)m * tape_most(tape), limit = most ? 0 : c->o.tape_limit, used = costate_tape_bytes(tape);
    size_t left = most ? most : limit > used ? limit - used : 0;
    if (limit || most) {
        k->length = longest(k, left / sizeof *k->steps);
        TRY(agree_on_length(c, k));
    }
    if (most && k->length == 0) {
        k->length = least(k);
        TRY(agree_on_length(c, k));
        if (k->length < 1) k->length = 1;
    }
    if (tape->count > 0 && k->length == 0)
        return fail(&c->v, COSTATE_TAPE_LIMIT, "Tangents of %d directions at %d steps do not fit beside the tape of "
                    "%zu bytes into options.tape_limit = %zu, even where most are made again.", m, tape->count, used,
                    limit);
    size_t all = doubles(k, k->length);
    if (!(k->steps = malloc((all + 1) * sizeof *k->steps)))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for tangents at %d steps (%zu doubles).", tape->count, all);
    k->maps = k->steps + (size_t)k->length * k->step;
    k->starts = k->maps + (size_t)tape->maps.count * k->map;
    c->count.tape_bytes = used + all * sizeof *k->steps;
    return COSTATE_OK;
}

void kept_free(kept_tangents *k) { free(k->steps); }

static tangents of_map(const costate *c, const kept_tangents *k, double *at)
{
    return (tangents){.V = at, .dt = at + (size_t)c->st.N * (size_t)k->m};
}

static tangents of_step(const costate *c, const kept_tangents *k, double *at)
{
    size_t NM = (size_t)c->st.N * (size_t)k->m, stages = (size_t)c->st.most * (size_t)c->st.n;
    int located = guards(c) > 0, ends = keeps_ends(c);
    tangents t = {.V = at, .V1 = ends ? at + NM : NULL};
    t.Xd = at + NM * (size_t)(1 + ends);
    t.dt = t.Xd + stages * (size_t)(k->m + located);
    t.dh = t.dt + k->m;
    return t;
}

tangents kept_of(const costate *c, const kept_tangents *k, const op *o)
{
    if (o->kind == MAP) return of_map(c, k, k->maps + (size_t)o->which * k->map);
    if (o->kind == INSTANT) return of_step(c, k, k->maps + (size_t)(o->which - 1) * k->map);
    tangents t = of_step(c, k, k->steps + (size_t)(o->step - k->from) * k->step);
    if (o->kind == CORRECT && !relaxes(&c->maps)) {
        t.V = t.V1;
        t.dt = t.dh + k->m;
    }
    return t;
}

typedef struct { costate *c; kept_tangents *k; } keeper;

/* stores the tangents with which an operation started */
static int keep(void *ctx, sweep_state *w, op o)
{
    const keeper *x = ctx;
    size_t NM = (size_t)x->c->st.N * (size_t)x->k->m, m = (size_t)x->k->m;
    if (o.kind == OBSERVE) return 0;
    if (o.kind == CORRECT && relaxes(&x->c->maps)) return tangent_of(NULL, w, o);
    tangents t = kept_of(x->c, x->k, &o);
    sweep_move(w);
    memcpy(t.V, w->V, NM * sizeof *t.V);
    memcpy(t.dt, w->dt, m * sizeof *t.dt);
    w->d.Xd = t.Xd;
    TRY(tangent_of(NULL, w, o));
    if (o.kind != STEP && o.kind != INSTANT) return 0;
    memcpy(t.dh, w->dh, m * sizeof *t.dh);
    if (o.rule == TO_EVENT || w->now.part > 0) memcpy(t.V1, w->d.V1, NM * sizeof *t.V1);
    return 0;
}

/* runs through one segment from the tangents w->V, w->dt at its start */
static int through(costate *c, kept_tangents *k, sweep_state *w, int from)
{
    int to = from + k->length < k->tape->count ? from + k->length : k->tape->count;
    keeper x = {c, k};
    k->from = from;
    memory_to_pm(&c->st, k->m, w->V, c->d.events.pm);
    return sweep_forward(w, from, to, &(visit){keep, &x});
}

int kept_forward(costate *c, kept_tangents *k, sweep_state *w)
{
    size_t NM = (size_t)c->st.N * (size_t)k->m;
    if (k->tape->count == 0) return through(c, k, w, 0);
    for (int from = 0, i = 0; from < k->tape->count; from += k->length, i++) {
        tangents t = of_map(c, k, k->starts + (size_t)i * k->start);
        memcpy(t.V, w->V, NM * sizeof *t.V);
        memcpy(t.dt, w->dt, (size_t)k->m * sizeof *t.dt);
        TRY(through(c, k, w, from));
    }
    return 0;
}

int kept_segment(costate *c, kept_tangents *k, sweep_state *w, int from)
{
    if (k->from == from) return 0;
    tangents t = of_map(c, k, k->starts + (size_t)(from / k->length) * k->start);
    memcpy(w->V, t.V, (size_t)c->st.N * (size_t)k->m * sizeof *t.V);
    memcpy(w->dt, t.dt, (size_t)k->m * sizeof *t.dt);
    c->count.tangents_again += k->length;
    return through(c, k, w, from);
}
