/* watch.c - event detection in a step: which guard passes zero first, and the step that ends there
   (mathematics, section 10.3).

   Guards are evaluated at a few points of the dense output.  Where the sign changes between two points, the root of the
   dense output is the first guess for the event.  If several guards pass zero in one step, the earliest event ends it,
   together with all events whose guards are zero at the same time to round-off. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/watch.h"

/* Two guards that are zero within some units of round-off may each end a step before which the other has passed.  After
   PATIENT tries, what counts as one time is doubled with each. */
enum { MOST_TRIES = 50, PATIENT = 8, ROOT_MOST = 80, DIP_MOST = 40 };
static const double ROOT_NEAR = 1e-10;          /* accuracy in theta of a first guess */
static const double NEAR = 3;                   /* a guard farther from zero than so many of its changes does not reach
                                                   it */
static const double DIP_LEAST = 1e-9;           /* in theta: a shorter excursion is round-off */
static const double DRIFT = 64;                 /* units of round-off that thousands of steps gather at random */

typedef struct { double a, b, ea, eb, sa, sb; } dip;    /* two values of theta, with guard and slope there */

/* e at theta of the step */
static int value_at(costate *c, const run *x, int k, double theta, double *e)
{
    double t = theta < 1 ? x->now.t + theta * x->now.h : x->now.end;
    const double *y = c->watch.u;
    if (theta < 1) dense_eval(&c->st, &x->now, t, c->watch.u);
    else y = c->work.y1;
    return guard_value(c, k, t, y, e);
}

/* Of a guard that is zero at the start of the step: a theta below `high` where it has the sign that it took first; 0:
   there is none. */
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

/* The root of the guard along the dense output in the bracket, whose ends have the values ea and eb: regula falsi with
   the Illinois modification (the value at an end that stays is halved), then bisection. */
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

/* Where guard k, which is e at `high`, has passed zero since its last evaluation; theta 0: it has not, after all. */
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

static double shortest_judged(const run *x) { return 1e4 * DBL_EPSILON * fabs(x->now.t); }

/* A short step from here found the guard leaving zero to one side, but at no point of this step is it on that side: it
   has come back.  A shorter step will locate this, unless it is near round-off of t. */
static int too_coarse(costate *c, run *x, int k)
{
    double h = fabs(x->now.h), least = shortest_judged(x);
    if (c->o.controller != COSTATE_FIXED && h > least) return cut_by(&x->by, 0.1, retry(&c->v, WHY_ERROR));
    if (h > least)
        return fail(&c->v, COSTATE_BAD_EVENT, "The guard of %s leaves zero at t = %.10g and comes back within a small "
                    "part of the step, h = %.3g, too soon to be located: take shorter steps (options.h0).",
                    c->maps.events[k].whole, x->now.t, h);
    return fail(&c->v, COSTATE_STEP_TOO_SMALL, "The guard of %s leaves zero at t = %.10g and comes back within h = "
                "%.3g, which is too near the round-off of t to be located: shift the time, so that t is counted from "
                "near here, unless events accumulate there.", c->maps.events[k].whole, x->now.t, h);
}

/* A guard that rests at zero is e at theta.  Has it left zero, or is e the round-off of the steps since? */
static int has_left(costate *c, const run *x, int k, double theta, double e, int *left)
{
    double noise, there;
    TRY(value_at(c, x, k, theta, &there));
    TRY(guard_noise(c, k, x->now.t + theta * x->now.h, theta < 1 ? c->watch.u : c->work.y1, there, &noise));
    *left = fabs(e) > DRIFT * noise;
    if (!*left) c->watch.guard[k].band = fmax(c->watch.guard[k].band, fabs(e));
    return 0;
}

/* A guard that waits at zero may leave it to one side inside the step, where it is e, and lie on the other at its end.
   Either it comes back, or the dense output is not accurate enough: a shorter step will tell.  Where there is none, the
   end decides. */
static int one_sided(costate *c, run *x, int k, double theta, double e)
{
    guarded *g = &c->watch.guard[k];
    if (g->holds != UNTIL_IT_LEAVES || !g->from_zero || theta == 1) return 0;
    if (fmin(fabs(e), fabs(g->end)) <= g->band || sign_of(e) != -sign_of(g->end)) return 0;
    if (c->o.controller != COSTATE_FIXED && fabs(x->now.h) > shortest_judged(x))
        return cut_by(&x->by, 0.1, retry(&c->v, WHY_ERROR));
    g->band = fabs(e);
    return 0;
}

/* Judges one guard, which is e at theta; if it has passed zero earlier than `first`, replaces `first`. */
static int judge_at(costate *c, run *x, int k, double theta, double e, crossing *first)
{
    guarded *g = &c->watch.guard[k];
    crossing at = {.theta = 0};
    TRY(one_sided(c, x, k, theta, e));
    int passed = passes(c, k, e);
    if (g->holds && g->from_zero && !g->led && fabs(e) > g->band) {
        int left;
        TRY(has_left(c, x, k, theta, e, &left));
        c->watch.turns_to = sign_of(e);
        if ((passed || g->sign == 0) && left) return c->watch.turns = k, TURNS;
        passed = 0;
    }
    if (passed) TRY(cross(c, x, k, theta, e, &at));
    if (passed && at.theta == 0 && g->from_zero && g->led) return too_coarse(c, x, k);
    if (at.theta == 0 && g->fired && sign_of(e) == g->fired && g->from_zero && must_turn(c, k))
        return wrong_side(c, k, x->now.t);
    if (at.theta > 0 && (first->event < 0 || at.theta < first->theta)) *first = at;
    g->next = e;
    return 0;
}

