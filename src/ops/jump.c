/* jump.c - an event as a map of the running state: (y, m)+ = J(t, y, m, p), q+ = q + c(t, y, m, p)
   (mathematics, eq. 10.11 to 10.13).

       tangent   (y, m)+' = J'(t', y', m', p'),   q+' = q' + c'(t', y', m', p')
       adjoint   (tau, lambda, nu, mu) += J'^T (lambda, nu)+ + c'^T theta, where lambda, nu are those of J alone
       second    the same of their derivatives, and [J'^T (lambda, nu)+]' + [c'^T theta]' along (t', y', m', p') */
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

static const event_maps *maps_of_event(const stepper *c, const mapped *e)
{
    return e->event >= 0 ? &c->maps->events[e->event] : NULL;
}

/* the point before it, to which the maps are bound */
static costate_point before(const stepper *c, const mapped *e)
{
    memory_bind(c, e->y, e->from);
    c->maps->slope = e->k;
    verdict_at(c->v, e->t);
    return point(c->maps, e->t, e->y);
}

/* (y, m) of a state from what J gives, or to it */
static void set_jumped(const stepper *c, double *state, const double *jumped)
{
    memcpy(state, jumped, (size_t)c->n * sizeof *state);
    memcpy(state + c->n + c->nq, jumped + c->n, (size_t)c->nm * sizeof *state);
}

static void take_jumped(const stepper *c, const double *state, double *jumped)
{
    memcpy(jumped, state, (size_t)c->n * sizeof *state);
    memcpy(jumped + c->n, state + c->n + c->nq, (size_t)c->nm * sizeof *state);
}

static int not_finite(const stepper *c, const map *f)
{
    return fail(c->v, COSTATE_NOT_FINITE, "The callback %s.value returned NaN or Inf at t = %.10g.", f->name, c->v->t);
}

int jump_value(stepper *c, const wide *w, mapped *e)
{
    const event_maps *f = maps_of_event(c, e);
    memcpy(e->y1, e->y, (size_t)c->N * sizeof *e->y1);
    if (!f) return 0;
    costate_point x = before(c, e);
    size_t rows = (size_t)(c->n + c->nm), nq = (size_t)c->nq;
    if (f->cost.rows > 0) {
        TRY(decided(c->v, map_value(c->maps, &f->cost, x.t, x.y, w->jump), f->cost.name));
        if (!all_finite(nq, w->jump)) return not_finite(c, &f->cost);
        axpy(nq, 1, w->jump, e->y1 + c->n);
    }
    if (f->jump.rows == 0) return 0;
    TRY(decided(c->v, map_value(c->maps, &f->jump, x.t, x.y, w->jump), f->jump.name));
    if (!all_finite(rows, w->jump)) return not_finite(c, &f->jump);
    set_jumped(c, e->y1, w->jump);
    return 0;
}

int jump_tangent(stepper *c, const wide *w, const mapped *e, int m, const double *dt, double *V, const double *pm)
{
    const event_maps *f = maps_of_event(c, e);
    if (!f) return 0;
    costate_point x = before(c, e);
    for (size_t j = 0; j < (size_t)m; j++) {
        double *v = V + j * (size_t)c->N;
        costate_point dx = along_pm(c->maps, dt[j], v, pm, j);
        if (f->cost.rows > 0) {
            TRY(map_tangent(c->maps, &f->cost, &x, &dx, w->jump));
            axpy((size_t)c->nq, 1, w->jump, v + c->n);
        }
        if (f->jump.rows == 0) continue;
        TRY(map_tangent(c->maps, &f->jump, &x, &dx, w->jump));
        set_jumped(c, v, w->jump);
    }
    return 0;
}

int jump_adjoint(stepper *c, const wide *w, const mapped *e, int m, double *lambda, double *pm, double *tau)
{
    const event_maps *f = maps_of_event(c, e);
    size_t n = (size_t)c->n, nm = (size_t)c->nm;
    if (!f) return 0;
    costate_point x = before(c, e);
    memory_from_pm(c, m, lambda, pm);
    for (size_t j = 0; j < (size_t)m; j++) {
        double *l = lambda + j * (size_t)c->N;
        costate_gradient g = into_pm(c->maps, tau + j, l, pm, j);
        if (f->jump.rows > 0) {
            take_jumped(c, l, w->jump);
            memset(l, 0, n * sizeof *l);
            memset(l + c->n + c->nq, 0, nm * sizeof *l);
            TRY(map_adjoint(c->maps, &f->jump, &x, w->jump, &g));
        }
        if (f->cost.rows > 0) TRY(map_adjoint(c->maps, &f->cost, &x, l + n, &g));
    }
    memory_from_pm(c, m, lambda, pm);
    return 0;
}

/* [F'^T w]' along the directions of w->d onto the derivatives */
static int curve(world *w, const map *f, const costate_point *x, const double *weights)
{
    const maps *a = w->st->maps;
    functionals g, gd;
    world_split(w, &g, &gd);
    for (size_t j = 0; f->rows > 0 && j < (size_t)w->d.m; j++) {
        size_t at = j * (size_t)w->st->N;
        costate_point dx = along_pm(a, w->d.dt[j], w->d.V + at, w->d.Vp, j);
        costate_gradient to = into_pm(a, w->tau + 1 + j, gd.lambda + at, gd.mu, j);
        TRY(map_adjoint_tangent(w->st->maps, f, x, &dx, weights, &to));
    }
    return 0;
}

int jump_second(world *w, const mapped *e)
{
    const stepper *c = w->st;
    const event_maps *f = maps_of_event(c, e);
    double *weights = w->wide.after;
    if (!f) return 0;
    costate_point x = before(c, e);
    memory_from_pm(c, w->g.m, w->g.lambda, w->g.mu);
    if (f->jump.rows > 0) take_jumped(c, w->g.lambda, weights);
    TRY(jump_adjoint(w->st, &w->wide, e, w->g.m, w->g.lambda, w->g.mu, w->tau));
    TRY(curve(w, &f->jump, &x, weights));
    TRY(curve(w, &f->cost, &x, w->g.lambda + c->n));
    memory_from_pm(c, w->g.m, w->g.lambda, w->g.mu);
    return 0;
}
