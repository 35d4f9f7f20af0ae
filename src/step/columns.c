/* columns.c - the columns of a step as blocks: the directions and gradients of all of them for one product. */
#include "base/vec.h"
#include "step/columns.h"

/* structs of a double and pointers, in an arena of doubles */
static void *take_structs(cursor *at, size_t count, size_t size)
{
    return take(at, (count * size + sizeof(double) - 1) / sizeof(double));
}

void columns_layout(stepper *c, cursor *at, int m, column_work *w)
{
    size_t n = (size_t)c->n, nq = (size_t)c->nq, k = (size_t)m;
    w->dx = take_structs(at, k, sizeof *w->dx);
    w->to = take_structs(at, k, sizeof *w->to);
    w->t = take(at, k);
    w->y = take(at, n * k);
    w->rates = take(at, nq * k);
    maps_layout_columns(c->maps, at, m);
}

int columns_integrate(stepper *c, const column_work *w, const record *r, const directions *d, double b,
                      const costate_point *x, const costate_point *dx, double *value)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, nq = (size_t)c->nq;
    int moving = 0;
    TRY(map_tangents(c->maps, &c->maps->cost, x, d->m, dx, w->rates, nq));
    for (size_t j = 0; j < (size_t)d->m; j++) {
        axpy(nq, r->h * b, w->rates + j * nq, d->V1 + j * N + n);
        moving = moving || d->dh[j] != 0;
    }
    if (!moving) return 0;
    TRY(map_value(c->maps, &c->maps->cost, x->t, x->y, value));
    for (size_t j = 0; j < (size_t)d->m; j++)
        if (d->dh[j] != 0) axpy(nq, d->dh[j] * b, value, d->V1 + j * N + n);
    return 0;
}

static const double *theta(const stepper *c, const functionals *g, int j)
{
    return g->lambda + (size_t)j * (size_t)c->N + c->n;
}

int columns_curve(stepper *c, const map *f, const functionals *g, const costate_point *x, const costate_point *dx,
                  const double *w, const costate_gradient *to)
{
    for (int j = 1; j < g->m; j++) TRY(map_adjoint_tangent(c->maps, f, x, &dx[j - 1], w, &to[j]));
    return 0;
}

const double *columns_theta(const stepper *c, const column_work *w, const record *r, const functionals *g, double b)
{
    size_t nq = (size_t)c->nq;
    const double *dh = g->along ? g->along->dh : NULL;
    for (size_t j = 0; j < (size_t)g->m; j++) {
        double *to = w->rates + j * nq, hb = r->h * b;
        for (size_t k = 0; k < nq; k++) to[k] = hb * theta(c, g, (int)j)[k];
        if (dh && j > 0 && dh[j - 1] != 0) axpy(nq, dh[j - 1] * b, theta(c, g, 0), to);
    }
    return w->rates;
}

void columns_rate(const stepper *c, const functionals *g, double b, const double *r)
{
    for (int j = 0; j < g->m; j++) g->h[j] += b * dot((size_t)c->nq, r, theta(c, g, j));
}

int columns_moving_rate(stepper *c, const column_work *w, const functionals *g, double b, const costate_point *x,
                        const costate_point *dx)
{
    size_t nq = (size_t)c->nq;
    if (!g->along) return 0;
    TRY(map_tangents(c->maps, &c->maps->cost, x, g->along->m, dx, w->rates, nq));
    for (int j = 1; j < g->m; j++) g->h[j] += b * dot(nq, w->rates + (size_t)(j - 1) * nq, theta(c, g, 0));
    return 0;
}

int columns_integrate_back(stepper *c, const column_work *w, const record *r, const functionals *g, double b,
                           const costate_point *x, const costate_point *dx, const costate_gradient *to, double *value)
{
    const map *cost = &c->maps->cost;
    TRY(columns_adjoints(c, cost, g, x, dx, columns_theta(c, w, r, g, b), (size_t)c->nq, to));
    if (!g->times) return 0;
    TRY(map_value(c->maps, cost, x->t, x->y, value));
    columns_rate(c, g, b, value);
    return columns_moving_rate(c, w, g, b, x, dx);
}
