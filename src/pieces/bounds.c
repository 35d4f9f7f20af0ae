/* bounds.c - a map after each step that sets components to their bounds.

       out_i = min(max(y_i, low_i), high_i),    out_i' = y_i' where low_i <= y_i <= high_i, else 0

   Its second derivatives are zero, and it is the identity where all components are inside. */
#include <math.h>
#include <string.h>
#include "pieces/pieces.h"

static int beyond(const costate_bounds *b, int i, double y)
{
    return (b->low && y < b->low[i]) || (b->high && y > b->high[i]);
}

static int acts(const costate_point *x, void *ctx)
{
    const costate_bounds *b = ctx;
    for (int i = 0; i < b->n; i++) if (beyond(b, i, x->y[i])) return 1;
    return 0;
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const costate_bounds *b = ctx;
    for (int i = 0; i < b->n; i++) {
        double y = x->y[i];
        out[i] = !beyond(b, i, y) ? y : b->low && y < b->low[i] ? b->low[i] : b->high[i];
    }
    for (int k = 0; k < b->nm; k++) out[b->n + k] = x->m[k];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const costate_bounds *b = ctx;
    for (int i = 0; i < b->n; i++) out[i] = dx->y && !beyond(b, i, x->y[i]) ? dx->y[i] : 0;
    for (int k = 0; k < b->nm; k++) out[b->n + k] = dx->m ? dx->m[k] : 0;
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const costate_bounds *b = ctx;
    for (int i = 0; g->y && i < b->n; i++) if (!beyond(b, i, x->y[i])) g->y[i] += w[i];
    for (int k = 0; g->m && k < b->nm; k++) g->m[k] += w[b->n + k];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const costate_bounds *b = ctx;
    (void)x, (void)dx1, (void)dx2;
    memset(out, 0, (size_t)(b->n + b->nm) * sizeof *out);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)x, (void)dx, (void)w, (void)g, (void)ctx;
    return 0;
}

static int adjoint_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, const double *w,
                            const costate_gradient *g, void *ctx)
{
    (void)x, (void)dx1, (void)dx2, (void)w, (void)g, (void)ctx;
    return 0;
}

int costate_bounds_after_step(costate_bounds *b, costate_problem *P, costate_report *report)
{
    static const costate_map map = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                    .adjoint_tangent = adjoint_tangent, .adjoint_tangent2 = adjoint_tangent2};
    verdict v = {0};
    if (bounds_given(&v, b, P)) return pieces_said(&v, report);
    b->n = P->n;
    b->nm = P->nm;
    P->after_step = (costate_after_step){.map = map, .acts = acts, .ctx = b};
    if (b->at_start) P->after_step.start = map;
    return pieces_said(&v, report);
}
