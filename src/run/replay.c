/* replay.c - the run again over its tape: the same steps, but those that end in events or at given times meet them. */
#include <math.h>
#include <string.h>
#include "run/watch.h"

typedef struct {
    costate *c;
    const costate_tape *tape;
    costate_tape *onto;         /* what is written, or NULL */
    int k, next;                /* the step, and the next map */
    record now, prev;
    int begins;                 /* no step before it counts */
    double shift;               /* t - t of the tape, at the start of the step */
    int event;                  /* in which it ends */
} replay;

static int step_again(replay *x, double h)
{
    costate *c = x->c;
    const costate_tape *tape = x->tape;
    const record *r = &tape->list[x->k];
    decisions as = tape_decisions(tape, x->k);
    trial by = {.before = x->begins ? NULL : &x->prev, .as = &as, .serial = x->k + 1, .to = c->work.scratch[x->k & 1],
                .predict = tape->from.predict, .y1 = c->work.y1, .yp1 = c->work.yp1, .err = c->work.err};
    if (c->o.derivative_mode || r->exact) as.iterations = NULL;
    by.exact = r->exact;
    x->now = (record){.t = r->t + x->shift, .h = h, .end = r->end + (x->shift + (h - r->h)), .mode = r->mode,
                      .exact = r->exact, .y = c->work.y, .yp = r->yp, .X = by.to.X, .iterations = by.to.iterations};
    verdict_at(&c->v, x->now.t);
    memory_bind(&c->st, c->work.y, r->mode);
    weights(&c->st, c->work.y, c->st.w);
    TRY(frozen(&c->v, c->st.F->forward(&c->st, &x->now, &by)));
    memory_keep(&c->st, c->work.y, c->work.y1);
    int sound = all_finite((size_t)c->st.N, c->work.y1);
    return space_agree(&c->maps.space, sound ? 0 : fail(&c->v, COSTATE_NOT_FINITE, "The state became NaN or Inf at t = "
                       "%.10g in a replay.", x->now.t));
}

static int guard_again(void *ctx, double h, double *e)
{
    replay *x = ctx;
    TRY(step_again(x, h));
    return guard_value(x->c, x->event, x->now.end, x->c->work.y1, e);
}

/* What was recorded is met at once where nothing changed: the same bits. */
static int step_to_event(replay *x, const mapped *e)
{
    double h = x->tape->list[x->k].h, miss, slope;
    search how = {guard_again, x, &x->c->v, e->event, x->now.t, e->slope, e->miss, 0, 0, 0};
    x->event = e->event;
    TRY(search_step(&how, &h, &miss, &slope));
    x->shift += x->now.h - x->tape->list[x->k].h;
    return 0;
}

static int step_by_rule(replay *x)
{
    const record *r = &x->tape->list[x->k];
    op o = step_of(x->tape, x->k, x->next);
    if (o.rule == TO_EVENT) return step_to_event(x, &x->tape->maps[o.which]);
    TRY(step_again(x, o.rule == FROZEN ? r->h : r->h - x->shift));
    if (o.rule != FROZEN) x->shift = 0;
    return 0;
}

/* the step that was made again onto the other tape */
static int write_step(replay *x)
{
    costate *c = x->c;
    record r = {.yp = x->now.yp};
    place to, spare = {(double *)x->now.X, (unsigned char *)x->now.iterations};
    if (!x->onto) return 0;
    TRY(space_agree(&c->maps.space, tape_slot(&c->st, x->onto, c->work.y, &spare, &r, &to)));
    memmove(to.X, x->now.X, (size_t)c->st.s * (size_t)c->st.n * sizeof *to.X);
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

static int map_again(replay *x, const mapped *of)
{
    costate *c = x->c;
    if (of->event == CONSISTENT) return consistent_again(x, of);
    const wide w = {.jump = c->watch.jump};
    mapped e = *of;
    e.t += x->shift;
    e.y = c->watch.y;
    e.y1 = c->watch.y1;
    memcpy(e.y, c->work.y, (size_t)c->st.N * sizeof *e.y);
    TRY(jump_value(&c->st, &w, &e));
    if (x->onto) TRY(space_agree(&c->maps.space, tape_event(&c->st, x->onto, &e)));
    memcpy(c->work.y, e.y1, (size_t)c->st.N * sizeof *e.y);
    memory_bind(&c->st, c->work.y, e.to);
    return 0;
}

/* those before a step, which then begins anew */
static int maps_again(replay *x)
{
    for (; x->next < x->tape->map_count && x->tape->maps[x->next].before == x->k; x->next++) {
        TRY(map_again(x, &x->tape->maps[x->next]));
        x->begins = 1;
    }
    if (x->begins && x->c->st.F->restart) x->c->st.F->restart(&x->c->st);
    return 0;
}

static int all_again(replay *x)
{
    for (; x->k < x->tape->count; x->k++) {
        x->begins = x->k == 0;
        TRY(maps_again(x));
        TRY(step_by_rule(x));
        TRY(write_step(x));
        workspace_step(&x->c->work);
        x->prev = x->now;
    }
    return maps_again(x);
}

static int begin_onto(replay *x)
{
    costate *c = x->c;
    origin from = {c->self, c->stamp, x->tape->from.predict, x->tape->from.t0, x->tape->from.t1};
    if (!x->onto) return 0;
    tape_clear(x->onto);
    TRY(tape_start(&c->st, x->onto, storage_of(&c->o), &c->P, &from));
    x->onto->keeps = 0;                /* the factorisations are the other tape's */
    return 0;
}

static int replay_all(costate *c, const costate_tape *tape, double *y, const double *p, costate_tape *onto)
{
    TRY(check_vector(c, "y", y, (size_t)c->st.N));
    TRY(check_vector(c, "p", p, (size_t)c->st.np));
    maps_bind(&c->maps, p);
    forget(c);
    memcpy(c->work.y, y, (size_t)c->st.N * sizeof *y);
    memory_bind(&c->st, c->work.y, tape->map_count > 0 ? tape->maps[0].from : tape->mode);
    replay x = {.c = c, .tape = tape, .onto = onto};
    TRY(begin_onto(&x));
    TRY(all_again(&x));
    verdict_at(&c->v, tape->from.t1 + x.shift);
    memcpy(y, c->work.y, (size_t)c->st.N * sizeof *y);
    if (onto) tape_end(onto, 1, c->v.t, y, c->maps.mode);
    return COSTATE_OK;
}

int costate_replay(costate *c, const costate_tape *tape, double *y, const double *p)
{
    TRY(begin(c));
    TRY(tape_begin(c, tape));
    return replay_all(c, tape, y, p, NULL);
}

int costate_replay_onto(costate *c, const costate_tape *tape, double *y, const double *p, costate_tape *onto)
{
    TRY(begin(c));
    if (!onto || onto == tape)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, onto ? "onto is the tape itself." : "onto is NULL.");
    TRY(tape_begin(c, tape));
    return replay_all(c, tape, y, p, onto);
}
