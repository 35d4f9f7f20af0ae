/* instant.c - a step of length zero, which an event that fires together with others precedes, so that it has a time of
   its own: its guard, or a given time, fixes h = 0, whose derivatives are not zero (mathematics, section 10.10).

   With k, r the slopes of y and q at (t, y), and S_y(t, y) the values consistent at t whose kept components are those
   of y (the identity where there are no algebraic unknowns), to second order in h

       y+ = S_y(t + h, y + h k + h^2/2 a k'(1, k)),   q+ = q + h r + h^2/2 a r'(1, k)

   a = 1, or 2 b^T c of a method of order 1, whose steps replays take when h is not zero:

       tangent   y+' = S_y'(t' + h', y' + h' k, pm'),   q+' = q' + h' r
       adjoint   (tau, lambda, mu) = S_y'^T lambda+;   t gets tau,   h gets tau + lambda k + theta r
       second    the same of lambda+', and with z = (t', y', pm') + a h' (1, k, 0)
                 [S_y'^T lambda+]' along (t' + h', y' + h' k, pm'),   (t, y, pm) get h' (k'^T lambda + r'^T theta),
                 h gets lambda k'z + theta r'z */
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

static size_t rows_of_pm(const stepper *c) { return (size_t)(c->np + c->nm); }

static const double *column(const double *of, size_t rows, size_t j) { return of ? of + j * rows : NULL; }

static int moves_algebraic(const stepper *c, const starter *s) { return !nothing_unknown(&s->mine, c->n); }

/* k into mine of the starter, with Newton's matrix of the values, and r: at a stop those behind it */
static int begin(stepper *c, const event_work *w, const record *r)
{
    starter *s = w->start;
    size_t n = (size_t)c->n;
    maps_bind_start(c->maps, r->t);
    memcpy(s->mine.before, r->y, n * sizeof *r->y);
    if (r->yp) memcpy(s->mine.k, r->yp, n * sizeof *r->yp);
    else memset(s->mine.k, 0, n * sizeof *s->mine.k);
    TRY(decided(c->v, start_find(s, r->t, 1, &s->mine), "y' at an event"));
    if (!equation_plain(c->maps)) TRY(start_matrix_of_values(s, &s->mine));
    s->held = !equation_plain(c->maps);
    if (c->nq > 0) TRY(decided(c->v, map_value(c->maps, &c->maps->cost, r->t, r->y, w->instant.rate), "cost.value"));
    return 0;
}

static int all_tangents(stepper *c, const event_work *w, const directions *d)
{
    starter *s = w->start;
    size_t n = (size_t)c->n, N = (size_t)c->N;
    for (size_t j = 0; j < (size_t)d->m; j++) {
        double *v = d->V1 + j * N;
        memcpy(v, d->V + j * N, N * sizeof *v);
        axpy(n, d->dh[j], s->mine.k, v);
        axpy((size_t)c->nq, d->dh[j], w->instant.rate, v + n);
        if (moves_algebraic(c, s))
            TRY(start_slope_tangent(s, &s->mine, d->dt[j] + d->dh[j], v, column(d->Vp, rows_of_pm(c), j),
                                    w->instant.k));
    }
    return 0;
}

int instant_tangent(stepper *c, const event_work *w, const record *r, const directions *d)
{
    memset(d->Xd, 0, (size_t)c->s * (size_t)d->m * (size_t)c->n * sizeof *d->Xd);
    TRY(begin(c, w, r));
    int status = all_tangents(c, w, d);
    w->start->held = 0;
    return status;
}

/* ---- back ---- */

/* lambda, of column j, through S_y; *tau: out, t of it, and of the length what lambda and theta give */
static int through_values(stepper *c, const event_work *w, const functionals *g, size_t j, double *tau)
{
    double *mu = g->mu ? g->mu + j * rows_of_pm(c) : NULL;
    *tau = 0;
    if (!moves_algebraic(c, w->start)) return 0;
    return start_slope_adjoint(w->start, &w->start->mine, g->lambda + j * (size_t)c->N, NULL, mu, tau);
}

static void add_times(const stepper *c, const event_work *w, const functionals *g, size_t j, double tau)
{
    const double *lambda = g->lambda + j * (size_t)c->N;
    g->t[j] += tau;
    g->h[j] += tau + dot((size_t)c->n, lambda, w->start->mine.k) + dot((size_t)c->nq, lambda + c->n, w->instant.rate);
}

/* k'^T lambda + r'^T theta of the functional into by_y, by_pm; *by_t: out */
static int gradient_of_slopes(stepper *c, const event_work *w, const record *r, const functionals *g, double *by_t)
{
    const instant_work *x = &w->instant;
    costate_point at = point(c->maps, r->t, r->y);
    costate_gradient to = into_pm(c->maps, by_t, x->by_y, x->by_pm, 0);
    memset(x->by_y, 0, (size_t)c->n * sizeof *x->by_y);
    memset(x->by_pm, 0, rows_of_pm(c) * sizeof *x->by_pm);
    *by_t = 0;
    TRY(start_slope_adjoint(w->start, &w->start->mine, x->by_y, g->lambda, x->by_pm, by_t));
    return c->nq > 0 ? map_adjoint(c->maps, &c->maps->cost, &at, g->lambda + c->n, &to) : 0;
}

