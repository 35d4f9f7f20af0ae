/* slopes.c - maps of events that see y' of a residual: G(t, y, y', p) as a map of (t, y, p).

   With S: (t, y, p) -> (y*, k*) the values consistent at t whose kept components are those of y (start.h, `values`),

       value     G(t, y*, k*, p)
       tangent   G'(t', y*', k*', p'),                (y*', k*') = S'(t', y', p')
       adjoint   G_t^T w, G_p^T w,  and S'^T (G_y^T w, G_k^T w)
       second    [G'^T w]' along (t', y*', k*', p') through S'^T, and [S'^T (lambda, kappa)]' with lambda = G_y^T w,
                 kappa = G_k^T w held

   so that all who differentiate events see a map of the state.  What was found at a point serves all that is asked for
   there: Newton's matrix, too. */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/differences.h"
#include "ops/slopes.h"

static size_t bytes_of(int count) { return (size_t)count * sizeof(double); }

static int is_held(const slopes *s, const costate_point *x)
{
    const maps *a = s->st->maps;
    return s->held && s->t == x->t && s->mode == x->mode && memcmp(s->y, x->y, bytes_of(a->n)) == 0 &&
           (a->np == 0 || memcmp(s->p, x->p, bytes_of(a->np)) == 0) &&
           (a->nm == 0 || memcmp(s->m, x->m, bytes_of(a->nm)) == 0) &&
           memcmp(s->guess, a->slope ? a->slope : s->zero, bytes_of(a->n)) == 0;
}

static void hold(slopes *s, const costate_point *x)
{
    const maps *a = s->st->maps;
    s->t = x->t;
    s->mode = x->mode;
    memcpy(s->y, x->y, bytes_of(a->n));
    if (a->np) memcpy(s->p, x->p, bytes_of(a->np));
    if (a->nm) memcpy(s->m, x->m, bytes_of(a->nm));
    memcpy(s->guess, a->slope ? a->slope : s->zero, bytes_of(a->n));
    s->held = 1;
}

/* S at x, from the slope that the run or the tape has: the last digits depend on it */
static int solve(slopes *s, const costate_point *x)
{
    const maps *a = s->st->maps;
    start_values *f = &s->start.mine;
    if (is_held(s, x)) return 0;
    s->held = s->start.held = 0;
    memcpy(s->whole, x->y, bytes_of(a->n));
    weights(s->st, s->whole, s->w);
    memcpy(f->before, x->y, bytes_of(a->n));
    memcpy(f->k, a->slope ? a->slope : s->zero, bytes_of(a->n));
    TRY(start_find(&s->start, x->t, 1, f));
    hold(s, x);
    return 0;
}

/* and Newton's matrix there */
static int solve_with_matrix(slopes *s, const costate_point *x)
{
    TRY(solve(s, x));
    if (s->start.held) return 0;
    TRY(start_matrix_of_values(&s->start, &s->start.mine));
    s->start.held = 1;
    return 0;
}

static costate_point consistent_point(const slopes *s, const costate_point *x)
{
    costate_point z = *x;
    z.y = s->start.mine.y;
    z.yp = s->start.mine.k;
    return z;
}

/* ---- tangents ---- */

static void set_or_clear(double *to, const double *from, int count)
{
    if (count == 0) return;
    if (from) memcpy(to, from, bytes_of(count));
    else memset(to, 0, bytes_of(count));
}

/* S' dx into V, K; pm: that of dx */
static int tangent_of_values(slopes *s, const costate_point *dx, costate_point *dz)
{
    const maps *a = s->st->maps;
    set_or_clear(s->V, dx->y, a->n);
    set_or_clear(s->pm, dx->p, a->np);
    set_or_clear(s->pm + a->np, dx->m, a->nm);
    TRY(start_slope_tangent(&s->start, &s->start.mine, dx->t, s->V, a->np + a->nm ? s->pm : NULL, s->K));
    *dz = *dx;
    dz->y = s->V;
    dz->yp = s->K;
    return 0;
}

static int tangent(composed *as, const costate_point *x, const costate_point *dx, double *out)
{
    seeing *f = (seeing *)as;
    costate_point dz;
    TRY(solve_with_matrix(f->of, x));
    TRY(tangent_of_values(f->of, dx, &dz));
    costate_point z = consistent_point(f->of, x);
    return map_tangent(f->of->st->maps, &f->inner, &z, &dz, out);
}

static int value(composed *as, const costate_point *x, double *out)
{
    seeing *f = (seeing *)as;
    TRY(solve(f->of, x));
    costate_point z = consistent_point(f->of, x);
    return map_code(f->of->st->maps, f->inner.user->value(&z, out, f->inner.ctx), f->inner.name, "value");
}

/* ---- adjoints ---- */

