/* aligned.h - memory that starts at a multiple of 64 bytes, a cache line and the widest register. */
#ifndef COSTATE_LANES_ALIGNED_H
#define COSTATE_LANES_ALIGNED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_ALIGNED = 64 };

/* zeros; NULL: there is no memory */
static inline void *aligned_new(size_t bytes)
{
    char *block = bytes < SIZE_MAX - 2 * LANES_ALIGNED ? calloc(1, bytes + 2 * LANES_ALIGNED) : NULL;
    if (!block) return NULL;
    char *start = block + LANES_ALIGNED + (LANES_ALIGNED - (uintptr_t)block % LANES_ALIGNED) % LANES_ALIGNED;
    memcpy(start - sizeof block, &block, sizeof block);
    return start;
}

static inline void aligned_free(void *start)             /* NULL is fine */
{
    char *block;
    if (!start) return;
    memcpy(&block, (char *)start - sizeof block, sizeof block);
    free(block);
}

#endif
