/* watch.c - guards over a step: which of them passes zero first, and the step that ends there
   (mathematics, section 10.3).

   A guard is looked at in a few points of the dense output; between two of them where its sign changes its root there
   is the first guess.  Several may pass in one step: the earliest ends it, and with it those that are zero at the same
   time, to round-off. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/watch.h"

enum { MOST_TRIES = 50, ROOT_MOST = 80, DIP_MOST = 40 };
static const double ROOT_NEAR = 1e-10;          /* of theta: a first guess */
static const double NEAR = 3;                   /* times its changes: a guard that far from zero does not reach it */
static const double DIP_LEAST = 1e-9;           /* of theta: a shorter one is round-off */

typedef struct { double a, b, ea, eb, sa, sb; } dip;    /* two points of a step, guard and slope there */

/* e at theta of the step */
static int value_at(costate *c, const run *x, int k, double theta, double *e)
{
    double t = theta < 1 ? x->now.t + theta * x->now.h : x->now.end;
    const double *y = c->watch.u;
    if (theta < 1) dense_eval(&c->st, &x->now, t, c->watch.u);
    else y = c->work.y1;
    return guard_value(c, k, t, y, e);
}

/* a theta below `high` where the guard, zero at the start, has the sign that it took; 0: there is none */
static int left_zero(costate *c, const run *x, int k, double high, double *low)
{
    double e;
    for (*low = high / 2; *low > shortest(&x->now) / fabs(x->now.h); *low /= 2) {
        TRY(value_at(c, x, k, *low, &e));
        if (sign_of(e) == c->watch.guard[k].sign) return 0;
    }
    *low = 0;
    return 0;
}

/* The root of the dense output in the bracket, e there ea and eb: false position, halving the value of an end that
   stays (Illinois), and in the end bisection. */
static int root(costate *c, const run *x, crossing *at, double ea, double eb)
{
    double a = at->low, b = at->high, e;
    for (int k = 0, stays = 0; k < ROOT_MOST && b - a > ROOT_NEAR && eb != 0; k++) {
        double m = b - eb * (b - a) / (eb - ea);
        if (k >= ROOT_MOST / 2 || !(m > a && m < b)) m = a + (b - a) / 2;
        TRY(value_at(c, x, at->event, m, &e));
        if (sign_of(e) == sign_of(ea)) {
            if (stays > 0) eb /= 2;
            stays = 1;
            a = m;
            ea = e;
        } else {
            if (stays < 0) ea /= 2;
            stays = b - m < ROOT_NEAR ? 0 : -1;
            if (stays == 0) k = ROOT_MOST;
            b = m;
            eb = e;
        }
    }
    at->theta = b;
    return 0;
}

/* where guard k, which is e at `high`, passed zero since it was looked at last; theta 0: it did not, after all */
static int cross(costate *c, const run *x, int k, double high, double e, crossing *at)
{
    guarded *g = &c->watch.guard[k];
    double ea = g->value;
    *at = (crossing){.event = k, .low = g->looked, .high = high, .theta = high};
    if (g->from_zero) {
        TRY(left_zero(c, x, k, high, &at->low));
        if (at->low == 0) { at->theta = 0; return 0; }
        TRY(value_at(c, x, k, at->low, &ea));
    }
    at->size = fmax(g->size, fabs(ea));
    return root(c, x, at, ea, e);
}

/* A short step from here saw the guard leave zero for the side that it had in no point of this one.  A shorter one sees
   where it comes back. */
static int too_coarse(costate *c, const run *x, int k)
{
    if (c->o.controller != COSTATE_FIXED && fabs(x->now.h) > 1e4 * DBL_EPSILON * fabs(x->now.t))
        return retry(&c->v, WHY_ERROR, 0.1);
    return fail(&c->v, COSTATE_BAD_EVENT, "The guard of event[%d] leaves zero at t = %.10g and comes back within a "
                "small part of the step, h = %.3g, too soon to be located: take shorter steps.", k, x->now.t, x->now.h);
}

/* one guard, e at theta; a passage into first, if it is earlier */
static int judge_at(costate *c, const run *x, int k, double theta, double e, crossing *first)
{
    guarded *g = &c->watch.guard[k];
    crossing at = {.theta = 0};
    int passed = passes(c, k, e);
    if (passed) TRY(cross(c, x, k, theta, e, &at));
    if (passed && at.theta == 0 && g->from_zero && g->led) return too_coarse(c, x, k);
    if (at.theta == 0 && g->fired && sign_of(e) == g->fired && g->from_zero && must_turn(c, k))
        return wrong_side(c, k, x->now.t);
    if (at.theta > 0 && (first->event < 0 || at.theta < first->theta)) *first = at;
    g->next = e;
    return 0;
}

