/* renew.c - a solver as it was made: what is asked once a solver is asked again, and no earlier run is known.

   Runs begin anew by themselves (integrate.c, loop.c). What stays beyond them is here: counters, what options.warm
   keeps, what was found out of the first Jacobian, and with options.tape_limit the blocks of a longer tape, which
   count. */
#include "run/run.h"

void solver_renew(costate *c)
{
    costate_reset_stats(c);
    c->ended.held = 0;
    c->maps.seen_whole = 0;
    c->maps.filled = 0;
    if (!c->o.tape_limit) return;
    costate_tape_free(c->own);
    c->own = NULL;
}
