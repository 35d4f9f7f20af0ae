/* setup.c - sets up the maps of a problem: what they own, and their work space. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/differences.h"
#include "maps/sliding.h"

/* NULL where nothing depends on it */
static const int *high_index(const costate_problem *P)
{
    for (int i = 0; P->index && i < P->n; i++) if (P->index[i] > 1) return P->index;
    return NULL;
}

maps maps_of(const costate_problem *P)
{
    maps a = {.n = P->n, .np = P->np, .nq = P->nq, .nm = P->nm, .user.ctx = P->ctx, .user.cost = P->cost,
              .nevents = P->nevents, .user.events = P->event, .nrelations = P->nrelations,
              .user.relations = P->relation, .event = P->event, .residual = P->residual.value != NULL,
              .user.rhs = P->residual.value ? P->residual : P->rhs,
              .user.jac = P->jac_is_w ? NULL : P->jac, .user.w = P->jac_is_w ? P->jac : NULL,
              .user.after = P->after_step, .user.jac_yp = P->jac_yp, .user.mass = P->mass, .pattern = P->pattern,
              .index = high_index(P)};
    stops_init(&a, P->nstops, P->stops);
    return a;
}

/* ---- running costs that are zero; ctx: how many ---- */

static int zero(double *out, void *ctx)
{
    const int *rows = ctx;
    memset(out, 0, (size_t)*rows * sizeof *out);
    return 0;
}
static int zero_value(const costate_point *x, double *out, void *ctx) { (void)x; return zero(out, ctx); }
static int zero_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x; (void)dx;
    return zero(out, ctx);
}
static int zero_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x; (void)a; (void)b;
    return zero(out, ctx);
}
static int zero_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x; (void)w; (void)g; (void)ctx;
    return 0;
}
static int zero_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    (void)x; (void)dx; (void)w; (void)g; (void)ctx;
    return 0;
}
static int zero_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b,
                                 const double *w, const costate_gradient *g, void *ctx)
{
    (void)x; (void)a; (void)b; (void)w; (void)g; (void)ctx;
    return 0;
}
static const costate_map ZERO = {.value = zero_value, .tangent = zero_tangent, .adjoint = zero_adjoint,
                                 .tangent2 = zero_tangent2, .adjoint_tangent = zero_adjoint_tangent,
                                 .adjoint_tangent2 = zero_adjoint_tangent2};

/* ---- events ---- */

static map map_of_event(const maps *a, event_maps *e, int k, int which, const char *name, const costate_map *user,
                        int rows)
{
    void *ctx = a->event[k].ctx;
    snprintf(e->name[which], sizeof e->name[which], "%s.%s", e->whole, name);
    return map_new(a, user, e->name[which], user->value ? rows : 0, 1, ctx ? ctx : a->user.ctx);
}

static int events_init(maps *a)
{
    int count = a->nevents + a->nrelations;
    if (count == 0) return 0;
    if (!(a->events = calloc((size_t)count, sizeof *a->events)) || relations_init(a))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory for %d events.", count);
    for (int k = 0; k < count; k++) {
        event_maps *e = &a->events[k];
        const costate_event *user = &a->event[k];
        int relation = k - a->nevents;
        snprintf(e->whole, sizeof e->whole, relation < 0 ? "event[%d]" : "relation[%d]", relation < 0 ? k : relation);
        e->guard = map_of_event(a, e, k, 0, "guard", &user->guard, 1);
        e->jump = user->transition.value ? map_of_event(a, e, k, 1, "transition", &user->transition, a->n + a->nm)
                                         : map_of_event(a, e, k, 1, "jump", &user->jump, a->n + a->nm);
        e->cost = map_of_event(a, e, k, 2, "cost", &user->cost, a->nq);
        if (relation < 0) continue;
        const costate_relation *r = &a->user.relations[relation];
        a->relations.relation[relation] = map_new(a, &r->guard, e->name[0], 1, 1, r->ctx ? r->ctx : a->user.ctx);
    }
    return 0;
}

static event_maps only_jump(const maps *a, const costate_map *user, const char *name)
{
    static const costate_map none = {.value = NULL};
    void *ctx = a->user.after.ctx ? a->user.after.ctx : a->user.ctx;
    map absent = map_new(a, &none, "", 0, 0, NULL);
    return (event_maps){absent, map_new(a, user, name, user->value ? a->n + a->nm : 0, 1, ctx), absent, {{0}}, {0}};
}

static void correction_init(maps *a)
{
    a->after_step.correction = only_jump(a, &a->user.after.map, "after_step.map");
    a->after_step.first = only_jump(a, &a->user.after.start, "after_step.start");
    a->after_step.invariant = map_new(a, &a->user.after.invariant, "after_step.invariant",
                           a->user.after.invariant.value != NULL, 1,
                           a->user.after.ctx ? a->user.after.ctx : a->user.ctx);
}

