/* memory.c - the store that keeps everything in memory: a step writes its stages directly to their final place. */
#include <string.h>
#include "tape/tape.h"

/* A rejected step keeps its slot: the caller uses the same record for the next try. */
int memory_slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    size_t n = (size_t)c->n, s = (size_t)c->s, N = (size_t)c->N, slope = c->maps->residual ? n : 0;
    size_t state = N + slope, doubles = state + (spare ? 0 : s * n);
    double *memory = tape_memory(c, t, doubles * sizeof *memory + (s + 7) / 8 * 8);
    if (!memory) return c->v->status;
    *to = (place){spare ? spare->X : memory + state, (unsigned char *)(memory + doubles)};
    memcpy(memory, y, N * sizeof *y);
    if (slope) memcpy(memory + N, r->yp, n * sizeof *y);
    *r = (record){.fresh = r->fresh, .y = memory, .yp = slope ? memory + N : NULL, .X = to->X,
                  .iterations = to->iterations};
    return 0;
}

static int slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    (void)spare;
    return memory_slot(c, t, y, NULL, r, to);
}

static int put(const stepper *c, costate_tape *t, const record *r)
{
    (void)c;
    t->list[t->count] = *r;
    return 0;
}

static int get(const costate_tape *t, int k, const reader *who, int stages, record *r)
{
    (void)who; (void)stages;
    *r = t->list[k];
    return 0;
}

const store memory_store = {.slot = slot, .put = put, .get = get};
