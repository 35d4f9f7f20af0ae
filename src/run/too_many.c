/* too_many.c - the message for too many events, or events without the time advancing, with the times of the last ones.
   */
#include <stdio.h>
#include <string.h>
#include "run/watch.h"

static const char SLIDING[] = " They follow each other at once: the solution is sliding along a guard, where each "
    "event drives the state back to the other. Separate their thresholds (hysteresis), or give the sliding motion a "
    "mode of its own.";

int too_many_events(costate *c, const char *why)
{
    watch *w = &c->watch;
    char list[LAST_EVENTS * 26] = "";
    long from = w->taken > LAST_EVENTS ? w->taken - LAST_EVENTS : 0;
    for (long i = from; i < w->taken; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.15g", i > from ? ", " : "", w->when[i % LAST_EVENTS]);
    }
    return fail(&c->v, COSTATE_TOO_MANY_EVENTS, "%ld events were taken before t1, %s; the last were at t = %s.%s",
                w->taken, why, list, w->at_once > 1 ? SLIDING : "");
}
