/* replay.c - repeats the steps of a tape.  Steps that end at events or at given times are adapted to meet them. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/events.h"
#include "ops/list.h"
#include "run/remake.h"
#include "run/start.h"
#include "run/watch.h"
#include "solver/arguments.h"
#include "solver/workspace.h"
#include "sweeps/replay.h"
#include "sweeps/sweep.h"

typedef struct {
    costate *c;
    const costate_tape *tape;
    costate_tape *onto;         /* the tape that is written, or NULL */
    int k, next;                /* the current step, and the next map */
    record now, prev;
    int begins;                 /* the step does not use earlier ones */
    double shift;               /* t minus the t of the tape, at the start of the step */
    double later;               /* t1 minus the t1 of the tape */
    int event;                  /* in which the step ends */
} replay;

/* from where the replay is, of length h, to the time `end` */
static int step_again(replay *x, double h, double end)
{
    costate *c = x->c;
    const record *r = &x->tape->list[x->k];
    const place *to = &c->work.scratch[x->k & 1];
    const double *yp = tape_slope(x->tape, x->k);
    x->now = (record){.t = r->t + x->shift, .h = h, .end = end, .fresh = r->fresh,
                      .y = c->work.y, .yp = yp ? yp : c->work.yp, .X = to->X, .iterations = to->iterations};
    TRY(step_as_taped(c, x->tape, x->k, !c->o.derivative_mode, x->begins ? NULL : &x->prev, to, &x->now));
    int sound = all_finite((size_t)c->st.N, c->work.y1);
    return space_agree(&c->maps.space, sound ? 0 : fail(&c->v, COSTATE_NOT_FINITE, "The state became NaN or Inf at t = "
                       "%.10g in a replay.", x->now.t));
}

static double end_of_shifted(const replay *x, double h)
{
    const record *r = &x->tape->list[x->k];
    return r->end + (x->shift + (h - r->h));
}

static int guard_again(void *ctx, double h, double *e)
{
    replay *x = ctx;
    TRY(step_again(x, h, end_of_shifted(x, h)));
    return guard_value(x->c, x->event, x->now.end, x->c->work.y1, e);
}

/* ---- steps and stops ---- */

/* A step lies between two stops, and an instant at a stop behind it.  If events have shifted it by so much that it
   leaves this piece, it would see another f.  from, to: on the tape. */
static int stays_in_piece(const replay *x, double from, double to)
{
    const costate *c = x->c;
    if (c->P.nstops == 0) return 0;
    double dir = tape_direction(x->tape), t[] = {x->now.t, x->now.end};
    double near = 8 * DBL_EPSILON * fmax(fmax(fabs(from), fabs(to)), fmax(fabs(t[0]), fabs(t[1])));
    double inside = from + (from == to ? dir * near : (to - from) / 2);
    for (int i = 0; i < 2; i++) {
        double way = t[i] > inside ? 1 : -1, stop = times_next(c->P.nstops, c->P.stops, inside, way);
        if (way * (t[i] - stop) > near)
            return fail(&x->c->v, COSTATE_OUT_OF_RANGE, "Events have moved so far in this replay that a step from t = "
                        "%.10g to %.10g goes from %.10g to %.10g, beyond the stop at %.10g: run it again instead.",
                        from, to, t[0], t[1], stop);
    }
    return 0;
}

/* ---- steps of no length ---- */

static int instant_step(replay *x, double h)
{
    costate *c = x->c;
    const mapped *e = &x->tape->maps.list[x->next];
    x->now = (record){.t = e->t + x->shift, .h = h, .y = c->work.y, .yp = c->work.yp};
    return instant_as_taped(c, x->tape, x->next, &x->now);
}

static int level_again(void *ctx, double h, double *e)
{
    replay *x = ctx;
    TRY(instant_step(x, h));
    TRY(guard_value(x->c, x->event, x->now.end, x->c->work.y1, e));
    *e -= x->tape->maps.list[x->next].level;
    return 0;
}

/* h is as exact as that of the step behind it needs. */
static int instant_to_event(replay *x, const mapped *e)
{
    const mapped *from = &x->tape->maps.list[x->next];
    double h = from->h, miss, slope;
    double scale = from->before < x->tape->count ? fabs(x->tape->list[from->before].h) : 0;
    search how = {level_again, x, &x->c->v, x->c->maps.events[e->event].whole, from->t + x->shift, e->slope,
                  DBL_EPSILON * scale, 0, 0, 0, 0};
    x->event = e->event;
    return search_step(&how, &h, &miss, &slope);
}

