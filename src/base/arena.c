/* arena.c - arrays laid into one block. */
#include "base/arena.h"

enum { LINE = 8 };              /* doubles of a cache line */

double *take(cursor *at, size_t count)
{
    double *p = at->base ? at->base + at->used : NULL;
    at->used += (count + LINE - 1) / LINE * LINE;
    return p;
}
