/* checkpoints.c - the retention that keeps some states (checkpoints) and recomputes the steps between them
   (mathematics, section 14).

   It keeps the decisions of all steps, the states at the beginning of some blocks of steps, and one or more
   whole blocks with their stages: the last block during a run, and the blocks around the current step during a sweep.
   plan.c chooses the states.  The memory is that of a given number of states.  A sweep backward reuses the memory of
   the part it has passed, so only one sweep at a time may use the tape.

   A fresh step computes its matrices anew, unless it can use those that the block before began with.  Then the state at
   which they were computed is kept, too; this is done for few blocks.

   A checksum of the first state of each block is kept.  If the solver of the run recomputes that state, the sum must be
   the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tape/blocks.h"
#include "tape/journal.h"

/* A block takes one BLOCKth of the memory, or one KEPTth where a method keeps matrices from step to step, because a
   fresh step has to form its own.  It has no more steps than LONGEST. */
enum { BLOCK = 6, KEPT = 3, LONGEST = 1000 };

/* States of linearisations that remain in use in later blocks take at most one SHARE of the memory.  At most one block
   in SPARSE has such a state, so that early blocks leave memory to later ones. */
enum { SHARE = 8, SPARSE = 8 };

/* ---- a run ---- */

/* The length of blocks, and the sums of all sizes over processes.  The bits of a run depend on the length, so it is
   chosen from the options only, not from the number of processes: a step with its stages takes the memory of 1 + s
   states, or 1 + s/2 for a residual, whose state includes y'; problem.after_step adds one to s.  A tape that was read
   has its length already. */
static int set_length(const stepper *c, costate_tape *t, size_t most, size_t step)
{
    checkpoints *x = t->own;
    double sums[] = {(double)most, (double)state_bytes(x), (double)step, (double)blocks_said(t, x)};
    TRY(space_total(&c->maps->space, 4, sums));
    int vectors = c->most + (stage_doubles(c, 0) > 0);
    double with_stages = 1 + vectors / (x->slope ? 2.0 : 1.0), states = sums[3] / sums[1];
    const family *F = stiff_member(c)->F;
    double length = floor(states / (F->keep || F->confirm ? KEPT : BLOCK) / with_stages);
    if (t->fresh.every == 0) t->fresh.every = length < 1 ? 1 : length < LONGEST ? (int)length : LONGEST;
    x->length = t->fresh.every;
    x->spread = c->maps->space.sum != NULL;
    x->all = (plan_room){(size_t)sums[0], (size_t)sums[1], (size_t)(x->length * sums[2])};
    x->most_sources = (int)fmax(0, fmin(states / SHARE, (sums[0] - x->length * sums[2]) / sums[1] - 2));
    return 0;
}

/* What was in use is then in the pools, and lists keep their length. */
static void empty(const costate_tape *t)
{
    checkpoints *x = t->own;
    wholes_keep(x, 0);
    while (x->holds > 0) state_drop(x, x->holds - 1);
    x->count = x->sources = x->wanted_count = x->back = 0;
    x->all = (plan_room){0, 0, 0};
}

static void clear(const costate_tape *t)
{
    checkpoints *x = t->own;
    empty(t);
    while (pools_shrink(x)) { }
    free(x->blocks);
    free(x->at);
    free(x->state);
    free(x->whole);
    free(x->wanted);
}

static const owning checkpoints_owned = {sizeof(checkpoints), empty, clear};

static int checkpoints_begin(const stepper *c, costate_tape *t)
{
    checkpoints *x = tape_own(t, &checkpoints_owned);
    if (!x) return blocks_no_memory(c);
    x->N = (size_t)c->N;
    x->slope = c->maps->residual ? (size_t)c->n : 0;
    x->step = x->N + x->slope + stage_doubles(c, c->most);
    pool_begin(x, STATES, state_bytes(x));
    size_t step = x->step * sizeof(double), most = blocks_most(t, x);
    int read = t->fresh.every > 0;
    TRY(set_length(c, t, most, step));
    pool_begin(x, WHOLES, block_bytes(x));
    while (pools_bytes(x) > blocks_said(t, x) && pools_shrink(x)) { }
    if (most >= 2 * state_bytes(x) + block_bytes(x)) return 0;
    if (t->most_states && !read && !t->limit)
        return fail(c->v, COSTATE_BAD_ARGUMENT, "options.checkpoints = %d: a step with its stages takes the memory of "
                    "%zu states, and 2 are needed beside it.", t->most_states, (step - 1) / state_bytes(x) + 1);
    return fail(c->v, COSTATE_TAPE_LIMIT, "options.tape_limit = %zu is less than what two states and a block of "
                "%d steps with their stages take, %zu bytes.", t->limit, x->length,
                tape_base(t) + x->owned.bytes + 2 * state_bytes(x) + block_bytes(x));
}

