/* states.c - the store that keeps states and Newton's iteration counts in memory; stages are recomputed. */
#include "tape/tape.h"

static int put(const stepper *c, costate_tape *t, const record *r)
{
    (void)c;
    t->list[t->count] = *r;
    t->list[t->count].X = NULL;
    return 0;
}

static int get(const costate_tape *t, int k, const reader *who, int stages, record *r)
{
    (void)who; (void)stages;
    *r = t->list[k];
    return 0;
}

/* the stages of each */
static int again(const costate_tape *t, int back, long *steps)
{
    (void)back;
    *steps = t->count;
    return 0;
}

const store states_store = {.alone = 1, .slot = memory_slot, .put = put, .get = get, .forecast = again};
