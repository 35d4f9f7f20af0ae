/* halves.c - the steps of a run that repeats the run on a tape with every step split in two (mathematics, section 9.3).

   Only lengths are taken from the tape, so that times are summed as in any run, in twice the precision.  Where the tape
   has a map, at the end or at an event, the second half is as often repeated as needed to meet it: an event is located
   anew and may lie later, and given times and t1 are met exactly.  After a map the steps go on with the first step
   behind it on the tape.  A half that fails is split further; the next try has at most twice the length of the last. */
#include <math.h>
#include "run/halves.h"
#include "ops/list.h"

static const double GROWS = 2;
static const double CRUMB = 1e-8;               /* a rest below this fraction of a half is round-off */
static const double NEAR_END = 1e-3;            /* within this fraction of either end of a half, dense output is
                                                   accurate enough */
static const double BEYOND = 1.5;               /* a half may be so many times as long to end at a given time: a short
                                                   step behind it would have larger errors where they grow as 1/h */

void halves_of(costate *c, const costate_tape *tape, int count, const double *times, int *first)
{
    c->halves = (halved_steps){.tape = tape, .first = first, .count = count, .times = times};
    if (first && tape->count > 0) first[0] = 0;
}

/* are there maps behind step k, or is it the last? */
static int closed(const costate_tape *t, int k)
{
    int next = tape_first_map(t, k + 1);
    return k >= t->count - 1 || (next < t->maps.count && t->maps.list[next].before == k + 1);
}

static int other_events(costate *c, double t)
{
    return fail(&c->v, COSTATE_ACCURACY, "With halved steps other events occur near t = %.10g than in the run: it is "
                "too coarse for an estimate of its error.", t);
}

/* moves on to step k of the tape */
static void begin_step(halved_steps *s, const run *x, int k)
{
    for (int i = s->step + 1; s->first && i <= k && i < s->tape->count; i++) s->first[i] = x->tape->count;
    s->step = k;
    s->part = 0;
    s->left = 0;
}

/* the member of a composite method that took the step */
static int member_of(const halved_steps *s)
{
    int k = s->step < s->tape->count ? s->step : s->tape->count - 1;
    return k < 0 ? -1 : (int)s->tape->list[k].member;
}

/* The maps that were applied since the last step must be those of the tape, which says where it goes on.  Events that
   fired together there may have times of their own here. */
static int follow_maps(costate *c, run *x)
{
    halved_steps *s = &c->halves;
    const costate_tape *t = s->tape;
    for (; s->mine < x->tape->maps.count; s->mine++) {
        if (is_aside(&x->tape->maps.list[s->mine])) continue;
        while (s->map < t->maps.count && is_aside(&t->maps.list[s->map])) s->map++;
        if (s->map >= t->maps.count || t->maps.list[s->map].event != x->tape->maps.list[s->mine].event)
            return other_events(c, x->t);
        if (t->maps.list[s->map].before > s->step) begin_step(s, x, t->maps.list[s->map].before);
        s->map++;
    }
    return 0;
}

static double half(const halved_steps *s)
{
    const costate_tape *t = s->tape;
    int k = s->step < t->count ? s->step : t->count - 1;
    op o = step_of(t, k, tape_first_map(t, k + 1));
    return t->list[k].h / (o.rule == TO_EVENT && s->part > 0 ? 1 : 2);  /* the event may lie later */
}

/* the length of a step, cut to end at one of the given times that lies inside it */
static double to_a_time(halved_steps *s, const costate *c, const run *x, double h)
{
    double gap = 0;
    for (; s->seen < s->count; s->seen++) {
        gap = c->in.dir * ((s->times[s->seen] - x->t) - x->low);
        if (gap > NEAR_END * h) return gap < (1 - NEAR_END) * h ? gap : h;
    }
    return h;
}

int halves_next(costate *c, run *x)
{
    halved_steps *s = &c->halves;
    TRY(follow_maps(c, x));
    if (s->left == 0) {
        if (s->part >= 2 && !closed(s->tape, s->step)) begin_step(s, x, s->step + 1);
        s->left = half(s);
        s->tried = HUGE_VAL;
        s->part++;
    }
    double h = fabs(s->left), stop = fabs((x->t1 - x->t) - x->low);
    if (closed(s->tape, s->step) && stop < BEYOND * h) h = stop;
    s->asked = fmin(to_a_time(s, c, x, h), s->tried);
    x->h_free = c->in.dir * s->asked;
    if (member_of(s) >= 0) c->rule.next = member_of(s);
    return 0;
}

void halves_took(costate *c, const run *x)
{
    halved_steps *s = &c->halves;
    double h = fabs(x->now.h), rest = fabs(s->left) - h;
    s->tried = h >= (1 - CRUMB) * s->asked ? HUGE_VAL : GROWS * h;
    s->left = rest > CRUMB * fabs(half(s)) ? c->in.dir * rest : 0;
}

/* its maps but those that only say how a run came to its steps and events */
static int changes(const costate_tape *t)
{
    int count = 0;
    for (int k = 0; k < t->maps.count; k++) count += !is_aside(&t->maps.list[k]);
    return count;
}

int halves_ended(costate *c, const costate_tape *onto)
{
    const costate_tape *t = c->halves.tape;
    for (int k = c->halves.step + 1; c->halves.first && k < t->count; k++) c->halves.first[k] = onto->count;
    return changes(onto) == changes(t) ? 0 : other_events(c, c->v.t);
}
