/* blocks.c - the memory of blocks of steps: states at the beginning of some, and whole blocks with their stages. */
#include <stdlib.h>
#include <string.h>
#include "tape/blocks.h"
#include "tape/journal.h"

/* number of states by default */
enum { MOST_STATES = 200 };

/* ---- memory ---- */

static int pool_shrink(checkpoints *x, pool *from)
{
    void *memory = from->first;
    if (!memory) return 0;
    memcpy(&from->first, memory, sizeof from->first);
    from->count--;
    free(memory);
    x->owned.bytes -= from->bytes;
    return 1;
}

int pools_shrink(checkpoints *x) { return pool_shrink(x, &x->free[WHOLES]) || pool_shrink(x, &x->free[STATES]); }

size_t pools_bytes(const checkpoints *x)
{
    size_t bytes = 0;
    for (int k = 0; k < POOLS; k++) bytes += x->free[k].count * x->free[k].bytes;
    return bytes;
}

void pool_begin(checkpoints *x, int which, size_t bytes)
{
    pool *p = &x->free[which];
    while (p->bytes != bytes && pool_shrink(x, p)) { }
    p->bytes = bytes;
}

static void pool_put(checkpoints *x, int which, void *memory)
{
    pool *p = &x->free[which];
    memcpy(memory, &p->first, sizeof p->first);
    p->first = memory;
    p->count++;
}

/* Before memory is allocated, as much is freed in the other pool: all of it is then never more than was in use at one
   time. */
static void *pool_take(checkpoints *x, int which)
{
    pool *p = &x->free[which], *other = &x->free[!which];
    void *memory = p->first;
    if (memory) {
        memcpy(&p->first, memory, sizeof p->first);
        p->count--;
        return memory;
    }
    for (size_t freed = 0; freed < p->bytes && pool_shrink(x, other); freed += other->bytes) { }
    if (!(memory = malloc(p->bytes))) return NULL;
    x->owned.bytes += p->bytes;
    return memory;
}

size_t blocks_beside(const checkpoints *x)
{
    size_t used = (size_t)x->holds * state_bytes(x) + (size_t)x->wholes * block_bytes(x);
    return x->owned.bytes - used - pools_bytes(x);
}

size_t blocks_said(const costate_tape *t, const checkpoints *x)
{
    size_t most = (size_t)(t->most_states ? t->most_states : MOST_STATES) * state_bytes(x);
    if (!t->limit) return most;
    return t->most_states && most < t->limit ? most : t->limit;
}

static size_t less(size_t all, size_t taken) { return all > taken ? all - taken : 0; }

size_t blocks_most(const costate_tape *t, const checkpoints *x)
{
    size_t sources = (size_t)x->sources;
    if (x->spread && x->all.all) return less(x->all.all, sources * x->all.state);
    size_t most = less(blocks_said(t, x), sources * state_bytes(x)), taken = tape_base(t) + blocks_beside(x);
    size_t left = less(t->limit, taken);
    return t->limit && left < most ? left : most;
}

plan_room blocks_room(const costate_tape *t, const checkpoints *x)
{
    size_t state = x->spread ? x->all.state : state_bytes(x), whole = x->spread ? x->all.block : block_bytes(x);
    size_t most = blocks_most(t, x), used = (size_t)x->holds * state + (size_t)x->wholes * whole;
    return (plan_room){less(most, used), state, whole};
}

int blocks_no_memory(const stepper *c)
{
    return fail(c->v, COSTATE_NO_MEMORY, "No memory for a checkpoint of the tape.");
}

void state_drop(checkpoints *x, int i)
{
    size_t behind = (size_t)(x->holds - i - 1);
    pool_put(x, STATES, x->state[i]);
    memmove(x->at + i, x->at + i + 1, behind * sizeof *x->at);
    memmove(x->state + i, x->state + i + 1, behind * sizeof *x->state);
    x->holds--;
}

void wholes_keep(checkpoints *x, int most)
{
    while (x->wholes > most) pool_put(x, WHOLES, x->whole[--x->wholes].memory);
    for (int i = 0; i < x->wholes; i++) x->whole[i].block = -1;
}

