/* version.c (operators) - calls from programs that may have been compiled with the header of another version. */
#include <stdlib.h>
#include "operators/splitting.h"
#include "run/version.h"

/* an operator that only says why it is none */
costate_splitting *costate_splitting_new_sized(const costate_size *program, const costate_problem *P, int count,
                                               const costate_part *parts)
{
    const costate_size *odd = mismatch(program);
    costate_splitting *s = costate_splitting_new(odd ? NULL : P, count, parts);
    if (s && odd) mismatch_said(&s->v, program, odd);
    return s;
}
