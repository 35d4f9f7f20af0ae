/* locate.c - the length h of a step at whose end a guard is zero: e(h) = 0, each e being a solution of the step
   (mathematics, section 10.3).

   Newton's iteration starts with the slope of the dense output and corrects it by differences of e, as long as these
   exceed round-off.  Where a bracket is known, the iteration stays inside it.  The ends of the bracket come from the
   dense output; they are verified with the step itself when the iteration leaves the bracket.  The iteration ends at
   the round-off of h; if that of e is larger, where corrections no longer decrease; or at the shortest step that can be
   represented at this time. */
#include <float.h>
#include <math.h>
#include "run/watch.h"

enum { TRIES = 80, NEWTON = 12 };

typedef struct {
    double h, e, step, slope;   /* of the last try; step: from its h to the next one */
    double low, high;           /* bracket */
    int low_seen, high_seen;    /* whether its ends were verified with the step itself */
    double last;                /* size of the previous correction */
    int final;                  /* the next correction is expected to be round-off */
} iterate;

static int bracketed(const search *s) { return s->low != s->high; }

/* The next h: that of Newton's iteration; where this leaves the bracket, the end of the bracket that it crosses, if
   that was not tried yet; else, and where the iteration is slow, the middle of the bracket. */
static double next(const search *s, const iterate *x, int k)
{
    double h = x->h + x->step, part = (h - x->low) / (x->high - x->low);
    if (!bracketed(s) || (part > 0 && part < 1 && k < NEWTON)) return h;
    if (!x->high_seen && (part >= 1 || k >= NEWTON)) return x->high;
    if (!x->low_seen && part <= 0) return x->low;
    return x->low + (x->high - x->low) / 2;
}

/* Narrows the bracket by the value at x->h.  If the guard has passed zero at the lower end already, the bracket is
   extended below it. */
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

/* A difference gives a better slope than the dense output while e is far from round-off. */
static void improve(iterate *x, double h, double e)
{
    double slope = (e - x->e) / (h - x->h);
    if (fabs(h - x->h) > 1e-8 * fabs(h) && fabs(slope) < HUGE_VAL && slope / x->slope > 0.1) x->slope = slope;
}

/* Has the iteration converged?  Within a few units in the last place of h: when corrections hardly decrease any more;
   farther away: when they grow.  Also if the rate of the previous correction predicted an error below round-off and
   this correction confirms it. */
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
    return fail(s->v, COSTATE_BAD_EVENT, "%s could not be located in the step from t = %.10g: with h = %.17g "
                "its guard is %.3g.", s->name, s->t, x->h, x->e);
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
