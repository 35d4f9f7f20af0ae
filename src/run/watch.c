/* watch.c - guards over a step: which of them passes zero first, and the step that ends there.

   A guard is looked at in a few points of the dense output; between two of them where its sign changes its root there
   is the first guess.  Several may pass in one step: the earliest ends it, and with it those that are zero at the same
   time, to round-off. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/watch.h"

/* Its slope where it passes zero, times the part of the step up to there, beside the largest that it was in that part:
   about 1 where it passes, this where no derivative can be trusted. */
static const double GRAZING = 1e-7;

enum { MOST_TRIES = 50, ROOT_MOST = 80 };
static const double ROOT_NEAR = 1e-10;          /* of theta: a first guess */
static const double NEAR = 3;                   /* times its changes: a guard that far from zero does not reach it */
/* An event so little behind a step, as a part of it, is met by a longer one: what is left would be so short a step that
   round-off grows in it, divided by h.  Where the tolerance does not leave room for that, the step stays as it is. */
static const double BEHIND = 0.1;

typedef struct { int event; double low, high, theta, size; } crossing; /* between low and high, about theta */

static double round_off(const record *r) { return 16 * DBL_EPSILON * fmax(fabs(r->h), fabs(r->end)); }

/* e at theta of the step */
static int value_at(costate *c, const run *x, int k, double theta, double *e)
{
    double t = theta < 1 ? x->now.t + theta * x->now.h : x->now.end;
    const double *y = c->watch.u;
    if (theta < 1) dense_eval(&c->st, &x->now, t, c->watch.u);
    else y = c->work.y1;
    return guard_value(c, k, t, y, e);
}

/* Is this a passage, from its sign to that of e, in the direction of the event?  How: -1, 1; else 0. */
static int passes(const costate *c, int k, double e)
{
    int sign = c->watch.guard[k].sign, way = e != 0 ? sign_of(e) : -sign, only = c->P.event[k].direction;
    if (sign == 0 || way == sign) return 0;
    return only == 0 || only == way ? way : 0;
}

/* a theta below `high` where the guard, zero at the start, has the sign that it took; 0: there is none */
static int left_zero(costate *c, const run *x, int k, double high, double *low)
{
    double e;
    for (*low = high / 2; *low > 1e-18; *low /= 2) {
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
    *at = (crossing){k, g->looked, high, high, 0};
    if (g->from_zero) {
        TRY(left_zero(c, x, k, high, &at->low));
        if (at->low == 0) { at->theta = 0; return 0; }
        TRY(value_at(c, x, k, at->low, &ea));
    }
    at->size = fmax(g->size, fabs(ea));
    return root(c, x, at, ea, e);
}

/* one guard, e at theta; a passage into first, if it is earlier */
static int judge(costate *c, const run *x, int k, double theta, double e, crossing *first)
{
    guarded *g = &c->watch.guard[k];
    crossing at = {.theta = 0};
    if (passes(c, k, e)) TRY(cross(c, x, k, theta, e, &at));
    if (at.theta == 0 && g->fired && sign_of(e) == g->fired && g->from_zero && must_turn(c, k))
        return wrong_side(c, k, x->now.t);
    if (at.theta > 0 && (first->event < 0 || at.theta < first->theta)) *first = at;
    g->next = e;
    return 0;
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
        if (g->next != 0) g->sign = sign_of(g->next);
        g->value = g->next;
        g->size = fmax(g->size, fabs(g->value));
        g->looked = theta;
        g->from_zero = 0;
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
        *inside |= g->near;
    }
    return 0;
}

/* ---- the step that ends there ---- */

typedef struct { costate *c; run *x; int event; double full; int last; } shortened;

static int solve(void *ctx, double h, double *e)
{
    const shortened *s = ctx;
    s->x->h = h;
    s->x->last = s->last && h == s->full;
    s->c->count.located++;
    int status = s->x->once(s->c, s->x);
    if (status == RETRY && s->c->v.factor == 1) status = s->x->once(s->c, s->x);     /* with a new Jacobian */
    TRY(status);
    TRY(space_finite(&s->c->maps.space, (size_t)s->c->st.N, s->c->work.y1, 0.2));
    return guard_value(s->c, s->event, s->x->now.end, s->c->work.y1, e);
}

static int grazes(costate *c, const run *x, const crossing *at, double slope)
{
    if (fabs(slope) * at->theta > GRAZING * at->size) return 0;
    return fail(&c->v, COSTATE_GRAZING, "The guard of event[%d] only grazes zero near t = %.10g: it comes from %.3g "
                "within %.3g of time, and its slope there is %.3g, too small for a derivative.", at->event,
                x->now.t + at->theta * x->now.h, at->size, at->theta * fabs(x->now.h), slope / x->now.h);
}

