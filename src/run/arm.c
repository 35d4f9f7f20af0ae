/* arm.c - the signs of guards at the start of a segment, and for guards that are zero there the sign that they take
   next.

   A guard is zero at the start if it has just fired, or by the initial values.  Its slope along the dense output of the
   first step shows to which side it moves.  Back on the side where it came from, it can fire again; on the other side,
   in the same mode, its jump did not have the intended effect. */
#include <float.h>
#include <math.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "run/watch.h"

int active(const costate *c, int k)
{
    const costate_event *e = &c->maps.event[k];
    return e->guard.value && in_mode(c, e);
}

/* The guard of event k; y' of the step is the first guess if it needs y'. */
static const map *guard_of(costate *c, int k)
{
    c->maps.bound.slope = c->work.yp;
    return &c->maps.events[k].guard;
}

int guard_value(costate *c, int k, double t, const double *y, double *e)
{
    c->count.guards++;
    const map *f = guard_of(c, k);
    TRY(decided(&c->v, map_value(&c->maps, f, t, y, e), f->name));
    if (fabs(*e) < HUGE_VAL) return 0;
    return fail(&c->v, COSTATE_NOT_FINITE, "%s is NaN or Inf at t = %.10g.", f->name, t);
}

int guard_may_rest(costate *c, int k, double t, const double *y)
{
    double e;
    TRY(guard_value(c, k, t, y, &e));
    c->watch.guard[k].rest = 2 * fabs(e);
    return 0;
}

int guard_moves(costate *c, int k, double t, const double *y, double e, double part, double *moves)
{
    c->count.guards += MOVES;
    return map_moves(&c->maps, guard_of(c, k), t, y, e, part, c->watch.jump, moves);
}

int guard_noise(costate *c, int k, double t, const double *y, double e, double *noise)
{
    c->count.guards += MOVES;
    return map_noise(&c->maps, guard_of(c, k), t, y, e, c->watch.jump, noise);
}

static int dense_guard(costate *c, const record *r, int k, double theta, double *e)
{
    double t = r->t + theta * r->h;
    dense_eval(&c->st, r, t, c->work.z);
    return guard_value(c, k, t, c->work.z, e);
}

/* The slope (e(u(theta + d)) - e(u(theta - d)))/(2 d), one-sided at the ends.  surely: d is increased until the
   difference exceeds the round-off of e. */
static int by_difference(costate *c, const record *r, int k, double theta, int surely, double *slope)
{
    double low = 0, high = 0, e[2] = {0}, noise = 0;
    for (double d = 1e-6; d <= 1; d *= 100) {
        low = fmax(theta - d, 0);
        high = fmin(theta + d, 1);
        TRY(dense_guard(c, r, k, low, &e[0]));
        TRY(dense_guard(c, r, k, high, &e[1]));
        if (d == 1e-6 && surely) TRY(guard_noise(c, k, r->t + high * r->h, c->work.z, e[1], &noise));
        if (!surely || fabs(e[1] - e[0]) > 32 * noise) break;
    }
    *slope = (e[1] - e[0]) / (high - low);
    return 0;
}

static int slope_at(costate *c, const record *r, int k, double theta, int surely, double *slope)
{
    const map *f = guard_of(c, k);
    double D[STAGES_MOST], D1[STAGES_MOST];
    if (!has_tangent(f->user)) return by_difference(c, r, k, theta, surely, slope);
    dense_weights(c->st.m, theta, D, D1);
    dense_state(&c->st, r, D, c->work.z);
    combine((size_t)c->st.n, c->work.f, NULL, dense_scale(&c->st, r), c->st.s, D1, r->X, (size_t)c->st.n);
    costate_point x = point(&c->maps, r->t + theta * r->h, c->work.z), along = {.t = r->h, .y = c->work.f};
    return decided(&c->v, map_tangent(&c->maps, f, &x, &along, slope), f->name);
}

int guard_slope(costate *c, const record *r, int k, double theta, double *slope)
{
    return slope_at(c, r, k, theta, 1, slope);
}

int guard_turns(costate *c, const record *r, int k, double theta, double *slope)
{
    return slope_at(c, r, k, theta, 0, slope);
}

int wrong_side(costate *c, int k, double t)
{
    double limit, q;
    if (events_accumulate(c, &limit, &q)) return too_many_events(c, "in shorter and shorter intervals");
    if (c->watch.still > 0) return too_many_events(c, "the last of them while the time stood still");
    return fail(&c->v, COSTATE_BAD_EVENT, "The jump of event[%d] at t = %.10g leaves its guard past zero, or going "
                "there, in the mode where it is looked at: it cannot fire again (if that is meant: event[%d].passes = "
                "1).", k, t, k);
}

/* Should the jump of the event have moved the guard back? */
int must_turn(const costate *c, int k)
{
    const costate_event *e = &c->maps.event[k];
    return e->direction != 0 && (e->jump.value || e->transition.value) && !e->passes;
}

/* Times that differ by no more are equal, by the round-off of time in a step of this length. */
double same_time(double t, double length)
{
    return 64 * DBL_EPSILON * fmax(fabs(t), fabs(length));
}