/* [S_y'^T lambda+]' of derivative j, for lambda+ of the functional in `before`; *tau: out */
static int curve_of_values(stepper *c, const event_work *w, const functionals *g, size_t j, double *tau)
{
    const instant_work *x = &w->instant;
    const directions *d = g->along;
    size_t n = (size_t)c->n, rows = rows_of_pm(c);
    double *lambda = g->lambda + j * (size_t)c->N, dt = d->dt[j - 1] + d->dh[j - 1], taus[2] = {0, 0};
    *tau = 0;
    if (!moves_algebraic(c, w->start)) return 0;
    add_scaled(n, x->V, d->V + (j - 1) * (size_t)c->N, d->dh[j - 1], w->start->mine.k);
    start_along along = {&dt, x->V, column(d->Vp, rows, j - 1)};
    memcpy(x->both, x->before, n * sizeof *x->both);
    memcpy(x->both + n, lambda, n * sizeof *x->both);
    memset(x->mu, 0, 2 * rows * sizeof *x->mu);
    TRY(start_slope_second(w->start, &w->start->mine, &along, x->both, NULL, x->mu, taus));
    memcpy(lambda, x->both + n, n * sizeof *lambda);
    if (g->mu) axpy(rows, 1, x->mu + rows, g->mu + j * rows);
    *tau = taus[1];
    return 0;
}

static double curvature(const costate_method *m)
{
    double sum = 0;
    for (int i = 0; m->order < 2 && i < m->s; i++) sum += m->b[i] * m->c[i];
    return m->order < 2 ? 2 * sum : 1;
}

/* lambda k'z + theta r'z, z = (t', y', pm') + a h' (1, k, 0) of derivative j */
static int moving_slopes(stepper *c, const event_work *w, const record *r, const functionals *g, size_t j, double *sum)
{
    const instant_work *x = &w->instant;
    const directions *d = g->along;
    const double *Vp = column(d->Vp, rows_of_pm(c), j - 1);
    double dh = curvature(c->m) * d->dh[j - 1], dt = d->dt[j - 1] + dh;
    add_scaled((size_t)c->n, x->V, d->V + (j - 1) * (size_t)c->N, dh, w->start->mine.k);
    TRY(start_slope_tangent(w->start, &w->start->mine, dt, x->V, Vp, x->k));
    *sum = dot((size_t)c->n, g->lambda, x->k);
    if (c->nq == 0) return 0;
    costate_point at = point(c->maps, r->t, r->y), along = along_pm(c->maps, dt, x->V, Vp, 0);
    TRY(map_tangent(c->maps, &c->maps->cost, &at, &along, x->moved_rate));
    *sum += dot((size_t)c->nq, g->lambda + c->n, x->moved_rate);
    return 0;
}

static int derivative_back(stepper *c, const event_work *w, const record *r, const functionals *g, size_t j,
                           double by_t)
{
    const instant_work *x = &w->instant;
    double tau, sum, dh = g->along->dh[j - 1];
    TRY(curve_of_values(c, w, g, j, &tau));
    add_times(c, w, g, j, tau);
    TRY(moving_slopes(c, w, r, g, j, &sum));
    g->h[j] += sum;
    g->t[j] += dh * by_t;
    axpy((size_t)c->n, dh, x->by_y, g->lambda + j * (size_t)c->N);
    if (g->mu) axpy(rows_of_pm(c), dh, x->by_pm, g->mu + j * rows_of_pm(c));
    return 0;
}

static int all_back(stepper *c, const event_work *w, const record *r, const functionals *g)
{
    double tau, by_t;
    int first = g->along ? 1 : g->m;
    memcpy(w->instant.before, g->lambda, (size_t)c->n * sizeof *g->lambda);
    for (int j = 0; j < first; j++) {
        TRY(through_values(c, w, g, (size_t)j, &tau));
        add_times(c, w, g, (size_t)j, tau);
    }
    if (!g->along) return 0;
    TRY(gradient_of_slopes(c, w, r, g, &by_t));
    for (int j = 1; j < g->m; j++) TRY(derivative_back(c, w, r, g, (size_t)j, by_t));
    return 0;
}

int instant_adjoint(stepper *c, const event_work *w, const record *r, const functionals *g)
{
    TRY(begin(c, w, r));
    int status = all_back(c, w, r, g);
    w->start->held = 0;
    return status;
}

/* ---- as a step ---- */

int step_tangent(stepper *c, const event_work *w, const record *r, const directions *d)
{
    return r->h == 0 ? instant_tangent(c, w, r, d) : c->F->tangent(c, r, d);
}

int step_adjoint(stepper *c, const event_work *w, const record *r, const functionals *g)
{
    return r->h == 0 ? instant_adjoint(c, w, r, g) : c->F->adjoint(c, r, g);
}

int instant_hold(sweep_state *w, const op *o)
{
    stepper *c = w->st;
    const mapped *e = &w->tape->maps.list[o->which - 1];
    w->held = -1;
    verdict_at(c->v, e->t);
    memory_bind(c, e->y, e->from);
    TRY(w->who->instant(w->who, w->tape, o->which - 1, &w->now));
    maps_bind_time(c->maps, w->tape->from.t0, w->tape->from.t1 - w->tape->from.t0);
    weights(c, e->y, c->w);
    return 0;
}
