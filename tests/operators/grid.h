/* grid.h - reaction and diffusion on a tensor grid, u' = p_c laplace(u) + u - u^3 + u_(c+1)/5 for each component c,
   with derivatives, and its parts for a splitting. */
#ifndef TESTS_GRID_H
#define TESTS_GRID_H

#include <costate/operators.h>
#include "common.h"

enum { GRID_MOST = 512, GRID_COMPONENTS = 2 };

typedef struct { struct grid *of; int points, stride, calls; } grid_lines;

typedef struct grid {
    int m, periodic, frozen;        /* frozen: the parts do not depend on p, but have 0.3 in its place */
    int nd, points[3];
    grid_lines along[3];
    double y0[GRID_MOST], p[GRID_COMPONENTS];
    costate_problem P;
    costate_part part[3];
} grid;

/* the weights of the neighbours of unknown i along lines; at the ends of a line that is not periodic: no flux */
static inline void grid_weights(const grid *g, const grid_lines *d, int i, double *before, double *after)
{
    int k = i / d->stride % d->points;
    double w = (double)d->points * d->points;
    *before = k > 0 || g->periodic ? w : 0;
    *after = k < d->points - 1 || g->periodic ? w : 0;
}

/* the Laplacian, which is symmetric: out_i += scale[c] (laplace x)_i */
static inline void grid_laplace(const grid *g, const double *scale, const double *x, double *out)
{
    for (int j = 0; j < g->nd; j++)
        for (int i = 0; i < g->P.n; i++) {
            const grid_lines *d = &g->along[j];
            int k = i / d->stride % d->points, reach = (d->points - 1) * d->stride;
            double before, after;
            grid_weights(g, d, i, &before, &after);
            double left = before > 0 ? x[k > 0 ? i - d->stride : i + reach] - x[i] : 0;
            double right = after > 0 ? x[k < d->points - 1 ? i + d->stride : i - reach] - x[i] : 0;
            out[i] += scale[i % g->m] * (before * left + after * right);
        }
}

static inline int grid_next(const grid *g, int i) { return i % g->m < g->m - 1 ? i + 1 : i - (g->m - 1); }

static inline int grid_value(const costate_point *x, double *out, void *ctx)
{
    const grid *g = ctx;
    for (int i = 0; i < g->P.n; i++) out[i] = x->y[i] - x->y[i] * x->y[i] * x->y[i] + 0.2 * x->y[grid_next(g, i)];
    grid_laplace(g, x->p, x->y, out);
    return 0;
}

static inline int grid_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const grid *g = ctx;
    memset(out, 0, (size_t)g->P.n * sizeof *out);
    if (dx->p) grid_laplace(g, dx->p, x->y, out);
    if (!dx->y) return 0;
    for (int i = 0; i < g->P.n; i++) out[i] += (1 - 3 * x->y[i] * x->y[i]) * dx->y[i] + 0.2 * dx->y[grid_next(g, i)];
    grid_laplace(g, x->p, dx->y, out);
    return 0;
}

static inline int grid_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const grid *g = ctx;
    if (to->y) {
        for (int i = 0; i < g->P.n; i++) {
            to->y[i] += (1 - 3 * x->y[i] * x->y[i]) * w[i];
            to->y[grid_next(g, i)] += 0.2 * w[i];
        }
        grid_laplace(g, x->p, w, to->y);
    }
    for (int c = 0; c < g->m && to->p; c++) {
        double one[GRID_COMPONENTS] = {0}, out[GRID_MOST] = {0};
        one[c] = 1;
        grid_laplace(g, one, x->y, out);
        for (int i = 0; i < g->P.n; i++) to->p[c] += w[i] * out[i];
    }
    return 0;
}

static inline int grid_part(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    grid_lines *d = ctx;
    const grid *g = d->of;
    d->calls++;
    for (int i = 0; i < g->P.n; i++) {
        double p = g->frozen ? 0.3 : x->p[i % g->m];
        grid_weights(g, d, i, &lower[i], &upper[i]);
        lower[i] *= p;
        upper[i] *= p;
        diagonal[i] = -lower[i] - upper[i];
    }
    return 0;
}

/* diffusion: of component 0, twice that of component 1 */
static inline void grid_make(grid *g, int m, int nd, const int *points, int periodic, double diffusion)
{
    int stride = m;
    *g = (grid){.m = m, .nd = nd, .periodic = periodic, .p = {diffusion, diffusion / 2}};
    for (int j = 0; j < nd; j++) {
        g->points[j] = points[j];
        g->along[j] = (grid_lines){g, points[j], stride, 0};
        g->part[j] = (costate_part){.lines = grid_part, .points = points[j], .stride = stride, .periodic = periodic,
                                    .ctx = &g->along[j]};
        stride *= points[j];
    }
    g->P = (costate_problem){.n = stride, .np = m, .ctx = g, .rhs = {.value = grid_value, .tangent = grid_tangent,
                                                                    .adjoint = grid_adjoint}};
    for (int i = 0; i < stride; i++) g->y0[i] = 0.4 * sin(0.37 * i) + 0.3 * cos(0.05 * i);
}

static inline costate_options grid_options(const costate_preconditioner *B, double tol)
{
    return (costate_options){.rtol = tol, .atol = tol, .autonomous = 1, .solver = COSTATE_LS_PRECONDITIONER,
                             .preconditioner = B};
}

#endif
