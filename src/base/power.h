/* power.h - logarithm and exponential to base 2, for step size control: x^a = exp2_of(a log2_of(x)).

   They consist of operations that every processor rounds alike (+, -, *, /, and of integers), without branches and
   tables: a compiler that computes them for several numbers at once gives each of them the same bits.  Relative errors
   are a few units of round-off; exp2_of adds those of its argument.

       x = 2^k m,  sqrt(1/2) <= m < sqrt(2),  s = (m - 1)/(m + 1):   log2 x = k + 2/ln 2 (s + s^3/3 + s^5/5 + ...)
       x = k + r,  |r| <= 1/2:                                       2^x = 2^k (1 + r ln 2 + (r ln 2)^2/2! + ...) */
#ifndef COSTATE_POWER_H
#define COSTATE_POWER_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a + b x + c x^2 + d x^3, in pairs: in a chain each product would wait for the one before */
static inline double cubic_at(double x, double a, double b, double c, double d)
{
    return (a + b * x) + (c + d * x) * (x * x);
}

/* x: positive and normal */
static inline double log2_of(double x)
{
    const uint64_t ONE = UINT64_C(1023) << 52, ROOT_HALF = UINT64_C(0x3fe6a09e667f3bcd);
    const uint64_t EXPONENT = UINT64_C(0xfff) << 52, SHIFTED = UINT64_C(1075) << 52;         /* 2^52 */
    const double TWICE = 2.8853900817779268;                                                 /* 2/ln 2 */
    uint64_t moved = bits_of(x) - ROOT_HALF + ONE;               /* its exponent is k + 1023 */
    double k = double_of(moved >> 52 | SHIFTED) - (4503599627370496.0 + 1023);
    double m = double_of(bits_of(x) - (moved & EXPONENT) + ONE);
    double s = (m - 1) / (m + 1), z = s * s, z4 = (z * z) * (z * z);
    double sum = cubic_at(z, 1, 1.0 / 3, 1.0 / 5, 1.0 / 7) +
                 (cubic_at(z, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15) + (1.0 / 17 + z * (1.0 / 19)) * z4) * z4;
    return k + TWICE * (s * sum);
}

/* |x| < 1022 */
static inline double exp2_of(double x)
{
    const double SHIFT = 6755399441055744.0, LN2 = 0.69314718055994531;                      /* 1.5 2^52 */
    double moved = x + SHIFT, r = (x - (moved - SHIFT)) * LN2, r4 = (r * r) * (r * r);
    double sum = cubic_at(r, 1, 1, 1.0 / 2, 1.0 / 6) +
                 (cubic_at(r, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040) +
                  (cubic_at(r, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800) +
                   (1.0 / 479001600 + r * (1.0 / 6227020800)) * r4) * r4) * r4;
    return double_of(bits_of(sum) + (bits_of(moved) << 52));
}

#endif
