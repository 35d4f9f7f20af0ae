/* event.c - a step whose h is fixed by an event at its end: e(t+, y+, m, p) + s = 0 (mathematics, eq. 10.2 to 10.7).

       D = e_t + e_y Phi_h
       tangent   h' = -( e_t t' + e_y y'_0 + e_pm pm' + s' )/D,   y'_0: with h' = 0;   y+' = y'_0 + h' Phi_h
       adjoint   eps = -eta_0/D,  eta_0: adjoint of h of all that follows, as if h were free;
                 lambda <- lambda + eps e_y and so on, through the step: by linearity with a column of its own for e

   Phi_h is one more direction of the step, and e_y one more functional: a single pass computes both, and neither is
   stored. The total adjoint of h is eta_0 + eps D = 0; eta_0 includes observations inside the step. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

int event_slope_missing(const stepper *c, const mapped *at)
{
    return fail(c->v, COSTATE_GRAZING, "The guard of event[%d] does not change with the length of the step that ends "
                "in it at t = %.10g: no derivative exists there.", at->event, at->t);
}

static const map *guard_of(const stepper *c, const mapped *at)
{
    c->maps->bound.slope = at->k;
    return &c->maps->events[at->event].guard;
}

/* A power of two near |h|, or the length of the run, as unit of h': with h' = 1, f_t h' would overflow for times of
   1e-160. */
static double unit_of(const stepper *c, double h)
{
    return ldexp(1, ilogb(h != 0 ? h : c->maps->bound.to - c->maps->bound.from));
}

/* the columns of d, followed by one for h */
static void widen(const stepper *c, const event_work *w, const directions *d, double unit, double *dt, double *dh)
{
    size_t m = (size_t)d->m, N = (size_t)c->N, pm = (size_t)(c->np + c->nm);
    memcpy(w->V, d->V, N * m * sizeof *w->V);
    memset(w->V + N * m, 0, N * sizeof *w->V);
    if (d->Vp) memcpy(w->dpm, d->Vp, pm * m * sizeof *w->dpm);
    if (d->Vp) memset(w->dpm + pm * m, 0, pm * sizeof *w->dpm);
    for (size_t j = 0; j < m; j++) { dt[j] = d->dt[j]; dh[j] = 0; }
    dt[m] = 0;
    dh[m] = unit;
}

/* Adds h' times the column of h to the others, in V1 and in the stages, whose columns are stored m apart afterwards. */
static void narrow(const stepper *c, const directions *d, const double *V1, const double *dh)
{
    size_t m = (size_t)d->m, N = (size_t)c->N, n = (size_t)c->n;
    for (size_t j = 0; j < m; j++) add_scaled(N, d->V1 + j * N, V1 + j * N, dh[j], V1 + m * N);
    for (size_t i = 0; i < (size_t)c->s; i++) {
        double *from = d->Xd + i * (m + 1) * n, *to = d->Xd + i * m * n;
        for (size_t j = 0; j < m; j++) {
            axpy(n, dh[j], from + m * n, from + j * n);
            memmove(to + j * n, from + j * n, n * sizeof *to);
        }
    }
}

int event_tangent(stepper *c, const event_work *w, const record *r, const mapped *at, const directions *d,
                  const double *shift, double *dh)
{
    size_t m = (size_t)d->m, N = (size_t)c->N;
    directions all = *d;
    double D, unit = unit_of(c, r->h);
    all.m = d->m + 1;
    all.solved = 0;                     /* the stages of a step to an event are solved to round-off */
    all.dt = w->one;
    all.dh = w->one + m + 1;
    widen(c, w, d, unit, w->one, w->one + m + 1);
    all.V = w->V;
    all.Vp = d->Vp ? w->dpm : NULL;
    all.V1 = w->lambda;
    TRY(step_tangent(c, w, r, &all));
    costate_point x = point(c->maps, at->t, at->y), along = {.t = unit, .y = all.V1 + m * N};
    TRY(map_tangent(c->maps, guard_of(c, at), &x, &along, &D));
    if (D == 0 || !(fabs(D) < HUGE_VAL)) return event_slope_missing(c, at);
    for (size_t j = 0; j < m; j++) {
        double e;
        costate_point dx = along_pm(c->maps, d->dt[j], all.V1 + j * N, all.Vp, j);
        TRY(map_tangent(c->maps, guard_of(c, at), &x, &dx, &e));
        dh[j] = -(e + (shift ? shift[j] : 0)) / D;
    }
    narrow(c, d, all.V1, dh);
    for (size_t j = 0; j < m; j++) dh[j] *= unit;
    return 0;
}

