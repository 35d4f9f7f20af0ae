/* relations.c - determines the values of relations, which are frozen between events: at the start of a run, where one
   is continued, and after events (mathematics, section 10.12).

   Away from zero the guard decides.  At zero, to its round-off, its slope does, with f of the value that the relation
   then has: a value is consistent if the guard moves to its side.  Relations at zero are flipped one at a time, each
   in its turn, until all are consistent.  Where none depends on itself through others, each round settles at least one
   more.  Where one is flipped more often than there are relations at zero, all values of a few are tried.  If none are
   consistent, both values of this one drive its guard back to zero, and the solution slides along it.  A guard that
   rests at zero has the value of zero, 0 or the integer itself, unless this one makes it leave; if it leaves zero
   later to the other side, the value changes at the start of that step, where f is the same for both. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "maps/sliding.h"
#include "run/relations.h"
#include "run/watch.h"

/* A change of a guard over a short step is clear if it is more than so many times round-off. */
static const double CLEAR = 8;
/* 2^TRIED_MOST steps are tried at most. */
enum { TRIED_MOST = 6 };

static guarded *guard_of(costate *c, int k) { return &c->watch.guard[c->P.nevents + k]; }

static int to_user(costate *c, int k, double t, const double *y, double *u, double *noise)
{
    const map *f = &c->maps.relations.relation[k];
    c->count.guards++;
    TRY(decided(&c->v, map_value(&c->maps, f, t, y, u), f->name));
    if (!(fabs(*u) < HUGE_VAL))
        return fail(&c->v, COSTATE_NOT_FINITE, "%s is NaN or Inf at t = %.10g.", f->name, t);
    if (c->P.relation[k].whole && fabs(*u) >= INT_MAX)
        return fail(&c->v, COSTATE_BAD_EVENT, "%s is %.3g at t = %.10g: the integer below it is too large for "
                    "x->relation (INT_MAX is %d).", f->name, *u, t, INT_MAX);
    if (!noise) return 0;
    c->count.guards += MOVES;
    return map_noise(&c->maps, f, t, y, *u, c->watch.jump, noise);
}

static int is_sliding(const costate *c) { return relation_slides(c->P.nrelations, c->maps.bound.relation); }

/* the value on the other side of the zero where the guard is u; leaves: the side to which a sign leaves 0 */
static int other_value(const costate_relation *r, int value, double u, int leaves)
{
    if (r->sign && value == 0) return leaves;
    return relation_beside(r, u, value == relation_beside(r, u, 1) ? -1 : 1);
}

static int flip(costate *c, double t, const double *y, int k)
{
    int *value = &c->watch.values[k];
    double u;
    TRY(to_user(c, k, t, y, &u, NULL));
    *value = other_value(&c->P.relation[k], *value, u, guard_of(c, k)->leaves);
    return 0;
}

/* The maps see values that are being determined. */
static void bind_values(costate *c)
{
    c->maps.bound.relation = c->watch.values;
    c->maps.bound.situation = -1;
    c->maps.by_jac.at.held = c->maps.ready[0].held = c->maps.ready[1].held = 0;
}

/* known: the values before are those of the guards that are zero; else they are new */
static int by_signs(costate *c, double t, const double *y, int known)
{
    int *values = c->watch.values;
    for (int k = 0; k < c->P.nrelations; k++) {
        const costate_relation *r = &c->P.relation[k];
        guarded *g = guard_of(c, k);
        double u, noise;
        if (!known) values[k] = 0;
        TRY(to_user(c, k, t, y, &u, &noise));
        g->open = relation_distance(r, u) <= fmax(noise, fmax(g->fired ? g->band : 0, known ? g->drift : 0));
        g->drift = 0;
        g->lowered = 0;
        if (!g->open) values[k] = relation_value(r, u);
        else if (values[k] == COSTATE_SLIDES) continue;
        else if (!known || (r->whole && values[k] != relation_beside(r, u, -1))) values[k] = relation_beside(r, u, 1);
        g->goes = 0;
    }
    memset(c->watch.flips, 0, (size_t)c->P.nrelations * sizeof *c->watch.flips);
    return 0;
}

static situations *situations_of(costate *c, costate_tape *tape) { return tape ? &tape->situations : &c->situations; }

static int number_values(costate *c, costate_tape *tape, int mode, int *number)
{
    situations *s = situations_of(c, tape);
    s->relations = c->P.nrelations;
    *number = situation_number(s, mode, c->watch.values);
    if (*number >= 0) return 0;
    return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the values of %d relations.", s->relations);
}

/* gives the values a number, and binds it */
static int name_values(costate *c, costate_tape *tape, const double *y, int mode)
{
    int number;
    TRY(number_values(c, tape, mode, &number));
    memory_bind(&c->st, y, number);
    return 0;
}

