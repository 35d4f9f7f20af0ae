/* num.h - a number with its derivatives in three directions, so that a formula is written once.

   A num is  v + a alpha + b beta + ab alpha beta + gamma (c + ac alpha + bc beta + abc alpha beta)  with
   alpha^2 = beta^2 = gamma^2 = 0: value, derivatives along a, b, c, the mixed second ones and the mixed third, exact:
   no differences.  Most formulas are asked for two directions: third says that there is another. */
#ifndef PROBLEMS_NUM_H
#define PROBLEMS_NUM_H

#include <math.h>

typedef struct { double v, a, b, ab; int third; double c, ac, bc, abc; } num;

static inline num number(double v) { return (num){.v = v}; }
static inline num moving(double v, double a, double b) { return (num){.v = v, .a = a, .b = b}; }

static inline num times(double s, num x)
{
    return (num){s * x.v, s * x.a, s * x.b, s * x.ab, x.third, s * x.c, s * x.ac, s * x.bc, s * x.abc};
}
static inline num add(num x, num y)
{
    return (num){x.v + y.v, x.a + y.a, x.b + y.b, x.ab + y.ab, x.third || y.third,
                 x.c + y.c, x.ac + y.ac, x.bc + y.bc, x.abc + y.abc};
}
static inline num sub(num x, num y) { return add(x, times(-1, y)); }
static inline num plus(num x, double c) { x.v += c; return x; }

/* gamma times what is known without it */
static inline num third(num x, num of) { x.third = 1; x.c = of.v; x.ac = of.a; x.bc = of.b; x.abc = of.ab; return x; }
/* what gamma is multiplied by */
static inline num by_third(num x) { return (num){.v = x.c, .a = x.ac, .b = x.bc, .ab = x.abc}; }

static inline num mul_two(num x, num y)
{
    return (num){.v = x.v * y.v, .a = x.a * y.v + x.v * y.a, .b = x.b * y.v + x.v * y.b,
                 .ab = x.ab * y.v + x.a * y.b + x.b * y.a + x.v * y.ab};
}
static inline num mul(num x, num y)
{
    num z = mul_two(x, y);
    return x.third || y.third ? third(z, add(mul_two(x, by_third(y)), mul_two(by_third(x), y))) : z;
}
static inline num mul3(num x, num y, num z) { return mul(mul(x, y), z); }

static inline num chain_two(num x, double g, double g1, double g2)
{
    return (num){.v = g, .a = g1 * x.a, .b = g1 * x.b, .ab = g1 * x.ab + g2 * x.a * x.b};
}
/* g(x), given g, g', g'', g''' at x.v */
static inline num chain(num x, double g, double g1, double g2, double g3)
{
    num z = chain_two(x, g, g1, g2);
    return x.third ? third(z, mul_two(chain_two(x, g1, g2, g3), by_third(x))) : z;
}
static inline num square(num x) { return chain(x, x.v * x.v, 2 * x.v, 2, 0); }
static inline num sine(num x) { double s = sin(x.v), c = cos(x.v); return chain(x, s, c, -s, -c); }
static inline num cosine(num x) { double s = sin(x.v), c = cos(x.v); return chain(x, c, -s, -c, s); }
static inline num exponential(num x) { double e = exp(x.v); return chain(x, e, e, e, e); }
static inline num logarithm(num x) { double r = 1 / x.v; return chain(x, log(x.v), r, -r * r, 2 * r * r * r); }
static inline num inverse(num x) { double r = 1 / x.v; return chain(x, r, -r * r, 2 * r * r * r, -6 * r * r * r * r); }
static inline num over(num x, num y) { return mul(x, inverse(y)); }

#endif
