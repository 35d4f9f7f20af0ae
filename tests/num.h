/* num.h - a number with its derivatives in two directions, so that a formula is written once.

   A num is  v + a alpha + b beta + ab alpha beta  with alpha^2 = beta^2 = 0: value, derivative along a, along b,
   and the mixed second derivative.  g(x) is (g, g' a, g' b, g' ab + g'' a b): exact, no differences. */
#ifndef TESTS_NUM_H
#define TESTS_NUM_H

#include <math.h>

typedef struct { double v, a, b, ab; } num;

static inline num number(double v) { return (num){v, 0, 0, 0}; }

static inline num add(num x, num y) { return (num){x.v + y.v, x.a + y.a, x.b + y.b, x.ab + y.ab}; }
static inline num sub(num x, num y) { return (num){x.v - y.v, x.a - y.a, x.b - y.b, x.ab - y.ab}; }
static inline num plus(num x, double c) { return (num){x.v + c, x.a, x.b, x.ab}; }
static inline num times(double c, num x) { return (num){c * x.v, c * x.a, c * x.b, c * x.ab}; }

static inline num mul(num x, num y)
{
    return (num){x.v * y.v, x.a * y.v + x.v * y.a, x.b * y.v + x.v * y.b,
                 x.ab * y.v + x.a * y.b + x.b * y.a + x.v * y.ab};
}
static inline num mul3(num x, num y, num z) { return mul(mul(x, y), z); }

/* g(x), given g, g', g'' at x.v */
static inline num chain(num x, double g, double g1, double g2)
{
    return (num){g, g1 * x.a, g1 * x.b, g1 * x.ab + g2 * x.a * x.b};
}
static inline num square(num x) { return chain(x, x.v * x.v, 2 * x.v, 2); }
static inline num sine(num x) { double s = sin(x.v), c = cos(x.v); return chain(x, s, c, -s); }
static inline num cosine(num x) { double s = sin(x.v), c = cos(x.v); return chain(x, c, -s, -c); }
static inline num exponential(num x) { double e = exp(x.v); return chain(x, e, e, e); }
static inline num logarithm(num x) { double r = 1 / x.v; return chain(x, log(x.v), r, -r * r); }
static inline num inverse(num x) { double r = 1 / x.v; return chain(x, r, -r * r, 2 * r * r * r); }
static inline num over(num x, num y) { return mul(x, inverse(y)); }

#endif
