/* derive.c (steady) - derivatives of a steady state by the start, parameters and memory variables
   (mathematics, eq. 17.5, 17.6).

   With d = (dy0, dp) and y' its tangent,

       A y'        = [-E_R,p dp;  I_y(y0) dy0 + I_p(y0) dp - I_p(y*) dp + w . E_yp[z, dp]]
       A y''       = -G''[(y*', d), (y*', d)]
       w.y''       = -mu . G''[(y*', d), (y*', .)],     A^T mu = w

   p stands for p and m.  G'' is E'' in the rows R, I''(y*) - I''(y0) in the others.  The last term, and what it adds to
   G'', are those of linear invariants that depend on p (turning.c). */
#include <string.h>
#include "base/vec.h"
#include "steady/steady.h"

/* the direction that d is for f and I at y*: (y', dp, dm); y NULL: zero */
static costate_point beside(const double *y, const costate_point *d)
{
    return (costate_point){.y = y, .p = d->p, .m = d->m};
}

/* out <- -e_R, in the order of G */
static void gather(const steady *s, const limit *x, const double *e, double *out)
{
    for (int i = 0; i < s->n - x->k; i++) out[i] = -e[x->row[i]];
}

/* e_R <- -in, and zeros elsewhere */
static void scatter(const steady *s, const limit *x, const double *in, double *e)
{
    memset(e, 0, (size_t)s->n * sizeof *e);
    for (int i = 0; i < s->n - x->k; i++) e[x->row[i]] = -in[i];
}

int steady_tangent_at(steady *s, const limit *x, const costate_point *d, double *out)
{
    int of_f = s->n - x->k;
    costate_point at = steady_point(s, x->y), along = beside(NULL, d);
    TRY(equation_tangents(&s->maps, &at, 1, &along, NULL, 0, s->e, (size_t)s->n));
    gather(s, x, s->e, out);
    if (x->k > 0) {
        TRY(invariant_tangent(s, x, x->y0, d, out + of_f));
        TRY(invariant_tangent(s, x, x->y, &along, s->e));
        axpy((size_t)x->k, -1, s->e, out + of_f);
        TRY(steady_turn_tangent(s, x, d, out + of_f));
    }
    return steady_solve(s, 0, 1, out);
}

int steady_adjoint_at(steady *s, const limit *x, const double *w, const costate_gradient *g)
{
    int of_f = s->n - x->k;
    costate_point at = steady_point(s, x->y);
    costate_gradient by_p = {.p = g->p, .m = g->m};
    memcpy(s->back, w, (size_t)s->n * sizeof *w);
    TRY(steady_solve(s, 1, 1, s->back));
    scatter(s, x, s->back, s->weights);
    if (g->p || g->m) TRY(equation_adjoints(&s->maps, &at, 1, s->weights, (size_t)s->n, &by_p, NULL, 0));
    if (x->k == 0) return 0;
    TRY(invariant_adjoint(s, x, x->y0, s->back + of_f, g));
    add_scaled((size_t)x->k, s->weights, NULL, -1, s->back + of_f);
    if (g->p || g->m) TRY(invariant_adjoint(s, x, x->y, s->weights, &by_p));
    return steady_turn_adjoint(s, x, s->back + of_f, g);
}

/* ---- second order ---- */

static int own_tangent2(steady *s, const double *y, const costate_point *a, const costate_point *b, double *out)
{
    costate_point at = point(&s->own.maps, s->o.t0, y);
    return map_tangent2(&s->own.maps, &s->own.map, &at, a, b, out);
}

int steady_tangent2_at(steady *s, const limit *x, const costate_point *a, const costate_point *b, double *out)
{
    int of_f = s->n - x->k;
    costate_point at = steady_point(s, x->y);
    TRY(steady_turn_known2(s, x));
    TRY(steady_tangent_at(s, x, a, s->to));
    TRY(steady_tangent_at(s, x, b, s->to2));
    costate_point one = beside(s->to, a), two = beside(s->to2, b);
    if (s->maps.residual) one.yp = two.yp = s->maps.room.zeros;
    TRY(equation_tangent2(&s->maps, &at, &one, &two, s->e));
    gather(s, x, s->e, out);
    memset(out + of_f, 0, (size_t)x->k * sizeof *out);
    if (steady_given(s)) {
        TRY(own_tangent2(s, x->y0, a, b, out + of_f));
        TRY(own_tangent2(s, x->y, &one, &two, s->e));
        axpy((size_t)x->k, -1, s->e, out + of_f);
    }
    TRY(steady_turn_tangent2(s, x, a, s->to, b, s->to2, out + of_f));
    return steady_solve(s, 0, 1, out);
}

/* g += factor (I''(y)[d, .])^T nu */
static int own_second(steady *s, const double *y, const costate_point *d, int k, double factor, const double *nu,
                      const costate_gradient *g)
{
    costate_point at = point(&s->own.maps, s->o.t0, y);
    add_scaled((size_t)k, s->e, NULL, factor, nu);
    return map_adjoint_tangent(&s->own.maps, &s->own.map, &at, d, s->e, g);
}

int steady_adjoint_tangent_at(steady *s, const limit *x, const costate_point *d, const double *w,
                              const costate_gradient *g)
{
    size_t n = (size_t)s->n;
    int of_f = s->n - x->k;
    costate_point at = steady_point(s, x->y);
    costate_gradient here = {.y = s->z, .p = g->p, .m = g->m};
    TRY(steady_turn_known2(s, x));
    TRY(steady_tangent_at(s, x, d, s->to));
    costate_point along = beside(s->to, d);
    if (s->maps.residual) along.yp = s->maps.room.zeros;
    memcpy(s->back, w, n * sizeof *w);
    TRY(steady_solve(s, 1, 1, s->back));
    memset(s->z, 0, n * sizeof *s->z);
    scatter(s, x, s->back, s->weights);
    TRY(equation_adjoint_tangent(&s->maps, &at, &along, s->weights, &here));
    if (steady_given(s)) {
        TRY(own_second(s, x->y, &along, x->k, -1, s->back + of_f, &here));
        TRY(own_second(s, x->y0, d, x->k, 1, s->back + of_f, g));
    }
    TRY(steady_turn_adjoint_tangent(s, x, d, s->to, s->back + of_f, s->z, g));
    memcpy(s->to, s->z, n * sizeof *s->to);
    return steady_adjoint_at(s, x, s->to, g);
}
