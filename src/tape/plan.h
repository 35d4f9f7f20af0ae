/* plan.h - which states of a run to keep, so that its blocks can be recomputed from the last to the first. */
#ifndef COSTATE_TAPE_PLAN_H
#define COSTATE_TAPE_PLAN_H

#include <stddef.h>

typedef struct { size_t all, state, block; } plan_room;     /* bytes: free; of a state; of a block with its stages */

/* The state of the first of `count` blocks is kept.  On the way to the last block, the next state should be kept so
   many blocks later; 0: no further state, because the blocks that fit are kept with their stages at the end of the way.
   */
int plan_split(int count, const plan_room *);
/* least number of blocks recomputed to go back over `count`, if `whole` of them fit with their stages */
double plan_cost(int count, int states, int whole);
/* Which of the states at the start of blocks at[0] < at[1] < .. < at[count - 1] is missed least, if that of block
   `next` behind them is kept, too?  Never the first one; 0: there is no other. */
int plan_least(const int *at, int count, int next);

#endif
