/* jump.c - an event as a map of the running state: (y, m)+ = J(t, y, m, p), q+ = q + c(t, y, m, p)
   (mathematics, eq. 10.11 to 10.13).  problem.after_step is one without a cost.

       tangent   (y, m)+' = J'(t', y', m', p'),   q+' = q' + c'(t', y', m', p')
       adjoint   (tau, lambda, nu, mu) += J'^T (lambda, nu)+ + c'^T theta, where lambda, nu are those of J alone
       second    the same of derivatives, and [J'^T (lambda, nu)+]' + [c'^T theta]' along (t', y', m', p') */
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

static const event_maps *maps_of_event(const stepper *c, const mapped *e)
{
    if (e->event == CORRECTED) return &c->maps->after_step.correction;
    if (e->event == STARTED) return &c->maps->after_step.first;
    return e->event >= 0 ? &c->maps->events[e->event] : NULL;
}

/* the point before it, to which the maps are bound.  Jumps and costs happen at e->t itself; the y' that some see is
   that of the step before it. */
static costate_point before(const stepper *c, const mapped *e, const event_maps *f)
{
    if (e->event != CORRECTED) maps_bind_no_side(c->maps);
    if (f->jump.as || f->cost.as) maps_bind_end(c->maps, e->t);
    memory_bind(c, e->y, e->from);
    c->maps->bound.slope = e->k;
    verdict_at(c->v, e->t);
    return point_at(c->maps, e->t, e->y);
}

/* copies (y, m) between a state and the result of J */
void set_jumped(const stepper *c, double *state, const double *jumped)
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

int jump_value(stepper *c, const event_work *w, mapped *e)
{
    const event_maps *f = maps_of_event(c, e);
    memcpy(e->y1, e->y, (size_t)c->N * sizeof *e->y1);
    if (!f) return 0;
    costate_point x = before(c, e, f);
    size_t rows = (size_t)(c->n + c->nm), nq = (size_t)c->nq;
    if (f->cost.rows > 0) {
        TRY(decided(c->v, map_value_at(c->maps, &f->cost, &x, w->jump), f->cost.name));
        if (!all_finite(nq, w->jump)) return not_finite(c, &f->cost);
        axpy(nq, 1, w->jump, e->y1 + c->n);
    }
    if (f->jump.rows == 0) return 0;
    TRY(decided(c->v, map_value_at(c->maps, &f->jump, &x, w->jump), f->jump.name));
    if (!all_finite(rows, w->jump)) return not_finite(c, &f->jump);
    set_jumped(c, e->y1, w->jump);
    return 0;
}

int jump_tangent(stepper *c, const event_work *w, const mapped *e, int m, const double *dt, double *V, const double *pm)
{
    const event_maps *f = maps_of_event(c, e);
    if (!f) return 0;
    costate_point x = before(c, e, f);
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
    memory_to_pm(c, m, V, w->pm);
    return 0;
}

/* adds [F'^T w]' along the directions of w->d to the derivatives */
static int curve(sweep_state *w, const map *f, const costate_point *x, const double *weights)
{
    maps *a = w->st->maps;
    size_t N = (size_t)w->st->N;
    for (size_t j = 0; w->g.along && f->rows > 0 && j < (size_t)w->d.m; j++) {
        costate_point dx = along_pm(a, w->d.dt[j], w->d.V + j * N, w->d.Vp, j);
        costate_gradient to = into_pm(a, w->tau + 1 + j, w->g.lambda + (1 + j) * N, w->g.mu, 1 + j);
        TRY(map_adjoint_tangent(a, f, x, &dx, weights, &to));
    }
    return 0;
}

static int column_back(sweep_state *w, const event_maps *f, const costate_point *x, size_t j)
{
    const stepper *c = w->st;
    double *lambda = w->g.lambda + j * (size_t)c->N, *weights = w->events.jump;
    costate_gradient to = into_pm(c->maps, w->tau + j, lambda, w->g.mu, j);
    if (f->jump.rows > 0) {
        take_jumped(c, lambda, weights);
        memset(lambda, 0, (size_t)c->n * sizeof *lambda);
        memset(lambda + c->n + c->nq, 0, (size_t)c->nm * sizeof *lambda);
        TRY(map_adjoint(c->maps, &f->jump, x, weights, &to));
    }
    return f->cost.rows > 0 ? map_adjoint(c->maps, &f->cost, x, lambda + c->n, &to) : 0;
}

int jump_adjoint(sweep_state *w, const mapped *e)
{
    const stepper *c = w->st;
    const event_maps *f = maps_of_event(c, e);
    if (!f) return 0;
    costate_point x = before(c, e, f);
    memory_from_pm(c, w->g.m, w->g.lambda, w->g.mu);
    if (w->g.along && f->jump.rows > 0) take_jumped(c, w->g.lambda, w->events.after);
    for (size_t j = 0; j < (size_t)w->g.m; j++) TRY(column_back(w, f, &x, j));
    TRY(curve(w, &f->jump, &x, w->events.after));
    TRY(curve(w, &f->cost, &x, w->g.lambda + c->n));
    memory_from_pm(c, w->g.m, w->g.lambda, w->g.mu);
    return 0;
}
