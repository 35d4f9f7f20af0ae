/* warm.c - options.warm: a run that begins where the last one ended goes on with what that knew.

   Step size and controller memory always; the Jacobian, factorisations and the last step's stages (starting values of
   Newton, the slope of FSAL) only where no tape is written: what stages were computed with must be on it, or a replay
   would compute others.  And only while they are there: a sweep between the runs uses their memory. */
#include <string.h>
#include "run/run.h"

int warm(const costate *c, double t0, double t1, const double *y, const double *p, const costate_tape *tape)
{
    const ending *e = &c->ended;
    if (!c->o.warm || !e->held || t0 != e->t || (t1 >= t0 ? 1 : -1) != e->dir) return COLD;
    if (memcmp(y, e->y, (size_t)c->st.N * sizeof *y) != 0) return COLD;
    if (c->st.np && memcmp(p, e->p, (size_t)c->st.np * sizeof *p) != 0) return COLD;
    return e->linear && e->stamp == c->stamp && !tape ? WARM_WITH_MATRICES : WARM;
}

/* A run that was stopped, or reached a limit, may be gone on with; one that ended for want of a step begins anew. */
void warm_keep(costate *c, double h, double low, const control *k, const record *prev, const costate_tape *tape)
{
    ending *e = &c->ended;
    int good = c->v.status == COSTATE_OK || c->v.status == COSTATE_STOPPED || c->v.status == COSTATE_MAX_STEPS;
    e->held = c->o.warm && good && prev && k->rejected == 0;
    if (!e->held) return;
    e->linear = !tape;
    e->stamp = c->stamp;
    e->t = c->v.t;
    e->dir = c->in.dir;
    e->h = h;
    e->low = low;
    e->k = *k;
    e->prev = *prev;
    memcpy(e->y, c->work.y, (size_t)c->st.N * sizeof *e->y);
    if (c->st.np) memcpy(e->p, c->maps.p, (size_t)c->st.np * sizeof *e->p);
}
