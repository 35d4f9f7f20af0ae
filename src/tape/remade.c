/* remade.c - recomputes blocks of steps when a sweep needs them. */
#include <stdlib.h>
#include <string.h>
#include "tape/blocks.h"
#include "tape/journal.h"

int remade_plan(checkpoints *x, int from, int b, plan_room m, int *most)
{
    int left = b - from + 1;
    x->wanted_count = 0;
    for (int split; left > 1 && (split = plan_split(left, &m)) > 0; left -= split) {
        void *list = x->wanted;
        if (!longer(&list, x->wanted_count, &x->wanted_room, 16, sizeof *x->wanted, &x->owned.bytes)) return 0;
        x->wanted = list;
        x->wanted[x->wanted_count++] = b + 1 - left + split;
        m.all -= m.state;
    }
    *most = (int)(m.all / m.block < (size_t)left ? m.all / m.block : (size_t)left);
    return 1;
}

/* Recomputes block b with its stages.  A forward sweep keeps states as a run does.  A backward sweep drops the states
   behind b, and keeps those that it will need on the way to earlier blocks. */
static int bring(const costate_tape *t, const reader *who, int b)
{
    checkpoints *x = t->own;
    int i = last_before(x->at, x->holds, b), most = 1;
    wholes_keep(x, 1);
    x->back = who->back;
    if (who->back && !t->frames) {
        while (x->holds > i + 1) state_drop(x, x->holds - 1);
        plan_room m = blocks_room(t, x);
        m.all += (size_t)x->wholes * m.block;
        int there = remade_plan(x, x->at[i], b, m, &most);
        TRY(space_agree(&who->st->maps->space, there ? 0 : blocks_no_memory(who->st)));
        m = blocks_room(t, x);              /* lists may have grown */
        m.all += (size_t)x->wholes * m.block;
        if ((size_t)most > m.all / m.block) most = (int)(m.all / m.block);
    }
    if (t->frames && x->at[i] != b) {
        const void *data = NULL;
        size_t bytes = (size_t)x->blocks[b].bytes - sizeof(frame);
        int status = frames_read(t->frames, who->st->v, x->blocks[b].at, bytes, who->back, &data);
        TRY(space_agree(&who->st->maps->space, status));
        const double *state = (const double *)(const void *)((const char *)data + sizeof(journal_fresh));
        x->whole_from = b;
        x->now = b - 1;
        return who->all(who, t, x->blocks[b].first, block_end(t, x, b), state);
    }
    x->whole_from = b + 1 - (most > 1 ? most : 1);
    x->now = x->at[i] - 1;
    return who->all(who, t, x->blocks[x->at[i]].first, block_end(t, x, b), x->state[i]);
}

static int is_wanted(const checkpoints *x, int b)
{
    return x->wanted_count > 0 && x->wanted[last_before(x->wanted, x->wanted_count, b)] == b;
}

int remade_came_to(const costate_tape *t, const reader *who, int k, const double *y, double *yp)
{
    checkpoints *x = t->own;
    int b = ++x->now;
    if (x->blocks[b].yp) memcpy(yp, x->blocks[b].yp, x->slope * sizeof *yp);
    if ((!t->frames || t->from.writer == who->self) && x->blocks[b].print != print_of_state(x, y, yp))
        return fail(who->st->v, COSTATE_BAD_TAPE, "Made again from a checkpoint, the state at t = %.10g (step %d) is "
                    "not that of the run: callbacks, what they read or options are no longer what they were.",
                    t->list[k].t, k);
    if (t->frames) return 0;
    if (x->back ? is_wanted(x, b) : 1) return state_hold(who->st, t, x, b, y, yp);
    return 0;
}

int remade_room(const costate_tape *t, const reader *who, int k, const place *spare, record *r, place *to)
{
    checkpoints *x = t->own;
    *to = *spare;
    r->X = to->X;
    if (x->now < x->whole_from) return 0;
    if (!whole_of(x, x->now)) TRY(whole_begin(who->st, x, x->now));
    whole_step(x, whole_of(x, x->now), k - x->blocks[x->now].first, r, to);
    return 0;
}

int remade_get(const costate_tape *t, int k, const reader *who, record *r)
{
    const checkpoints *x = t->own;
    int b = block_of(x, k);
    if (!whole_of(x, b)) {
        int status = bring(t, who, b);
        if (status) { wholes_keep(t->own, x->wholes); return status; }      /* their contents are incomplete */
    }
    const double *at = whole_of(x, b)->memory + (size_t)(k - x->blocks[b].first) * x->step;
    *r = t->list[k];
    r->y = at;
    r->yp = x->slope ? at + x->N : NULL;
    r->X = at + x->N + x->slope;
    return 0;
}
