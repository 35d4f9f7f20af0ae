/* arm.c - guards where a segment begins: their signs there, and of those that are zero the sign that they take next.

   A guard that is zero has just fired, or begins so: its slope along the dense output of the first step tells where it
   goes.  Back where it came from, it can fire again; on the other side, in the same mode, the jump was of no use. */
#include <float.h>
#include <math.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "run/watch.h"

int active(const costate *c, int k)
{
    const costate_event *e = &c->P.event[k];
    return e->guard.value && in_mode(c, e);
}

int guard_value(costate *c, int k, double t, const double *y, double *e)
{
    c->count.guards++;
    const map *f = &c->maps.events[k].guard;
    TRY(decided(&c->v, map_value(&c->maps, f, t, y, e), f->name));
    if (fabs(*e) < HUGE_VAL) return 0;
    return fail(&c->v, COSTATE_NOT_FINITE, "event[%d].guard is NaN or Inf at t = %.10g.", k, t);
}

/* (e(u(theta + d)) - e(u(theta - d)))/(2 d), one-sided at the ends */
static int by_difference(costate *c, const record *r, int k, double theta, double *slope)
{
    const double D = 1e-6;
    double at[] = {fmax(theta - D, 0), fmin(theta + D, 1)}, e[2];
    for (int i = 0; i < 2; i++) {
        double t = r->t + at[i] * r->h;
        dense_eval(&c->st, r, t, c->work.z);
        TRY(guard_value(c, k, t, c->work.z, &e[i]));
    }
    *slope = (e[1] - e[0]) / (at[1] - at[0]);
    return 0;
}

int guard_slope(costate *c, const record *r, int k, double theta, double *slope)
{
    const map *f = &c->maps.events[k].guard;
    double D[STAGES_MOST], D1[STAGES_MOST];
    if (!has_tangent(f->user)) return by_difference(c, r, k, theta, slope);
    dense_weights(c->st.m, theta, D, D1);
    dense_state(&c->st, r, D, c->work.z);
    combine((size_t)c->st.n, c->work.f, NULL, dense_scale(&c->st, r), c->st.s, D1, r->X, (size_t)c->st.n);
    costate_point x = point(&c->maps, r->t + theta * r->h, c->work.z), along = {.t = r->h, .y = c->work.f};
    return decided(&c->v, map_tangent(&c->maps, f, &x, &along, slope), f->name);
}

int wrong_side(costate *c, int k, double t)
{
    if (c->watch.still > 0) return too_many_events(c, "the last of them while the time stood still");
    return fail(&c->v, COSTATE_BAD_EVENT, "The jump of event[%d] at t = %.10g leaves its guard past zero, or going "
                "there, in the mode where it is looked at: it cannot fire again (if that is meant: event[%d].passes = "
                "1).", k, t, k);
}

/* its jump should have turned it back */
int must_turn(const costate *c, int k)
{
    const costate_event *e = &c->P.event[k];
    return e->direction != 0 && e->jump.value && !e->passes;
}

/* Of a guard that is not small beside what it was: no. */
static int may_be_zero(const guarded *g)
{
    return g->value == 0 || g->fired || g->size == 0 || fabs(g->value) <= 1e-9 * g->size;
}

static int arm_one(costate *c, const record *r, int k)
{
    guarded *g = &c->watch.guard[k];
    double slope;
    TRY(guard_value(c, k, r->t, r->y, &g->value));
    g->sign = sign_of(g->value);
    g->from_zero = 0;
    g->change = HUGE_VAL;
    if (may_be_zero(g)) {
        TRY(guard_slope(c, r, k, 0, &slope));
        double zero = 64 * DBL_EPSILON * fmax(fabs(r->t), fabs(r->h)) * fabs(slope / r->h);
        g->from_zero = g->value == 0 || fabs(g->value) <= fmax(zero, g->fired ? g->band : 0);
        if (g->from_zero) g->sign = sign_of(slope);
    }
    if (g->fired && g->sign == g->fired && must_turn(c, k)) return wrong_side(c, k, r->t);
    return 0;
}

int watch_arm(costate *c, const record *r)
{
    for (int k = 0; k < c->watch.count; k++) if (active(c, k)) TRY(arm_one(c, r, k));
    c->watch.armed = 1;
    return 0;
}
