/* known.c - the memory of a run at a fresh step (controller, guards): written to the file of its tape, and read back.
   */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/watch.h"

typedef struct {                /* in addition to t, y, y'; the guards follow it in the file */
    double low, h_free, err_old, h_old, when[LAST_EVENTS];
    long taken;
    int control_rejected, cautious, armed, first, still, tangents;
} known;

int known_keep(costate *c, const run *x, int begins, long source)
{
    const watch *w = &c->watch;
    if (!x->tape->frames) return 0;
    known k;
    memset(&k, 0, sizeof k);
    k.low = x->low;
    k.h_free = x->h_free;
    k.err_old = x->k.err_old;
    k.h_old = x->k.h_old;
    k.control_rejected = x->k.rejected;
    k.cautious = x->by.cautious;
    k.taken = w->taken;
    memcpy(k.when, w->when, sizeof k.when);
    k.armed = w->armed;
    k.first = w->first;
    k.still = w->still;
    k.tangents = x->d && c->o.tangent_error;
    const fresh_run f = {.t = x->t, .t0 = c->in.t0, .t1 = c->in.t1, .mode = c->maps.bound.mode, .begins = begins,
                         .y = c->work.y, .yp = c->work.yp, .source = source, .known = &k, .bytes = sizeof k,
                         .more = w->guard, .more_bytes = (size_t)w->count * sizeof *w->guard};
    return space_agree(&c->maps.space, tape_fresh(&c->st, x->tape, &f));
}

/* Refuses values that no run can have written: a correct checksum does not prove who wrote them. */
static int sound(const costate *c, const known *k, const fresh_run *f)
{
    double low = fmin(f->t0, f->t1), high = fmax(f->t0, f->t1);
    return k->taken >= 0 && k->first >= 0 && k->first <= c->watch.count && isfinite(k->h_free) &&
           (f->t1 >= f->t0 ? k->h_free >= 0 : k->h_free <= 0) && low >= -DBL_MAX && high <= DBL_MAX &&
           low <= f->t && f->t <= high;
}

int known_again(costate *c, run *x, const fresh_run *f)
{
    watch *w = &c->watch;
    known k;
    if (f->bytes != sizeof k + (size_t)w->count * sizeof *w->guard)
        return fail(&c->v, COSTATE_BAD_TAPE, "What the tape's run knew is not of this problem.");
    memcpy(&k, f->known, sizeof k);
    if (!sound(c, &k, f)) return fail(&c->v, COSTATE_BAD_TAPE, "What the tape's run knew cannot have been known.");
    if (k.tangents)
        return fail(&c->v, COSTATE_BAD_TAPE, "The run's steps depended on its tangents (options.tangent_error), which "
                    "are not on its tape: it cannot be gone on with.");
    if (w->count > 0) memcpy(w->guard, (const char *)f->known + sizeof k, (size_t)w->count * sizeof *w->guard);
    x->low = k.low;
    x->h_free = k.h_free;
    x->k.err_old = k.err_old;
    x->k.h_old = k.h_old;
    x->k.rejected = k.control_rejected;
    x->by.cautious = k.cautious;
    w->taken = k.taken;
    memcpy(w->when, k.when, sizeof k.when);
    w->armed = k.armed;
    w->first = k.first;
    w->still = k.still;
    w->done = DONE_HERE;        /* the events at the start were applied */
    return 0;
}
