/* warm.c - options.warm: a run that starts where the last one ended uses the memory of that run.

   Step size and controller memory are always used.  The Jacobian, factorisations and stages of the last step (starting
   values of Newton's iteration, the slope of FSAL methods) are only used if no tape is written: a tape must record what
   stages were computed with, or a replay would compute others.  They are also lost if a sweep between the runs has used
   their memory. */
#include <math.h>
#include <string.h>
#include "run/warm.h"

int warm(const costate *c, double t0, double t1, const double *y, const double *p, const costate_tape *tape)
{
    const ending *e = &c->ended;
    if (!c->o.warm || !e->held || t0 != e->t || (t1 >= t0 ? 1 : -1) != e->dir) return COLD;
    if (memcmp(y, e->y, (size_t)c->st.N * sizeof *y) != 0) return COLD;
    if (stops_at(&c->maps, t0)) return COLD;
    if (c->st.np && memcmp(p, e->p, (size_t)c->st.np * sizeof *p) != 0) return COLD;
    return e->linear && e->stamp == c->stamp && !tape ? WARM_WITH_MATRICES : WARM;
}

void warm_go_on(const costate *c, run *x, int matrices)
{
    const ending *e = &c->ended;
    x->h_free = c->in.dir * fmax(fmin(e->h, c->in.hmax), c->in.hmin);
    x->low = e->low;
    x->k = e->k;
    x->by.cautious = 0;
    if (e->yp) memcpy(c->work.yp, e->yp, (size_t)c->st.n * sizeof *e->yp);
    if (!matrices) return;
    x->prev = e->prev;
    x->has_prev = 1;
}

/* A run that was stopped, or reached a limit, can be continued; one that found no step to take starts afresh. */
void warm_keep(costate *c, const run *x)
{
    ending *e = &c->ended;
    int good = c->v.status == COSTATE_OK || c->v.status == COSTATE_STOPPED || c->v.status == COSTATE_MAX_STEPS;
    e->held = c->o.warm && c->watch.count == 0 && good && x->has_prev && x->k.rejected == 0;
    if (!e->held) return;
    e->linear = !x->tape;
    e->stamp = c->stamp;
    e->t = c->v.t;
    e->dir = c->in.dir;
    e->h = fabs(x->h_free);
    e->low = x->low;
    e->k = x->k;
    e->prev = x->prev;
    memcpy(e->y, c->work.y, (size_t)c->st.N * sizeof *e->y);
    if (e->yp) memcpy(e->yp, c->work.yp, (size_t)c->st.n * sizeof *e->yp);
    if (c->st.np) memcpy(e->p, c->maps.bound.p, (size_t)c->st.np * sizeof *e->p);
}
