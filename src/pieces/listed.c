/* listed.c - a list of measured values at the times of observation: what sweeps need of J, the sum of -log(likelihood).

   Values that share a time and replaced parameters are evaluated together: a group.  With u = h(t, y, P p) its outputs,
   where P puts the replaced parameters in their places, and L the sum of its terms:

       seed    h_y^T L_u,  P^T h_p^T L_u
       seed2   along (V, Vp): u' = h'(V, P Vp), and h_y^T L_uu u' + (h''[(V, P Vp), .])^T L_u, likewise with respect
               to p; Gauss-Newton: the first term with the expectation of L_uu, the Fisher information */
#include <math.h>
#include <string.h>
#include "pieces/pieces.h"

typedef struct { int from, to; } group;

static const costate_measured *item(const costate_misfit *s, int i) { return s->given.list + i; }

static group next_group(const costate_misfit *s, int k, int from)
{
    const costate_measured *a = item(s, from);
    int to = from + 1, end = s->start[k + 1];
    while (to < end && item(s, to)->first == a->first && item(s, to)->replaced == a->replaced) to++;
    return (group){from, to};
}

/* ---- replaced parameters ---- */

/* P p: of numbers, or with `fixed` = 0 of a direction */
static const double *placed(const costate_misfit *s, const costate_measured *a, const double *p, double fixed,
                            double *out)
{
    if (!p || !a->replaced) return p;
    memcpy(out, p, (size_t)s->np * sizeof *out);
    for (int j = a->first; j < a->first + a->replaced; j++) {
        const costate_replaced *r = s->given.replaced + j;
        out[r->parameter] = r->by >= 0 ? p[r->by] : fixed * r->value;
    }
    return out;
}

/* adds P^T of the gradient in s->of_p, and clears it */
static void add_placed(costate_misfit *s, const costate_measured *a, double *to)
{
    for (int j = a->first; j < a->first + a->replaced; j++) {
        const costate_replaced *r = s->given.replaced + j;
        if (r->by >= 0) to[r->by] += s->of_p[r->parameter];
        s->of_p[r->parameter] = 0;
    }
    for (int i = 0; i < s->np; i++) to[i] += s->of_p[i], s->of_p[i] = 0;
}

/* ---- a group ---- */

static double sigma_at(const costate_misfit *s, const costate_measured *a)
{
    return a->noise >= 0 ? s->u[a->noise] : a->sigma;
}

static int sigma_sound(costate_misfit *s, int i, double t)
{
    double sigma = sigma_at(s, item(s, i));
    if (sigma > 0) return 0;
    return s->v.status ? -1 : fail(&s->v, COSTATE_NOT_FINITE, "The sigma of measurements.list[%d] is %g at t = %.10g: "
                                   "it must be positive.", i, sigma, t);
}

/* u, the residuals, J of the group, and L_u in s->weight */
static int evaluate(costate_misfit *s, group g, const costate_point *x, double *J)
{
    TRY(observed_checked(s, s->given.output.value(x, s->u, s->given.ctx), "value", x->t));
    memset(s->weight, 0, (size_t)s->given.outputs * sizeof *s->weight);
    for (int i = g.from; i < g.to; i++) {
        const costate_measured *a = item(s, i);
        likelihood of;
        TRY(sigma_sound(s, i, x->t));
        likelihood_of(a, s->u[a->output], sigma_at(s, a), &of);
        s->out[i] = s->u[a->output];
        s->r[i] = of.r;
        *J += of.L;
        s->weight[a->output] += of.f;
        if (a->noise >= 0) s->weight[a->noise] += of.s;
    }
    return 0;
}

static costate_point point(const costate_misfit *s, int i, double t, const double *y)
{
    return (costate_point){.t = t, .y = y, .p = placed(s, item(s, i), s->p, 1, s->place)};
}

static costate_point along(const costate_misfit *s, int i, int j, const double *V)
{
    const double *Vp = s->Vp ? s->Vp + (size_t)j * (size_t)s->np : NULL;
    return (costate_point){.y = V + (size_t)j * (size_t)s->n, .p = placed(s, item(s, i), Vp, 0, s->place2)};
}

/* u' along a direction, in s->du */
static int tangent(costate_misfit *s, const costate_point *x, const costate_point *dx)
{
    TRY(observed_there(s, s->given.output.tangent != NULL, "tangent", x->t));
    return observed_checked(s, s->given.output.tangent(x, dx, s->du, s->given.ctx), "tangent", x->t);
}

