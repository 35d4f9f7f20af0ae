/* shorten.c - the step that ends at an event: solved again with a smaller or slightly larger h until the guard is zero.

   No event leaves a step of the size of round-off: a step that ends so little before the event is lengthened to meet
   it, and a guard that is zero at the end of the step, to the round-off of its own terms, fires there. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "run/control.h"
#include "run/watch.h"

/* The slope of a guard at zero times the part of the step up to there, relative to the largest value of the guard in
   that part: about 1 for a transversal passage; below this bound no derivative can be trusted. */
static const double GRAZING = 1e-7;
/* BEHIND: if an event follows a step within this fraction of its length, the step is lengthened to meet it; otherwise
   the next step would be so short that round-off, divided by h, grows in it.  If the tolerance does not permit this, or
   steps are fixed, a step is only lengthened by round-off: CRUMB of h, as at t1 (aim.c), or a few units in the last
   place of t (CRUMB_OF_T) if these are larger. */
static const double BEHIND = 0.1, CRUMB = 1e-8, CRUMB_OF_T = 32 * DBL_EPSILON, CRUMB_MOST = 0.5;
/* A step shorter than this fraction of the full one gives no better slope than the full one. */
static const double TINY = 1e-6;
/* A guard that never exceeded this multiple of its round-off may be zero all the time. */
static const double CLEAR = 8;

double round_off(const record *r) { return 16 * DBL_EPSILON * fmax(fabs(r->h), fabs(r->end)); }

double shortest(const record *r) { return 4 * DBL_EPSILON * fmax(fabs(r->t), fabs(r->end)); }

typedef struct { costate *c; run *x; int event; double full; int last; } shortened;

static int shorten_solve(void *ctx, double h, double *e)
{
    const shortened *s = ctx;
    s->x->h = h;
    s->x->last = s->last && h == s->full;
    s->c->count.located++;
    int status = s->x->once(s->c, s->x);
    if (status == RETRY && s->x->by.next.new_jacobian) status = s->x->once(s->c, s->x);
    TRY(status);
    TRY(cut_by(&s->x->by, 0.2, space_finite(&s->c->maps.space, (size_t)s->c->st.N, s->c->work.y1)));
    return guard_value(s->c, s->event, s->x->now.end, s->c->work.y1, e);
}

static int grazes(costate *c, const run *x, const crossing *at, double slope)
{
    if (fabs(slope) * at->theta > GRAZING * at->size) return 0;
    return fail(&c->v, COSTATE_GRAZING, "The guard of %s only grazes zero near t = %.10g: it comes from %.3g within "
                "%.3g of time, and its slope there is %.3g, too small for a derivative.",
                c->maps.events[at->event].whole, x->now.t + at->theta * x->now.h, at->size,
                at->theta * fabs(x->now.h), slope / x->now.h);
}

/* Solves the step again up to the zero of the guard; ABSENT: it ends without that event.  The step, solved to
   round-off, differs from its earlier dense output, so the bracket is widened a little. */
int shorten_to(costate *c, run *x, const crossing *at)
{
    guarded *g = &c->watch.guard[at->event];
    double slope, full = x->now.h, least = shortest(&x->now), room = (at->high - at->low) / 8;
    double theta = fmax(at->theta, least / fabs(full)), h = theta * full;
    double low = fmax(fmax(at->low - room, at->low / 2), least / fabs(full));
    double high = fmax(theta, fmax(at->high, fmin(at->high + room, 1)));
    shortened s = {c, x, at->event, full, x->last};
    TRY(guard_slope(c, &x->now, at->event, fmin(at->theta, 1), &slope));
    TRY(grazes(c, x, at, slope));
    search how = {shorten_solve, &s, &c->v, c->maps.events[at->event].whole, x->now.t, slope / full,
                  at->noise * fabs(full / slope), low * full, high * full, g->sign, least};
    decisions as = {.degree = x->now.degree};           /* rkc: another degree would move the end */
    x->by.exact = x->now.exact = 1;
    x->by.as = as.degree > 0 ? &as : NULL;
    int status = search_step(&how, &h, &g->miss, &g->slope);
    x->by.as = NULL;
    x->by.exact = 0;
    if (status == RETRY) x->now.exact = 0;
    g->fires = status == 0;
    if (status || fabs(x->now.h) < TINY * fabs(full)) return status;
    TRY(guard_slope(c, &x->now, at->event, 1, &slope));
    return grazes(c, x, at, slope * full / x->now.h);
}

/* Finds the other guards that are zero at the end, to the round-off of the time or of their terms, or as closely as the
   event was located, and fire together with it.  ABSENT: one of them passed zero before. */
int others(costate *c, const run *x, int event)
{
    double e, slope, noise = 0, located = event >= 0 ? 2 * c->watch.guard[event].miss : 0;
    double same = fmax(c->watch.patience * round_off(&x->now), located);
    int earlier = 0;
    for (int k = 0; k < c->watch.count; k++) {
        guarded *g = &c->watch.guard[k];
        if (k == event || !active(c, k) || g->sign == 0) continue;
        TRY(guard_value(c, k, x->now.end, c->work.y1, &e));
        int passed = passes(c, k, e) != 0;
        if (!passed && fabs(e) > 1e-6 * g->size) continue;
        TRY(guard_slope(c, &x->now, k, 1, &slope));
        g->slope = slope / x->now.h;
        g->miss = fabs(e / g->slope);
        int zero = g->miss <= same;
        if (!zero && slope != 0) {
            TRY(guard_noise(c, k, x->now.end, c->work.y1, e, &noise));
            zero = fabs(e) <= noise && g->size > CLEAR * noise;
        }
        g->fires = zero && passes(c, k, sign_of(slope)) != 0;
        earlier |= passed && !g->fires;
    }
    return earlier ? ABSENT : 0;
}

