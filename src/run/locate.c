/* locate.c - the length of a step that ends where a guard is zero: e(h) = 0, over the step that is solved again
   (mathematics, section 10.3).

   Newton's iteration with the slope of the dense output, corrected by differences of e itself while they tell more than
   round-off, inside a bracket where there is one: whose ends were seen by the dense output, and are looked at where the
   iteration leaves it.  It ends at round-off: of h, or, where e has more, where corrections do not get smaller; and at
   the shortest step that the time can tell. */
#include <float.h>
#include <math.h>
#include "run/watch.h"

enum { TRIES = 80, NEWTON = 12 };

typedef struct {
    double h, e, step, slope;   /* the last try; from it to the next one */
    double low, high;
    int low_seen, high_seen;    /* with the step itself */
    double last;                /* correction before this one */
    int final;                  /* what the next one finds is round-off */
} iterate;

static int bracketed(const search *s) { return s->low != s->high; }

/* Newton's, or an end of the bracket that it leaves and that was not tried, or its middle, there or where it is slow */
static double next(const search *s, const iterate *x, int k)
{
    double h = x->h + x->step, part = (h - x->low) / (x->high - x->low);
    if (!bracketed(s) || (part > 0 && part < 1 && k < NEWTON)) return h;
    if (!x->high_seen && (part >= 1 || k >= NEWTON)) return x->high;
    if (!x->low_seen && part <= 0) return x->low;
    return x->low + (x->high - x->low) / 2;
}

/* the bracket with what was found at x->h; below its lower end a wider one */
static void narrow(const search *s, iterate *x)
{
    int before = x->e * s->sign > 0, at_low = x->h == x->low;
    if (before) {
        x->low = x->h;
        x->low_seen = 1;
        return;
    }
    x->high = x->h;
    x->high_seen = 1;
    if (!at_low) return;
    x->low = fabs(x->low) > 4 * s->least ? x->low / 4 : copysign(s->least, x->low);
    x->low_seen = 0;
}

/* differences say more of the slope than the dense output while e is far from round-off */
static void improve(iterate *x, double h, double e)
{
    double slope = (e - x->e) / (h - x->h);
    if (fabs(h - x->h) > 1e-8 * fabs(h) && fabs(slope) < HUGE_VAL && slope / x->slope > 0.1) x->slope = slope;
}

/* Is h as good as it gets?  At a few last digits of h where corrections hardly fall any more, elsewhere where they
   grow; or where the last one left, by its rate, less than round-off, and this one finds so. */
static int settled(const search *s, const iterate *x, double miss)
{
    double rough = fmax(1e-9 * fabs(x->h), 8 * DBL_EPSILON * fabs(s->t));
    if (miss <= s->enough || miss <= 2 * DBL_EPSILON * fabs(x->h)) return 1;
    if (x->final && miss <= 4 * DBL_EPSILON * fmax(fabs(s->t), fabs(x->h))) return 1;
    if (miss <= fmax(8 * fabs(x->h), fabs(s->t) / 2) * DBL_EPSILON) return miss > x->last / 4;
    return miss >= x->last && miss <= rough;
}

static int not_found(const search *s, const iterate *x)
{
    return fail(s->v, COSTATE_BAD_EVENT, "event[%d] could not be located in the step from t = %.10g: with h = %.17g "
                "its guard is %.3g.", s->event, s->t, x->h, x->e);
}

int search_step(const search *s, double *h, double *miss, double *slope)
{
    iterate x = {.h = *h, .slope = s->slope, .low = s->low, .high = s->high, .last = HUGE_VAL};
    TRY(s->solve(s->ctx, x.h, &x.e));
    for (int k = 0; k < TRIES; k++) {
        double e;
        x.step = -x.e / x.slope;
        *h = x.h;
        *slope = x.slope;
        *miss = fabs(x.step);
        if (settled(s, &x, *miss)) return 0;
        x.final = x.last < HUGE_VAL && *miss / x.last * *miss <= 2 * DBL_EPSILON * fabs(x.h);
        x.last = *miss;
        if (bracketed(s)) {
            narrow(s, &x);
            if (x.low == s->high) return ABSENT;
            if (x.high_seen && fabs(x.high) <= s->least) return 0;
            if (fabs(x.high - x.low) <= 4 * DBL_EPSILON * fabs(x.h)) return 0;
        }
        double to = next(s, &x, k);
        TRY(s->solve(s->ctx, to, &e));
        improve(&x, to, e);
        x.h = to;
        x.e = e;
    }
    return not_found(s, &x);
}
