/* slopes.c - y' as a function of the state (slopes.h), and its derivatives: those of consistent values (start.h).

   The results at a point, Newton's matrix included, serve all requests at this point. */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "ops/slopes.h"

static size_t bytes_of(int count) { return (size_t)count * sizeof(double); }

int slopes_are_at(const slopes *s, const costate_point *x)
{
    const maps *a = s->st->maps;
    return s->held && s->t == x->t && s->mode == x->mode && memcmp(s->y, x->y, bytes_of(a->n)) == 0 &&
           (a->np == 0 || memcmp(s->p, x->p, bytes_of(a->np)) == 0) &&
           (a->nm == 0 || memcmp(s->m, x->m, bytes_of(a->nm)) == 0) &&
           memcmp(s->guess, a->bound.slope ? a->bound.slope : s->zero, bytes_of(a->n)) == 0;
}

static void hold(slopes *s, const costate_point *x)
{
    const maps *a = s->st->maps;
    s->t = x->t;
    s->mode = x->mode;
    memcpy(s->y, x->y, bytes_of(a->n));
    if (a->np) memcpy(s->p, x->p, bytes_of(a->np));
    if (a->nm) memcpy(s->m, x->m, bytes_of(a->nm));
    memcpy(s->guess, a->bound.slope ? a->bound.slope : s->zero, bytes_of(a->n));
    s->held = 1;
    s->serial++;
}

/* S at x, starting from the slope of the run or the tape, on which the last digits depend */
static int ops_slopes_solve(slopes *s, const costate_point *x)
{
    const maps *a = s->st->maps;
    start_values *f = &s->start.mine;
    if (slopes_are_at(s, x)) return 0;
    s->held = s->start.held = 0;
    memcpy(s->whole, x->y, bytes_of(a->n));
    weights(s->st, s->whole, s->w);
    memcpy(f->before, x->y, bytes_of(a->n));
    memcpy(f->k, a->bound.slope ? a->bound.slope : s->zero, bytes_of(a->n));
    TRY(start_find(&s->start, x->t, 1, f));
    hold(s, x);
    return 0;
}

int slopes_solve(slopes *s, const costate_point *x, int with_matrix)
{
    TRY(ops_slopes_solve(s, x));
    if (!with_matrix || s->start.held) return 0;
    TRY(start_matrix_of_values(&s->start, &s->start.mine));
    s->start.held = 1;
    return 0;
}

/* ---- derivatives ---- */

static void set_or_clear(double *to, const double *from, int count)
{
    if (count == 0) return;
    if (from) memcpy(to, from, bytes_of(count));
    else memset(to, 0, bytes_of(count));
}

static void set_direction(slopes *s, const costate_point *dx)
{
    const maps *a = s->st->maps;
    set_or_clear(s->V, dx->y, a->n);
    set_or_clear(s->pm, dx->p, a->np);
    set_or_clear(s->pm + a->np, dx->m, a->nm);
}

static double *pm_of(const slopes *s, double *pm) { return s->st->np + s->st->nm ? pm : NULL; }

int slopes_tangent(slopes *s, const costate_point *dx)
{
    set_direction(s, dx);
    return start_slope_tangent(&s->start, &s->start.mine, dx->t, s->V, pm_of(s, s->pm), s->K);
}

void slopes_clear(slopes *s)
{
    const maps *a = s->st->maps;
    memset(s->lambda, 0, 2 * bytes_of(a->n));
    memset(s->kappa, 0, 2 * bytes_of(a->n));
    memset(s->mu, 0, 2 * bytes_of(a->np + a->nm));
    s->tau[0] = s->tau[1] = 0;
}

static void add_column(const slopes *s, size_t j, const costate_gradient *g)
{
    const maps *a = s->st->maps;
    const double *mu = s->mu + j * (size_t)(a->np + a->nm);
    if (g->y) axpy((size_t)a->n, 1, s->lambda + j * (size_t)a->n, g->y);
    if (g->t) *g->t += s->tau[j];
    if (g->p) axpy((size_t)a->np, 1, mu, g->p);
    if (g->m) axpy((size_t)a->nm, 1, mu + a->np, g->m);
}

int slopes_adjoint(slopes *s, const costate_gradient *g)
{
    TRY(start_slope_adjoint(&s->start, &s->start.mine, s->lambda, s->kappa, pm_of(s, s->mu), s->tau));
    add_column(s, 0, g);
    return 0;
}

int slopes_second(slopes *s, const costate_point *dx, const costate_gradient *g)
{
    set_direction(s, dx);
    start_along along = {&dx->t, s->V, pm_of(s, s->pm)};
    TRY(start_slope_second(&s->start, &s->start.mine, &along, s->lambda, s->kappa, pm_of(s, s->mu), s->tau));
    add_column(s, 1, g);
    return 0;
}

/* ---- memory ---- */

static void slopes_layout(slopes *s, cursor *at)
{
    const maps *a = s->st->maps;
    size_t n = (size_t)a->n, np = (size_t)a->np, nm = (size_t)a->nm, N = (size_t)s->st->N;
    s->y = take(at, n);
    s->p = take(at, np);
    s->m = take(at, nm);
    TAKE(at, n, &s->guess, &s->zero);
    TAKE(at, N, &s->w, &s->whole);
    TAKE(at, n, &s->V, &s->K);
    s->pm = take(at, np + nm);
    TAKE(at, 2 * n, &s->lambda, &s->kappa);
    s->mu = take(at, 2 * (np + nm));
}

int slopes_init(slopes *s, stepper *c, shifts *sh, const costate_problem *P)
{
    cursor at = {0};
    *s = (slopes){.st = c};
    slopes_layout(s, &at);
    if (!(s->block = calloc(at.used + 8, sizeof *s->block)))
        return fail(c->v, COSTATE_NO_MEMORY, "No memory for y' at events (%zu doubles).", at.used);
    at = (cursor){s->block, 0};
    slopes_layout(s, &at);
    s->start.w = s->w;
    TRY(starter_init(&s->start, sh, c->maps, P));
    TRY(starter_columns(&s->start, 2));
    return starter_seconds(&s->start, 1);
}

void slopes_free(slopes *s)
{
    starter_free(&s->start);
    free(s->block);
}
