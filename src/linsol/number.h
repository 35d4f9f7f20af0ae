/* number.h - arithmetic with real numbers and with complex ones, pairs (re, im).  parts, the doubles of a number, is a
   constant where these are inlined. */
#ifndef COSTATE_LINSOL_NUMBER_H
#define COSTATE_LINSOL_NUMBER_H

#include <math.h>

/* |re| + |im|, as LAPACK chooses pivots */
static inline double number_size(int parts, const double *a)
{
    return parts == 1 ? fabs(a[0]) : fabs(a[0]) + fabs(a[1]);
}

static inline int number_is_zero(int parts, const double *a) { return a[0] == 0 && (parts == 1 || a[1] == 0); }

/* y -= a x */
static inline void number_subtract(int parts, double *y, const double *a, const double *x)
{
    if (parts == 1) {
        y[0] -= a[0] * x[0];
        return;
    }
    double re = a[0] * x[0] - a[1] * x[1], im = a[0] * x[1] + a[1] * x[0];
    y[0] -= re;
    y[1] -= im;
}

/* x <- x/a; complex: R. L. Smith, Commun. ACM 5 (1962) 435 */
static inline void number_divide(int parts, double *x, const double *a)
{
    if (parts == 1) {
        x[0] /= a[0];
        return;
    }
    int wide = fabs(a[0]) >= fabs(a[1]);
    double r = wide ? a[1] / a[0] : a[0] / a[1], d = wide ? a[0] + a[1] * r : a[0] * r + a[1];
    double re = wide ? x[0] + x[1] * r : x[0] * r + x[1], im = wide ? x[1] - x[0] * r : x[1] * r - x[0];
    x[0] = re / d;
    x[1] = im / d;
}

static inline void number_exchange(int parts, double *a, double *b)
{
    for (int k = 0; k < parts; k++) {
        double swap = a[k];
        a[k] = b[k];
        b[k] = swap;
    }
}

#endif