/* It may get a length, which moves the time of all that follows. */
static int instant_again(replay *x)
{
    costate *c = x->c;
    const mapped *from = x->tape->maps.list + x->next;
    if (!tape_has_instant(x->tape, x->next + 1)) return 0;
    if (from[1].timed) TRY(instant_step(x, from->h - x->shift));
    else TRY(instant_to_event(x, from + 1));
    TRY(stays_in_piece(x, from->t, from->t + from->h));
    mapped e = *from;
    e.t = x->now.t;
    e.h = x->now.h;
    e.y = e.y1 = c->work.y;
    e.k = c->work.yp;
    if (x->onto) TRY(space_agree(&c->maps.space, tape_event(&c->st, x->onto, &e)));
    x->shift += x->now.h - from->h;
    memcpy(c->work.y, c->work.y1, (size_t)c->st.N * sizeof *c->work.y);
    return 0;
}

/* If y and p are unchanged, the recorded length meets the event immediately, with the same bits. */
static int step_to_event(replay *x, const mapped *e)
{
    double h = x->tape->list[x->k].h, miss, slope;
    search how = {guard_again, x, &x->c->v, x->c->maps.events[e->event].whole, x->now.t, e->slope, e->miss, 0, 0, 0, 0};
    x->event = e->event;
    TRY(search_step(&how, &h, &miss, &slope));
    x->shift += x->now.h - x->tape->list[x->k].h;
    return 0;
}

static int ends_before(const replay *x, double end)
{
    return fail(&x->c->v, COSTATE_OUT_OF_RANGE, "The last step of this replay would end at t = %.10g, before it begins "
                "at %.10g: run it again instead.", end, x->tape->list[x->k].t + x->shift);
}

static int step_by_rule(replay *x)
{
    const record *r = &x->tape->list[x->k];
    op o = step_of(x->tape, x->k, x->next);
    if (o.rule == TO_EVENT) return step_to_event(x, &x->tape->maps.list[o.which]);
    double later = o.rule == TO_END ? x->later : 0;
    double h = o.rule == FROZEN ? r->h : r->h - x->shift + later;
    if (later != 0 && h * r->h <= 0) return ends_before(x, r->end + later);
    TRY(step_again(x, h, o.rule == FROZEN ? end_of_shifted(x, h) : r->end + later));
    if (o.rule != FROZEN) x->shift = later;
    return 0;
}

/* The written tape can be read from its fresh steps, but the run cannot be resumed there. */
static int write_fresh(const replay *x)
{
    const fresh_run f = {.t = x->now.t, .t0 = x->tape->from.t0, .t1 = x->tape->from.t1, .mode = (int)x->now.mode,
                         .begins = x->begins && x->now.yp, .y = x->c->work.y, .yp = x->now.yp,
                         .source = tape_source(x->tape, x->k)};
    tape_is_fresh(x->onto, f.begins);
    int does = 0;
    if (f.source) TRY(tape_goes_on(&x->c->st, x->onto, f.source, NULL, 1, &does));
    return tape_fresh(&x->c->st, x->onto, &f);
}

/* writes the repeated step to the other tape */
static int write_step(replay *x)
{
    costate *c = x->c;
    record r = {.yp = x->now.yp, .fresh = x->now.fresh};
    place to, spare = {(double *)x->now.X, (unsigned char *)x->now.iterations};
    if (!x->onto) return 0;
    if (r.fresh) TRY(space_agree(&c->maps.space, write_fresh(x)));
    TRY(space_agree(&c->maps.space, tape_slot(&c->st, x->onto, c->work.y, &spare, &r, &to)));
    memmove(to.X, x->now.X, stage_doubles(&c->st, c->st.s) * sizeof *to.X);
    memmove(to.iterations, x->now.iterations, (size_t)c->st.s);
    x->now.y = r.y;
    x->now.yp = r.yp;
    x->now.X = r.X;
    x->now.iterations = r.iterations;
    return space_agree(&c->maps.space, tape_commit(&c->st, x->onto, &x->now));
}

static int consistent_again(replay *x, const mapped *of)
{
    costate *c = x->c;
    TRY(make_consistent(c, of->f.t + x->shift, of->f.only_values));
    return x->onto ? space_agree(&c->maps.space, tape_map(&c->st, x->onto, &c->start.mine, c->work.y)) : 0;
}

/* the run was continued there, or relations changed: the state stays */
static int went_on_again(replay *x, mapped *e)
{
    costate *c = x->c;
    e->y = e->y1 = c->work.y;
    memory_bind(&c->st, c->work.y, e->to);
    return x->onto ? space_agree(&c->maps.space, tape_event(&c->st, x->onto, e)) : 0;
}

static int map_again(replay *x, const mapped *of)
{
    costate *c = x->c;
    if (of->event == CONSISTENT) return consistent_again(x, of);
    if (of->event == NO_LENGTH) return instant_again(x);
    mapped e = *of;
    e.t += x->shift;
    if (of->event == WENT_ON || of->event == RELATED) return went_on_again(x, &e);
    if (of->event == STARTED) {
        e.y = c->work.y;
        e.y1 = c->work.y1;
        return map_state(c, x->onto, NULL, c->work.corrected, NULL, &e);
    }
    e.y = c->watch.y;
    e.y1 = c->watch.y1;
    memcpy(e.y, c->work.y, (size_t)c->st.N * sizeof *e.y);
    return map_state(c, x->onto, NULL, c->watch.jump, NULL, &e);
}

