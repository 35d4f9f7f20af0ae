/* calls.c (steady) - the public calls of a solver of steady states, one at a time, and the map that it is. */
#include <string.h>
#include "maps/callbacks.h"
#include "steady/steady.h"

/* It is not known what the interrupted call had done: nothing is kept. */
static void mend(steady *s)
{
    for (int k = 0; k < KEPT; k++) s->limits[k].held = 0;
    s->current = s->last = -1;
    costate_abandon(s->flow.solver);
}

static int enter(steady *s, uintptr_t frame)
{
    int left = 0;
    if (!s) return 1;                               /* steady_begin reports it */
    int goes_on = entry_enter(&s->entry, &s->v, frame, &left);
    if (left) mend(s);
    return goes_on;
}

static int leave(steady *s, long call, int status)
{
    if (s) status = decided(&s->v, status, "the steady state");
    if (s && entry_leave(&s->entry, &s->v, call, &status)) steady_free(s);
    return status;
}

int costate_steady_solve(costate_steady *s, double *y, const double *p)
{
    GATE(s, call_steady_solve(s, y, p));
}

int costate_steady_tangent(costate_steady *s, int m, double *V, const double *Vp)
{
    GATE(s, call_steady_tangent(s, m, V, Vp));
}

int costate_steady_adjoint(costate_steady *s, int m, double *lambda, double *mu)
{
    GATE(s, call_steady_adjoint(s, m, lambda, mu));
}

const double *costate_steady_invariants(const costate_steady *s)
{
    int any = s && s->last >= 0 && !steady_given(s) && s->limits[s->last].k > 0;
    return any ? s->limits[s->last].W : NULL;
}

void costate_steady_abandon(costate_steady *s)
{
    if (s && s->entry.busy) s->entry.left = 1;
}

void costate_steady_free(costate_steady *s)
{
    if (!s) return;
    if (entry_begin(&s->entry, FRAME) == REFUSED) s->entry.freed = 1;
    else steady_free(s);
}

/* ---- the map ---- */

static int here(steady *s, const costate_point *x, const limit **at)
{
    TRY(steady_begin(s));
    return steady_at(s, x->y, x->p, x->m, at);
}

static int value_at(steady *s, const costate_point *x, double *out)
{
    const limit *at;
    TRY(here(s, x, &at));
    memcpy(out, at->y, (size_t)s->n * sizeof *out);
    if (s->nm) memcpy(out + s->n, x->m, (size_t)s->nm * sizeof *out);
    return 0;
}

static int tangent_at(steady *s, const costate_point *x, const costate_point *d, double *out)
{
    const limit *at;
    TRY(here(s, x, &at));
    const costate_point along = fixed_direction(s, d, s->fixed.by_p[0]);
    TRY(steady_tangent_at(s, at, &along, out));
    for (int i = 0; i < s->nm; i++) out[s->n + i] = d->m ? d->m[i] : 0;
    return 0;
}

static int adjoint_at(steady *s, const costate_point *x, const double *w, const costate_gradient *g)
{
    const limit *at;
    TRY(here(s, x, &at));
    const costate_gradient to = fixed_begin(s, g);
    TRY(steady_adjoint_at(s, at, w, &to));
    fixed_end(s, g);
    for (int i = 0; g->m && i < s->nm; i++) g->m[i] += w[s->n + i];
    return 0;
}

static int tangent2_at(steady *s, const costate_point *x, const costate_point *a, const costate_point *b, double *out)
{
    const limit *at;
    TRY(here(s, x, &at));
    const costate_point one = fixed_direction(s, a, s->fixed.by_p[0]), two = fixed_direction(s, b, s->fixed.by_p[1]);
    TRY(steady_tangent2_at(s, at, &one, &two, out));
    memset(out + s->n, 0, (size_t)s->nm * sizeof *out);
    return 0;
}

static int adjoint_tangent_at(steady *s, const costate_point *x, const costate_point *d, const double *w,
                              const costate_gradient *g)
{
    const limit *at;
    TRY(here(s, x, &at));
    const costate_point along = fixed_direction(s, d, s->fixed.by_p[0]);
    const costate_gradient to = fixed_begin(s, g);
    TRY(steady_adjoint_tangent_at(s, at, &along, w, &to));
    fixed_end(s, g);
    return 0;
}

static int map_value_(const costate_point *x, double *out, void *ctx)
{
    steady *s = ctx;
    GATE(s, value_at(s, x, out));
}

static int map_tangent_(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    steady *s = ctx;
    GATE(s, tangent_at(s, x, d, out));
}

static int map_adjoint_(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    steady *s = ctx;
    GATE(s, adjoint_at(s, x, w, g));
}

static int map_tangent2_(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    steady *s = ctx;
    GATE(s, tangent2_at(s, x, a, b, out));
}

static int map_adjoint_tangent_(const costate_point *x, const costate_point *d, const double *w,
                                const costate_gradient *g, void *ctx)
{
    steady *s = ctx;
    GATE(s, adjoint_tangent_at(s, x, d, w, g));
}

costate_map costate_steady_map(const costate_steady *s)
{
    costate_map F = {.value = map_value_};
    if (!s || !s->block) return F;
    const costate_map *f = s->maps.rhs.user, *own = steady_given(s) ? &s->o.invariant : NULL;
    int any = s->maps.differences;
    if (any || (has_tangent(f) && (!own || has_tangent(own)))) F.tangent = map_tangent_;
    if (any || (has_adjoint(f) && (!own || has_adjoint(own)))) F.adjoint = map_adjoint_;
    if (any || (F.tangent && f->tangent2 && (!own || own->tangent2))) F.tangent2 = map_tangent2_;
    if (any || (F.tangent && F.adjoint && f->adjoint_tangent && (!own || own->adjoint_tangent)))
        F.adjoint_tangent = map_adjoint_tangent_;
    return F;
}
