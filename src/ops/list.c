/* list.c - a tape as a list of operations: which map ends a step, and which observations lie in it. */
#include "ops/list.h"

int lies_in(const costate_tape *tape, int k, double t)
{
    int after = k == 0 || tape_direction(tape) * (t - tape->list[k].t) >= 0;
    return after && (k == tape->count - 1 || tape_direction(tape) * (t - tape->list[k + 1].t) < 0);
}

/* A step before an instant ended at a given time, which need not be that of an event in the list. */
op step_of(const costate_tape *tape, int k, int next)
{
    if (tape->list[k].part > 0) return (op){STEP, k, 0, FROZEN};         /* also where a run was stopped */
    for (; next < tape->maps.count && tape->maps.list[next].before == k + 1; next++) {
        const mapped *e = &tape->maps.list[next];
        if (e->event == NO_LENGTH) return (op){STEP, k, -1, TO_TIME};
        if (is_event(e)) return (op){STEP, k, next, e->timed ? TO_TIME : TO_EVENT};
    }
    return (op){STEP, k, 0, k == tape->count - 1 ? TO_END : FROZEN};
}