/* it was looked at at theta */
static void seen(guarded *g, double theta)
{
    g->last_change = fabs(g->next - g->value);
    if (g->next != 0) g->sign = sign_of(g->next);
    g->value = g->next;
    g->size = fmax(g->size, fabs(g->value));
    g->looked = theta;
    g->from_zero = g->led = 0;
}

/* The guard has one sign at both ends of a part of the step.  May it pass zero between them, and come back?  Its slopes
   there must say so: towards zero, then away from it; and where they meet, its tangents must lie beyond zero, or the
   change over this part, and the one before, must be large beside what is left to zero. */
static int may_dip(costate *c, const run *x, int k, double theta, double e, dip *at)
{
    guarded *g = &c->watch.guard[k];
    int sign = g->sign, nears = fabs(e) < fabs(g->value);
    *at = (dip){.a = g->looked, .b = theta, .ea = g->value, .eb = e};
    if (sign == 0 || g->from_zero || sign_of(g->value) != sign || sign_of(e) == -sign) return 0;
    double least = fmin(fabs(e), fabs(g->value)), change = fabs(e - g->value) + g->last_change;
    if (least > NEAR * change) return 0;
    for (int i = 0; i < 2; i++) {           /* the one first that is more likely to say no */
        int at_b = i == nears ? 0 : 1;
        double *slope = at_b ? &at->sb : &at->sa;
        if (guard_turns(c, &x->now, k, at_b ? at->b : at->a, slope)) return -1;
        if (at_b ? *slope * sign <= 0 : *slope * sign >= 0) return 0;
    }
    return 1;
}

/* The point where a curve with these values and slopes at a and b, of third degree, turns; well inside. */
static double turns(const dip *at)
{
    double w = at->b - at->a, d = 3 * (at->eb - at->ea) / w, z = at->sa + at->sb - d;
    double root = sqrt(fmax(z * z - at->sa * at->sb, 0)), q = at->sb > 0 ? root : -root;
    double part = 1 - (at->sb + q - z) / (at->sb - at->sa + 2 * q);
    return at->a + w * fmax(0.01, fmin(0.99, part == part ? part : 0.5));
}

/* Where tangents at a and b meet, of a curve that turns between them once and has no turning point of the second kind:
   it lies on the far side of them.  Does it stay away from zero? */
static int stays_away(const dip *at)
{
    double w = at->b - at->a, s = at->sb - at->sa;
    double low = at->ea + at->sa * ((at->ea - at->eb + at->sb * w) / s);
    return low * at->ea > 0 && fabs(low) > 0.5 * fmin(fabs(at->ea), fabs(at->eb));
}

/* theta: m, where the guard is e in a dip; 0: that is round-off */
static int is_beyond(costate *c, const run *x, int k, double m, double e, double *theta)
{
    double noise;
    TRY(guard_noise(c, k, x->now.t + m * x->now.h, c->watch.u, e, &noise));
    *theta = fabs(e) > noise ? m : 0;
    return 0;
}

/* The lowest point of a dip, or one beyond zero; theta 0: it does not come there. */
static int bottom(costate *c, const run *x, int k, dip *at, double *theta, double *e)
{
    double slope;
    for (int i = 0; i < DIP_MOST && at->b - at->a > DIP_LEAST && !stays_away(at); i++) {
        double m = turns(at);
        TRY(value_at(c, x, k, m, e));
        if (sign_of(*e) != sign_of(at->ea)) return is_beyond(c, x, k, m, *e, theta);
        TRY(guard_turns(c, &x->now, k, m, &slope));
        if (slope == 0) break;
        if (sign_of(slope) == sign_of(at->sa)) { at->a = m; at->ea = *e; at->sa = slope; }
        else { at->b = m; at->eb = *e; at->sb = slope; }
    }
    *theta = 0;
    return 0;
}

/* One guard, e at theta, and where it may have turned since it was looked at last, at that point, too. */
static int judge_between(costate *c, const run *x, int k, double theta, double e, crossing *first)
{
    dip at;
    double low, there;
    int may = may_dip(c, x, k, theta, e, &at);
    if (may < 0) return c->v.status;
    if (may) {
        TRY(bottom(c, x, k, &at, &low, &there));
        if (low > 0) {
            TRY(judge_at(c, x, k, low, there, first));
            if (first->event == k) return 0;
            seen(&c->watch.guard[k], low);
        }
    }
    return judge_at(c, x, k, theta, e, first);
}

