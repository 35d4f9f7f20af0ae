/* cells.c - a problem on a line of cells that are spread over processes. */
#include <math.h>
#include "cells.h"

#define TRY(call) do { if (call) return -1; } while (0)

/* ---- rhs -------------------------------------------------------------------------------------------------------- */

int cells_value(const costate_point *x, double *f, void *ctx)
{
    cells *c = ctx;
    const double *u = x->y;
    for (int i = 0; i < c->n; i++) f[i] = x->p[0] * u[i] - u[i] * u[i] * u[i] + sin(x->t);
    TRY(c->stencil(c, x->p[1], c->wind, u, f));
    return 0;
}

int cells_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    cells *c = ctx;
    const double *u = x->y, *v = dx->y, *p = dx->p;
    for (int i = 0; i < c->n; i++)
        out[i] = (v ? (x->p[0] - 3 * u[i] * u[i]) * v[i] : 0) + cos(x->t) * dx->t + (p ? p[0] * u[i] : 0);
    if (v) TRY(c->stencil(c, x->p[1], c->wind, v, out));
    if (p) TRY(c->stencil(c, p[1], 0, u, out));
    return 0;
}

int cells_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    cells *c = ctx;
    const double *u = x->y;
    double along[CELLS] = {0};
    for (int i = 0; i < c->n; i++) {
        if (g->t) *g->t += cos(x->t) * w[i];
        if (g->y) g->y[i] += (x->p[0] - 3 * u[i] * u[i]) * w[i];
        if (g->p) g->p[0] += u[i] * w[i];
    }
    if (g->y) TRY(c->stencil_back(c, x->p[1], c->wind, w, g->y));
    if (g->p) TRY(c->stencil(c, 1, 0, u, along));
    for (int i = 0; g->p && i < c->n; i++) g->p[1] += along[i] * w[i];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    cells *c = ctx;
    const costate_point *pair[] = {a, b};
    for (int i = 0; i < c->n; i++)
        out[i] = (a->y && b->y ? -6 * x->y[i] * a->y[i] * b->y[i] : 0) - sin(x->t) * a->t * b->t;
    for (int k = 0; k < 2; k++) {
        const double *p = pair[k]->p, *v = pair[1 - k]->y;
        if (!p || !v) continue;
        for (int i = 0; i < c->n; i++) out[i] += p[0] * v[i];
        TRY(c->stencil(c, p[1], 0, v, out));
    }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    cells *c = ctx;
    const double *v = dx->y, *p = dx->p;
    double along[CELLS] = {0};
    for (int i = 0; i < c->n; i++) {
        if (g->t) *g->t -= sin(x->t) * dx->t * w[i];
        if (g->y && v) g->y[i] -= 6 * x->y[i] * v[i] * w[i];
        if (g->y && p) g->y[i] += p[0] * w[i];
        if (g->p && v) g->p[0] += v[i] * w[i];
    }
    if (g->y && p) TRY(c->stencil_back(c, p[1], 0, w, g->y));
    if (g->p && v) TRY(c->stencil(c, 1, 0, v, along));
    for (int i = 0; g->p && v && i < c->n; i++) g->p[1] += along[i] * w[i];
    return 0;
}

/* ---- running cost ----------------------------------------------------------------------------------------------- */

static int cost(const costate_point *x, double *r, void *ctx)
{
    const cells *c = ctx;
    r[0] = 0;
    for (int i = 0; i < c->n; i++) r[0] += x->y[i] * x->y[i];
    return 0;
}

static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const cells *c = ctx;
    out[0] = 0;
    for (int i = 0; dx->y && i < c->n; i++) out[0] += 2 * x->y[i] * dx->y[i];
    return 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const cells *c = ctx;
    for (int i = 0; g->y && i < c->n; i++) g->y[i] += 2 * x->y[i] * w[0];
    return 0;
}

static int cost_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const cells *c = ctx;
    (void)x;
    out[0] = 0;
    for (int i = 0; a->y && b->y && i < c->n; i++) out[0] += 2 * a->y[i] * b->y[i];
    return 0;
}

static int cost_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    const cells *c = ctx;
    (void)x;
    for (int i = 0; g->y && dx->y && i < c->n; i++) g->y[i] += 2 * dx->y[i] * w[0];
    return 0;
}

costate_problem cells_problem(cells *c)
{
    return (costate_problem){.n = c->n, .np = NP, .nq = NQ, .ctx = c,
                             .rhs = {.value = cells_value, .tangent = cells_tangent, .adjoint = cells_adjoint,
                                     .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent},
                             .cost = {.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint,
                                      .tangent2 = cost_tangent2, .adjoint_tangent = cost_adjoint_tangent}};
}
