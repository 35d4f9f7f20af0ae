/* effort.c - the work of the steps of a composite method, counted with fixed prices (mathematics, eq. 13.23 to 13.24):
   if it were measured, runs would not repeat bit for bit. */
#include <math.h>
#include "choice/effort.h"

/* Prices in evaluations of f, which is thought to take 4 operations for each unknown and one for each entry of J.  A
   multiplication with its addition is two operations.  Each entry of the factors of a band or of a sparse matrix takes
   PER_ENTRY more in a factorisation, and PER_SOLVE in a solution, because it is found by its index.  Measured
   factorisations in evaluations of f, with the price in brackets: band with 100 and 1000 unknowns 27 (28) and 27 (28);
   KLU on networks of 60 and 109 unknowns 86 (50) and 123 (60), on grids in two dimensions with 288, 400, 800 and 1600
   unknowns 147 (212), 55 (83), 347 (484) and 126 (149); UMFPACK on grids with 2048 and 8192 unknowns 1140 (767) and
   1042 (2313).  LEAST: what small systems take (docs/explanation/choosing.md). */
static const double LEAST_LU = 10, LEAST_SOLVE = 2;
static const double PER_ENTRY = 30, PER_SOLVE = 4;
/* A Jacobian or a product with it counts as an evaluation, a complex factorisation or solution as COMPLEX real ones. */
static const double COMPLEX = 2;

int effort_prices(costate *c)
{
    rule *x = &c->rule;
    shifts *s = stiff_member(&c->st)->sh;
    double f = 4.0 * c->st.n + (double)c->maps.entries, work, entries;
    if (x->lu > 0 || !s->backend) return 0;     /* without stiff members there is nothing to price */
    shifts_choose(s);
    int code = LS_Counts(s->backend, c->st.n, c->maps.pattern, &work, &entries);
    TRY(shifts_code(c->st.sh, s->backend, code, WHY_SINGULAR));
    x->lu = fmax(LEAST_LU, (2 * work + (s->backend->dense ? 0 : PER_ENTRY * entries)) / f);
    x->solve = fmax(LEAST_SOLVE, (s->backend->dense ? 2 : PER_SOLVE) * entries / f);
    return 0;
}

effort effort_plus(effort a, double s, effort b)
{
    return (effort){a.f + s * b.f, a.factorisations + s * b.factorisations, a.solutions + s * b.solutions};
}

effort effort_so_far(const costate *c)
{
    const costate_stats *s = &c->count;
    return (effort){(double)(s->f + s->jac + s->krylov + s->products + s->power),
                    (double)s->decompositions + COMPLEX * (double)s->complex_decompositions,
                    (double)s->solves + COMPLEX * (double)s->complex_solves};
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

/* work of one of them */
double effort_of_step(const rule *x)
{
    double price = 0;
    for (int k = 0; k < RECENT; k++) price += x->price[k];
    return price / RECENT;
}

/* the work of this step among the last */
void effort_note(costate *c, const record *r)
{
    rule *x = &c->rule;
    effort all = effort_so_far(c), step = effort_plus(all, -1, x->done);
    int at = x->taken % RECENT;
    x->length[at] = fabs(r->h);
    x->price[at] = fmax(0, step.f + x->lu * step.factorisations + x->solve * step.solutions);
    x->spent += x->price[at];
    x->done = all;
}

/* what a stiff step takes, about */
double effort_of_stiff(const rule *x) { return 3 * x->lu + 10 * x->solve + 20; }