/* w += h_y^T weight, direct += P^T h_p^T weight; either may be NULL */
static int back(costate_misfit *s, int i, const costate_point *x, const double *weight, double *w, double *direct)
{
    costate_gradient g = {.y = w, .p = direct ? s->of_p : NULL};
    TRY(observed_there(s, s->given.output.adjoint != NULL, "adjoint", x->t));
    TRY(observed_checked(s, s->given.output.adjoint(x, weight, &g, s->given.ctx), "adjoint", x->t));
    if (direct) add_placed(s, item(s, i), direct);
    return 0;
}

/* ---- callbacks ---- */

int listed_value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    costate_misfit *s = ctx;
    size_t rows = (size_t)s->given.count;
    s->J[k] = 0;
    for (group g = {0, s->start[k]}; g.to < s->start[k + 1];) {
        g = next_group(s, k, g.to);
        costate_point x = point(s, g.from, t, y);
        TRY(evaluate(s, g, &x, &s->J[k]));
        for (int j = 0; s->R && j < m; j++) {
            costate_point dx = along(s, g.from, j, V);
            TRY(tangent(s, &x, &dx));
            for (int i = g.from; i < g.to; i++) {
                const costate_measured *a = item(s, i);
                likelihood of;
                likelihood_of(a, s->u[a->output], sigma_at(s, a), &of);
                s->R[(size_t)j * rows + (size_t)i] = of.r_f * s->du[a->output] +
                                                     (a->noise >= 0 ? of.r_s * s->du[a->noise] : 0);
            }
        }
    }
    return 0;
}

int listed_seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    costate_misfit *s = ctx;
    (void)m;
    s->J[k] = 0;
    for (group g = {0, s->start[k]}; g.to < s->start[k + 1];) {
        g = next_group(s, k, g.to);
        costate_point x = point(s, g.from, t, y);
        TRY(evaluate(s, g, &x, &s->J[k]));
        TRY(back(s, g.from, &x, s->weight, w, s->direct));
    }
    return 0;
}

/* L_uu u' in s->weight2; expected: its expectation */
static void curve(costate_misfit *s, group g, int expected)
{
    memset(s->weight2, 0, (size_t)s->given.outputs * sizeof *s->weight2);
    for (int i = g.from; i < g.to; i++) {
        const costate_measured *a = item(s, i);
        likelihood of;
        likelihood_of(a, s->u[a->output], sigma_at(s, a), &of);
        double df = s->du[a->output], ds = a->noise >= 0 ? s->du[a->noise] : 0;
        s->weight2[a->output] += expected ? of.expected_ff * df : of.ff * df + of.fs * ds;
        if (a->noise >= 0) s->weight2[a->noise] += expected ? of.expected_ss * ds : of.fs * df + of.ss * ds;
    }
}

/* w NULL: Gauss-Newton */
static int second(costate_misfit *s, group g, const costate_point *x, int j, const double *V, double *w, double *w2)
{
    costate_point dx = along(s, g.from, j, V);
    double *direct2 = s->direct2 ? s->direct2 + (size_t)j * (size_t)s->np : NULL;
    costate_gradient to = {.y = w2, .p = direct2 ? s->of_p : NULL};
    TRY(tangent(s, x, &dx));
    curve(s, g, !w);
    if (w) {
        TRY(observed_checked(s, s->given.output.adjoint_tangent(x, &dx, s->weight, &to, s->given.ctx),
                             "adjoint_tangent", x->t));
        if (direct2) add_placed(s, item(s, g.from), direct2);
    }
    return back(s, g.from, x, s->weight2, w2, direct2);
}

int listed_seed2(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    costate_misfit *s = ctx;
    TRY(observed_there(s, !w || s->given.output.adjoint_tangent, "adjoint_tangent", t));
    s->J[k] = 0;
    for (group g = {0, s->start[k]}; g.to < s->start[k + 1];) {
        g = next_group(s, k, g.to);
        costate_point x = point(s, g.from, t, y);
        TRY(evaluate(s, g, &x, &s->J[k]));
        if (w) TRY(back(s, g.from, &x, s->weight, w, s->direct));
        for (int j = 0; j < m; j++) TRY(second(s, g, &x, j, V, w, w2 + (size_t)j * (size_t)s->n));
    }
    return 0;
}