void nobody_fires(costate *c)
{
    for (int k = 0; k < c->watch.count; k++) c->watch.guard[k].fires = 0;
}

/* Stores the motion of the state at the end of the step: guards that become active there may need to know where they
   come from. */
static void leaves(costate *c, const run *x)
{
    double D[STAGES_MOST], D1[STAGES_MOST];
    watch *w = &c->watch;
    dense_weights(c->st.m, 1, D, D1);
    combine((size_t)c->st.n, w->rate, NULL, dense_scale(&c->st, &x->now), c->st.s, D1, x->now.X, (size_t)c->st.n);
    w->rate_h = x->now.h;
    memcpy(w->was, c->work.y1, (size_t)c->st.N * sizeof *w->was);
    memory_keep(&c->st, c->work.y, w->was);
}

/* A condition that is false at zero depends on where its guard goes, which events, relations and stops at the same time
   may change: at_once.c decides behind them.  alone: nothing but conditions of this kind may fire. */
static int leave_open(costate *c, const run *x, int alone)
{
    watch *w = &c->watch;
    w->open = 0;
    for (int k = 0; k < w->count; k++) alone &= !w->guard[k].fires || is_false_at_zero(c, k);
    for (int k = 0; k < w->count && !alone; k++) {
        guarded *g = &w->guard[k];
        if (!g->fires || !is_false_at_zero(c, k)) continue;
        g->fires = 0;
        TRY(guard_may_rest(c, k, x->now.end, c->work.y1));
        w->open = 1;
    }
    return 0;
}

int ends_in_event(costate *c, run *x)
{
    watch *w = &c->watch;
    TRY(leave_open(c, x, 1));
    x->cut = 1;
    for (w->first = 0; !w->guard[w->first].fires;) w->first++;
    leaves(c, x);
    return 0;
}

/* Finds the first guard whose zero, by its slope, lies after the step by at most `most` of its length, or that is zero
   at its end to the round-off of its terms and was clearly nonzero at its start. */
static int behind(costate *c, const run *x, double most, crossing *first)
{
    for (int k = 0; k < c->watch.count; k++) {
        const guarded *g = &c->watch.guard[k], *from = &c->watch.before[k];
        double slope, noise = 0, change = fabs(g->end - from->value);
        if (!active(c, k) || g->sign == 0 || !(fabs(g->end) < 3 * fmax(BEHIND, most) * change)) continue;
        TRY(guard_slope(c, &x->now, k, 1, &slope));
        double theta = 1 - g->end / slope;
        if (!(theta > 1 && passes(c, k, sign_of(slope)))) continue;
        double high = 1 + most;
        if (theta >= high) {
            TRY(guard_noise(c, k, x->now.end, c->work.y1, g->end, &noise));
            if (!(fabs(g->end) <= noise && fabs(from->value) > CLEAR * noise)) continue;
            high = fmin(theta, 1 + BEHIND);
            theta = 1;
        }
        if (first->event < 0 || theta < first->theta)
            *first = (crossing){k, 1, high, theta, fabs(from->value), noise};
    }
    return 0;
}

/* By what fraction may the step be lengthened?  BEHIND if its error allows; else by round-off. */
static double room_behind(const costate *c, const run *x, double err)
{
    double h = fabs(x->now.h), most = (1 + BEHIND) * h, left = fabs((x->t1 - x->t) - x->low);
    int allowed = x->now.degree == 0 && c->o.controller != COSTATE_FIXED && !x->now.exact;
    if (allowed && most <= c->in.hmax && err * pow(1 + BEHIND, error_exponent(c->st.m)) <= 1 && most < left)
        return BEHIND;
    double crumb = fmin(fmax(CRUMB, CRUMB_OF_T * fabs(x->now.end) / h), CRUMB_MOST);
    return fmin(crumb, left / h - 1);
}

/* Lengthens the step to meet an event shortly after its end; without such an event it stays as it was. */
int stretch(costate *c, run *x, double err)
{
    double full = x->now.h, e;
    crossing first = {.event = -1};
    TRY(behind(c, x, room_behind(c, x, err), &first));
    if (first.event < 0) return 0;
    int status = shorten_to(c, x, &first);
    if (status == 0) status = others(c, x, first.event);
    if (status == 0) return ends_in_event(c, x);
    if (status != ABSENT) return status;
    shortened s = {c, x, first.event, full, 0};
    nobody_fires(c);
    x->by.exact = 1;
    status = shorten_solve(&s, full, &e);
    x->by.exact = 0;
    return status;
}

int is_the_end(const run *x, const crossing *at)
{
    return x->last && (1 - at->theta) * fabs(x->now.h) <= round_off(&x->now);
}

/* A given time ends the step: events at the same time, to round-off, fire with it; at t1 they are left to a continued
   run. */
int at_the_end(costate *c, const run *x, int event)
{
    if (event >= 0) c->watch.guard[event].fires = 1;
    leaves(c, x);
    TRY(others(c, x, event));
    return x->t1 != x->end ? leave_open(c, x, 0) : 0;
}
