/* remake.c - recomputes steps of a tape: the same computation, bit for bit. */
#include <string.h>
#include "run/remake.h"
#include "solver/workspace.h"

int fresh_as_taped(costate *c, const costate_tape *t, int k)
{
    TRY(stepper_take(&c->st, (int)t->list[k].member));
    fresh(c, tape_source(t, k));
    return 0;
}

/* A step after a change of the member uses nothing of earlier ones. */
static int take_as_taped(costate *c, const record *r, trial *by)
{
    int member = (int)r->member, changed = member != c->st.at;
    TRY(stepper_take(&c->st, member));
    if (by->before && by->before->member != r->member) by->before = NULL;
    if (changed) fresh(c, 0);
    return 0;
}

int step_as_taped(costate *c, const costate_tape *t, int k, int as_often, const record *before, const place *to,
                  record *now)
{
    decisions as = tape_decisions(t, k);
    if (as.from && !as.from->y && c->st.lin.serial != as.jacobian)
        return fail(&c->v, COSTATE_BAD_TAPE, "The tape lacks the state where the Jacobian of step %d was taken.", k);
    trial by = {.before = before, .as = &as, .serial = k + 1, .to = *to, .predict = t->from.predict, .y1 = c->work.y1,
                .yp1 = c->work.yp1, .err = c->work.err};
    const record *r = &t->list[k];
    TRY(take_as_taped(c, r, &by));
    by.exact = now->exact = r->exact;
    now->mode = r->mode;
    now->member = r->member;
    if (!as_often || r->exact) as.iterations = NULL;
    verdict_at(&c->v, now->t);
    memory_bind(&c->st, now->y, r->mode);
    maps_bind_time(&c->maps, now->t, now->h);
    maps_bind_sides(&c->maps, r->t, r->end);
    weights(&c->st, now->y, c->st.w);
    TRY(frozen(&c->v, c->st.F->forward(&c->st, now, &by)));
    memory_keep(&c->st, now->y, c->work.y1);
    return 0;
}

/* Recomputed stages are kept for later sweeps, so NaN that a callback returned only this time must not enter them. */
static int finite_step(const costate *c, const double *X)
{
    TRY(space_finite(&c->maps.space, (size_t)c->st.s * (size_t)c->st.n, X));
    return space_finite(&c->maps.space, (size_t)c->st.N, c->work.y1);
}

int matrices_again(const reader *who, const costate_tape *t, long source, double h)
{
    costate *c = who->run;
    record r = t->list[source - 1];
    if (!r.y) TRY(tape_get(t, (int)source - 1, who, 0, &r));
    memory_bind(&c->st, r.y, r.mode);
    maps_bind_sides(&c->maps, r.t, r.end);
    weights(&c->st, r.y, c->st.w);
    costate_point at = equation_point(&c->maps, r.t, r.y, r.yp);
    TRY(frozen(&c->v, linearise(&c->maps, source, &at, c->st.w, &c->st.lin)));
    return frozen(&c->v, shifts_factor(c->st.sh, &c->st.lin, h, &c->st.fac));
}

/* If step k used the linearisation of an earlier step whose state is not in memory, that state is read, and then the
   state of step k again: only one of them is there at a time. */
static int source_again(const reader *who, const costate_tape *t, int k, record *r)
{
    const costate *c = who->run;
    const factors *f = c->st.fac;
    long source = tape_source(t, k);
    if (!source || t->list[source - 1].y) return 0;
    double h = c->st.sh->matfree ? t->list[source - 1].h : r->h;
    if (c->st.lin.serial == source && (!c->st.sh->matfree || (f && f->serial == source && f->h == h))) return 0;
    TRY(matrices_again(who, t, source, h));
    return tape_get(t, k, who, 0, r);
}

/* Recomputes the stages of one step from its state, with the decisions of the run, also in derivative mode. */
static int one_again(const reader *who, const costate_tape *t, int k, record *r)
{
    costate *c = who->run;
    const place *to = &c->work.scratch[0];
    TRY(stepper_take(&c->st, (int)t->list[k].member));
    TRY(source_again(who, t, k, r));
    r->X = to->X;
    TRY(step_as_taped(c, t, k, 1, NULL, to, r));
    if (r->corrected) memcpy(uncorrected(&c->st, r), c->work.y1, (size_t)c->st.N * sizeof *c->work.y1);
    return frozen(&c->v, finite_step(c, r->X));
}

/* ---- steps of no length ---- */

/* the step behind a map, or the last one; NULL: there is none */
static const record *step_behind(const costate_tape *t, const mapped *e)
{
    if (t->count == 0) return NULL;
    return &t->list[e->before < t->count ? e->before : t->count - 1];
}

/* with the degree, or the matrix of the user's, of the step `like`; at: its time on the tape, whose f is that behind it
   if it is a stop */