/* One guard, e at theta.  A new segment may be as long as the mode before would have it: one that left zero, and has
   not come back, is looked at more closely there. */
static int judge(costate *c, const run *x, int k, double theta, double e, crossing *first)
{
    guarded *g = &c->watch.guard[k];
    int closely = g->from_zero && g->sign != 0 && sign_of(e) == g->sign;
    for (double part = 0.125; closely && part < 1; part *= 2) {
        double there;
        TRY(value_at(c, x, k, part * theta, &there));
        TRY(judge_between(c, x, k, part * theta, there, first));
        if (first->event == k) return 0;
        seen(g, part * theta);
    }
    return judge_between(c, x, k, theta, e, first);
}

/* Guards at one point: all at the end, elsewhere those that are near.  Where none passed, the next look begins here. */
static int look(costate *c, const run *x, double theta, crossing *first)
{
    watch *w = &c->watch;
    double t = x->now.t + theta * x->now.h;
    if (theta < 1) dense_eval(&c->st, &x->now, t, w->at);
    for (int k = 0; k < w->count; k++) {
        guarded *g = &w->guard[k];
        double e = g->end;
        if (!active(c, k) || (theta < 1 && !g->near)) continue;
        if (theta < 1) TRY(guard_value(c, k, t, w->at, &e));
        TRY(judge(c, x, k, theta, e, first));
    }
    for (int k = 0; k < w->count && first->event < 0; k++) {
        guarded *g = &w->guard[k];
        if (!active(c, k) || (theta < 1 && !g->near)) continue;
        seen(g, theta);
    }
    return 0;
}

/* Guards at the end; which of them are looked at inside, too: those that might pass zero and come back.  One that turns
   like a parabola changes over a step, and the one before, by 8 times what it can come nearer inside, or by two thirds
   of it where the step before was 8 times as short. */
static int ends(costate *c, const run *x, int *inside)
{
    *inside = 0;
    for (int k = 0; k < c->watch.count; k++) {
        guarded *g = &c->watch.guard[k];
        if (!active(c, k)) continue;
        TRY(guard_value(c, k, x->now.end, c->work.y1, &g->end));
        double change = fabs(g->end - g->value) + g->change;
        g->near = g->from_zero || fmin(fabs(g->value), fabs(g->end)) <= NEAR * change;
        g->looked = 0;
        g->last_change = g->change;
        *inside |= g->near;
    }
    return 0;
}

/* The step that there is; ABSENT: it was made shorter, and no event is at its end. */
static int watch_once(costate *c, run *x, double err)
{
    watch *w = &c->watch;
    crossing first = {.event = -1};
    int inside;
    TRY(ends(c, x, &inside));
    for (int i = inside ? 1 : w->samples; i <= w->samples && first.event < 0; i++)
        TRY(look(c, x, i == w->samples ? 1 : (double)i / w->samples, &first));
    nobody_fires(c);
    if (x->last && (first.event < 0 || is_the_end(x, &first))) return at_the_end(c, x, first.event);
    if (first.event < 0) return stretch(c, x, err);
    TRY(shorten_to(c, x, &first));
    TRY(others(c, x, first.event));
    return ends_in_event(c, x);
}

int watch_step(costate *c, run *x, double err)
{
    watch *w = &c->watch;
    size_t bytes = (size_t)w->count * sizeof *w->guard;
    int status = ABSENT;
    if (!w->armed) TRY(watch_arm(c, &x->now));
    for (int k = 0; k < w->count; k++) w->guard[k].size = fabs(w->guard[k].value);
    memcpy(w->before, w->guard, bytes);
    for (int tries = 0; status == ABSENT && tries < MOST_TRIES; tries++) {
        if (tries > 0) memcpy(w->guard, w->before, bytes);
        status = watch_once(c, x, err);
    }
    if (status == RETRY) memcpy(w->guard, w->before, bytes);
    if (status == RETRY) return status;
    for (int k = 0; k < w->count; k++) w->guard[k].change = fabs(w->guard[k].end - w->before[k].value);
    if (status != ABSENT) return status;
    return fail(&c->v, COSTATE_BAD_EVENT, "Near t = %.10g guards pass zero in the dense output, but not in the steps "
                "that are to end there.", x->now.end);
}
