/* random.c - a linear congruence: good enough for directions that are to hide nothing. */
#include "base/random.h"

double random_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) / 8388608.0) - 1;
}
