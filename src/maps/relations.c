/* relations.c - relations as events of their own: where the value of one ends to hold, its guard is zero.  And the
   numbers by which records name a mode with the values of all relations.

   The value of a truth is g > 0; its event has the guard g.  An integer n = floor(g) holds from n to n + 1; its event
   has the guard (g - n)(n + 1 - g), whose slope at both ends is that of g or its negative.  A solution that slides does
   so until the guard of sliding.c is zero. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "maps/callbacks.h"
#include "maps/sliding.h"

/* ---- numbers ---- */

static int alike(const situations *s, int k, int mode, const int *values)
{
    return s->list[k]->mode == mode && memcmp(s->list[k]->values, values, (size_t)s->relations * sizeof *values) == 0;
}

int situation_number(situations *s, int mode, const int *values)
{
    size_t bytes = (size_t)s->relations * sizeof *values;
    for (int k = s->count - 1; k >= 0; k--) if (alike(s, k, mode, values)) return k;
    if (s->count == s->room) {
        int room = s->room > 0 ? 2 * s->room : 8;
        situation **more = realloc(s->list, (size_t)room * sizeof(situation *));
        if (!more) return -1;
        s->list = more;
        s->room = room;
    }
    situation *one = calloc(1, (sizeof *one + bytes + 7) / 8 * 8);      /* whole words go to files */
    if (!one) return -1;
    one->mode = mode;
    memcpy(one->values, values, bytes);
    s->list[s->count] = one;
    return s->count++;
}

int situations_copy(situations *to, const situations *from)
{
    situations_clear(to);
    to->relations = from->relations;
    for (int k = 0; k < from->count; k++)
        if (situation_number(to, from->list[k]->mode, from->list[k]->values) < 0) return -1;
    return 0;
}

void situations_cut(situations *s, int count)
{
    while (s->count > count) free(s->list[--s->count]);
}

void situations_clear(situations *s)
{
    situations_cut(s, 0);
    free(s->list);
    *s = (situations){.relations = s->relations};
}

/* ---- values ---- */

int relations_at(const costate_problem *P, costate_point *x, int *values)
{
    x->relation = values;
    memset(values, 0, (size_t)P->nrelations * sizeof *values);
    for (int k = 0; k < P->nrelations; k++) {
        const costate_relation *r = &P->relation[k];
        double u;
        TRY(r->guard.value(x, &u, r->ctx ? r->ctx : P->ctx));
        values[k] = relation_value(r, u);
    }
    return 0;
}

/* ---- the guards of integers, and of solutions that slide ---- */

static sliding_map *slides_on(const costate_point *x, const relation_guard *g)
{
    return g->exit && x->relation[g->which] == COSTATE_SLIDES ? g->exit : NULL;
}

/* the user's guard at x, u; and how far x is from both ends of the interval in which the value holds */
static int within(const costate_point *x, const relation_guard *g, double *u, double *above, double *below)
{
    int status = g->of->guard.value(x, u, g->ctx), n = x->relation[g->which];
    if (status) return status;
    *above = *u - n;
    *below = n + 1 - *u;
    return 0;
}

static int own_value(const costate_point *x, double *out, void *ctx)
{
    const relation_guard *g = ctx;
    sliding_map *exit = slides_on(x, g);
    double u, above, below;
    if (exit) return exit_value(exit, x, out);
    if (!g->of->whole) return g->of->guard.value(x, out, g->ctx);
    TRY(within(x, g, &u, &above, &below));
    *out = above * below;
    return 0;
}

static int own_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const relation_guard *g = ctx;
    sliding_map *exit = slides_on(x, g);
    double u, above, below;
    if (exit) return exit_tangent(exit, x, dx, out);
    TRY(call_tangent(&g->of->guard, x, dx, out, g->ctx));
    if (!g->of->whole) return 0;
    TRY(within(x, g, &u, &above, &below));
    *out *= below - above;
    return 0;
}

static int own_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const relation_guard *g = ctx;
    sliding_map *exit = slides_on(x, g);
    double u, above, below;
    if (exit) return exit_adjoint(exit, x, *w, to);
    if (!g->of->whole) return call_adjoint(&g->of->guard, x, w, to, g->ctx);
    TRY(within(x, g, &u, &above, &below));
    double part = *w * (below - above);
    return call_adjoint(&g->of->guard, x, &part, to, g->ctx);
}