static int instant_forward(costate *c, long serial, double at, const record *like, record *now)
{
    const place *to = &c->work.scratch[0];
    decisions as = {.degree = like ? like->degree : 0, .held = like ? like->held : 0};
    trial by = {.cautious = 1, .as = as.degree > 0 || as.held != 0 ? &as : NULL, .serial = serial, .to = *to,
                .exact = 1, .differentiated = 1, .y1 = c->work.y1, .yp1 = c->work.yp1, .err = c->work.err};
    fresh(c, 0);
    now->X = to->X;
    now->iterations = to->iterations;
    maps_bind_time(&c->maps, now->t, now->h);
    maps_bind_start(&c->maps, at);
    weights(&c->st, now->y, c->st.w);
    TRY(frozen(&c->v, c->st.F->forward(&c->st, now, &by)));
    memory_keep(&c->st, now->y, c->work.y1);
    return frozen(&c->v, finite_step(c, now->X));
}

int instant_as_taped(costate *c, const costate_tape *t, int k, record *now)
{
    const mapped *e = &t->maps.list[k];
    const record *like = step_behind(t, e);
    now->end = now->t + now->h;
    now->mode = (unsigned)e->from & 0x1fffffffu;
    now->exact = 1;
    if (like) TRY(stepper_take(&c->st, (int)like->member));
    now->member = (unsigned)c->st.at & 0xff;
    memory_bind(&c->st, now->y, e->from);
    verdict_at(&c->v, now->t);
    if (now->h != 0) return instant_forward(c, t->count + 2 + k, e->t, like, now);
    memcpy(c->work.y1, now->y, (size_t)c->st.N * sizeof *now->y);
    return 0;
}

static int instant_again(const reader *who, const costate_tape *t, int k, record *r)
{
    const mapped *e = &t->maps.list[k];
    *r = (record){.t = e->t, .h = e->h, .y = e->y, .yp = e->k};
    return instant_as_taped(who->run, t, k, r);
}

/* ---- blocks of consecutive steps ---- */

/* Sets y and y' to what the maps before step k left; 0: there are none. */
static int maps_as_taped(costate *c, const costate_tape *t, int k, int *next)
{
    int any = 0;
    for (; *next < t->maps.count && t->maps.list[*next].before == k; (*next)++) {
        const mapped *e = &t->maps.list[*next];
        any = 1;
        memcpy(c->work.y, e->y1, (size_t)c->st.N * sizeof *e->y1);
        if (e->event == CONSISTENT && c->work.yp) memcpy(c->work.yp, e->f.k, (size_t)c->st.n * sizeof *e->f.k);
    }
    return any;
}

/* The state at the start of step k is known: informs the tape if this step is fresh, and restarts the run there.  A run
   also restarts after maps. */
static int come_to(costate *c, const costate_tape *t, const reader *who, int k, int after_map, int *begins)
{
    *begins = k < t->count && (after_map || t->list[k].fresh);
    if (!*begins) return 0;
    TRY(fresh_as_taped(c, t, k));
    if (!t->list[k].fresh) return 0;
    return space_agree(&c->maps.space, t->kept->remakes->came_to(t, who, k, c->work.y, c->work.yp));
}

static int corrected_as_taped(costate *c, const record *r, int k, record *now)
{
    TRY(frozen(&c->v, correct_value(&c->st, now, r, 0, c->work.corrected, c->work.y1)));
    if (now->corrected) return 0;
    return fail(&c->v, COSTATE_BAD_TAPE, "In the run after_step changed the state at t = %.10g (step %d); now "
                "after_step.acts says that it is the identity there.", now->end, k);
}

/* Recomputes step k.  Stages that the tape does not keep stay in the work space, because the next step needs them. */
static int go_on(costate *c, const costate_tape *t, const reader *who, int k, const record *before, record *now)
{
    const record *r = &t->list[k];
    place to, spare = c->work.scratch[k & 1];
    *now = (record){.t = r->t, .h = r->h, .end = r->end, .fresh = r->fresh, .y = c->work.y, .yp = c->work.yp,
                    .iterations = spare.iterations};
    TRY(space_agree(&c->maps.space, t->kept->remakes->room(t, who, k, &spare, now, &to)));
    TRY(step_as_taped(c, t, k, 1, before, &to, now));
    TRY(frozen(&c->v, finite_step(c, to.X)));
    if (r->corrected) TRY(corrected_as_taped(c, r, k, now));
    c->count.remade++;
    return 0;
}

static int all_again(const reader *who, const costate_tape *t, int from, int to, const double *state)
{
    costate *c = who->run;
    size_t N = (size_t)c->st.N;
    record now, prev;
    int next = tape_first_map(t, from + 1), begins;
    memcpy(c->work.y, state, N * sizeof *state);
    if (c->work.yp) memcpy(c->work.yp, state + N, (size_t)c->st.n * sizeof *state);
    for (int k = from;; k++) {
        int after_map = k > from && maps_as_taped(c, t, k, &next);
        TRY(come_to(c, t, who, k, after_map, &begins));
        if (k == to) return 0;
        TRY(go_on(c, t, who, k, begins ? NULL : &prev, &now));
        workspace_step(&c->work);
        prev = now;
    }
}

reader reader_of(costate *c, int back)
{
    return (reader){&c->st, c->self, back, one_again, all_again, instant_again, c};
}
