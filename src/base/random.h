/* random.h - pseudo-random numbers that are the same in every run and on every machine. */
#ifndef COSTATE_BASE_RANDOM_H
#define COSTATE_BASE_RANDOM_H

double random_number(unsigned *state);         /* -1 .. 1 */

#endif
