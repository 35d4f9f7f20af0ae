/* arena.h - arrays that share one allocated block.  A layout runs twice: first to count, then to place the arrays. */
#ifndef COSTATE_BASE_ARENA_H
#define COSTATE_BASE_ARENA_H

#include <stddef.h>

typedef struct { double *base; size_t used; } cursor;          /* base NULL: count only */
double *take(cursor *, size_t count);                          /* in whole cache lines */
/* an array of `count` for each of these pointers */
#define TAKE(at, count, ...) take_each(at, count, (double **const[]){__VA_ARGS__, NULL})
void take_each(cursor *, size_t count, double **const *arrays);
void clear_arrays(double *base, size_t used);                  /* sets all arrays of a block to 0 */

#endif
