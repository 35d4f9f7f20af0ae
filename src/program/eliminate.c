/* eliminate.c - elimination in the pattern of a model, for real and complex numbers. */
#include <math.h>
#include "program/program.h"

static double less_real(double a, double b, double c) { return a - b * c; }
static double times_real(double a, double b) { return a * b; }
static double modulus_real(double a) { return fabs(a); }
static double inverse_real(double a) { return 1 / a; }
static const double nothing_real = -0.0;                     /* less a product: minus the product, also if it is 0 */

static number less_complex(number a, number b, number c)
{
    return (number){a.re - (b.re * c.re - b.im * c.im), a.im - (b.re * c.im + b.im * c.re)};
}

static number times_complex(number a, number b)
{
    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static double modulus_complex(number a) { return fabs(a.re) + fabs(a.im); }

static number inverse_complex(number a)                     /* R. L. Smith, CACM 5 (1962) 435 */
{
    if (fabs(a.re) >= fabs(a.im)) {
        const double r = a.im / a.re, d = a.re + a.im * r;
        return (number){1 / d, -r / d};
    }
    const double r = a.re / a.im, d = a.re * r + a.im;
    return (number){r / d, -1 / d};
}

static const number nothing_complex = {0, 0};

#define NUMBER double
#define OF(name) name##_real
#include "program/eliminate_numbers.h"
#undef NUMBER
#undef OF

#define NUMBER number
#define OF(name) name##_complex
#include "program/eliminate_numbers.h"
