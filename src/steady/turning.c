/* turning.c (steady) - derivatives of linear invariants that depend on parameters (mathematics, eq. 17.4, 17.7, 17.8).

   w(p)^T M (y* - y0) = 0 has the derivatives

       w . M (y' - dy0)  = w . E_yp[z, dp],                                     E_y z  = M (y* - y0)
       w . M y''         = w . (E_ypp[z, dp1, dp2] + E_yp[z1', dp2] + E_yp[z2', dp1]),
                                                                                E_y z' = M (y' - dy0) - E_yp[z, dp]

   where z' is one for each direction, and both systems are solved with I_y z = 0.  p stands for p and m. */
#include <string.h>
#include "base/vec.h"
#include "steady/steady.h"

/* is it known whether a derivative with respect to p has a part from the invariants? */
static int turning_known(steady *s, const limit *x)
{
    if (x->turns >= 0) return 0;
    return fail(&s->v, COSTATE_MISSING, "Whether the linear invariants of f depend on parameters is seen from "
                "rhs.tangent, which is missing; options.invariant takes invariants.");
}

static int has_third(const steady *s)
{
    return s->maps.rhs.user->adjoint_tangent2 || s->maps.differences;
}

static costate_point by_parameters(const costate_point *d) { return (costate_point){.p = d->p, .m = d->m}; }

/* sum of nu_i w_i, n */
static double *combined(const steady *s, const limit *x, const double *nu)
{
    size_t n = (size_t)s->n;
    memset(s->turn.w, 0, n * sizeof *s->turn.w);
    for (int i = 0; i < x->k; i++) axpy(n, nu[i], x->w + (size_t)i * n, s->turn.w);
    return s->turn.w;
}

/* out_i += w_i . in */
static void add_products(const steady *s, const limit *x, const double *in, double *out)
{
    for (int i = 0; i < x->k; i++) out[i] += dot((size_t)s->n, x->w + (size_t)i * (size_t)s->n, in);
}

int steady_turn_tangent(steady *s, const limit *x, const costate_point *d, double *out)
{
    if (!x->turns || !(d->p || d->m)) return 0;
    TRY(turning_known(s, x));
    costate_point at = steady_point(s, x->y), by = by_parameters(d);
    TRY(equation_tangent2(&s->maps, &at, &(costate_point){.y = x->z}, &by, s->e));
    add_products(s, x, s->e, out);
    return 0;
}

int steady_turn_adjoint(steady *s, const limit *x, const double *nu, const costate_gradient *g)
{
    if (!x->turns || !(g->p || g->m)) return 0;
    TRY(turning_known(s, x));
    costate_point at = steady_point(s, x->y);
    return equation_adjoint_tangent(&s->maps, &at, &(costate_point){.y = x->z}, combined(s, x, nu),
                                    &(costate_gradient){.p = g->p, .m = g->m});
}

/* ---- second order ---- */

/* z' along d, where y* moves by dy */
static int moved(steady *s, const limit *x, const costate_point *d, const double *dy, double *z)
{
    size_t n = (size_t)s->n;
    costate_point at = steady_point(s, x->y), by = by_parameters(d);
    memset(s->e, 0, n * sizeof *s->e);
    if (d->p || d->m) TRY(equation_tangent2(&s->maps, &at, &(costate_point){.y = x->z}, &by, s->e));
    memset(s->d, 0, n * sizeof *s->d);
    add_scaled(n, s->r, dy, -1, d->y ? d->y : s->maps.room.zeros);
    mass_multiply(&s->maps, 0, 1, 1, s->r, s->d);
    memset(z, 0, n * sizeof *z);
    for (int i = 0; i < s->n - x->k; i++) z[i] = s->d[x->row[i]] - s->e[x->row[i]];
    return steady_solve(s, 0, 1, z);
}