/* ---- back ---- */

/* the m columns of seeds of each stage become m + 1, the last one zero */
static void widen_seeds(const sweep_state *w)
{
    size_t n = (size_t)w->st->n, m = (size_t)w->g.m;
    for (size_t i = (size_t)w->st->s; i-- > 0;) {
        memmove(w->seeds + i * (m + 1) * n, w->seeds + i * m * n, m * n * sizeof *w->seeds);
        memset(w->seeds + (i * (m + 1) + m) * n, 0, n * sizeof *w->seeds);
    }
}

/* propagates the functionals and e backward through the step; *e_t: out */
static int all_back(sweep_state *w, const mapped *at, functionals *all, double *e_t)
{
    stepper *c = w->st;
    const functionals *g = &w->g;
    size_t m = (size_t)g->m, N = (size_t)c->N;
    double *pm = g->mu ? w->events.dpm : NULL, *lambda = w->events.lambda, one = 1;
    memcpy(lambda, g->lambda, N * m * sizeof *lambda);
    memset(lambda + N * m, 0, N * sizeof *lambda);
    if (pm) memset(pm, 0, (size_t)(c->np + c->nm) * (m + 1) * sizeof *pm);
    memset(w->events.one, 0, 3 * (m + 1) * sizeof one);
    *e_t = 0;
    costate_point x = point(c->maps, at->t, at->y);
    costate_gradient of = into_pm(c->maps, e_t, lambda + N * m, pm, m);
    TRY(map_adjoint(c->maps, guard_of(c, at), &x, &one, &of));
    if (w->any) widen_seeds(w);
    *all = (functionals){.m = g->m + 1, .times = 1, .lambda = lambda, .mu = pm, .t = w->events.one,
                         .h = w->events.one + m + 1, .defect = g->defect ? w->events.one + 2 * (m + 1) : NULL,
                         .seed = w->any ? w->seeds : NULL, .U = g->U};
    TRY(step_adjoint(c, &w->events, &w->now, all));
    sweep_add_seen(w, lambda);
    return 0;
}

/* In debug builds: h is fixed by the event, so nothing may depend on it. */
static int settled(const sweep_state *w, const functionals *all, int j, double eps, double e_t)
{
#ifndef NDEBUG
    double seen = w->any ? w->eta_seen[j] : 0, sum = 0, size = 0;
    double terms[] = {w->tau[j], all->h[j], seen, eps * e_t, eps * all->h[w->g.m]};
    for (int i = 0; i < 5; i++) { sum += terms[i]; size += fabs(terms[i]); }
    if (fabs(sum) > 1e-14 * size + DBL_MIN)
        return fail(w->st->v, COSTATE_BAD_EVENT, "At t = %.10g a functional depends on the length of a step that ends "
                    "in an event, by %.3g beside %.3g.", w->st->v->t, sum, size);
#else
    (void)w; (void)all; (void)j; (void)eps; (void)e_t;
#endif
    return 0;
}

int event_adjoint(sweep_state *w, const mapped *at, double *shift)
{
    const stepper *c = w->st;
    const functionals *g = &w->g;
    size_t m = (size_t)g->m, N = (size_t)c->N, rows = (size_t)(c->np + c->nm);
    functionals all;
    double e_t;
    TRY(all_back(w, at, &all, &e_t));
    double D = e_t + all.h[m];
    if (D == 0 || !(fabs(D) < HUGE_VAL)) return event_slope_missing(c, at);
    for (size_t j = 0; j < m; j++) {
        double eps = -(w->tau[j] + all.h[j] + (w->any ? w->eta_seen[j] : 0)) / D;
        TRY(settled(w, &all, (int)j, eps, e_t));
        add_scaled(N, g->lambda + j * N, all.lambda + j * N, eps, all.lambda + m * N);
        if (g->mu) axpy(rows, 1, all.mu + j * rows, g->mu + j * rows);
        if (g->mu) axpy(rows, eps, all.mu + m * rows, g->mu + j * rows);
        if (g->defect) g->defect[j] += all.defect[j] + eps * all.defect[m];
        w->tau[j] += all.t[j] + (w->any ? w->tau_seen[j] : 0) + eps * (e_t + all.t[m]);
        if (shift) shift[j] = eps;
    }
    return 0;
}
