/* observe.c - the operation OBSERVE: a term of the functionals at a time t_o = t + theta h inside a step (step-maps
   10).

       tangent   u' = y' + sum D_j(theta) X'_j + (sum D'_j X_j) theta',   theta' = -(t' + theta h')/h
       adjoint   with w the gradient of the term by y(t_o):  seed_j += D_j w,  lambda += w,  beta = w^T sum D'_j X_j,
                 t_o gets beta/h,  tau -= beta/h,  eta -= theta beta/h */
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

static int observed(world *w, int code, const char *name, double t)
{
    int status = code == 0 ? 0 : fail(w->st->v, COSTATE_CALLBACK, "The callback observations.%s returned %d at t = "
                                      "%.10g.", name, code, t);
    return space_agree(&w->st->maps->space, status);
}

/* D, D' and y at the observation, y into z */
static double look(world *w, double t, double *D, double *D1)
{
    double theta = (t - w->now.t) / w->now.h;
    dense_weights(w->st->m, theta, D, D1);
    dense_state(w->st, &w->now, D, w->z);
    return theta;
}

static int tangent(world *w, const op *o)
{
    const stepper *c = w->st;
    const costate_observations *s = w->seen;
    const directions *d = &w->d;
    size_t n = (size_t)c->n;
    double D[STAGES_MOST], D1[STAGES_MOST], t = s->t[o->which], theta = look(w, t, D, D1);
    for (int j = 0; j < d->m; j++) {
        double *v = w->seeds + (size_t)j * n, moved = -(d->dt[j] + theta * d->dh[j]) / w->now.h;
        combine(n, v, d->V + (size_t)j * (size_t)c->N, 1, c->s, D, d->Xd + (size_t)j * n, n * (size_t)d->m);
        if (moved != 0) combine(n, v, v, moved * dense_scale(c, &w->now), c->s, D1, w->now.X, n);
    }
    return observed(w, s->value(o->which, t, w->z, d->m, w->seeds, s->ctx), "value", t);
}

/* the first observation of a step, from its end */
static void begin_step(world *w)
{
    size_t n = (size_t)w->st->n, m = (size_t)w->g.m;
    memset(w->seeds, 0, (size_t)w->st->s * n * m * sizeof *w->seeds);
    memset(w->sum, 0, n * m * sizeof *w->sum);
    for (size_t j = 0; j < m; j++) w->tau_seen[j] = w->eta_seen[j] = 0;
    w->any = 1;
}

static int adjoint(world *w, const op *o)
{
    const stepper *c = w->st;
    const costate_observations *s = w->seen;
    size_t n = (size_t)c->n, m = (size_t)w->g.m;
    TRY(world_hold(w, o->step));
    if (!w->any) begin_step(w);
    double D[STAGES_MOST], D1[STAGES_MOST], t = s->t[o->which], theta = look(w, t, D, D1);
    memset(w->w, 0, n * m * sizeof *w->w);
    TRY(observed(w, s->seed(o->which, t, w->z, w->g.m, w->w, s->ctx), "seed", t));
    combine(n, w->f, NULL, dense_scale(c, &w->now), c->s, D1, w->now.X, n);
    for (size_t j = 0; j < m; j++) {
        const double *g = w->w + j * n;
        double beta = dot(n, g, w->f) / w->now.h;
        for (size_t i = 0; i < (size_t)c->s; i++) axpy(n, D[i], g, w->seeds + (i * m + j) * n);
        axpy(n, 1, g, w->sum + j * n);
        if (s->dt) {
            double *dt = s->dt + j * (size_t)s->count + (size_t)o->which;
            *dt = beta;
            TRY(space_total(&c->maps->space, 1, dt));
        }
        w->tau_seen[j] -= beta;
        w->eta_seen[j] -= theta * beta;
    }
    return 0;
}

const op_rules observe_rules = {tangent, adjoint};