static void equation_init(maps *a)
{
    int zero = a->nq > 0 && !a->user.cost.value;            /* only events add to q */
    if (zero) a->user.cost = ZERO;
    void *of_rhs = a->relations.sliding ? sliding_ctx(a->relations.sliding, 0) : a->user.ctx;
    void *of_cost = zero ? &a->nq : a->relations.sliding ? sliding_ctx(a->relations.sliding, 1) : a->user.ctx;
    a->rhs = map_new(a, &a->user.rhs, a->residual ? "residual" : "rhs", a->n, !a->autonomous, of_rhs);
    a->cost = map_new(a, &a->user.cost, "cost", a->nq, !a->autonomous, of_cost);
    a->rhs.counted = 1;
    a->rhs.ready = &a->ready[0];
    a->cost.ready = &a->ready[1];
    if (jac_serves(a)) map_by_jac(&a->rhs);
}

int mass_read(verdict *v, int (*mass)(double *, void *), void *ctx, size_t entries, double **M)
{
    *M = NULL;
    if (!mass) return 0;
    if (!(*M = calloc(entries + 1, sizeof **M)))
        return fail(v, COSTATE_NO_MEMORY, "No memory for the mass matrix (%zu entries).", entries);
    int r = mass(*M, ctx);
    if (r != 0) return fail(v, COSTATE_CALLBACK, "The callback mass returned %d.", r);
    return all_finite(entries, *M) ? 0 : fail(v, COSTATE_BAD_ARGUMENT, "The mass matrix holds a NaN or Inf.");
}

int maps_init(maps *a, int with_jacobian, size_t entries)
{
    TRY(events_init(a));
    correction_init(a);
    equation_init(a);
    a->entries = entries;
    int whole = jac_serves(a);
    a->form.differenced = !whole && !a->user.w && !has_tangent(&a->user.rhs);
    if ((a->user.jac && !(a->by_jac.J = calloc(entries + 1, sizeof *a->by_jac.J))) ||
        (a->user.jac_yp && !(a->by_jac.J_yp = calloc(entries + 1, sizeof *a->by_jac.J_yp))))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory for the Jacobian (%zu entries).", entries);
    if (with_jacobian && !whole && !a->user.w) TRY(jacobian_colour(a));
    return mass_read(a->v, a->user.mass, a->user.ctx, entries, &a->M);
}

void maps_layout(maps *a, cursor *at)
{
    size_t n = (size_t)a->n, np = (size_t)a->np, nm = (size_t)a->nm, N = n + nm + (size_t)a->nq;
    a->room.zeros = take(at, n + np + nm);
    a->room.work = take(at, DIFFERENCE_LEVELS * (5 * N + np + nm));
    a->by_jac.at.y = a->user.jac ? take(at, n) : NULL;
    a->by_jac.at.yp = a->user.jac && a->residual ? take(at, n) : NULL;
    a->ready[0].y = a->user.rhs.prepare ? take(at, n) : NULL;
    a->ready[0].yp = a->user.rhs.prepare && a->residual ? take(at, n) : NULL;
    a->ready[1].y = a->user.cost.prepare ? take(at, n) : NULL;
    if (!a->form.color) return;
    TAKE(at, n, &a->form.seed, &a->form.column, &a->form.moved, &a->form.f);
    a->form.probe = take(at, 6 * n);
    a->form.step = take(at, 2 * n);
    TAKE(at, n, &a->form.next, &a->form.terms);
}

void maps_layout_columns(maps *a, cursor *at, int m)
{
    size_t n = (size_t)a->n, nq = (size_t)a->nq;
    a->room.block = take(at, (n > nq ? n : nq) * (size_t)m);
    a->room.minus = a->residual ? take(at, n * (size_t)m) : NULL;
}

/* Between calls the caller may have changed the values of p, and another solver the contents of ctx. */
void maps_bind(maps *a, const double *p)
{
    a->bound.p = p;
    a->bound.m = NULL;
    a->bound.mode = 0;
    a->bound.situation = a->nrelations > 0 ? -1 : 0;
    a->bound.relation = NULL;
    a->bound.from = a->bound.to = 0;
    maps_bind_no_side(a);
    a->by_jac.at.held = a->ready[0].held = a->ready[1].held = 0;
}

/* each step has its own array m */
void maps_bind_step(maps *a, const double *m, int number)
{
    const situation *s = a->nrelations > 0 && number >= 0 ? a->bound.known->list[number] : NULL;
    a->bound.m = a->nm ? m : NULL;
    a->bound.situation = number;
    a->bound.mode = s ? s->mode : number;
    a->bound.relation = s ? s->values : NULL;
    a->by_jac.at.held = a->ready[0].held = a->ready[1].held = 0;
}

void maps_free(maps *a)
{
    free(a->M);
    free(a->form.color);
    free(a->by_jac.J);
    free(a->by_jac.J_yp);
    free(a->events);
    free(a->relations.made);
    free(a->relations.guards);
    sliding_free(a->relations.sliding);
    free(a->relations.relation);
}
