/* event_slopes.c - maps of events that see y' of a residual: G(t, y, y', p) as a map of (t, y, p)
   (mathematics, eq. 10.14 to 10.15).

   With S: (t, y, p) -> (y*, k*) of slopes.h,

       value     G(t, y*, k*, p)
       tangent   G'(t', y*', k*', p'),                (y*', k*') = S'(t', y', p')
       adjoint   G_t^T w, G_p^T w,  and S'^T (G_y^T w, G_k^T w)
       second    [G'^T w]' along (t', y*', k*', p') through S'^T, and [S'^T (lambda, kappa)]' with lambda = G_y^T w,
                 kappa = G_k^T w held

   so that the code that runs and differentiates events only sees maps of the state. */
#include <stdlib.h>
#include "maps/differences.h"
#include "ops/slopes.h"

/* a map of an event as a map of the state only; inner: the map of the user */
typedef struct { composed as; map inner; slopes *of; } seeing;

struct event_slopes {
    int count;                  /* of events */
    slopes before, after;       /* an event; after: where there are transitions */
    int ready, with_after;
    seeing *seeing;             /* 3 an event */
    transition **transition;    /* of an event, or NULL */
};

static costate_point consistent_point(const slopes *s, const costate_point *x)
{
    costate_point z = *x;
    z.y = s->start.mine.y;
    z.yp = s->start.mine.k;
    return z;
}

static costate_point consistent_direction(const slopes *s, const costate_point *dx)
{
    costate_point dz = *dx;
    dz.y = s->V;
    dz.yp = s->K;
    return dz;
}

static int value(composed *as, const costate_point *x, double *out)
{
    seeing *f = (seeing *)as;
    TRY(slopes_solve(f->of, x, 0));
    costate_point z = consistent_point(f->of, x);
    return map_code(f->of->st->maps, f->inner.user->value(&z, out, f->inner.ctx), f->inner.name, "value");
}

static int tangent(composed *as, const costate_point *x, const costate_point *dx, double *out)
{
    seeing *f = (seeing *)as;
    TRY(slopes_solve(f->of, x, 1));
    TRY(slopes_tangent(f->of, dx));
    costate_point z = consistent_point(f->of, x), dz = consistent_direction(f->of, dx);
    return map_tangent(f->of->st->maps, &f->inner, &z, &dz, out);
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

static int adjoint(composed *as, const costate_point *x, const double *w, const costate_gradient *g)
{
    seeing *f = (seeing *)as;
    slopes *s = f->of;
    TRY(slopes_solve(s, x, 1));
    slopes_clear(s);
    costate_point z = consistent_point(s, x);
    costate_gradient to = into_values(s, g, 0);
    TRY(map_adjoint(s->st->maps, &f->inner, &z, w, &to));
    return slopes_adjoint(s, g);
}

static int adjoint_tangent(composed *as, const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g)
{
    seeing *f = (seeing *)as;
    slopes *s = f->of;
    TRY(slopes_solve(s, x, 1));
    slopes_clear(s);
    costate_point z = consistent_point(s, x);
    costate_gradient of_functional = into_values(s, &(costate_gradient){.y = NULL}, 0), to = into_values(s, g, 1);
    TRY(map_adjoint(s->st->maps, &f->inner, &z, w, &of_functional));
    TRY(slopes_tangent(s, dx));
    costate_point dz = consistent_direction(s, dx);
    TRY(map_adjoint_tangent(s->st->maps, &f->inner, &z, &dz, w, &to));
    return slopes_second(s, dx, g);
}

/* ---- memory ---- */

static void see(event_slopes *s, int k, map *f)
{
    static const composed ways = {value, tangent, adjoint, adjoint_tangent};
    seeing *to = &s->seeing[k];
    if (f->rows == 0) return;
    *to = (seeing){ways, *f, &s->before};
    map_compose(f, &to->as);
}

static int allocate(event_slopes *s, stepper *c, shifts *sh, const costate_problem *P)
{
    s->seeing = calloc(3 * (size_t)s->count, sizeof *s->seeing);
    s->transition = calloc((size_t)s->count, sizeof *s->transition);
    if (!s->seeing || !s->transition) return fail(c->v, COSTATE_NO_MEMORY, "No memory for y' at events.");
    s->ready = 1;
    TRY(slopes_init(&s->before, c, sh, P));
    for (int k = 0; k < s->count; k++) s->with_after |= P->event[k].transition.value != NULL;
    return s->with_after ? slopes_init(&s->after, c, sh, P) : 0;
}

int event_slopes_new(event_slopes **out, stepper *c, shifts *sh, const costate_problem *P)
{
    int any = 0;
    for (int k = 0; k < P->nevents; k++) any |= P->event[k].slopes || P->event[k].transition.value;
    if (!any) return 0;
    event_slopes *s = calloc(1, sizeof *s);
    if (!s) return fail(c->v, COSTATE_NO_MEMORY, "No memory for y' at events.");
    *out = s;
    s->count = P->nevents;
    TRY(allocate(s, c, sh, P));
    for (int k = 0; k < s->count; k++) {
        event_maps *e = &c->maps->events[k];
        if (P->event[k].transition.value)
            TRY(transition_new(&s->transition[k], &s->before, &s->after, sh, P, k));
        if (!P->event[k].slopes) continue;
        see(s, 3 * k, &e->guard);
        if (!P->event[k].transition.value) see(s, 3 * k + 1, &e->jump);
        see(s, 3 * k + 2, &e->cost);
    }
    return 0;
}

void event_slopes_forget(event_slopes *s)
{
    if (!s) return;
    s->before.held = s->after.held = 0;
    for (int k = 0; k < s->count; k++) if (s->transition[k]) transition_forget(s->transition[k]);
}

void event_slopes_free(event_slopes *s)
{
    if (!s) return;
    for (int k = 0; s->transition && k < s->count; k++) transition_free(s->transition[k]);
    if (s->ready) slopes_free(&s->before);
    if (s->with_after) slopes_free(&s->after);
    free(s->transition);
    free(s->seeing);
    free(s);
}
