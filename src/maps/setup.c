/* setup.c - the maps of a problem made ready: what they own, and where their work space lies. */
#include <stdlib.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"

/* NULL where nothing depends on it */
static const int *high_index(const costate_problem *P)
{
    for (int i = 0; P->index && i < P->n; i++) if (P->index[i] > 1) return P->index;
    return NULL;
}

maps maps_of(const costate_problem *P)
{
    return (maps){.n = P->n, .np = P->np, .nq = P->nq, .ctx = P->ctx, .user_cost = P->cost,
                  .residual = P->residual.value != NULL, .user_rhs = P->residual.value ? P->residual : P->rhs,
                  .jac = P->jac, .jac_yp = P->jac_yp, .mass = P->mass, .pattern = P->pattern,
                  .index = high_index(P)};
}

int maps_init(maps *a, int with_jacobian, size_t entries)
{
    a->rhs = (map){&a->user_rhs, a->residual ? "residual" : "rhs", a->n, 1};
    a->cost = (map){&a->user_cost, "cost", a->nq, 0};
    a->entries = entries;
    int whole = a->jac && (a->jac_yp || !a->residual);
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
    size_t n = (size_t)a->n, np = (size_t)a->np, N = n + (size_t)a->nq;
    a->zeros = take(at, n + np);
    a->work = take(at, 3 * (4 * N + np));
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
}

void maps_layout_columns(maps *a, cursor *at, int m)
{
    size_t n = (size_t)a->n, nq = (size_t)a->nq;
    a->block = take(at, (n > nq ? n : nq) * (size_t)m);
    a->minus = a->residual ? take(at, n * (size_t)m) : NULL;
}

/* Between calls the caller may have changed what p points to, and another solver what is in ctx. */
void maps_bind(maps *a, const double *p)
{
    a->p = p;
    a->jac_at.held = a->ready[0].held = a->ready[1].held = 0;
}

void maps_free(maps *a)
{
    free(a->M);
    free(a->color);
    free(a->product);
    free(a->product_yp);
}