/* records the evaluation at theta */
static void seen(guarded *g, double theta)
{
    g->last_change = fabs(g->next - g->value);
    if (g->next != 0 && !g->holds) g->sign = sign_of(g->next);
    g->value = g->next;
    g->size = fmax(g->size, fabs(g->value));
    g->looked = theta;
    if (g->holds && g->from_zero && fabs(g->value) <= g->band) { g->rest = 2 * g->band; return; }      /* still there */
    if (g->holds == UNTIL_IT_LEAVES) { g->holds = 0; g->rest = 0; g->sign = sign_of(g->value); }
    g->from_zero = g->led = 0;
}

/* The guard has the same sign at both ends of a part of the step.  May it have crossed zero twice between them?  Only
   if its slopes point towards zero at the first end and away from it at the second, and if its distance from zero is at
   most NEAR times its change over this part and the previous one.  -1: a callback failed. */
static int may_dip(costate *c, const run *x, int k, double theta, double e, dip *at)
{
    guarded *g = &c->watch.guard[k];
    int sign = g->sign, nears = fabs(e) < fabs(g->value);
    *at = (dip){.a = g->looked, .b = theta, .ea = g->value, .eb = e};
    if (sign == 0 || g->from_zero || sign_of(g->value) != sign || sign_of(e) == -sign) return 0;
    double least = fmin(fabs(e), fabs(g->value)), change = fabs(e - g->value) + g->last_change;
    if (least > NEAR * change) return 0;
    for (int i = 0; i < 2; i++) {           /* first the end that is more likely to exclude it */
        int at_b = i == nears ? 0 : 1;
        double *slope = at_b ? &at->sb : &at->sa;
        if (guard_turns(c, &x->now, k, at_b ? at->b : at->a, slope)) return -1;
        if (at_b ? *slope * sign <= 0 : *slope * sign >= 0) return 0;
    }
    return 1;
}

/* The turning point of the cubic with these values and slopes at a and b, kept away from the ends. */
static double turns(const dip *at)
{
    double w = at->b - at->a, d = 3 * (at->eb - at->ea) / w, z = at->sa + at->sb - d;
    double root = sqrt(fmax(z * z - at->sa * at->sb, 0)), q = at->sb > 0 ? root : -root;
    double part = 1 - (at->sb + q - z) / (at->sb - at->sa + 2 * q);
    return at->a + w * fmax(0.01, fmin(0.99, part == part ? part : 0.5));
}

/* Does the guard stay away from zero?  A curve that turns once between a and b and has no inflection point there lies
   on the near side of the point where its tangents at a and b meet. */
static int stays_away(const dip *at)
{
    double w = at->b - at->a, s = at->sb - at->sa;
    double low = at->ea + at->sa * ((at->ea - at->eb + at->sb * w) / s);
    return low * at->ea > 0 && fabs(low) > 0.5 * fmin(fabs(at->ea), fabs(at->eb));
}

/* The guard is e beyond zero at m.  theta: m, or 0 if e is round-off. */
static int is_beyond(costate *c, const run *x, int k, double m, double e, double *theta)
{
    double noise;
    TRY(guard_noise(c, k, x->now.t + m * x->now.h, c->watch.u, e, &noise));
    *theta = fabs(e) > noise ? m : 0;
    return 0;
}

/* Searches the turning point of a dip for a theta where the guard is beyond zero; theta 0: it does not reach zero. */
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

/* Judges one guard, which is e at theta, including an excursion beyond zero since its last evaluation. */
static int judge_between(costate *c, run *x, int k, double theta, double e, crossing *first)
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

/* Judges one guard, which is e at theta.  The first step of a segment is as long as the previous mode suggested, which
   may be too long: a guard that has left zero is evaluated at more points there. */
static int judge(costate *c, run *x, int k, double theta, double e, crossing *first)
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

/* Judges guards at one point: all of them at the end of the step, elsewhere those that are near zero.  If none has
   passed, the next part of the step starts here. */
static int look(costate *c, run *x, double theta, crossing *first)
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

/* Evaluates guards at the end of the step, and decides which are also evaluated inside: those that might cross zero
   twice. A guard that turns like a parabola changes over this step and the previous one by 8 times the amount by which
   it can come nearer to zero inside; if the previous step was 8 times shorter, by 9/16 of it.  NEAR covers both. */
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

/* Processes the step as it is; ABSENT: it was shortened, but no event is at its end. */
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

void watch_undo(costate *c, run *x)
{
    x->now.exact = 0;
    memcpy(c->watch.guard, c->watch.before, (size_t)c->watch.count * sizeof *c->watch.guard);
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
        w->patience = tries > PATIENT ? fmin(2 * w->patience, 1024) : 1;
        status = watch_once(c, x, err);
    }
    if (status == RETRY || status == TURNS) watch_undo(c, x);
    if (status == RETRY || status == TURNS) return status;
    for (int k = 0; k < w->count; k++) w->guard[k].change = fabs(w->guard[k].end - w->before[k].value);
    if (status != ABSENT) return status;
    return fail(&c->v, COSTATE_BAD_EVENT, "Near t = %.10g guards pass zero in the dense output, but not in the steps "
                "that are to end there.", x->now.end);
}
