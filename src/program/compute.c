/* compute.c - runs of operations on registers: the number of an operation, how often, then for each the register of its
   result and those of its operands.

   Every operation is that of the C which costate-model prints for the same node.  Compiled without contraction, it has
   the same bits. */
#include <math.h>
#include "program/operations.h"
#include "program/program.h"

int operands(int operation)
{
#define COUNT(name, operands, expression) operands,
    static const unsigned char count[] = {OPERATIONS(COUNT)};
#undef COUNT
    return operation < OPERATION_COUNT ? count[operation] : 0;
}

#define A r[at[1]]
#define B r[at[2]]
#define C r[at[3]]
#define EACH(name, operands, expression) \
        case name: \
            for (const uint16_t *const end = at + at[-1] * (1 + (operands)); at < end; at += 1 + (operands)) \
                r[at[0]] = expression; \
            break;

#define ARRAYS(name, function) \
        case name: \
            for (const uint16_t *const end = at + at[-1] * name##_NUMBERS; at < end; at += name##_NUMBERS) \
                function(at, r); \
            break;

void compute(const uint16_t *at, int words, double *restrict r)
{
    const uint16_t *const last = at + words;
    while (at < last) {
        const int operation = at[0];
        at += 2;
        switch (operation) {
        OPERATIONS(EACH)
        ARRAYS(TIMES, array_times)
        ARRAYS(OUTER, array_outer)
        }
    }
}
