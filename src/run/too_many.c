/* too_many.c - the message for too many events, or events without the time advancing, with the times of the last ones.
   */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "run/watch.h"

static const char SLIDING[] = " They follow each other at once: the solution is sliding along a guard, where each "
    "event drives the state back to the other. Separate their thresholds (hysteresis), or give the sliding motion a "
    "mode of its own.";

/* time of event i, of the last ones */
static double when(const watch *w, long i) { return w->when[i % LAST_EVENTS]; }

/* Bounces of a ball follow each other in intervals that shrink by a factor q < 1: infinitely many end at *limit, which
   is t + d q/(1 - q) after the last interval d.  They have ended if what is left is a small part of the first interval
   that is remembered, or of the run. */
int events_accumulate(const costate *c, double *limit, double *q)
{
    const watch *w = &c->watch;
    const double LEFT = 1e-6, PART = 0.9999999;
    enum { LEAST = 4 };                                 /* three intervals, two ratios */
    long last = w->taken - 1, from = w->taken > LAST_EVENTS ? w->taken - LAST_EVENTS : 0;
    if (last - from + 1 < LEAST) return 0;
    double d = when(w, last) - when(w, last - 1), first = when(w, from + 1) - when(w, from);
    double noise = 8 * DBL_EPSILON * fabs(when(w, last));
    for (long i = from + 2; i <= last; i++)
        if (!(fabs(when(w, i) - when(w, i - 1)) <= PART * fabs(when(w, i - 1) - when(w, i - 2)) + noise)) return 0;
    *q = pow(d / first, 1.0 / (double)(last - from - 1));
    *limit = when(w, last) + d * *q / (1 - *q);
    return fabs(*limit - when(w, last)) <= LEFT * fmax(fabs(when(w, last) - c->in.t0), fabs(first));
}

/* the sentence about it, or nothing */
static void say_accumulate(const costate *c, char *text, size_t room)
{
    double limit, q;
    text[0] = 0;
    if (!events_accumulate(c, &limit, &q)) return;
    snprintf(text, room, " Intervals between them shrink by a factor of %.3g: they accumulate at t = %.10g, and this "
             "model says nothing about later times. Let a jump that hardly moves lead to a mode of rest (event.to).",
             q, limit);
}

int too_many_events(costate *c, const char *why)
{
    watch *w = &c->watch;
    char list[LAST_EVENTS * 26] = "", accumulate[300];
    say_accumulate(c, accumulate, sizeof accumulate);
    long from = w->taken > LAST_EVENTS ? w->taken - LAST_EVENTS : 0;
    for (long i = from; i < w->taken; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.15g", i > from ? ", " : "", w->when[i % LAST_EVENTS]);
    }
    return fail(&c->v, COSTATE_TOO_MANY_EVENTS, "%ld events were taken before t1, %s; the last were at t = %s, of "
                "%s.%s%s", w->taken, why, list, w->taken > 0 ? c->maps.events[w->latest].whole : "none", accumulate,
                w->at_once > 1 ? SLIDING : "");
}
