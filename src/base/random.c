/* random.c - a linear congruential generator, good enough for random directions in checks. */
#include "base/random.h"

double random_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) / 8388608.0) - 1;
}
