/* maps.c - the callbacks of a program: all products of each map by its routines. */
#include <string.h>
#include "program/program.h"

/* ---- a product ---- */

static int only_states(const costate_point *d, int others)
{
    return (!(others & OTHER_T) || d->t == 0) && (!(others & OTHER_P) || !d->p) && (!(others & OTHER_M) || !d->m);
}

static int product(void *ctx, int slot, enum product which, call *c)
{
    const unit *u = ctx;
    const map_routines *map = &u->map[slot];
    const versions *v = &map->product[which];
    const int simple = v->states && only_states(c->dx, v->others) && (!c->ex || only_states(c->ex, v->others));
    c->values = map->values;
    return call_routine(simple ? v->states : v->all, u->program, c);
}

/* ---- callbacks: one function for each place of a map that has the same ctx ---- */

typedef const costate_point *point;

#define CALLBACKS(K) \
static int value_##K(point x, double *out, void *ctx) \
{ \
    return product(ctx, SLOT_##K, VALUE, &(call){.x = x, .out = out, .count = 1}); \
} \
static int tangent_##K(point x, point dx, double *out, void *ctx) \
{ \
    return product(ctx, SLOT_##K, TANGENT, &(call){.x = x, .dx = dx, .out = out, .count = 1}); \
} \
static int adjoint_##K(point x, const double *w, const costate_gradient *g, void *ctx) \
{ \
    return product(ctx, SLOT_##K, ADJOINT, &(call){.x = x, .w = w, .g = g, .count = 1}); \
} \
static int tangent2_##K(point x, point dx, point ex, double *out, void *ctx) \
{ \
    return product(ctx, SLOT_##K, TANGENT2, &(call){.x = x, .dx = dx, .ex = ex, .out = out, .count = 1}); \
} \
static int adjoint_tangent_##K(point x, point dx, const double *w, const costate_gradient *g, void *ctx) \
{ \
    return product(ctx, SLOT_##K, ADJOINT_TANGENT, &(call){.x = x, .dx = dx, .w = w, .g = g, .count = 1}); \
} \
static int tangents_##K(point x, int count, point dx, double *out, void *ctx) \
{ \
    return product(ctx, SLOT_##K, TANGENTS, &(call){.x = x, .dx = dx, .out = out, .count = count}); \
} \
static int adjoints_##K(point x, int count, const double *w, const costate_gradient *g, void *ctx) \
{ \
    return product(ctx, SLOT_##K, ADJOINTS, &(call){.x = x, .w = w, .g = g, .count = count}); \
} \
static int adjoint_tangent2_##K(point x, point dx, point ex, const double *w, const costate_gradient *g, void *ctx) \
{ \
    return product(ctx, SLOT_##K, ADJOINT_TANGENT2, \
                   &(call){.x = x, .dx = dx, .ex = ex, .w = w, .g = g, .count = 1}); \
}

CALLBACKS(0)
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(3)

#define MEMBERS(K) {.value = value_##K, .tangent = tangent_##K, .adjoint = adjoint_##K, .tangent2 = tangent2_##K, \
                    .adjoint_tangent = adjoint_tangent_##K, .tangents = tangents_##K, .adjoints = adjoints_##K, \
                    .adjoint_tangent2 = adjoint_tangent2_##K}

/* the callbacks of those products that a map has */
costate_map map_of(const map_routines *of, int slot)
{
    static const costate_map all[SLOTS] = {MEMBERS(0), MEMBERS(1), MEMBERS(2), MEMBERS(3)};
    costate_map map = all[slot];
    const versions *has = of->product;
    if (!has[VALUE].all) map.value = NULL;
    if (!has[TANGENT].all) map.tangent = NULL;
    if (!has[ADJOINT].all) map.adjoint = NULL;
    if (!has[TANGENT2].all) map.tangent2 = NULL;
    if (!has[ADJOINT_TANGENT].all) map.adjoint_tangent = NULL;
    if (!has[TANGENTS].all) map.tangents = NULL;
    if (!has[ADJOINTS].all) map.adjoints = NULL;
    if (!has[ADJOINT_TANGENT2].all) map.adjoint_tangent2 = NULL;
    return map;
}

/* ---- matrices ---- */

static int matrix(const routine *f, const costate_point *x, double *J, void *ctx)
{
    const unit *u = ctx;
    return call_routine(f, u->program, &(call){.x = x, .out = J, .count = 1, .values = u->program->entries});
}

int program_jac(const costate_point *x, double *J, void *ctx)
{
    return matrix(&((const unit *)ctx)->program->jac, x, J, ctx);
}

int program_jac_yp(const costate_point *x, double *J, void *ctx)
{
    return matrix(&((const unit *)ctx)->program->jac_yp, x, J, ctx);
}

int program_mass(double *M, void *ctx)
{
    const struct costate_program *q = ((const unit *)ctx)->program;
    memset(M, 0, (size_t)q->entries * sizeof *M);
    for (int k = 0; k < q->masses; k++) M[q->mass_place[k]] = q->mass[k];
    return 0;
}
