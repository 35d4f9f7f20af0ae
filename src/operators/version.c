/* version.c (operators) - calls from programs that may have been compiled with the header of another version.

   If so, the operator only says why it is none. */
#include <stdlib.h>
#include "calls/version.h"
#include "operators/chebyshev.h"
#include "operators/splitting.h"

costate_splitting *costate_splitting_new_sized(const costate_size *program, const costate_problem *P, int count,
                                               const costate_part *parts)
{
    const costate_size *odd = mismatch(program);
    costate_splitting *s = costate_splitting_new(odd ? NULL : P, count, parts);
    if (s && odd) mismatch_said(&s->v, program, odd);
    return s;
}

costate_chebyshev *costate_chebyshev_new_sized(const costate_size *program, const costate_problem *P,
                                               const costate_polynomial *given)
{
    const costate_size *odd = mismatch(program);
    costate_chebyshev *c = costate_chebyshev_new(odd ? NULL : P, given);
    if (c && odd) mismatch_said(&c->v, program, odd);
    return c;
}