/* what S gives back, columns of lambda, kappa, mu, tau */
static void clear(slopes *s)
{
    const maps *a = s->st->maps;
    memset(s->lambda, 0, 2 * bytes_of(a->n));
    memset(s->kappa, 0, 2 * bytes_of(a->n));
    memset(s->mu, 0, 2 * bytes_of(a->np + a->nm));
    s->tau[0] = s->tau[1] = 0;
}

/* g, but by the values into column j */
static costate_gradient into_values(const slopes *s, const costate_gradient *g, size_t j)
{
    size_t n = (size_t)s->st->n;
    costate_gradient to = *g;
    to.y = s->lambda + j * n;
    to.yp = s->kappa + j * n;
    return to;
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

static double *mu_of(const slopes *s) { return s->st->np + s->st->nm ? s->mu : NULL; }

static int adjoint(composed *as, const costate_point *x, const double *w, const costate_gradient *g)
{
    seeing *f = (seeing *)as;
    slopes *s = f->of;
    TRY(solve_with_matrix(s, x));
    clear(s);
    costate_point z = consistent_point(s, x);
    costate_gradient to = into_values(s, g, 0);
    TRY(map_adjoint(s->st->maps, &f->inner, &z, w, &to));
    TRY(start_slope_adjoint(&s->start, &s->start.mine, s->lambda, s->kappa, mu_of(s), s->tau));
    add_column(s, 0, g);
    return 0;
}

static int adjoint_tangent(composed *as, const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g)
{
    seeing *f = (seeing *)as;
    slopes *s = f->of;
    costate_point dz;
    TRY(solve_with_matrix(s, x));
    clear(s);
    costate_point z = consistent_point(s, x);
    costate_gradient of_functional = into_values(s, &(costate_gradient){.y = NULL}, 0), to = into_values(s, g, 1);
    TRY(map_adjoint(s->st->maps, &f->inner, &z, w, &of_functional));
    TRY(tangent_of_values(s, dx, &dz));
    TRY(map_adjoint_tangent(s->st->maps, &f->inner, &z, &dz, w, &to));
    set_or_clear(s->V, dx->y, s->st->n);
    start_along along = {&dx->t, s->V, s->st->np + s->st->nm ? s->pm : NULL};
    TRY(start_slope_second(&s->start, &s->start.mine, &along, s->lambda, s->kappa, mu_of(s), s->tau));
    add_column(s, 1, g);
    return 0;
}

/* ---- memory ---- */

static void see(slopes *s, int k, map *f, const costate_event *e)
{
    static const composed ways = {value, tangent, adjoint, adjoint_tangent};
    seeing *to = &s->seeing[k];
    if (!e->slopes || f->rows == 0) return;
    *to = (seeing){ways, *f, s};
    f->as = &to->as;
}

static void layout(slopes *s, cursor *at)
{
    const maps *a = s->st->maps;
    size_t n = (size_t)a->n, np = (size_t)a->np, nm = (size_t)a->nm, N = (size_t)s->st->N;
    s->y = take(at, n);
    s->p = take(at, np);
    s->m = take(at, nm);
    s->guess = take(at, n);
    s->zero = take(at, n);
    s->w = take(at, N);
    s->whole = take(at, N);
    s->V = take(at, n);
    s->K = take(at, n);
    s->pm = take(at, np + nm);
    s->lambda = take(at, 2 * n);
    s->kappa = take(at, 2 * n);
    s->mu = take(at, 2 * (np + nm));
}

static int allocate(slopes *s, int count)
{
    cursor at = {0};
    layout(s, &at);
    s->seeing = calloc((size_t)count, sizeof *s->seeing);
    s->block = calloc(at.used + 8, sizeof *s->block);
    if (!s->block || !s->seeing)
        return fail(s->st->v, COSTATE_NO_MEMORY, "No memory for y' at events (%zu doubles).", at.used);
    at = (cursor){s->block, 0};
    layout(s, &at);
    return 0;
}

int slopes_new(slopes **out, stepper *c, shifts *sh, const costate_problem *P)
{
    int any = 0;
    for (int k = 0; k < P->nevents; k++) any |= P->event[k].slopes;
    if (!any) return 0;
    slopes *s = calloc(1, sizeof *s);
    if (!s) return fail(c->v, COSTATE_NO_MEMORY, "No memory for y' at events.");
    *out = s;
    s->st = c;
    TRY(allocate(s, 3 * P->nevents));
    s->start.w = s->w;
    TRY(starter_init(&s->start, sh, c->maps, P));
    TRY(starter_columns(&s->start, 2));
    TRY(starter_seconds(&s->start, 1));
    for (int k = 0; k < P->nevents; k++) {
        event_maps *e = &c->maps->events[k];
        map *const parts[] = {&e->guard, &e->jump, &e->cost};
        for (int i = 0; i < 3; i++) see(s, 3 * k + i, parts[i], &P->event[k]);
    }
    return 0;
}

void slopes_forget(slopes *s) { if (s) s->held = 0; }

void slopes_free(slopes *s)
{
    if (!s) return;
    starter_free(&s->start);
    free(s->seeing);
    free(s->block);
    free(s);
}
