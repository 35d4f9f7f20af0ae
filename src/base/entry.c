/* entry.c - only one call at a time may run on a solver. */
#include "base/entry.h"

/* Stacks grow downwards wherever this library runs. */
int entry_begin(call_entry *e, uintptr_t frame)
{
    int left = e->busy;
    if (left && !e->left && frame < e->frame && e->frame - frame >= MOAT) {
        e->refused++;
        return REFUSED;
    }
    e->busy = 1;
    e->left = 0;
    e->refused = 0;
    e->frame = frame;
    e->calls++;
    return left ? AFTER_ONE_LEFT : ENTERED;
}

int entry_refuse(verdict *v)
{
    int status = v->status;
    fail(v, COSTATE_BAD_ARGUMENT, "A callback called the solver that called it: a solver can run only one call at a "
         "time. Give the callback a solver of its own. (If an exception or longjmp left the first call, end it with "
         "costate_abandon, or the call for solvers of its kind, as costate_bvp_abandon.)");
    v->status = status;
    return 0;
}

int entry_end(call_entry *e, verdict *v, long call)
{
    if (e->calls == call) { e->busy = 0; return 1; }
    fail(v, COSTATE_BAD_ARGUMENT, "Another call of this solver was made while this one was running: its results are "
         "void.");
    return 0;
}

int entry_enter(call_entry *e, verdict *v, uintptr_t frame, int *left)
{
    int how = entry_begin(e, frame);
    *left = how == AFTER_ONE_LEFT;
    return how == REFUSED ? entry_refuse(v) : 1;
}

int entry_leave(call_entry *e, verdict *v, long call, int *status)
{
    if (!entry_end(e, v, call)) {
        *status = COSTATE_BAD_ARGUMENT;
        return 0;
    }
    if (e->refused && *status == COSTATE_OK) verdict_clear(v);
    return e->freed;
}
