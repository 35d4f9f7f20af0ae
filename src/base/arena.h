/* arena.h - arrays laid into one block: laid out twice, first to count. */
#ifndef COSTATE_BASE_ARENA_H
#define COSTATE_BASE_ARENA_H

#include <stddef.h>

typedef struct { double *base; size_t used; } cursor;          /* base NULL: only counts */
double *take(cursor *, size_t count);                          /* whole cache lines */
void clear_arrays(double *base, size_t used);                  /* all arrays of a block are set to 0 */

#endif
