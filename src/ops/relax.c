/* relax.c - the operation CORRECT where problem.after_step is an invariant: relaxation (mathematics, section 10.9).

       (t, y, q)+ = (t, y, q) + gamma d,   d = (h, y^ - y, q^ - q),   g(t+, y+, m, p) = 0;   y^: the end of the step

   With s = g_t h + g_y d_y and v = y' + gamma d_y', and h frozen:

       tangent   gamma' = -( g_t t' + g_y v + g_pm pm' )/s,   y+' = v + gamma' d_y,   t+' = t' + gamma' h,   q+' as y+'
       adjoint   kappa = -a/s,   a = tau h + lambda d_y + theta d_q
                 L = lambda + kappa g_y,   tau += kappa g_t,   mu += kappa g_pm;
                 y^ gets gamma L, and y, behind the step's adjoint, (1 - gamma) L; q^ and q likewise of theta
       second    kappa' = -( a' + kappa s' )/s,   L' = lambda' + kappa' g_y + kappa g_y', and so on;
                 y^ gets gamma L' + gamma' L, and y (1 - gamma) L' - gamma' L */
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

enum { MOST = 20 };
static const double ROUND_OFF = 0.125;          /* of the noise of g: half a unit of its terms */
static const double LEFT = 100;                 /* times the noise: what is left of g where it falls no more, because
                                                   that of a sum of many terms is larger */

/* ---- values ---- */

typedef struct { stepper *c; record *r; double *d, *y1, *z, t; } relaxing;

/* g and its derivative by gamma, at y1 of this gamma */
static int at_part(relaxing *x, double part, double *g, double *slope)
{
    stepper *c = x->c;
    const double *end = uncorrected(c, x->r);
    add_scaled((size_t)c->n, x->y1, end, part - 1, x->d);
    x->t = x->r->t + part * x->r->h;
    costate_point at = point(c->maps, x->t, x->y1), along = {.t = x->r->h, .y = x->d};
    TRY(map_value(c->maps, &c->maps->after_step.invariant, x->t, x->y1, g));
    TRY(map_tangent(c->maps, &c->maps->after_step.invariant, &at, &along, slope));
    return fabs(*g) < HUGE_VAL && fabs(*slope) < HUGE_VAL ? 0 : retry(c->v, WHY_NOT_FINITE);
}

/* Newton's iteration from gamma = 1, where g and its slope are known, until g is round-off or falls no more */
static int relax_solve(relaxing *x, double g, double slope, double noise, double *part)
{
    *part = 1;
    for (int k = 0; k < MOST && !(fabs(g) <= ROUND_OFF * noise); k++) {
        double next = *part - g / slope, g_next, slope_next;
        if (!part_allowed(next)) return retry(x->c->v, WHY_INVARIANT);
        TRY(at_part(x, next, &g_next, &slope_next));
        if (!(fabs(g_next) < fabs(g))) break;
        *part = next;
        g = g_next;
        slope = slope_next;
    }
    return fabs(g) <= LEFT * noise ? 0 : retry(x->c->v, WHY_INVARIANT);
}

static int find(relaxing *x, int as_taped, double *part)
{
    maps *a = x->c->maps;
    double g, slope, noise;
    TRY(at_part(x, 1, &g, &slope));
    TRY(map_noise(a, &a->after_step.invariant, x->t, x->y1, g, x->z, &noise));
    *part = 0;
    if (!as_taped && fabs(g) <= noise) return 0;
    return relax_solve(x, g, slope, noise, part);
}

int relax_value(stepper *c, record *r, const record *as, int free, double *room, double *y1)
{
    size_t n = (size_t)c->n;
    r->part = r->corrected = 0;
    if (as ? !as->corrected : !free) return 0;
    memcpy(uncorrected(c, r), y1, (size_t)c->N * sizeof *y1);
    relaxing x = {c, r, room, y1, room + n, 0};
    add_scaled(n, x.d, y1, -1, r->y);
    int status = find(&x, as != NULL, &r->part);
    r->corrected = status == 0 && r->part > 0;
    add_scaled(n, y1, uncorrected(c, r), r->corrected ? r->part - 1 : 0, x.d);
    for (size_t i = n; r->corrected && i < n + (size_t)c->nq; i++) y1[i] += (r->part - 1) * (y1[i] - r->y[i]);
    return status;
}

/* ---- derivatives ---- */

typedef struct {                /* a step that was relaxed: d of y and q, the state behind it, s */
    const record *r;
    size_t rows;                /* n + nq */
    double *d, *y, *u, *e, s;
    costate_point at;
} relaxed;

static int look(stepper *c, const event_work *w, const record *r, relaxed *x)
{
    const double *end = uncorrected(c, r);
    size_t n = (size_t)c->n, N = (size_t)c->N;
    *x = (relaxed){.r = r, .rows = n + (size_t)c->nq, .d = w->relaxed, .y = w->relaxed + N, .u = w->relaxed + 2 * N,
                   .e = w->relaxed + 3 * N};
    add_scaled(x->rows, x->d, end, -1, r->y);
    add_scaled(n, x->y, end, r->part - 1, x->d);
    memory_bind(c, r->y, (int)r->mode);
    x->at = point(c->maps, r->t + r->part * r->h, x->y);
    verdict_at(c->v, x->at.t);
    costate_point along = {.t = r->h, .y = x->d};
    TRY(map_tangent(c->maps, &c->maps->after_step.invariant, &x->at, &along, &x->s));
    if (x->s != 0 && fabs(x->s) < HUGE_VAL) return 0;
    return fail(c->v, COSTATE_GRAZING, "after_step.invariant does not change along the step that relaxation scaled at "
                "t = %.10g: no derivative exists there.", r->t);
}

