/* larger.h - the larger of two numbers, NaN if either is NaN.  fmax drops NaN, and a running maximum by > loses it. */
#ifndef COSTATE_LARGER_H
#define COSTATE_LARGER_H

static inline double larger(double a, double b) { return a > b || a != a ? a : b; }

#endif
