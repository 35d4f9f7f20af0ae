/* modulus.h - sqrt(a^2 + b^2), by operations that every processor rounds alike.

   The last bit of a C library's hypot depends on the library, and in glibc on whether the processor has a fused
   multiply-add.  Here both numbers are scaled by a power of two, so that no square overflows or vanishes.  The relative
   error is at most two units of round-off: the sum of two rounded squares has two, of which the root leaves one; its
   own is the other. */
#ifndef COSTATE_MODULUS_H
#define COSTATE_MODULUS_H

#include <math.h>

static inline double modulus(double a, double b)
{
    int k;
    double most = fmax(fabs(a), fabs(b));
    if (!isfinite(most)) return most;                       /* frexp does not say which k */
    (void)frexp(most, &k);
    a = ldexp(a, -k);
    b = ldexp(b, -k);
    return ldexp(sqrt(a * a + b * b), k);
}

#endif
