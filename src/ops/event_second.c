/* event_second.c - second order of a step whose h is fixed by an event at its end (mathematics, eq. 10.8 to 10.9).

       adjoint   lambda += eps e_y,  tau += eps e_t,  mu += eps e_pm, then the step's;   eps = -eta_0/D as in event.c
       second    lambda' += eps e_y',  tau' += eps e_t',  mu' += eps e_pm', the derivatives of e's gradient along
                 (t', y', pm') at the end; then the step's adjoint of the jet; and what it gives for lambda' + eps' e_y
                 and so on by linearity, with eps' = -eta'_0/D

   Passes through the step: of e alone, of the functional as if h were free, and of the jet. */
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

typedef struct {                /* of the guard: its gradient at the end; the same before the step, which has D as that
                                   by h */
    double *y, *pm, t;
    double *y0, *pm0, t0, D;
} gradient_of_guard;

static const map *guard_of(const stepper *c, const mapped *at)
{
    c->maps->bound.slope = at->k;
    return &c->maps->events[at->event].guard;
}

static size_t rows_of_pm(const stepper *c) { return (size_t)(c->np + c->nm); }

static int guard_back(sweep_state *w, const mapped *at, gradient_of_guard *e)
{
    stepper *c = w->st;
    size_t N = (size_t)c->N;
    double *pm = w->g.mu ? w->events.dpm : NULL, one = 1, h = 0;
    *e = (gradient_of_guard){.y = w->events.lambda, .y0 = w->events.lambda + N, .pm = pm,
                             .pm0 = pm ? pm + rows_of_pm(c) : NULL};
    memset(e->y, 0, N * sizeof *e->y);
    if (pm) memset(pm, 0, rows_of_pm(c) * sizeof *pm);
    costate_point x = point(c->maps, at->t, at->y);
    costate_gradient to = into_pm(c->maps, &e->t, e->y, pm, 0);
    TRY(map_adjoint(c->maps, guard_of(c, at), &x, &one, &to));
    memcpy(e->y0, e->y, N * sizeof *e->y);
    if (pm) memcpy(e->pm0, pm, rows_of_pm(c) * sizeof *pm);
    functionals g = {.m = 1, .times = 1, .lambda = e->y0, .mu = e->pm0, .t = &e->t0, .h = &h, .U = w->g.U};
    TRY(step_adjoint(c, &w->events, &w->now, &g));
    e->D = e->t + h;
    return e->D == 0 || !(fabs(e->D) < HUGE_VAL) ? event_slope_missing(c, at) : 0;
}

/* eta_0: adjoint of h of the functional as if h were free */
static int free_eta(sweep_state *w, double *eta)
{
    stepper *c = w->st;
    size_t n = (size_t)c->n, s = (size_t)c->s, stride = n * (size_t)w->g.m;
    double t = 0, *lambda = w->events.lambda + 2 * (size_t)c->N, *seeds = w->g.U + s * n;
    memcpy(lambda, w->g.lambda, (size_t)c->N * sizeof *lambda);
    for (size_t i = 0; w->any && i < s; i++) memcpy(seeds + i * n, w->seeds + i * stride, n * sizeof *seeds);
    *eta = w->tau[0] + (w->any ? w->eta_seen[0] : 0);
    functionals g = {.m = 1, .times = 1, .lambda = lambda, .t = &t, .h = eta, .seed = w->any ? seeds : NULL,
                     .U = w->g.U};
    return step_adjoint(c, &w->events, &w->now, &g);
}

/* column j of g += a (e_t, e_y, e_pm) at the end */
static void add_at_end(sweep_state *w, const gradient_of_guard *e, size_t j, double a)
{
    axpy((size_t)w->st->N, a, e->y, w->g.lambda + j * (size_t)w->st->N);
    if (w->g.mu) axpy(rows_of_pm(w->st), a, e->pm, w->g.mu + j * rows_of_pm(w->st));
    w->tau[j] += a * e->t;
}

static int curve(sweep_state *w, const mapped *at, double eps)
{
    const maps *a = w->st->maps;
    costate_point x = point(a, at->t, at->y);
    for (size_t j = 0; j < (size_t)w->d.m; j++) {
        size_t N = (size_t)w->st->N;
        double *pm = w->g.mu ? w->g.mu + rows_of_pm(w->st) : NULL;
        costate_point dx = along_pm(a, w->d.dt[j] + w->d.dh[j], w->along.V1 + j * N, w->d.Vp, j);
        costate_gradient to = into_pm(a, w->tau + 1 + j, w->g.lambda + (1 + j) * N, pm, j);
        TRY(map_adjoint_tangent(w->st->maps, guard_of(w->st, at), &x, &dx, &eps, &to));
    }
    return 0;
}

/* column j of g += eps' times the gradient of the guard with respect to the state before the step */
static void add_at_start(sweep_state *w, const gradient_of_guard *e, size_t j, double a)
{
    axpy((size_t)w->st->N, a, e->y0, w->g.lambda + j * (size_t)w->st->N);
    if (w->g.mu) axpy(rows_of_pm(w->st), a, e->pm0, w->g.mu + j * rows_of_pm(w->st));
    w->tau[j] += a * (e->t + e->t0);
}

int event_second(sweep_state *w, const mapped *at, double *shift)
{
    gradient_of_guard e;
    double eta;
    TRY(guard_back(w, at, &e));
    TRY(free_eta(w, &eta));
    double eps = -eta / e.D;
    for (int j = 0; j < w->g.m; j++) w->g.t[j] = w->g.h[j] = 0;
    add_at_end(w, &e, 0, eps);
    TRY(curve(w, at, eps));
    w->g.seed = w->any ? w->seeds : NULL;
    TRY(step_adjoint(w->st, &w->events, &w->now, &w->g));
    sweep_add_seen(w, w->g.lambda);
    shift[0] = eps;
    w->tau[0] += w->g.t[0] + (w->any ? w->tau_seen[0] : 0);
    for (size_t j = 1; j < (size_t)w->g.m; j++) {
        double moving = -(w->tau[j] + w->g.h[j] + (w->any ? w->eta_seen[j] : 0)) / e.D;
        w->tau[j] += w->g.t[j] + (w->any ? w->tau_seen[j] : 0);
        add_at_start(w, &e, j, moving);
        shift[j] = moving;
    }
    return 0;
}
