/* by_turns.h - hybrid systems (hybrids.h) that are stiff by turns, so that composite methods switch between members.

   relaxation   van der Pol's equation, y0' = y1, y1' = p0 ((1 - y0^2) y1 - p1 y0) + m0/1000, p0 = 1e4: slow arcs, which
                are stiff, and jumps, which are not.
   chatter      y0' = -k (y0 - p1 cos y1) + m0/10, y1' = 1 + 0.3 p1 sin t + m1/10, k = p0 exp(3.5 + 5.5 sin 2t): rates
                from 0.14 to 8100 and back, twice in 2 pi; smooth, so that derivatives can be compared with differences.

   Both have two integrals, two memory variables, an event whose guard is a state or a phase and one at two given times,
   with jumps and costs. */
#ifndef TESTS_BY_TURNS_H
#define TESTS_BY_TURNS_H

#include "common.h"
#include "hybrids.h"

static void relaxation_rhs(const void *of, const num_point *x, num *f)
{
    const num *y = x->y, *p = x->p;
    (void)of;
    f[0] = add(y[1], times(1e-3, x->m[1]));
    f[1] = add(mul(p[0], sub(mul(plus(times(-1, square(y[0])), 1), y[1]), mul(p[1], y[0]))), times(1e-3, x->m[0]));
}

static void chatter_rhs(const void *of, const num_point *x, num *f)
{
    const num *y = x->y, *p = x->p;
    num rate = mul(p[0], exponential(plus(times(5.5, sine(times(2, x->t))), 3.5)));
    (void)of;
    f[0] = sub(times(0.1, x->m[0]), mul(rate, sub(y[0], mul(p[1], cosine(y[1])))));
    f[1] = add(plus(times(0.3, mul(p[1], sine(x->t))), 1), times(0.1, x->m[1]));
}

static void turns_cost(const void *of, const num_point *x, num *r)
{
    (void)of;
    r[0] = add(square(x->y[0]), mul(x->p[1], times(0.1, x->m[0])));
    r[1] = mul3(cosine(x->t), x->y[0], x->p[1]);
}

static void relaxation_guard(const void *of, const num_point *x, num *e)
{
    (void)of;
    e[0] = sub(x->y[0], x->p[2]);
}
static void chatter_guard(const void *of, const num_point *x, num *e)
{
    (void)of;
    e[0] = sub(x->y[1], x->p[2]);
}

/* y hardly changes, memory is what y was */
static void turns_jump(const void *of, const num_point *x, num *out)
{
    (void)of;
    out[0] = mul(x->y[0], plus(times(1e-3, mul(x->p[1], x->m[1])), 1));
    out[1] = x->y[1];
    out[2] = add(x->y[0], times(0.1, x->p[1]));
    out[3] = add(times(0.5, x->m[1]), times(0.1, mul(x->t, x->y[0])));
}

static void turns_event_cost(const void *of, const num_point *x, num *r)
{
    (void)of;
    r[0] = mul(x->y[0], x->m[0]);
    r[1] = mul(x->p[1], x->t);
}

static void turns_start(const num *p, num *y, num *m)
{
    y[0] = times(2, p[1]);
    y[1] = times(-0.6, p[1]);
    m[0] = number(0.3);
    m[1] = p[1];
}

/* a system with its events, at an address that stays: hybrid.event points into it */
typedef struct { hybrid h; costate_event event[2]; double p[3], times[2]; } by_turns;

enum { RELAXATION, CHATTER };

/* guard: of y0 or y1, where the state's event is; callbacks of events are those of `everything` */
static inline void by_turns_make(by_turns *b, int which, double t1, double guard)
{
    const costate_event *of = hybrid_find("everything")->event;
    void (*rhs)(const void *, const num_point *, num *) = which == CHATTER ? chatter_rhs : relaxation_rhs;
    void (*at)(const void *, const num_point *, num *) = which == CHATTER ? chatter_guard : relaxation_guard;
    *b = (by_turns){.p = {which == CHATTER ? 1 : 1e4, 1, guard}, .times = {0.3 * t1, 0.7 * t1}};
    b->event[0] = (costate_event){.guard = of[0].guard, .jump = of[0].jump, .cost = of[0].cost, .passes = 1,
                                  .direction = which == CHATTER ? 1 : -1, .from = COSTATE_ANY_MODE,
                                  .to = COSTATE_SAME_MODE};
    b->event[1] = of[3];
    b->event[1].times = b->times;
    b->h = (hybrid){.name = which == CHATTER ? "chatter" : "relaxation", .n = 2, .np = 3, .nq = 2, .nm = 2,
                    .nevents = 2, .t1 = t1, .p = b->p, .start = turns_start, .event = b->event,
                    .map = {rhs, turns_cost, at, turns_jump, turns_event_cost, [12] = turns_jump,
                            [13] = turns_event_cost}};
}

/* without memory and events, which are zero in the formulas then */
static inline void by_turns_plain(by_turns *b, int which, double t1)
{
    by_turns_make(b, which, t1, 0);
    b->h.nm = b->h.nevents = 0;
}

/* members that took steps */
static inline int members_at_work(const costate *c)
{
    int count = 0;
    for (int k = 0; k < COSTATE_MEMBERS_MOST; k++) count += costate_get_stats(c)->member_steps[k] > 0;
    return count;
}

static inline void print_members(const costate *c)
{
    const costate_stats *s = costate_get_stats(c);
    print_message("           %ld switches; steps of members", s->switches);
    for (int k = 0; k < COSTATE_MEMBERS_MOST; k++) print_message(" %ld", s->member_steps[k]);
    print_message("\n");
}

#endif
