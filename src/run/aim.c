/* aim.c - the length of a step within its interval: hitting t1, summing the time, and the messages where no step fits.

   The time is the sum of the steps in twice the precision, t + low.  A record holds the rounded t and the h that was
   used, which is what a replay needs.  With a plain sum, N steps of (t1 - t0)/N could leave a tiny step at the end. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "run/aim.h"

/* No solution requires so small a fraction of its interval, whatever its initial transient.  This bound ends a start
   that fails at t = 0, where any h differs from 0. */
static double least_of(const costate *c, double span)
{
    double least = fmax(DBL_EPSILON * sqrt(DBL_EPSILON) * span, DBL_MIN);
    return c->o.h0 > 0 ? fmin(least, c->o.h0) : least;
}

void set_range(costate *c, double t0, double t1)
{
    double span = fabs(t1 - t0);
    c->in.dir = t1 >= t0 ? 1 : -1;
    c->in.hmin = c->o.hmin > 0 ? c->o.hmin : least_of(c, span);
    c->in.hmax = c->o.hmax > 0 ? c->o.hmax : HUGE_VAL;
    c->maps.bound.dir = c->in.dir;
    c->in.t0 = t0;
    c->in.t1 = t1;
    verdict_at(&c->v, t0);
}

/* options.step_bound; a rejected step only becomes shorter */
static int bounded(costate *c, const run *x, double *h)
{
    *h = HUGE_VAL;
    if (!c->maps.user.bound || x->k.rejected > 0) return 0;
    costate_point at = point(&c->maps, x->t, c->work.y);
    TRY(map_bound(&c->maps, &at, h));
    if (!follows_error_alone(&c->st)) return 0;
    c->remarks.beyond = fmax(c->remarks.beyond, x->by.wanted / *h);
    *h = HUGE_VAL;
    return 0;
}

/* that the family allows */
static int longest_stable(costate *c, run *x, double *h)
{
    *h = HUGE_VAL;
    if (!c->st.F->longest) return 0;
    x->now.t = x->t;
    return c->st.F->longest(&c->st, &x->now, &x->by, h);
}

int longest_step(costate *c, run *x, double *h)
{
    double most;
    maps_bind_start(&c->maps, x->t);
    x->by.wanted = less(fabs(x->h_free), fabs(x->end - x->t));
    TRY(bounded(c, x, &most));
    TRY(longest_stable(c, x, h));
    *h = less(*h, most);
    return 0;
}

/* names the bound below which h is */
static const char *bound(const costate *c, const run *x)
{
    if (round_off_of(x->t) > c->in.hmin) return "round-off of t: shift the time, so that t is counted from near here";
    if (c->o.hmin > 0) return "options.hmin";
    return c->in.hmin == c->o.h0 ? "options.h0" : "eps^(3/2) |t1 - t0|";
}

/* a try failed, and h cannot be reduced */
int give_up(costate *c, const run *x)
{
    char limit[120] = "is fixed";
    if (c->o.controller != COSTATE_FIXED)
        snprintf(limit, sizeof limit, "is below %.3g (%s)", fmax(c->in.hmin, round_off_of(x->t)), bound(c, x));
    return fail(&c->v, cause_status(c->v.why), "Method %s stopped at t = %.10g after %ld accepted and %ld rejected "
                "steps: h = %.3g %s, and at the last try %s.", c->st.m->name, x->t, c->at, x->rejected,
                fabs(x->h), limit, cause_text(c->v.why));
}

/* the first entry of J that is not finite: where a product is not, J is what it was */
static void first_wrong(const costate *c, char *text, size_t size)
{
    const double *J = c->st.lin.J;
    size_t n = (size_t)c->st.n, k = 0, j = 0;
    const costate_pattern *a = c->maps.pattern;
    while (J && k < c->maps.entries && isfinite(J[k])) k++;
    if (!J || k == c->maps.entries) return;
    while (a && (size_t)a->col[j + 1] <= k) j++;
    snprintf(text, size, ", in row %zu and column %zu", a ? (size_t)a->row[k] : k % n, a ? j : k / n);
}

int no_jacobian(costate *c, const run *x)
{
    char where[80] = "";
    if (c->v.why == WHY_JAC) first_wrong(c, where, sizeof where);
    return fail(&c->v, cause_status(c->v.why), "Method %s stopped at t = %.10g after %ld accepted and %ld rejected "
                "steps: %s at the start of the step%s, where no shorter step changes it.", c->st.m->name, x->t, c->at,
                x->rejected, cause_text(c->v.why), where);
}

/* h is too small before anything was tried */
int no_room(costate *c, const run *x)
{
    return fail(&c->v, COSTATE_STEP_TOO_SMALL, "Method %s cannot take its %s step at t = %.10g, after %ld accepted and "
                "%ld rejected steps: h = %.3g is below %.3g (%s).", c->st.m->name, c->at == 0 ? "first" : "next", x->t,
                c->at, x->rejected, fabs(x->h), fmax(c->in.hmin, round_off_of(x->t)), bound(c, x));
}
