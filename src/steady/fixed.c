/* fixed.c (steady) - parameters that have values of their own in the steady state: they do not move it. */
#include <string.h>
#include "base/vec.h"
#include "steady/steady.h"

const double *fixed_parameters(steady *s, const double *p)
{
    if (s->o.nfixed == 0) return p;
    memcpy(s->fixed.own_p, p, (size_t)s->np * sizeof *p);
    for (size_t i = 0; i < s->o.nfixed; i++) s->fixed.own_p[s->o.fixed[i]] = s->o.values[i];
    return s->fixed.own_p;
}

costate_point fixed_direction(const steady *s, const costate_point *d, double *room)
{
    costate_point along = {.y = d->y, .p = d->p, .m = d->m};
    if (s->o.nfixed == 0 || !d->p) return along;
    memcpy(room, d->p, (size_t)s->np * sizeof *room);
    for (size_t i = 0; i < s->o.nfixed; i++) room[s->o.fixed[i]] = 0;
    along.p = room;
    return along;
}

costate_gradient fixed_begin(const steady *s, const costate_gradient *g)
{
    costate_gradient to = {.y = g->y, .p = g->p, .m = g->m};
    if (s->o.nfixed == 0 || !g->p) return to;
    memset(s->fixed.g, 0, (size_t)s->np * sizeof *s->fixed.g);
    to.p = s->fixed.g;
    return to;
}

void fixed_end(const steady *s, const costate_gradient *g)
{
    if (s->o.nfixed == 0 || !g->p) return;
    for (size_t i = 0; i < s->o.nfixed; i++) s->fixed.g[s->o.fixed[i]] = 0;
    axpy((size_t)s->np, 1, s->fixed.g, g->p);
}