int relations_begin(costate *c, costate_tape *tape, double t, const double *y, int mode)
{
    situations *s = situations_of(c, tape);
    situations_clear(s);
    maps_know(&c->maps, s);
    if (c->P.nrelations == 0) return memory_bind(&c->st, y, mode), 0;
    maps_bind_step(&c->maps, y + c->st.n + c->st.nq, -1);
    c->maps.bound.mode = mode;
    bind_values(c);
    maps_bind_start(&c->maps, t);
    TRY(by_signs(c, t, y, 0));
    return name_values(c, tape, y, mode);
}

/* ---- guards at zero ---- */

/* 1: the guard moves to the side of the value, -1: to the other side; 0: over this step it rests */
static int moves(costate *c, const run *x, int k, int *way)
{
    int event = c->P.nevents + k, side = relation_side(c, k);
    double e, end, noise;
    TRY(guard_value(c, event, x->t, c->work.y, &e));
    TRY(guard_noise(c, event, x->t, c->work.y, e, &noise));
    TRY(guard_value(c, event, x->now.end, c->work.y1, &end));
    int goes = fabs(end - e) > CLEAR * noise ? sign_of(end - e) : 0;
    guard_of(c, k)->leaves = goes;
    *way = side == 0 ? -abs(goes) : goes * side;
    return 0;
}

/* The next relation behind `last` that is at zero with a value that is not consistent; -1: there is none. */
static int inconsistent(costate *c, run *x, int last, int *which)
{
    int count = c->P.nrelations;
    *which = -1;
    for (int k = 0; k < count; k++) guard_of(c, k)->goes = 0;
    for (int longer = 0; longer < 2; longer++) {
        int probed = 0, done = 0;
        for (int i = 1; i <= count; i++) {
            int k = (last + i) % count;
            guarded *g = guard_of(c, k);
            if (!g->open || g->goes != 0 || c->watch.values[k] == COSTATE_SLIDES) continue;
            if (!probed) TRY(step_ahead(c, x, longer, &done));
            probed = 1;
            if (!done) break;
            TRY(moves(c, x, k, &g->goes));
            if (g->goes < 0) { *which = k; return 0; }
        }
    }
    return 0;
}

/* The value of a guard that rests at zero, where it has been `value`: round-off above zero decides nothing. */
static int value_at_rest(const costate_relation *r, int value, double u)
{
    int zero = relation_distance(r, u) == 0, rounded = !r->whole && u < 0 && value > 0;
    return zero || rounded ? relation_value(r, u) : value;
}

/* Gives the first relation at rest whose value is not that of zero this value, once; *any 0: there is none. */
static int lower_one(costate *c, const run *x, int *any)
{
    *any = 0;
    for (int k = 0; k < c->P.nrelations && !*any; k++) {
        guarded *g = guard_of(c, k);
        int *value = &c->watch.values[k], before = *value;
        double u;
        if (!g->open || g->goes != 0 || g->lowered || before == COSTATE_SLIDES) continue;
        TRY(to_user(c, k, x->t, c->work.y, &u, NULL));
        *value = value_at_rest(&c->P.relation[k], before, u);
        *any = g->lowered = *value != before;
    }
    return 0;
}

/* ---- sliding ---- */

static int slides(costate *c, const run *x, int k)
{
    int other = relation_slides(c->P.nrelations, c->watch.values);
    if (c->o.sliding && other < 0) {
        c->watch.values[k] = COSTATE_SLIDES;
        memset(c->watch.flips, 0, (size_t)c->P.nrelations * sizeof *c->watch.flips);
        return 0;
    }
    if (c->o.sliding)
        return fail(&c->v, COSTATE_TOO_MANY_EVENTS, "At t = %.10g the solution slides along the guards of relation[%d] "
                    "and relation[%d]: what it does where two surfaces meet is not determined.", x->t, other, k);
    return fail(&c->v, COSTATE_TOO_MANY_EVENTS, "At t = %.10g both values of relation[%d] drive its guard back to "
                "zero: the solution slides along it. Set options.sliding = 1 to follow it, or separate the thresholds "
                "(hysteresis), or give the sliding motion a mode of its own.", x->t, k);
}

static int slopes_there(costate *c, double t, const double *y, int k, double *below, double *above)
{
    costate_point at = point(&c->maps, t, y);
    int code = sliding_slopes(c->maps.relations.sliding, &at, k, below, above);
    return code == 0 ? 0 : fail(&c->v, COSTATE_CALLBACK, "rhs.value or relation[%d].guard is not defined where the "
                                "solution slides, at t = %.10g (a callback returned %d).", k, t, code);
}

/* The value of relation k, which slides, where it does not any more; or COSTATE_SLIDES.  surely: it leaves. */
static int value_left(costate *c, double t, const double *y, int k, int surely, int *value)
{
    double below, above, u;
    TRY(slopes_there(c, t, y, k, &below, &above));
    TRY(to_user(c, k, t, y, &u, NULL));
    *value = COSTATE_SLIDES;
    if (!surely && below > 0 && above < 0) return 0;
    *value = relation_beside(&c->P.relation[k], u, below < -above ? -1 : 1);
    return 0;
}

