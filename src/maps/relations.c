/* relations.c - relations as events of their own: where the value of one ends to hold, its guard is zero.  And the
   numbers by which records name a mode with the values of all relations.

   The value of a truth is g > 0; its event has the guard g.  An integer n = floor(g) holds from n to n + 1; its event
   has the guard (g - n)(n + 1 - g), whose slope at both ends is that of g or its negative. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "maps/callbacks.h"
#include "maps/maps.h"

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

void situations_clear(situations *s)
{
    for (int k = 0; k < s->count; k++) free(s->list[k]);
    free(s->list);
    *s = (situations){.relations = s->relations};
}

/* ---- values ---- */

int relation_value(const costate_relation *r, double u) { return r->whole ? (int)floor(u) : u > 0; }

int relation_beside(const costate_relation *r, double u, int side)
{
    return r->whole ? (int)rint(u) - (side < 0) : side > 0;
}

/* ---- the guard of an integer ---- */

/* the user's guard at x, u; and how far x is from both ends of the interval in which the value holds */
static int within(const costate_point *x, const integer_guard *g, double *u, double *above, double *below)
{
    int status = g->of->guard.value(x, u, g->ctx), n = x->relation[g->which];
    if (status) return status;
    *above = *u - n;
    *below = n + 1 - *u;
    return 0;
}

static int integer_value(const costate_point *x, double *out, void *ctx)
{
    double u, above, below;
    int status = within(x, ctx, &u, &above, &below);
    if (status == 0) *out = above * below;
    return status;
}

static int integer_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const integer_guard *g = ctx;
    double u, above, below;
    int status = within(x, g, &u, &above, &below);
    if (status == 0) status = call_tangent(&g->of->guard, x, dx, out, g->ctx);
    if (status == 0) *out *= below - above;
    return status;
}

static int integer_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const integer_guard *g = ctx;
    double u, above, below;
    int status = within(x, g, &u, &above, &below);
    double part = *w * (below - above);
    return status ? status : call_adjoint(&g->of->guard, x, &part, to, g->ctx);
}

static int integer_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out,
                            void *ctx)
{
    const integer_guard *g = ctx;
    const costate_map *f = &g->of->guard;
    double u, above, below, a, b;
    int status = within(x, g, &u, &above, &below);
    if (status == 0) status = call_tangent(f, x, dx1, &a, g->ctx);
    if (status == 0) status = call_tangent(f, x, dx2, &b, g->ctx);
    if (status == 0) status = f->tangent2(x, dx1, dx2, out, g->ctx);
    if (status == 0) *out = (below - above) * *out - 2 * a * b;
    return status;
}

static int integer_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                   const costate_gradient *to, void *ctx)
{
    const integer_guard *g = ctx;
    const costate_map *f = &g->of->guard;
    double u, above, below, along;
    int status = within(x, g, &u, &above, &below);
    double part = *w * (below - above);
    if (status == 0) status = call_tangent(f, x, dx, &along, g->ctx);
    if (status == 0) status = f->adjoint_tangent(x, dx, &part, to, g->ctx);
    part = -2 * *w * along;
    return status ? status : call_adjoint(f, x, &part, to, g->ctx);
}

static int integer_prepare(const costate_point *x, void *ctx)
{
    const integer_guard *g = ctx;
    return g->of->guard.prepare(x, g->ctx);
}

static costate_map integer_map(const costate_map *f)
{
    int tangent = has_tangent(f), adjoint = has_adjoint(f), second = tangent && adjoint && f->adjoint_tangent;
    return (costate_map){.value = integer_value, .tangent = tangent ? integer_tangent : NULL,
                         .adjoint = adjoint ? integer_adjoint : NULL,
                         .tangent2 = tangent && f->tangent2 ? integer_tangent2 : NULL,
                         .adjoint_tangent = second ? integer_adjoint_tangent : NULL,
                         .prepare = f->prepare ? integer_prepare : NULL};
}

/* ---- events ---- */

static costate_event event_of(maps *a, int k)
{
    const costate_relation *r = &a->user.relations[k];
    void *ctx = r->ctx ? r->ctx : a->user.ctx;
    costate_event e = {.guard = r->guard, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE, .passes = 1, .ctx = ctx};
    if (!r->whole) return e;
    a->integers[k] = (integer_guard){r, k, ctx};
    e.guard = integer_map(&r->guard);
    e.ctx = &a->integers[k];
    return e;
}

int relations_init(maps *a)
{
    size_t count = (size_t)a->nrelations, own = (size_t)a->nevents;
    if (count == 0) return 0;
    a->made = calloc(own + count, sizeof *a->made);
    a->integers = calloc(count, sizeof *a->integers);
    a->relation = calloc(count, sizeof *a->relation);
    if (!a->made || !a->integers || !a->relation) return -1;
    if (own > 0) memcpy(a->made, a->user.events, own * sizeof *a->made);
    for (int k = 0; k < a->nrelations; k++) a->made[a->nevents + k] = event_of(a, k);
    a->event = a->made;
    return 0;
}