/* w_i . E_ypp[z, a, b], added */
static int third(steady *s, const limit *x, const costate_point *a, const costate_point *b, double *out)
{
    costate_point at = steady_point(s, x->y);
    for (int i = 0; i < x->k; i++) {
        memset(s->unit, 0, (size_t)(s->np + s->nm) * sizeof *s->unit);
        costate_gradient g = {.p = s->np ? s->unit : NULL, .m = s->nm ? s->unit + s->np : NULL};
        memcpy(s->turn.w, x->w + (size_t)i * (size_t)s->n, (size_t)s->n * sizeof *s->turn.w);
        TRY(equation_adjoint_tangent2(&s->maps, &at, &(costate_point){.y = x->z}, a, s->turn.w, &g));
        if (b->p) out[i] += dot((size_t)s->np, s->unit, b->p);
        if (b->m) out[i] += dot((size_t)s->nm, s->unit + s->np, b->m);
    }
    return 0;
}

/* w_i . E_yp[z', d], z' in s->turn.z, added */
static int crossed(steady *s, const limit *x, const costate_point *d, double *out)
{
    costate_point at = steady_point(s, x->y);
    if (!(d->p || d->m)) return 0;
    TRY(equation_tangent2(&s->maps, &at, &(costate_point){.y = s->turn.z}, d, s->e));
    add_products(s, x, s->e, out);
    return 0;
}

int steady_turn_known2(steady *s, const limit *x)
{
    if (!x->turns) return 0;
    TRY(turning_known(s, x));
    return has_third(s) ? 0 : fail(&s->v, COSTATE_MISSING, "The linear invariants of f depend on parameters: second "
                                   "derivatives need rhs.adjoint_tangent2, or the invariants as options.invariant.");
}

int steady_turn_tangent2(steady *s, const limit *x, const costate_point *a, const double *dya, const costate_point *b,
                         const double *dyb, double *out)
{
    costate_point by_a = by_parameters(a), by_b = by_parameters(b);
    if (!x->turns) return 0;
    if ((a->p || a->m) && (b->p || b->m)) TRY(third(s, x, &by_a, &by_b, out));
    TRY(moved(s, x, a, dya, s->turn.z));
    TRY(crossed(s, x, &by_b, out));
    TRY(moved(s, x, b, dyb, s->turn.z));
    return crossed(s, x, &by_a, out);
}

/* the part of z2': with h = W . E_yp[., d] and A^T kappa = h, K the vector of kappa_R in the rows R */
static int back_through_moved(steady *s, const limit *x, const costate_point *by, double *to_y,
                              const costate_gradient *g)
{
    size_t n = (size_t)s->n;
    costate_point at = steady_point(s, x->y);
    double *h = s->turn.z, *K = s->d;
    memset(h, 0, n * sizeof *h);
    TRY(equation_adjoint_tangent(&s->maps, &at, by, s->turn.w, &(costate_gradient){.y = h}));
    TRY(steady_solve(s, 1, 1, h));
    memset(K, 0, n * sizeof *K);
    for (int i = 0; i < s->n - x->k; i++) K[x->row[i]] = h[i];
    mass_multiply(&s->maps, 1, 1, 1, K, to_y);
    if (g->y) mass_multiply(&s->maps, 1, -1, 1, K, g->y);
    if (!(g->p || g->m)) return 0;
    add_scaled(n, K, NULL, -1, K);
    return equation_adjoint_tangent(&s->maps, &at, &(costate_point){.y = x->z}, K,
                                    &(costate_gradient){.p = g->p, .m = g->m});
}

int steady_turn_adjoint_tangent(steady *s, const limit *x, const costate_point *d, const double *dy, const double *nu,
                                double *to_y, const costate_gradient *g)
{
    costate_point at = steady_point(s, x->y), by = by_parameters(d);
    const costate_gradient of_p = {.p = g->p, .m = g->m};
    if (!x->turns) return 0;
    TRY(moved(s, x, d, dy, s->turn.z));
    combined(s, x, nu);
    if (g->p || g->m)
        TRY(equation_adjoint_tangent(&s->maps, &at, &(costate_point){.y = s->turn.z}, s->turn.w, &of_p));
    if (!(d->p || d->m)) return 0;
    if (g->p || g->m)
        TRY(equation_adjoint_tangent2(&s->maps, &at, &(costate_point){.y = x->z}, &by, s->turn.w, &of_p));
    return back_through_moved(s, x, &by, to_y, g);
}
