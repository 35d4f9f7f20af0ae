/* observe.c - the operation OBSERVE: a term of the functionals at a time t_o = t + theta h inside a step
   (mathematics, eq. 9.3 to 9.7).

       tangent   u' = y' + sum D_j(theta) X'_j + (sum D'_j X_j) theta',   theta' = -(t' + theta h')/h
       adjoint   with w = d(term)/dy(t_o):  seed_j += D_j w,  lambda += w,  beta = w^T sum D'_j X_j,
                 t_o gets beta/h,  tau -= beta/h,  eta -= theta beta/h
       second    w' of w along u',  seed'_j += D_j w' + D'_j theta' w,  lambda' += w',
                 beta' = w'^T sum D'_j X_j + w^T (sum D'_j X'_j + theta' sum D''_j X_j),
                 (beta/h)' = beta'/h - h' beta/h^2 and (theta beta/h)' to the times as above */
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

static int observed(sweep_state *w, int code, const char *name, double t)
{
    int status = code == 0 ? 0 : fail(w->st->v, COSTATE_CALLBACK, "The callback observations.%s returned %d at t = "
                                      "%.10g.", name, code, t);
    return space_agree(&w->st->maps->space, status);
}

/* D, D' and y at the observation, y into z */
static double look(sweep_state *w, double t, double *D, double *D1)
{
    double theta = (t - w->now.t) / w->now.h;
    dense_weights(w->st->m, theta, D, D1);
    dense_state(w->st, &w->now, D, w->z);
    return theta;
}

/* theta' along direction j */
static double moved(const sweep_state *w, int j, double theta)
{
    return -(w->d.dt[j] + theta * w->d.dh[j]) / w->now.h;
}

/* u' into v (n*m) */
static void tangents_at(const sweep_state *w, double theta, const double *D, const double *D1, double *v)
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

static int tangent(sweep_state *w, const op *o)
{
    const costate_observations *s = w->seen;
    const directions *d = &w->d;
    double D[STAGES_MOST], D1[STAGES_MOST], t = s->t[o->which], theta = look(w, t, D, D1);
    tangents_at(w, theta, D, D1, w->seeds);
    return observed(w, s->value(o->which, t, w->z, d->m, w->seeds, s->ctx), "value", t);
}

/* the first observation of a step in a backward sweep */
static void begin_step(sweep_state *w)
{
    size_t n = (size_t)w->st->n, m = (size_t)w->g.m;
    memset(w->seeds, 0, (size_t)w->st->s * n * m * sizeof *w->seeds);
    memset(w->sum, 0, n * m * sizeof *w->sum);
    for (size_t j = 0; j < m; j++) w->tau_seen[j] = w->eta_seen[j] = 0;
    w->any = 1;
}

/* w->w: the gradients w_j with respect to y(t_o), of all columns */
static int gradients(sweep_state *w, const op *o, double t, double theta, const double *D, const double *D1)
{
    const costate_observations *s = w->seen;
    size_t n = (size_t)w->st->n;
    memset(w->w, 0, n * (size_t)w->g.m * sizeof *w->w);
    if (!w->g.along) return observed(w, s->seed(o->which, t, w->z, w->g.m, w->w, s->ctx), "seed", t);
    tangents_at(w, theta, D, D1, w->at);
    return observed(w, s->seed2(o->which, t, w->z, w->d.m, w->at, w->w, w->w + n, s->ctx), "seed2", t);
}

/* w_0^T (sum D'_k X'_k + theta' sum D''_k X_k)/h - h' beta/h^2 along direction j; first: beta/h of the functional */
static double curve(const sweep_state *w, int j, double moving, const double *D1, const double *D2, double first)
{
    const stepper *c = w->st;
    size_t n = (size_t)c->n, m = (size_t)w->d.m;
    combine(n, w->z, NULL, 1, c->s, D1, w->d.Xd + (size_t)j * n, n * m);
    combine(n, w->z, w->z, moving * dense_scale(c, &w->now), c->s, D2, w->now.X, n);
    return (dot(n, w->w, w->z) - w->d.dh[j] * first) / w->now.h;
}

/* adds column j to seeds and lambda; moving: theta' of a derivative, else 0 */
static void add_gradient(const sweep_state *w, int j, const double *D, const double *D1, double moving)
{
    size_t n = (size_t)w->st->n, m = (size_t)w->g.m, column = (size_t)j * n;
    for (size_t i = 0; i < (size_t)w->st->s; i++) {
        double *seed = w->seeds + i * m * n + column;
        axpy(n, D[i], w->w + column, seed);
        if (moving != 0) axpy(n, D1[i] * moving, w->w, seed);
    }
    axpy(n, 1, w->w + column, w->sum + column);
}

/* beta/h and theta beta/h of column j, or their derivatives */
static int add_times(sweep_state *w, int j, int which, double beta, double theta_beta)
{
    const costate_observations *s = w->seen;
    w->tau_seen[j] -= beta;
    w->eta_seen[j] -= theta_beta;
    if (!s->dt) return 0;
    double *dt = s->dt + (size_t)j * (size_t)s->count + (size_t)which;
    *dt = beta;
    return space_total(&w->st->maps->space, 1, dt);
}

static int adjoint(sweep_state *w, const op *o)
{
    const stepper *c = w->st;
    size_t n = (size_t)c->n;
    double D[STAGES_MOST], D1[STAGES_MOST], D2[STAGES_MOST], t = w->seen->t[o->which], first = 0;
    TRY(sweep_hold(w, o->step));
    if (w->g.along) sweep_along(w);
    if (!w->any) begin_step(w);
    double theta = look(w, t, D, D1);
    TRY(gradients(w, o, t, theta, D, D1));
    if (w->g.along) dense_curvature(c->m, theta, D2);
    combine(n, w->f, NULL, dense_scale(c, &w->now), c->s, D1, w->now.X, n);
    for (int j = 0; j < w->g.m; j++) {
        int derivative = w->g.along && j > 0;
        double moving = derivative ? moved(w, j - 1, theta) : 0, beta = dot(n, w->w + (size_t)j * n, w->f) / w->now.h;
        if (derivative) beta += curve(w, j - 1, moving, D1, D2, first);
        else first = beta;
        add_gradient(w, j, D, D1, moving);
        TRY(add_times(w, j, o->which, beta, derivative ? theta * beta + moving * first : theta * beta));
    }
    return 0;
}

const op_rules observe_rules = {tangent, adjoint};
