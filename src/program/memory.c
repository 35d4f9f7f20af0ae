/* memory.c - the memory of a program, which remains while its owner or a factorisation uses it. */
#include <stdlib.h>
#include "program/program.h"

typedef struct owned { struct owned *next; double block[]; } owned;

void *program_own(struct costate_program *q, size_t count, size_t size)
{
    owned *o = calloc(1, sizeof *o + (count ? count : 1) * size);
    if (!o) return NULL;
    o->next = q->owned;
    q->owned = o;
    return o->block;
}

void program_release(struct costate_program *q)
{
    if (atomic_fetch_sub(&q->uses, 1) > 1) return;
    call_free(q);
    while (q->owned) {
        owned *next = q->owned->next;
        free(q->owned);
        q->owned = next;
    }
    free(q);
}