/* gamma' of a direction, and t+', y+' of the end, y+' in u; V, V1: before and behind the step */
static int part_along(stepper *c, const relaxed *x, double dt, const double *V, const double *V1, const double *pm,
                      size_t j, double *of_part, costate_point *dx)
{
    double part = x->r->part, e;
    size_t n = (size_t)c->n;
    for (size_t i = 0; i < n; i++) x->u[i] = V1[i] + (part - 1) * (V1[i] - V[i]);
    *dx = along_pm(c->maps, dt, x->u, pm, j);
    TRY(map_tangent(c->maps, &c->maps->after_step.invariant, &x->at, dx, &e));
    *of_part = -e / x->s;
    axpy(n, *of_part, x->d, x->u);
    dx->t += *of_part * x->r->h;
    return 0;
}

int relax_tangent(stepper *c, const event_work *w, const record *r, const directions *d, double *dh)
{
    size_t n = (size_t)c->n, N = (size_t)c->N;
    relaxed x;
    TRY(look(c, w, r, &x));
    for (size_t j = 0; j < (size_t)d->m; j++) {
        const double *V = d->V + j * N;
        double *V1 = d->V1 + j * N, of_part;
        costate_point dx;
        TRY(part_along(c, &x, d->dt[j], V, V1, d->Vp, j, &of_part, &dx));
        for (size_t i = n; i < x.rows; i++) V1[i] += (r->part - 1) * (V1[i] - V[i]) + of_part * x.d[i];
        memcpy(V1, x.u, n * sizeof *V1);
        dh[j] = of_part * r->h;
    }
    return 0;
}

/* a of a functional, on this process */
static double along_step(const relaxed *x, const double *lambda, double tau)
{
    return dot(x->rows, lambda, x->d) + tau * x->r->h;
}

/* adds kappa times the gradient of g */
static int add_gradient(sweep_state *w, const relaxed *x, size_t j, double kappa)
{
    maps *a = w->st->maps;
    costate_gradient to = into_pm(a, w->tau + j, w->g.lambda + j * (size_t)w->st->N, w->g.mu, j);
    return map_adjoint(a, &a->after_step.invariant, &x->at, &kappa, &to);
}

/* divides L of column j between the ends of the step; of_part: gamma', by which L of column 0 moves */
static void divide(sweep_state *w, const relaxed *x, size_t j, double of_part)
{
    size_t N = (size_t)w->st->N;
    const double *first = w->g.lambda;
    double *L = w->g.lambda + j * N, *carried = w->events.carried + j * N, rest = 1 - x->r->part;
    memset(carried, 0, N * sizeof *carried);
    for (size_t i = 0; i < x->rows; i++) {
        double moves = j > 0 && of_part != 0 ? of_part * first[i] : 0;
        carried[i] = rest * L[i] - moves;
        L[i] = x->r->part * L[i] + moves;
    }
}

/* Column 1 + j of a jet, with kappa of column 0, whose lambda is still that behind the step.  *of_part: gamma' */
static int derivative_back(sweep_state *w, const relaxed *x, size_t j, double kappa, double *of_part)
{
    stepper *c = w->st;
    maps *a = c->maps;
    size_t n = (size_t)c->n, N = (size_t)c->N, col = 1 + j;
    const double *V = w->along.V + j * N, *V1 = w->along.V1 + j * N;
    double *lambda = w->g.lambda + col * N, e_t = 0, of_d, sum;
    costate_point dx, along = {.y = x->u};
    TRY(part_along(c, x, w->d.dt[j], V, V1, w->d.Vp, j, of_part, &dx));
    memset(x->e, 0, n * sizeof *x->e);
    costate_gradient to = into_pm(a, &e_t, x->e, w->g.mu, col);
    TRY(map_adjoint_tangent(a, &a->after_step.invariant, &x->at, &dx, &kappa, &to));
    sum = along_step(x, lambda, w->tau[col]) + dot(n, x->e, x->d) + e_t * x->r->h;
    for (size_t i = 0; i < x->rows; i++) sum += w->g.lambda[i] * (V1[i] - V[i]);
    TRY(space_total(&a->space, 1, &sum));
    for (size_t i = 0; i < n; i++) x->u[i] = V1[i] - V[i];
    TRY(map_tangent(a, &a->after_step.invariant, &x->at, &along, &of_d));
    axpy(n, 1, x->e, lambda);
    w->tau[col] += e_t;
    return add_gradient(w, x, col, -(sum + kappa * of_d) / x->s);
}

int relax_adjoint(sweep_state *w)
{
    relaxed x;
    double *of_part = w->events.parts;
    TRY(look(w->st, &w->events, &w->now, &x));
    memory_from_pm(w->st, w->g.m, w->g.lambda, w->g.mu);
    size_t N = (size_t)w->st->N, columns = w->g.along ? 1 : (size_t)w->g.m;
    for (size_t j = 0; j < columns; j++) {
        double a = along_step(&x, w->g.lambda + j * N, w->tau[j]);
        TRY(space_total(&w->st->maps->space, 1, &a));
        for (size_t k = 0; w->g.along && k < (size_t)w->d.m; k++)
            TRY(derivative_back(w, &x, k, -a / x.s, of_part + 1 + k));
        TRY(add_gradient(w, &x, j, -a / x.s));
    }
    for (size_t j = (size_t)w->g.m; j-- > 0;) divide(w, &x, j, w->g.along && j > 0 ? of_part[j] : 0);
    memory_from_pm(w->st, w->g.m, w->g.lambda, w->g.mu);
    w->carries = 1;
    return 0;
}
