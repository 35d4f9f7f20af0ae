/* observe.c - the operation OBSERVE: a term of the functionals at a time t_o = t + theta h inside a step
   (mathematics, eq. 9.3 to 9.7).

       tangent   u' = y' + sum D_j(theta) X'_j + (sum D'_j X_j) theta',   theta' = -(t' + theta h')/h
       adjoint   with w the gradient of the term by y(t_o):  seed_j += D_j w,  lambda += w,  beta = w^T sum D'_j X_j,
                 t_o gets beta/h,  tau -= beta/h,  eta -= theta beta/h
       second    w' of w along u',  seed'_j += D_j w' + D'_j theta' w,  lambda' += w',
                 beta' = w'^T sum D'_j X_j + w^T (sum D'_j X'_j + theta' sum D''_j X_j),
                 (beta/h)' = beta'/h - h' beta/h^2 and (theta beta/h)' to the times as above */
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

/* theta' along direction j */
static double moved(const world *w, int j, double theta)
{
    return -(w->d.dt[j] + theta * w->d.dh[j]) / w->now.h;
}

/* u' into v (n*m) */
static void tangents_at(const world *w, double theta, const double *D, const double *D1, double *v)
{
    const stepper *c = w->st;
    const directions *d = &w->d;
    size_t n = (size_t)c->n;
    for (int j = 0; j < d->m; j++, v += n) {
        double by = moved(w, j, theta);
        combine(n, v, d->V + (size_t)j * (size_t)c->N, 1, c->s, D, d->Xd + (size_t)j * n, n * (size_t)d->m);
        if (by != 0) combine(n, v, v, by * dense_scale(c, &w->now), c->s, D1, w->now.X, n);
    }
}

static int tangent(world *w, const op *o)
{
    const costate_observations *s = w->seen;
    const directions *d = &w->d;
    double D[STAGES_MOST], D1[STAGES_MOST], t = s->t[o->which], theta = look(w, t, D, D1);
    tangents_at(w, theta, D, D1, w->seeds);
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

/* ---- second order ---- */

/* what column j of g adds, whose gradient by y(t_o) is w_j and whose (beta/h), (theta beta/h) are these */
static int add_term(world *w, int j, int which, const double *wj, double by_time, double by_step)
{
    const costate_observations *s = w->seen;
    axpy((size_t)w->st->n, 1, wj, w->sum + (size_t)j * (size_t)w->st->n);
    w->tau_seen[j] -= by_time;
    w->eta_seen[j] -= by_step;
    if (!s->dt) return 0;
    double *dt = s->dt + (size_t)j * (size_t)s->count + (size_t)which;
    *dt = by_time;
    return space_total(&w->st->maps->space, 1, dt);
}

/* seeds of the functional, and their derivatives along its directions: g lies before gd (world_split) */
static void add_seeds(const world *w, double theta, const double *D, const double *D1)
{
    size_t n = (size_t)w->st->n, m = (size_t)w->d.m, s = (size_t)w->st->s;
    double *of = w->seeds, *dots = w->seeds + s * n;
    for (size_t i = 0; i < s; i++) {
        axpy(n, D[i], w->w, of + i * n);
        for (size_t j = 0; j < m; j++) {
            axpy(n, D[i], w->w + (j + 1) * n, dots + (i * m + j) * n);
            axpy(n, D1[i] * moved(w, (int)j, theta), w->w, dots + (i * m + j) * n);
        }
    }
}

static int second(world *w, const op *o)
{
    const stepper *c = w->st;
    const costate_observations *s = w->seen;
    size_t n = (size_t)c->n, m = (size_t)w->d.m;
    double D[STAGES_MOST], D1[STAGES_MOST], D2[STAGES_MOST], t = s->t[o->which];
    TRY(world_hold(w, o->step));
    world_along(w);
    if (!w->any) begin_step(w);
    double h = w->now.h, theta = look(w, t, D, D1), scale = dense_scale(c, &w->now);
    dense_curvature(c->m, theta, D2);
    tangents_at(w, theta, D, D1, w->at);
    memset(w->w, 0, n * (m + 1) * sizeof *w->w);
    TRY(observed(w, s->seed2(o->which, t, w->z, w->d.m, w->at, w->w, w->w + n, s->ctx), "seed2", t));
    add_seeds(w, theta, D, D1);
    combine(n, w->f, NULL, scale, c->s, D1, w->now.X, n);
    double beta = dot(n, w->w, w->f) / h;
    TRY(add_term(w, 0, o->which, w->w, beta, theta * beta));
    for (size_t j = 0; j < m; j++) {
        const double *wd = w->w + (j + 1) * n;
        double by = moved(w, (int)j, theta), moving = dot(n, wd, w->f);
        combine(n, w->z, NULL, 1, c->s, D1, w->d.Xd + j * n, n * m);
        combine(n, w->z, w->z, by * scale, c->s, D2, w->now.X, n);
        moving = (moving + dot(n, w->w, w->z)) / h - w->d.dh[j] * beta / h;
        TRY(add_term(w, (int)j + 1, o->which, wd, moving, theta * moving + by * beta));
    }
    return 0;
}

const op_rules observe_rules = {tangent, adjoint, second};