/* applies the maps before a step, which then restarts the run */
static int maps_again(replay *x)
{
    for (; x->next < x->tape->maps.count && x->tape->maps.list[x->next].before == x->k; x->next++) {
        TRY(map_again(x, &x->tape->maps.list[x->next]));
        x->begins = 1;
    }
    if (x->begins && x->k < x->tape->count) TRY(stepper_take(&x->c->st, (int)x->tape->list[x->k].member));
    if (x->begins && x->c->st.F->restart) x->c->st.F->restart(&x->c->st);
    return 0;
}

/* Relaxation shifts the next steps by the difference of what it took of h. */
static int corrected_again(replay *x)
{
    const record *r = &x->tape->list[x->k];
    TRY(frozen(&x->c->v, correct_value(&x->c->st, &x->now, r, 0, x->c->work.corrected, x->c->work.y1)));
    x->shift += x->now.part * x->now.h - r->part * r->h;
    return 0;
}

static int all_again(replay *x)
{
    for (; x->k < x->tape->count; x->k++) {
        x->begins = x->k == 0 || x->tape->list[x->k].fresh;
        TRY(maps_again(x));
        if (x->tape->list[x->k].fresh) TRY(fresh_as_taped(x->c, x->tape, x->k));
        TRY(step_by_rule(x));
        TRY(stays_in_piece(x, x->tape->list[x->k].t, x->tape->list[x->k].end));
        TRY(corrected_again(x));
        TRY(write_step(x));
        workspace_step(&x->c->work);
        x->prev = x->now;
    }
    return maps_again(x);
}

/* The steps are those of the tape: only where some of them are fresh can others be recomputed from there. */
static const retention *kept_onto(const replay *x)
{
    const retention *own = retention_for(x->onto, x->c->o.storage);
    return !own->remakes || x->tape->fresh.every ? own : retention_for(x->onto, COSTATE_ALL_STAGES);
}

static int begin_onto(replay *x)
{
    costate *c = x->c;
    origin from = {c->self, c->stamp, x->tape->from.predict, x->tape->from.t0, x->tape->from.t1};
    if (!x->onto) return 0;
    tape_clear(x->onto);
    if (situations_copy(&x->onto->situations, &x->tape->situations))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    TRY(tape_start(&c->st, x->onto, kept_onto(x), &c->P, &from));
    x->onto->factors.on = 0;                /* the factorisations belong to the first tape */
    x->onto->matfree = x->onto->matfree && x->tape->matfree;       /* so do the numbers of iterations (irk/forward.c) */
    return 0;
}

static int replay_all(costate *c, const costate_tape *tape, double *y, const double *p, double later,
                      costate_tape *onto)
{
    TRY(check_vector(c, "y", y, (size_t)c->st.N));
    TRY(check_vector(c, "p", p, (size_t)c->st.np));
    maps_bind(&c->maps, p);
    forget(c);
    memcpy(c->work.y, y, (size_t)c->st.N * sizeof *y);
    if (c->work.yp) memset(c->work.yp, 0, (size_t)c->st.n * sizeof *c->work.yp);
    memory_bind(&c->st, c->work.y, tape->maps.count > 0 ? tape->maps.list[0].from : tape->mode);
    replay x = {.c = c, .tape = tape, .onto = onto, .later = later};
    TRY(begin_onto(&x));
    TRY(all_again(&x));
    verdict_at(&c->v, tape->from.t1 + x.shift);
    memcpy(y, c->work.y, (size_t)c->st.N * sizeof *y);
    return onto ? tape_end(&c->st, onto, 1, c->v.t, y, c->maps.bound.situation) : COSTATE_OK;
}

static int replay_taken(costate *c, const costate_tape *tape, double *y, const double *p, double later,
                        costate_tape *onto)
{
    TRY(tape_begin(c, tape));
    int status = replay_all(c, tape, y, p, later, onto);
    tape_leave(tape);
    return status;
}

int solver_replay(costate *c, const costate_tape *tape, double *y, const double *p)
{
    TRY(begin(c));
    return replay_taken(c, tape, y, p, 0, NULL);
}

int solver_replay_later(costate *c, const costate_tape *tape, double *y, const double *p, double later,
                        costate_tape *onto)
{
    TRY(begin(c));
    if (!onto || onto == tape)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, onto ? "onto is the tape itself." : "onto is NULL.");
    return replay_taken(c, tape, y, p, later, onto);
}

int solver_replay_onto(costate *c, const costate_tape *tape, double *y, const double *p, costate_tape *onto)
{
    return solver_replay_later(c, tape, y, p, 0, onto);
}
