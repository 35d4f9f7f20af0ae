/* effort.c - the work of the steps of a composite method, counted with fixed prices (mathematics, eq. 13.23 to 13.24):
   if it were measured, runs would not repeat bit for bit. */
#include <math.h>
#include "run/rule.h"

/* Prices in evaluations of f, which is thought to take 4 operations for each unknown and one for each entry of J.  A
   factorisation of a dense matrix takes 2/3 n^3 operations; that of a sparse one with `fill` entries takes 30 for each,
   as they are found by their indices, and fill^2/n.  Measured, in evaluations of f: 42 for a band (100 unknowns), 135
   and 774 for KLU (441 and 512 unknowns in two dimensions).  LEAST: what small systems take
   (docs/explanation/choosing.md). */
static const double LEAST_LU = 10, LEAST_SOLVE = 2, JACOBIAN = 2, PRODUCT = 1.5, COMPLEX_LU = 1.8, COMPLEX_SOLVE = 2;
static const double PER_ENTRY = 30, PER_SOLVE = 4;

static double price_of_f(const costate *c)
{
    return 4.0 * c->st.n + (double)c->maps.entries;
}

/* entries of the factors; before there are any, those of nested dissection in two dimensions */
static double entries_of_factors(const costate *c)
{
    const factors *f = c->st.fac;
    double n = c->st.n, dense = c->P.pattern == NULL, bytes = f ? (double)factors_bytes(f) : 0;
    if (dense) return n * n;
    if (bytes > 0) return bytes / 12 / (f->nreal + 2 * f->npair);
    return (double)c->maps.entries * log2(n + 1);
}

void effort_prices(costate *c)
{
    rule *x = &c->rule;
    double n = c->st.n, dense = c->P.pattern == NULL, fill = entries_of_factors(c), one = price_of_f(c);
    double lu = dense ? 2.0 / 3 * n * n * n : PER_ENTRY * fill + fill * fill / n;
    x->lu = fmax(LEAST_LU, lu / one);
    x->solve = fmax(LEAST_SOLVE, (dense ? 2 : PER_SOLVE) * fill / one);
}

effort effort_plus(effort a, double s, effort b)
{
    return (effort){a.f + s * b.f, a.factorisations + s * b.factorisations, a.solutions + s * b.solutions};
}

effort effort_so_far(const costate *c)
{
    const costate_stats *s = &c->count;
    return (effort){(double)s->f + JACOBIAN * (double)s->jac + PRODUCT * (double)(s->krylov + s->products + s->power),
                    (double)s->decompositions + COMPLEX_LU * (double)s->complex_decompositions,
                    (double)s->solves + COMPLEX_SOLVE * (double)s->complex_solves};
}

void effort_aside(costate *c, effort since)
{
    c->rule.done = effort_plus(c->rule.done, 1, effort_plus(effort_so_far(c), -1, since));
}

/* work per unit of time in the last steps */
double effort_rate(const rule *x)
{
    double length = 0, price = 0;
    for (int k = 0; k < RECENT; k++) { length += x->length[k]; price += x->price[k]; }
    return length > 0 ? price / length : 0;
}

/* the work of this step among the last */
void effort_note(costate *c, const record *r)
{
    rule *x = &c->rule;
    effort all = effort_so_far(c), step = effort_plus(all, -1, x->done);
    int at = x->taken % RECENT;
    x->length[at] = fabs(r->h);
    x->price[at] = fmax(0, step.f + x->lu * step.factorisations + x->solve * step.solutions);
    x->done = all;
}

/* what a stiff step takes, about */
double effort_of_stiff(const rule *x) { return 3 * x->lu + 10 * x->solve + 20; }
