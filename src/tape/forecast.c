/* forecast.c - how many steps a sweep over checkpoints will recompute: the same plans, with only block numbers. */
#include <stdlib.h>
#include <string.h>
#include "tape/blocks.h"

/* Block b is requested: recomputation begins at the last state before it, and keeps others on the way.  *whole_from:
   the blocks from there to b are kept whole. */
static int one_way(const costate_tape *t, checkpoints *x, int b, int *whole_from)
{
    int i = last_before(x->at, x->holds, b), most_whole;
    plan_room m = blocks_room(t, x);
    size_t most = blocks_most(t, x), held = (size_t)(i + 1) * m.state;
    m.all = most > held ? most - held : 0;
    if (!remade_plan(x, x->at[i], b, m, &most_whole)) return 0;
    memcpy(x->at + i + 1, x->wanted, (size_t)x->wanted_count * sizeof *x->at);
    x->holds = i + 1 + x->wanted_count;
    *whole_from = b + 1 - (most_whole > 1 ? most_whole : 1);
    return 1;
}

/* x: a copy with lists of its own, which have room for all blocks */
static int go_back(const costate_tape *t, checkpoints *x, long *steps)
{
    int whole_from = x->count;
    for (int b = x->count - 1; b >= 0; b--) {
        if (b >= whole_from || whole_of(x, b)) continue;
        *steps += block_end(t, x, b) - x->blocks[x->at[last_before(x->at, x->holds, b)]].first;
        if (!one_way(t, x, b, &whole_from)) return 0;
        x->wholes = 0;
    }
    return 1;
}

/* Each block is recomputed once, beginning with the last state before the first block that is not whole: recomputation
   takes the memory of whole blocks. */
static void go_forward(const costate_tape *t, const checkpoints *x, long *steps)
{
    int b = 0;
    while (b < x->count && whole_of(x, b)) b++;
    int from = b < x->count && !t->frames ? x->at[last_before(x->at, x->holds, b)] : b;
    if (b < x->count) *steps = t->count - x->blocks[from].first;
}

int remade_steps(const costate_tape *t, int back, long *steps)
{
    checkpoints x = *(const checkpoints *)t->own;
    *steps = 0;
    if (!back || t->frames) { go_forward(t, &x, steps); return COSTATE_OK; }
    const int *at = x.at;
    int room = x.count + 1;
    x.wanted_count = 0;
    x.wanted_room = room;
    x.at = malloc((size_t)room * sizeof *x.at);
    x.wanted = malloc((size_t)room * sizeof *x.wanted);
    if (x.at && x.holds) memcpy(x.at, at, (size_t)x.holds * sizeof *at);
    int there = x.at && x.wanted && go_back(t, &x, steps);
    free(x.at);
    free(x.wanted);
    return there ? COSTATE_OK : COSTATE_NO_MEMORY;
}