/* The same for a guard at the start of a segment.  After the events of others, at_once.c has looked at it, with the
   length of the step before them: half of its bound, so that no guard is too far from zero there and too near here, in
   which case its event would be lost. */
static double same_start(const costate *c, const guarded *g, const record *r)
{
    int looked = c->watch.rate_h != 0 && !g->fired;
    return looked ? same_time(r->t, c->watch.rate_h) / 2 : same_time(r->t, r->h);
}

/* A guard that is not small relative to its earlier values is not zero. */
static int may_be_zero(const guarded *g)
{
    return g->value == 0 || g->fired || g->size == 0 || fabs(g->value) <= fmax(1e-9 * g->size, g->rest);
}

int guard_is_zero(costate *c, int k, double t, const double *y, double e, double band, int *zero)
{
    double noise = 0;
    if (fabs(e) > band) TRY(guard_noise(c, k, t, y, e, &noise));
    *zero = fabs(e) <= fmax(band, noise);
    return 0;
}

/* A guard that rests at the start, whose slope is round-off, leaves zero to the side to which its curvature bends it,
   where that is more than round-off shows. */
static int bends(costate *c, const record *r, int k, double slope)
{
    const double STRAIGHT = 0.1, CLEAR = 8;
    guarded *g = &c->watch.guard[k];
    for (double part = 1e-3; part <= 1; part *= 1000) {
        double e, noise;
        TRY(dense_guard(c, r, k, part, &e));
        TRY(guard_noise(c, k, r->t + part * r->h, c->work.z, e, &noise));
        if (fabs(e - g->value) <= CLEAR * noise) continue;
        if (fabs(slope) * part < STRAIGHT * fabs(e - g->value)) g->sign = sign_of(e - g->value);
        return 0;
    }
    return 0;
}

/* The guard of a condition waits at zero until it is more than round-off.  If the condition has become true then, its
   event fires, unless it has just been applied. */
static int waits(costate *c, const record *r, int k)
{
    guarded *g = &c->watch.guard[k];
    const costate_event *e = &c->maps.event[k];
    double noise;
    g->holds = is_condition(e) && g->from_zero && !g->led ? UNTIL_IT_LEAVES : 0;
    if (!g->holds) return 0;
    int is_true = e->at_start == COSTATE_ZERO_TRUE || (g->turned && g->turned_at == r->t);
    g->sign = is_true ? e->direction : -e->direction;
    TRY(guard_noise(c, k, r->t, r->y, g->value, &noise));
    g->band = fmax(fmax(noise, g->rest), g->fired ? g->band : 0);
    return 0;
}

static int arm_one(costate *c, const record *r, int k)
{
    guarded *g = &c->watch.guard[k];
    double slope;
    TRY(guard_value(c, k, r->t, r->y, &g->value));
    g->sign = sign_of(g->value);
    g->from_zero = 0;
    g->led = g->probed && g->goes != 0;
    g->change = HUGE_VAL;
    if (g->probed) {
        g->from_zero = 1;
        g->sign = g->goes;
        g->probed = 0;
    } else if (may_be_zero(g)) {
        TRY(guard_slope(c, r, k, 0, &slope));
        double zero = same_start(c, g, r) * fabs(slope / r->h);
        g->from_zero = g->value == 0 || fabs(g->value) <= fmax(zero, g->fired ? g->band : 0);
        if (!g->from_zero && (g->fired || is_condition(&c->maps.event[k])))
            TRY(guard_is_zero(c, k, r->t, r->y, g->value, g->rest, &g->from_zero));
        if (g->from_zero) g->sign = sign_of(slope);
        if (g->from_zero && !g->fired) TRY(bends(c, r, k, slope));
    }
    if (g->fired && g->sign == g->fired && must_turn(c, k)) return wrong_side(c, k, r->t);
    return waits(c, r, k);
}

/* The value of a relation says on which side its guard is. */
static int arm_relation(costate *c, const record *r, int k)
{
    guarded *g = &c->watch.guard[k];
    double noise;
    TRY(guard_value(c, k, r->t, r->y, &g->value));
    TRY(guard_noise(c, k, r->t, r->y, g->value, &noise));
    g->holds = 1;
    g->sign = relation_side(c, k - c->P.nevents);
    g->band = fmax(noise, g->fired ? g->band : 0);
    g->from_zero = fabs(g->value) <= g->band;
    g->led = g->from_zero && g->goes != 0;
    g->goes = g->probed = 0;
    g->change = HUGE_VAL;
    return 0;
}

int watch_arm(costate *c, const record *r)
{
    for (int k = 0; k < c->watch.count; k++)
        if (active(c, k)) TRY((k < c->P.nevents ? arm_one : arm_relation)(c, r, k));
    c->watch.armed = 1;
    return 0;
}

/* Has the guard passed zero, from its sign to that of e, in the direction of the event?  The direction -1 or 1; else 0.
   */
int passes(const costate *c, int k, double e)
{
    const guarded *g = &c->watch.guard[k];
    int sign = g->sign, way = e != 0 ? sign_of(e) : -sign, only = c->maps.event[k].direction;
    if (sign == 0 || way == sign || (g->holds && g->from_zero && fabs(e) <= g->band)) return 0;
    return only == 0 || only == way ? way : 0;
}
