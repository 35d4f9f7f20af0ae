/* likelihood.c - the negative logarithm of the likelihood of one measured value, and its derivatives with respect to
   the output f and to sigma.

       e = s(f) - s(value),     s(x) = x, log x, log10 x

       normal      L = log(sigma) + e^2/(2 sigma^2) + log(2 pi)/2 - log s'(value)
       Laplace     L = log(sigma) + |e|/sigma + log 2 - log s'(value)

   The last term makes it that of the value itself, whose density is that of s(value) times s'(value). */
#include <math.h>
#include "pieces/pieces.h"

static const double PI = 3.14159265358979323846, LN10 = 2.30258509299404568402;

/* s(x) and its first two derivatives */
static void scaled(int scale, double x, double *s)
{
    double unit = scale == COSTATE_SCALE_LOG10 ? LN10 : 1;
    if (scale == COSTATE_SCALE_LINEAR) s[0] = x, s[1] = 1, s[2] = 0;
    else s[0] = log(x) / unit, s[1] = 1 / (x * unit), s[2] = -1 / (x * x * unit);
}

void likelihood_of(const costate_measured *m, double f, double sigma, likelihood *of)
{
    double s[3], at[3], v = 1 / sigma;
    scaled(m->scale, f, s);
    scaled(m->scale, m->value, at);
    double e = s[0] - at[0], sign = (e > 0) - (e < 0);
    of->r = e * v;
    of->r_f = s[1] * v;
    of->r_s = -e * v * v;
    if (m->distribution >= COSTATE_BELOW) {
        censored_of(m, s, at, sigma, of);
        return;
    }
    if (m->distribution == COSTATE_NOISE_LAPLACE) {
        of->L = log(2 * sigma) + fabs(e) * v - log(at[1]);
        of->f = sign * s[1] * v;
        of->s = v - fabs(e) * v * v;
        of->ff = sign * s[2] * v;
        of->fs = -sign * s[1] * v * v;
        of->ss = (2 * fabs(e) * v - 1) * v * v;
        of->expected_ss = v * v;
    } else {
        of->L = log(2 * PI * sigma * sigma) / 2 + e * e * v * v / 2 - log(at[1]);
        of->f = e * s[1] * v * v;
        of->s = (1 - e * e * v * v) * v;
        of->ff = (s[1] * s[1] + e * s[2]) * v * v;
        of->fs = -2 * e * s[1] * v * v * v;
        of->ss = (3 * e * e * v * v - 1) * v * v;
        of->expected_ss = 2 * v * v;
    }
    of->expected_ff = s[1] * s[1] * v * v;
}