/* The step solved again up to where the guard is zero; ABSENT: a step without that event.  The one that is solved
   again, to round-off, differs from its dense output, so that the bracket is a little wider. */
static int shorten_to(costate *c, run *x, const crossing *at)
{
    guarded *g = &c->watch.guard[at->event];
    double slope, full = x->now.h, h = at->theta * full, room = (at->high - at->low) / 8;
    double low = fmax(at->low - room, at->low / 2), high = fmax(at->high, fmin(at->high + room, 1));
    shortened s = {c, x, at->event, full, x->last};
    TRY(guard_slope(c, &x->now, at->event, at->theta, &slope));
    TRY(grazes(c, x, at, slope));
    search how = {solve, &s, &c->v, at->event, x->now.t, slope / full, 0, low * full, high * full, g->sign};
    decisions as = {.degree = x->now.degree};           /* of rkc: another one would move the end */
    x->by.exact = x->now.exact = 1;
    x->by.as = as.degree > 0 ? &as : NULL;
    int status = search_step(&how, &h, &g->miss, &g->slope);
    x->by.as = NULL;
    x->by.exact = 0;
    if (status == RETRY) x->now.exact = 0;
    g->fires = status == 0;
    if (status) return status;
    TRY(guard_slope(c, &x->now, at->event, 1, &slope));
    return grazes(c, x, at, slope * full / x->now.h);
}

/* Which other guards are zero to round-off at the end, and fire with it.  ABSENT: one has passed before. */
static int others(costate *c, const run *x, int event)
{
    double e, slope;
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
        g->fires = g->miss <= round_off(&x->now) && passes(c, k, sign_of(slope)) != 0;
        earlier |= passed && !g->fires;
    }
    return earlier ? ABSENT : 0;
}

static void nobody_fires(costate *c)
{
    for (int k = 0; k < c->watch.count; k++) c->watch.guard[k].fires = 0;
}

static int ends_in_event(costate *c, run *x)
{
    watch *w = &c->watch;
    x->cut = 1;
    for (w->first = 0; !w->guard[w->first].fires;) w->first++;
    return 0;
}

/* The first guard whose zero lies a little behind the step, by its slope there. */
static int behind(costate *c, const run *x, crossing *first)
{
    for (int k = 0; k < c->watch.count; k++) {
        const guarded *g = &c->watch.guard[k], *from = &c->watch.before[k];
        double slope;
        if (!active(c, k) || g->sign == 0 || !(fabs(g->end) < 3 * BEHIND * fabs(g->end - from->value))) continue;
        TRY(guard_slope(c, &x->now, k, 1, &slope));
        double theta = 1 - g->end / slope;
        if (!(theta > 1 && theta < 1 + BEHIND && passes(c, k, sign_of(slope)))) continue;
        if (first->event < 0 || theta < first->theta) *first = (crossing){k, 1, 1 + BEHIND, theta, fabs(from->value)};
    }
    return 0;
}

/* may the step be a little longer? */
static int may_stretch(const costate *c, const run *x, double err)
{
    double most = (1 + BEHIND) * fabs(x->now.h);
    int allowed = !x->last && x->now.degree == 0 && c->o.controller != COSTATE_FIXED && !x->now.exact;
    return allowed && most <= c->in.hmax && err * pow(1 + BEHIND, error_exponent(c->st.m)) <= 1 &&
           most < fabs((x->t1 - x->t) - x->low);
}

/* The step up to an event a little behind it; where there is none, as it was. */
static int stretch(costate *c, run *x)
{
    double full = x->now.h, e;
    crossing first = {.event = -1};
    TRY(behind(c, x, &first));
    if (first.event < 0) return 0;
    int status = shorten_to(c, x, &first);
    if (status == 0) status = others(c, x, first.event);
    if (status == 0) return ends_in_event(c, x);
    if (status != ABSENT) return status;
    shortened s = {c, x, first.event, full, 0};
    nobody_fires(c);
    x->by.exact = 1;
    status = solve(&s, full, &e);
    x->by.exact = 0;
    return status;
}

static int is_the_end(const run *x, const crossing *at)
{
    return x->last && (1 - at->theta) * fabs(x->now.h) <= round_off(&x->now);
}

/* Where a given time ends the step, to round-off: they fire with it; at t1 they are for a run that goes on. */
static int at_the_end(costate *c, const run *x, int event)
{
    if (event >= 0) c->watch.guard[event].fires = 1;
    return others(c, x, event);
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
    if (first.event < 0) return may_stretch(c, x, err) ? stretch(c, x) : 0;
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
    for (int k = 0; k < w->count; k++) w->guard[k].change = fabs(w->guard[k].end - w->before[k].value);
    if (status != ABSENT) return status;
    return fail(&c->v, COSTATE_BAD_EVENT, "Near t = %.10g guards pass zero in the dense output, but not in the steps "
                "that are to end there.", x->now.end);
}
