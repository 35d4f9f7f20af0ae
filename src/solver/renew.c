/* renew.c - resets a solver to the state in which it was created, for the members of an ensemble.

   Runs start afresh by themselves (integrate.c, loop.c).  This resets what outlives a run: the statistics, what
   options.warm keeps, what was learnt from the first Jacobian, and with options.tape_limit the memory of a longer tape,
   because it counts. */
#include "solver/solver.h"

void solver_renew(costate *c)
{
    costate_reset_stats(c);
    c->ended.held = 0;
    c->maps.form.seen_whole = 0;
    c->maps.form.filled = 0;
    if (!c->o.tape_limit) return;
    costate_tape_free(c->own);
    c->own = NULL;
}
