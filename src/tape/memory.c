/* memory.c - the memory of a tape: blocks, and lists of steps and maps, within options.tape_limit.

   Memory is allocated in blocks that never move, so a step writes its stages directly to their final place.  A cleared
   tape keeps its blocks, lists and checkpoints for the next run: pages that are new to the process cost more time than
   many a step.  options.tape_limit covers blocks, lists and kept factorisations.  A factorisation that would exceed the
   limit is not kept; a step that would exceed it is an error. */
#include <stdlib.h>
#include <string.h>
#include "tape/journal.h"

/* MOST_STEPS: twice as many are still an int */
enum { BLOCK_BYTES = 1 << 18, MOST_STEPS = 1 << 29 };

size_t tape_base(const costate_tape *t) { return t->bytes + (t->frames ? t->frames->read.room : 0); }

size_t tape_held(const costate_tape *t)
{
    const owned *own = t->own;
    return tape_base(t) + t->factors.bytes + (own ? own->bytes : 0);
}

void tape_disown(costate_tape *t)
{
    owned *own = t->own;
    if (own) own->is->clear(t);
    free(own);
    t->own = NULL;
}

void *tape_own(costate_tape *t, const owning *is)
{
    owned *own = t->own;
    if (own && own->is == is) return own;
    tape_disown(t);
    if (!(own = calloc(1, is->bytes))) return NULL;
    *own = (owned){.bytes = is->bytes, .is = is};
    atomic_flag_clear(&own->busy.guard);
    return t->own = own;
}

static int full(const stepper *c, const costate_tape *t, size_t more)
{
    return fail(c->v, COSTATE_TAPE_LIMIT, "The tape would need %zu bytes after %d steps, more than options.tape_limit "
                "= %zu (t = %.10g).", tape_held(t) + more, t->count, t->limit, c->v->t);
}

int tape_has_room(const costate_tape *t, size_t more) { return !t->limit || tape_held(t) + more <= t->limit; }

int tape_give_back(const stepper *c, costate_tape *t)
{
    int sets = t->factors.sets;
    for (int k = 0; k < t->count; k++) { factors_release(t->list[k].kept); t->list[k].kept = NULL; }
    t->factors.bytes = t->factors.most = 0;
    t->factors.sets = 0;
    c->maps->count->factors_kept -= sets;
    c->maps->count->factors_not_kept += sets;
    return sets > 0;
}

/* Steps are more important than factorisations, and than states that can be recomputed. */
static int makes_room(const stepper *c, costate_tape *t, size_t more)
{
    if (tape_has_room(t, more) || (tape_give_back(c, t) && tape_has_room(t, more))) return 1;
    while (t->kept->remakes && t->own && t->kept->remakes->give(t)) if (tape_has_room(t, more)) return 1;
    return 0;
}

static int add_block(const stepper *c, costate_tape *t, size_t need)
{
    size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES / need * need;
    if (!tape_has_room(t, size + sizeof(struct block))) size = need;
    if (!makes_room(c, t, size + sizeof(struct block))) return full(c, t, size);
    struct block *b = malloc(sizeof *b + size);
    if (!b) return fail(c->v, COSTATE_NO_MEMORY, "No memory for step %d of the tape.", t->count);
    *b = (struct block){NULL, size, 0};
    t->bytes += sizeof *b + size;
    *(t->last ? &t->last->next : &t->first) = b;
    t->last = b;
    return COSTATE_OK;
}

void *tape_memory(const stepper *c, costate_tape *t, size_t need)
{
    while (t->last && t->last->size - t->last->used < need && t->last->next) t->last = t->last->next;
    if ((!t->last || t->last->size - t->last->used < need) && add_block(c, t, need) != COSTATE_OK) return NULL;
    void *memory = (char *)(t->last + 1) + t->last->used;
    t->last->used += need;
    return memory;
}

int longer(void **list, int count, int *room, int least, size_t size, size_t *bytes)
{
    if (count < *room) return 1;
    int more = *room ? 2 * *room : least;
    void *moved = realloc(*list, (size_t)more * size);
    if (!moved) return 0;
    *list = moved;
    *bytes += (size_t)(more - *room) * size;
    *room = more;
    return 1;
}

int tape_longer(const stepper *c, costate_tape *t, void **list, int count, int *room, int least, size_t size,
                size_t *bytes)
{
    size_t more = count < *room ? 0 : (size_t)(*room ? *room : least) * size;
    if (more && (*room > MOST_STEPS || !makes_room(c, t, more))) return full(c, t, more);
    if (longer(list, count, room, least, size, bytes)) return 0;
    return fail(c->v, COSTATE_NO_MEMORY, "No memory for step %d of the tape.", t->count);
}

int tape_grow(const stepper *c, costate_tape *t)
{
    void *list = t->list;
    TRY(tape_longer(c, t, &list, t->count, &t->room, 64, sizeof *t->list, &t->bytes));
    t->list = list;
    return 0;
}

mapped *tape_next_map(const stepper *c, costate_tape *t, size_t bytes, void **memory)
{
    void *list = t->maps.list;
    if (tape_longer(c, t, &list, t->maps.count, &t->maps.room, 2, sizeof *t->maps.list, &t->bytes)) return NULL;
    t->maps.list = list;
    if (!(*memory = tape_memory(c, t, words(bytes)))) return NULL;
    memset(*memory, 0, words(bytes));           /* whole words go to the medium */
    return &t->maps.list[t->maps.count];
}
