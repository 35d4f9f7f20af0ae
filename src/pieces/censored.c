/* censored.c - the negative logarithm of the likelihood of a censored value, of which only a bound is known, and its
   derivatives with respect to the output f and to sigma.

   The quantity that was not measured has the density of likelihood.c around s(f).  With

       z = (s(value) - s(f))/sigma  (below),     z = (s(f) - s(value))/sigma  (above)

   the probability that it lies on that side of the bound is F(z), the distribution function of the standardised error:

       normal      F = erfc(-z/sqrt(2))/2
       Laplace     F = e^z/2 for z <= 0,  1 - e^-z/2 for z > 0

   L = -log F.  With g = F'/F, L' = -g, and L'' = g (g + z) for normal errors; for Laplace's L'' = 0 and g (g + 1).
   L'' is not negative, and takes the place of an expectation in Gauss-Newton products. */
#include <math.h>
#include "pieces/pieces.h"

static const double SQRT_HALF = 0.70710678118654752440, SQRT_TWO_PI = 2.50662827463100050242,
                    LN2 = 0.69314718055994530942;
/* Below TAIL the continued fraction of Mills' ratio replaces erfc, which underflows at z = -38: 60 terms of it are
   right to round-off there (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.14). */
static const double TAIL = -5;
enum { TERMS = 60 };

typedef struct { double L, first, second; } in_z;

/* (1 - F(x))/F'(x), x > 0 */
static double mills(double x)
{
    double below = x;
    for (int k = TERMS; k > 0; k--) below = x + k / below;
    return 1 / below;
}

static in_z normal(double z)
{
    if (z < TAIL) {
        double ratio = mills(-z), g = 1 / ratio;
        return (in_z){z * z / 2 + log(SQRT_TWO_PI) - log(ratio), -g, g * (g + z)};
    }
    double F = erfc(-z * SQRT_HALF) / 2, g = exp(-z * z / 2) / (SQRT_TWO_PI * F);
    return (in_z){z < 0 ? -log(F) : -log1p(-erfc(z * SQRT_HALF) / 2), -g, g * (g + z)};
}

static in_z laplace(double z)
{
    if (z <= 0) return (in_z){LN2 - z, -1, 0};
    double g = exp(-z) / 2 / (1 - exp(-z) / 2);
    return (in_z){-log1p(-exp(-z) / 2), -g, g * (g + 1)};
}

void censored_of(const costate_measured *m, const double *s, const double *at, double sigma, likelihood *of)
{
    double side = m->distribution & COSTATE_BELOW ? -1 : 1, v = 1 / sigma, z = side * (s[0] - at[0]) * v;
    in_z L = m->distribution & COSTATE_NOISE_LAPLACE ? laplace(z) : normal(z);
    double z_f = side * s[1] * v, z_s = -z * v;
    of->L = L.L;
    of->f = L.first * z_f;
    of->s = L.first * z_s;
    of->ff = L.second * z_f * z_f + L.first * side * s[2] * v;
    of->fs = L.second * z_f * z_s - L.first * z_f * v;
    of->ss = L.second * z_s * z_s + 2 * L.first * z * v * v;
    of->expected_ff = L.second * z_f * z_f;
    of->expected_ss = L.second * z_s * z_s;
}
