/* valid.c - do the fields of a tape agree? */
#include <float.h>
#include <math.h>
#include "tape/tape.h"

/* to the round-off of sums t + h of a step, which a replay may have shifted from another time of the run */
static int alike(const costate_tape *t, const record *r, double a, double b)
{
    double scale = fmax(fmax(fabs(t->from.t0), fabs(t->from.t1)), fabs(r->t) + fabs(r->h));
    return fabs(a - b) <= 8 * DBL_EPSILON * scale;
}

static int step_is_valid(const costate_tape *t, const record *r)
{
    if (!isfinite(r->t) || !isfinite(r->h) || !alike(t, r, r->t + r->h, r->end)) return 0;
    if (r->jacobian < 0 || (int)r->member >= method_members(t->method)) return 0;
    return !r->kept || r->kept->refs >= 1;
}

/* the time that steps of length zero before step k take, because a replay gave them a length; *next: the first map
   that may be before it */
static double time_of_instants(const costate_tape *t, int k, int *next)
{
    double sum = 0;
    for (; *next < t->maps.count && t->maps.list[*next].before <= k; (*next)++)
        if (t->maps.list[*next].event == NO_LENGTH) sum += t->maps.list[*next].h;
    return sum;
}

/* Each step begins where the one before ended, to round-off, or where that was relaxed to, or where the instants
   between them end.  In a replay with other times a step to an event, or an instant, may go back. */
static int steps_are_valid(const costate_tape *t)
{
    for (int k = 0, next = 0; k < t->count; k++) {
        const record *r = &t->list[k];
        double instants = time_of_instants(t, k, &next);
        if (!step_is_valid(t, r)) return 0;
        if (k > 0 && r[-1].part == 0 && !alike(t, r - 1, r->t, r[-1].end + instants)) return 0;
    }
    return 1;
}

/* An instant is that of the event behind it.  A run that failed there has not written that, and left h = 0. */
static int instant_is_valid(const costate_tape *t, int k)
{
    double h = t->maps.list[k].h;
    return isfinite(h) && (h == 0 || tape_has_instant(t, k + 1));
}

static int maps_are_valid(const costate_tape *t)
{
    int events = 0;
    for (int k = 0; k < t->maps.count; k++) {
        const mapped *e = &t->maps.list[k];
        if (e->before < 0 || e->before > t->count || (k > 0 && e->before < e[-1].before)) return 0;
        if (e->number != events) return 0;
        if (e->event == NO_LENGTH && !instant_is_valid(t, k)) return 0;
        events += is_event(e);
    }
    return events == t->maps.events;
}

static int blocks_are_valid(const costate_tape *t)
{
    int has_last = !t->first;
    for (const struct block *b = t->first; b; b = b->next) {
        if (b->used > b->size) return 0;
        has_last |= b == t->last;
    }
    return has_last;
}

/* Where there are relations, each step and map is in a situation that the tape knows. */
static int situations_are_valid(const costate_tape *t)
{
    int most = t->situations.count;
    if (t->problem.nrelations == 0) return most == 0;
    for (int k = 0; k < t->count; k++) if ((int)t->list[k].mode >= most) return 0;
    for (int k = 0; k < t->maps.count; k++)
        if (t->maps.list[k].from < 0 || t->maps.list[k].from >= most || t->maps.list[k].to < 0 ||
            t->maps.list[k].to >= most) return 0;
    return t->mode >= 0 && t->mode < most;
}

int tape_is_valid(const costate_tape *t)
{
    if (t->count < 0 || t->count > t->room || t->maps.count < 0 || t->maps.count > t->maps.room) return 0;
    if (t->fresh.last > t->count || t->fresh.source > t->count) return 0;
    if ((t->factors.sets == 0) != (t->factors.bytes == 0)) return 0;
    return situations_are_valid(t) && steps_are_valid(t) && maps_are_valid(t) && blocks_are_valid(t);
}
