/* plan.h - which states to keep of a run of blocks, so that they can be made again from the last to the first. */
#ifndef COSTATE_TAPE_PLAN_H
#define COSTATE_TAPE_PLAN_H

#include <stddef.h>

typedef struct { size_t all, state, block; } plan_room;     /* bytes: free; of a state; of a block with its stages */

/* A state begins the first of `count` blocks: where the first further state is to be kept on the way to the last, so
   many blocks on; 0: nowhere, as all that fit are kept with their stages at the end of the way. */
int plan_split(int count, const plan_room *);
/* least number of blocks made again to go back over `count`, the last `whole` of which fit with their stages */
double plan_cost(int count, int states, int whole);
/* Of states at the begin of blocks at[0] < at[1] < .. < at[count - 1] < next, next being kept as well, which one is
   missed least; never the first.  0: there is none. */
int plan_least(const int *at, int count, int next);

#endif