int relations_before(costate *c, const run *x)
{
    double u;
    int k = is_sliding(c);
    if (k < 0) return 0;
    TRY(to_user(c, k, x->t, c->work.y, &u, NULL));
    guard_of(c, k)->drift = 2 * relation_distance(&c->P.relation[k], u);
    return 0;
}

/* Tries all values of the relations at zero, if there are few, in place of a walk that goes in a circle. */
static int settle_by_trial(costate *c, run *x, int mode, int *found)
{
    int *values = c->watch.values, at[TRIED_MOST], open = 0, k = 0;
    *found = 0;
    for (int i = 0; i < c->P.nrelations; i++) {
        if (!guard_of(c, i)->open || values[i] == COSTATE_SLIDES) continue;
        if (open == TRIED_MOST) return 0;
        at[open++] = i;
    }
    for (unsigned flipped = 1; open > 1 && !*found && flipped <= 1u << open; flipped++) {
        for (int i = 0; i < open && flipped % (1u << i) == 0; i++) TRY(flip(c, x->t, c->work.y, at[i]));
        TRY(name_values(c, x->tape, c->work.y, mode));
        TRY(inconsistent(c, x, -1, &k));
        *found = k < 0;
    }
    return 0;
}

static int settle(costate *c, run *x, int mode)
{
    int *values = c->watch.values, k = relation_slides(c->P.nrelations, values), open = 0, any, found;
    if (k >= 0) TRY(value_left(c, x->t, c->work.y, k, 0, &values[k]));
    for (int i = 0; i < c->P.nrelations; i++) open += guard_of(c, i)->open;
    for (int last = -1;; last = k) {
        TRY(name_values(c, x->tape, c->work.y, mode));          /* records of trial steps name them */
        TRY(inconsistent(c, x, last, &k));
        if (k < 0) {
            TRY(lower_one(c, x, &any));
            if (!any) return 0;
            continue;
        }
        if (++c->watch.flips[k] > open) {
            TRY(settle_by_trial(c, x, mode, &found));
            if (found) return 0;
            TRY(slides(c, x, k));
            continue;
        }
        TRY(flip(c, x->t, c->work.y, k));
    }
}

static int record_values(costate *c, run *x, int before)
{
    const mapped e = {.event = RELATED, .timed = 1, .from = before, .to = c->maps.bound.situation, .t = x->t,
                      .y = c->work.y, .y1 = c->work.y, .k = c->work.yp};
    return x->tape ? space_agree(&c->maps.space, tape_event(&c->st, x->tape, &e)) : 0;
}

int relations_first(costate *c, run *x)
{
    if (c->P.nrelations == 0) return 0;
    return record_values(c, x, c->maps.bound.situation);
}

static int determine(costate *c, run *x, int with_slopes)
{
    situations *s = situations_of(c, x->tape);
    int mode = c->maps.bound.mode, any = 0, count = s->count;
    memcpy(c->watch.values, c->maps.bound.relation, (size_t)c->P.nrelations * sizeof(int));
    bind_values(c);
    TRY(by_signs(c, x->t, c->work.y, 1));
    for (int k = 0; k < c->P.nrelations; k++) any |= guard_of(c, k)->open;
    if (any && with_slopes) TRY(settle(c, x, mode));
    if (any && with_slopes) fresh(c, 0);
    situations_cut(s, count);               /* values that were only tried are not on the tape */
    bind_values(c);
    return name_values(c, x->tape, c->work.y, mode);
}

int relations_anew(costate *c, run *x, int with_slopes, int *changed)
{
    int before = c->maps.bound.situation;
    *changed = 0;
    if (c->P.nrelations == 0) return 0;
    int status = determine(c, x, with_slopes);
    if (status) return memory_bind(&c->st, c->work.y, before), status;          /* the tape ends in this situation */
    *changed = c->maps.bound.situation != before;
    return *changed ? record_values(c, x, before) : 0;
}

int relation_flips(costate *c, const run *x, int k, int mode, int *number)
{
    int *values = c->watch.values;
    memcpy(values, c->maps.bound.relation, (size_t)c->P.nrelations * sizeof *values);
    if (k >= 0 && values[k] == COSTATE_SLIDES) TRY(value_left(c, x->t, c->work.y, k, 1, &values[k]));
    else if (k >= 0) TRY(flip(c, x->t, c->work.y, k));
    return number_values(c, x->tape, mode, number);
}

int relation_turns(costate *c, run *x)
{
    int before = c->maps.bound.situation, mode = c->maps.bound.mode, k = c->watch.turns - c->P.nevents, to;
    guarded *g = guard_of(c, k);
    g->leaves = c->watch.turns_to;
    int again = g->turned && g->turned_at == x->t;
    memcpy(c->watch.values, c->maps.bound.relation, (size_t)c->P.nrelations * sizeof(int));
    if (again) TRY(slides(c, x, k));
    if (again) TRY(number_values(c, x->tape, mode, &to));
    else TRY(relation_flips(c, x, k, mode, &to));
    memory_bind(&c->st, c->work.y, to);
    g->turned = 1;
    g->turned_at = x->t;
    return record_values(c, x, before);
}
