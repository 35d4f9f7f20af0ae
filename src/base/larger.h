/* larger.h - the larger of two numbers, NaN if either is: fmax drops NaN, and so does a comparison one number later. */
#ifndef COSTATE_LARGER_H
#define COSTATE_LARGER_H

static inline double larger(double a, double b) { return a > b || a != a ? a : b; }

#endif
