/* setup.c - sets up the maps of a problem: what they own, and their work space. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/differences.h"

/* NULL where nothing depends on it */
static const int *high_index(const costate_problem *P)
{
    for (int i = 0; P->index && i < P->n; i++) if (P->index[i] > 1) return P->index;
    return NULL;
}

maps maps_of(const costate_problem *P)
{
    return (maps){.n = P->n, .np = P->np, .nq = P->nq, .nm = P->nm, .ctx = P->ctx, .user_cost = P->cost,
                  .nevents = P->nevents, .user_events = P->event, .residual = P->residual.value != NULL,
                  .user_rhs = P->residual.value ? P->residual : P->rhs,
                  .jac = P->jac, .jac_yp = P->jac_yp, .mass = P->mass, .pattern = P->pattern,
                  .index = high_index(P)};
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
    void *ctx = a->user_events[k].ctx;
    snprintf(e->name[which], sizeof e->name[which], "event[%d].%s", k, name);
    return map_new(a, user, e->name[which], user->value ? rows : 0, 1, ctx ? ctx : a->ctx);
}

static int events_init(maps *a)
{
    if (a->nevents == 0) return 0;
    if (!(a->events = calloc((size_t)a->nevents, sizeof *a->events)))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory for %d events.", a->nevents);
    for (int k = 0; k < a->nevents; k++) {
        event_maps *e = &a->events[k];
        const costate_event *user = &a->user_events[k];
        e->guard = map_of_event(a, e, k, 0, "guard", &user->guard, 1);
        e->jump = user->transition.value ? map_of_event(a, e, k, 1, "transition", &user->transition, a->n + a->nm)
                                         : map_of_event(a, e, k, 1, "jump", &user->jump, a->n + a->nm);
        e->cost = map_of_event(a, e, k, 2, "cost", &user->cost, a->nq);
    }
    return 0;
}

static void equation_init(maps *a)
{
    int zero = a->nq > 0 && !a->user_cost.value;            /* only events add to q */
    if (zero) a->user_cost = ZERO;
    a->rhs = map_new(a, &a->user_rhs, a->residual ? "residual" : "rhs", a->n, !a->autonomous, a->ctx);
    a->cost = map_new(a, &a->user_cost, "cost", a->nq, !a->autonomous, zero ? &a->nq : a->ctx);
    a->rhs.counted = 1;
    a->rhs.ready = &a->ready[0];
    a->cost.ready = &a->ready[1];
    if (jac_serves(a)) map_by_jac(&a->rhs);
}

int maps_init(maps *a, int with_jacobian, size_t entries)
{
    TRY(events_init(a));
    equation_init(a);
    a->entries = entries;
    int whole = jac_serves(a);
    a->differenced = !whole && !has_tangent(&a->user_rhs);
    if ((a->jac && !(a->product = calloc(entries + 1, sizeof *a->product))) ||
        (a->jac_yp && !(a->product_yp = calloc(entries + 1, sizeof *a->product_yp))))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory for the Jacobian (%zu entries).", entries);
    if (with_jacobian && !whole) TRY(jacobian_colour(a));
    if (!a->mass) return 0;
    if (!(a->M = calloc(entries, sizeof *a->M)))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory for the mass matrix (%zu entries).", entries);
    int r = a->mass(a->M, a->ctx);
    if (r != 0) return fail(a->v, COSTATE_CALLBACK, "The callback mass returned %d.", r);
    return all_finite(entries, a->M) ? 0 : fail(a->v, COSTATE_BAD_ARGUMENT, "The mass matrix holds a NaN or Inf.");
}

void maps_layout(maps *a, cursor *at)
{
    size_t n = (size_t)a->n, np = (size_t)a->np, nm = (size_t)a->nm, N = n + nm + (size_t)a->nq;
    a->zeros = take(at, n + np + nm);
    a->work = take(at, DIFFERENCE_LEVELS * (4 * N + np + nm));
    a->jac_at.y = a->jac ? take(at, n) : NULL;
    a->jac_at.yp = a->jac && a->residual ? take(at, n) : NULL;
    a->ready[0].y = a->user_rhs.prepare ? take(at, n) : NULL;
    a->ready[0].yp = a->user_rhs.prepare && a->residual ? take(at, n) : NULL;
    a->ready[1].y = a->user_cost.prepare ? take(at, n) : NULL;
    if (!a->color) return;
    a->seed = take(at, n);
    a->column = take(at, n);
    a->moved = take(at, n);
    a->f = take(at, n);
    a->probe = take(at, 6 * n);
    a->step = take(at, 2 * n);
    a->next = take(at, n);
    a->terms = take(at, n);
}

void maps_layout_columns(maps *a, cursor *at, int m)
{
    size_t n = (size_t)a->n, nq = (size_t)a->nq;
    a->block = take(at, (n > nq ? n : nq) * (size_t)m);
    a->minus = a->residual ? take(at, n * (size_t)m) : NULL;
}

/* Between calls the caller may have changed the values of p, and another solver the contents of ctx. */
void maps_bind(maps *a, const double *p)
{
    a->p = p;
    a->m = NULL;
    a->mode = 0;
    a->jac_at.held = a->ready[0].held = a->ready[1].held = 0;
}

/* each step has its own array m */
void maps_bind_step(maps *a, const double *m, int mode)
{
    a->m = a->nm ? m : NULL;
    a->mode = mode;
    a->jac_at.held = a->ready[0].held = a->ready[1].held = 0;
}

void maps_free(maps *a)
{
    free(a->M);
    free(a->color);
    free(a->product);
    free(a->product_yp);
    free(a->events);
}