static int own_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out,
                        void *ctx)
{
    const relation_guard *g = ctx;
    const costate_map *f = &g->of->guard;
    sliding_map *exit = slides_on(x, g);
    double u, above, below, a, b;
    if (exit) return exit_tangent2(exit, x, dx1, dx2, out);
    TRY(f->tangent2(x, dx1, dx2, out, g->ctx));
    if (!g->of->whole) return 0;
    TRY(within(x, g, &u, &above, &below));
    TRY(call_tangent(f, x, dx1, &a, g->ctx));
    TRY(call_tangent(f, x, dx2, &b, g->ctx));
    *out = (below - above) * *out - 2 * a * b;
    return 0;
}

static int own_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                               const costate_gradient *to, void *ctx)
{
    const relation_guard *g = ctx;
    const costate_map *f = &g->of->guard;
    sliding_map *exit = slides_on(x, g);
    double u, above, below, along;
    if (exit) return exit_adjoint_tangent(exit, x, dx, *w, to);
    if (!g->of->whole) return f->adjoint_tangent(x, dx, w, to, g->ctx);
    TRY(within(x, g, &u, &above, &below));
    double part = *w * (below - above);
    TRY(call_tangent(f, x, dx, &along, g->ctx));
    TRY(f->adjoint_tangent(x, dx, &part, to, g->ctx));
    part = -2 * *w * along;
    return call_adjoint(f, x, &part, to, g->ctx);
}

static int own_prepare(const costate_point *x, void *ctx)
{
    const relation_guard *g = ctx;
    return slides_on(x, g) ? 0 : g->of->guard.prepare(x, g->ctx);
}

/* The exit needs the products of f that the guard's own derivatives do not. */
static costate_map own_map(const costate_map *f, const costate_map *rhs)
{
    int tangent = has_tangent(f) && (!rhs || (f->tangent2 && has_tangent(rhs)));
    int adjoint = has_adjoint(f) && (!rhs || (f->adjoint_tangent && has_adjoint(rhs)));
    int second = tangent && adjoint && f->adjoint_tangent && (!rhs || (f->adjoint_tangent2 && rhs->adjoint_tangent));
    return (costate_map){.value = own_value, .tangent = tangent ? own_tangent : NULL,
                         .adjoint = adjoint ? own_adjoint : NULL,
                         .tangent2 = second && f->tangent2 ? own_tangent2 : NULL,
                         .adjoint_tangent = second ? own_adjoint_tangent : NULL,
                         .prepare = f->prepare ? own_prepare : NULL};
}

/* ---- events ---- */

static costate_event event_of(maps *a, int k)
{
    const costate_relation *r = &a->user.relations[k];
    void *ctx = r->ctx ? r->ctx : a->user.ctx;
    costate_event e = {.guard = r->guard, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE, .passes = 1, .ctx = ctx};
    if (!r->whole && !a->relations.sliding) return e;
    a->relations.guards[k] = (relation_guard){r,
        a->relations.sliding ? sliding_exit(a->relations.sliding, k) : NULL, k, ctx};
    e.guard = own_map(&r->guard, a->relations.sliding ? sliding_rhs(a->relations.sliding) : NULL);
    e.ctx = &a->relations.guards[k];
    return e;
}

static int sliding_init(maps *a)
{
    if (!(a->relations.sliding = sliding_new(a))) return -1;
    a->user.rhs = sliding_of(a->relations.sliding, 0);
    if (a->user.cost.value) a->user.cost = sliding_of(a->relations.sliding, 1);
    return 0;
}

int relations_init(maps *a)
{
    size_t count = (size_t)a->nrelations, own = (size_t)a->nevents;
    if (count == 0) return 0;
    if (a->relations.slides && sliding_init(a)) return -1;
    a->relations.made = calloc(own + count, sizeof *a->relations.made);
    a->relations.guards = calloc(count, sizeof *a->relations.guards);
    a->relations.relation = calloc(count, sizeof *a->relations.relation);
    if (!a->relations.made || !a->relations.guards || !a->relations.relation) return -1;
    if (own > 0) memcpy(a->relations.made, a->user.events, own * sizeof *a->relations.made);
    for (int k = 0; k < a->nrelations; k++) a->relations.made[a->nevents + k] = event_of(a, k);
    a->event = a->relations.made;
    return 0;
}
