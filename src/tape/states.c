/* states.c - the store of tapes in memory that keep states and Newton's counts: stages are made again. */
#include <string.h>
#include "tape/tape.h"

static int slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    size_t N = (size_t)c->N, s = (size_t)c->s;
    double *memory = tape_memory(c, t, N * sizeof *memory + (s + 7) / 8 * 8);
    if (!memory) return c->v->status;
    *to = (place){spare->X, (unsigned char *)(memory + N)};
    memcpy(memory, y, N * sizeof *y);
    *r = (record){.y = memory, .X = to->X, .iterations = to->iterations};
    return 0;
}

static int put(const stepper *c, costate_tape *t, const record *r)
{
    (void)c;
    t->list[t->count] = *r;
    t->list[t->count].X = NULL;
    return 0;
}

static int get(const costate_tape *t, int k, record *r)
{
    *r = t->list[k];
    return 0;
}

const store states_store = {.slot = slot, .put = put, .get = get};