/* A block in which no step was accepted is begun again: where a run is continued, with the same state, and where an
   event was applied before its first step.  A new y' is kept with the block. */
static int read_fresh(const stepper *c, costate_tape *t, const double *y, const double *yp)
{
    checkpoints *x = t->own;
    void *list = x->blocks;
    if (x->count > 0 && x->blocks[x->count - 1].first == t->count) x->count--;
    if (x->holds > 0 && x->at[x->holds - 1] == x->count) state_drop(x, x->holds - 1);
    if (!longer(&list, x->count, &x->room, 16, sizeof *x->blocks, &x->owned.bytes)) return blocks_no_memory(c);
    x->blocks = list;
    block *b = &x->blocks[x->count];
    *b = (block){t->count, print_of_state(x, y, yp), NULL, t->fresh.at, t->fresh.bytes};
    TRY(tape_keep_slope(c, t, yp));
    b->yp = t->fresh.yp;
    x->back = 0;
    TRY(state_hold(c, t, x, x->count, y, yp));
    x->count++;
    return blocks_within_limit(c, t, x);
}

static int begin_block(const stepper *c, costate_tape *t, const double *y, const double *yp)
{
    checkpoints *x = t->own;
    TRY(read_fresh(c, t, y, yp));
    wholes_keep(x, 1);
    TRY(whole_begin(c, x, x->count - 1));
    return blocks_within_limit(c, t, x);
}

static int keep_source(const stepper *c, costate_tape *t, int j, const double *y, int told, int *does)
{
    checkpoints *x = t->own;
    record *r = &t->list[j];
    *does = 0;
    if (x->count == 0 || x->blocks[x->count - 1].first != j) return 0;
    if (!told && (x->sources >= x->most_sources || x->sources * SPARSE >= x->count)) return 0;
    double *kept = tape_memory(c, t, state_bytes(x));
    if (!kept) return c->v->status;
    memcpy(kept, y ? y : whole_of(x, x->count - 1)->memory, state_bytes(x));
    r->y = kept;
    r->yp = x->slope ? kept + x->N : NULL;
    x->sources++;
    *does = 1;
    return 0;
}

static int slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    checkpoints *x = t->own;
    if (r->fresh) TRY(begin_block(c, t, y, r->yp));
    *to = *spare;
    TRY(step_counts(c, t, to));
    *r = (record){.y = y, .yp = r->yp, .fresh = r->fresh, .iterations = to->iterations};
    int i = t->count - x->blocks[x->count - 1].first;
    if (i >= x->length)
        return fail(c->v, COSTATE_TAPE_LIMIT, "The tape that is replayed has blocks of more than %d steps, for which "
                    "options.checkpoints or options.tape_limit leave no room here.", x->length);
    whole_step(x, whole_of(x, x->count - 1), i, r, to);
    return 0;
}

static const double *slope(const costate_tape *t, int k)
{
    const checkpoints *x = t->own;
    int b = block_of(x, k);
    return x->blocks[b].first == k ? x->blocks[b].yp : NULL;
}

/* ---- memory ---- */

static int give(const costate_tape *t) { return blocks_give(t->own); }

static void mend(const costate_tape *t) { checkpoints *x = t->own; wholes_keep(x, x->wholes); }

/* bytes in lists for each state: an entry in three lists, which may be twice as long as necessary */
enum { LISTS = 64 };

static size_t most(const costate_tape *t)
{
    const checkpoints *x = t->own;
    size_t states = blocks_said(t, x) / state_bytes(x), lists = LISTS * (states + 16);
    return blocks_most(t, x) + blocks_beside(x) + lists;
}

static const remaking remakes = {checkpoints_begin, slot, remade_get, read_fresh, keep_source, remade_came_to,
                                 remade_room, slope, mend, give, remade_steps, most};

const retention blocks_kept = {.number = 1, .remakes = &remakes};