static int has_state_room(checkpoints *x)
{
    int room = x->hold_room;
    void *at = x->at, *state = x->state;
    int there = longer(&at, x->holds, &room, 16, sizeof *x->at, &x->owned.bytes);
    x->at = at;
    there = there && longer(&state, x->holds, &x->hold_room, 16, sizeof *x->state, &x->owned.bytes);
    x->state = state;
    return there;
}

/* ---- blocks ---- */

int last_before(const int *at, int count, int k)
{
    int found = count_up_to(k, at, 0, sizeof *at, count);
    return found > 0 ? found - 1 : 0;
}

int block_of(const checkpoints *x, int k)
{
    return count_up_to(k, x->blocks, offsetof(block, first), sizeof *x->blocks, x->count) - 1;
}

int block_end(const costate_tape *t, const checkpoints *x, int b)
{
    return b + 1 < x->count ? x->blocks[b + 1].first : t->count;
}

whole_block *whole_of(const checkpoints *x, int b)
{
    for (int i = 0; i < x->wholes; i++) if (x->whole[i].block == b) return &x->whole[i];
    return NULL;
}

int whole_begin(const stepper *c, checkpoints *x, int b)
{
    whole_block *w = whole_of(x, -1);
    if (!w) {
        void *list = x->whole;
        if (!longer(&list, x->wholes, &x->whole_room, 16, sizeof *x->whole, &x->owned.bytes))
            return blocks_no_memory(c);
        x->whole = list;
        w = &x->whole[x->wholes];
        if (!(w->memory = pool_take(x, WHOLES))) return blocks_no_memory(c);
        x->wholes++;
    }
    w->block = b;
    return 0;
}

void whole_step(const checkpoints *x, const whole_block *w, int i, record *r, place *to)
{
    step_place(x->N, x->slope, w->memory + (size_t)i * x->step, r, to);
}

uint64_t print_of_state(const checkpoints *x, const double *y, const double *yp)
{
    summed all = words_begin();
    words_add(&all, y, x->N * sizeof *y);
    if (x->slope) words_add(&all, yp, x->slope * sizeof *yp);
    return all.sum;
}

/* ---- states ---- */

int state_thin(checkpoints *x)
{
    int i = plan_least(x->at, x->holds, x->count);
    if (i) state_drop(x, i);
    return i > 0;
}

int state_hold(const stepper *c, const costate_tape *t, checkpoints *x, int b, const double *y, const double *yp)
{
    int i = x->holds > 0 ? last_before(x->at, x->holds, b) + 1 : 0;
    if (i > 0 && x->at[i - 1] == b) return 0;
    if (!has_state_room(x)) return blocks_no_memory(c);
    while (blocks_room(t, x).all < blocks_room(t, x).state) {
        if (x->back || !state_thin(x)) return 0;
        i = last_before(x->at, x->holds, b) + 1;
    }
    double *state = pool_take(x, STATES);
    if (!state) return blocks_no_memory(c);
    memcpy(state, y, x->N * sizeof *y);
    if (x->slope) memcpy(state + x->N, yp, x->slope * sizeof *yp);
    memmove(x->at + i + 1, x->at + i, (size_t)(x->holds - i) * sizeof *x->at);
    memmove(x->state + i + 1, x->state + i, (size_t)(x->holds - i) * sizeof *x->state);
    x->at[i] = b;
    x->state[i] = state;
    x->holds++;
    return 0;
}

/* If states are distributed, all processes must keep the same ones, so none is dropped. */
int blocks_give(checkpoints *x)
{
    if (pools_bytes(x) == 0 && !x->spread) state_thin(x);
    return pools_shrink(x);
}

int blocks_within_limit(const stepper *c, const costate_tape *t, checkpoints *x)
{
    while (t->limit && tape_base(t) + x->owned.bytes > t->limit) {
        if (blocks_give(x)) continue;
        return fail(c->v, COSTATE_TAPE_LIMIT, "The tape would need %zu bytes after %d steps, more than "
                    "options.tape_limit = %zu (t = %.10g).", tape_base(t) + x->owned.bytes, t->count, t->limit,
                    c->v->t);
    }
    return 0;
}
