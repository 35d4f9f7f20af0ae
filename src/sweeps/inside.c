/* inside.c - between the ends of which steps of a tape do values lie that a call asked for? */
#include "solver/status.h"
#include "sweeps/inside.h"

int inside_find(const costate_tape *tape, double t)
{
    int low = 0, high = tape->count - 1, dir = tape_direction(tape);
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (dir * (tape->list[mid].t - t) <= 0) low = mid;
        else high = mid - 1;
    }
    return low;
}

unsigned inside_of(const costate_tape *tape, int k, double t)
{
    const record *r = &tape->list[k];
    return t == r->t || t == r->end ? 0 : 1u << r->member;
}

void observations_remark(costate *c, const costate_tape *tape, const costate_observations *o)
{
    unsigned members = 0;
    for (int i = 0; o && i < o->count; i++) members |= inside_of(tape, inside_find(tape, o->t[i]), o->t[i]);
    inside_remark(c, members);
}
