/* number.h - arithmetic with real numbers and with complex ones, pairs (re, im).  parts, the doubles of a number, is a
   constant where these are inlined. */
#ifndef COSTATE_LINSOL_NUMBER_H
#define COSTATE_LINSOL_NUMBER_H

#include <math.h>
#include "base/inline.h"

/* |re| + |im|, as LAPACK chooses pivots */
INLINE double number_size(int parts, const double *a)
{
    return parts == 1 ? fabs(a[0]) : fabs(a[0]) + fabs(a[1]);
}

/* max(|re|, |im|) */
INLINE double number_largest(int parts, const double *a)
{
    if (parts == 1) return fabs(a[0]);
    return fabs(a[0]) > fabs(a[1]) ? fabs(a[0]) : fabs(a[1]);
}

/* the row of the largest of n numbers; the first of equal ones.  NaN is taken only if it comes first */
INLINE int largest_number(int parts, int n, const double *x)
{
    int found = 0;
    double most = number_size(parts, x);
    for (int i = 1; i < n; i++) {
        double this = number_size(parts, x + parts * i);
        if (this > most) most = this, found = i;
    }
    return found;
}

INLINE int number_is_zero(int parts, const double *a) { return a[0] == 0 && (parts == 1 || a[1] == 0); }

/* x -= a v */
INLINE void number_subtract(int parts, double *x, const double *a, const double *v)
{
    double re = v[0], im = parts == 2 ? v[1] : 0;
    if (parts == 1) { x[0] -= a[0] * re; return; }
    double left = a[0] * re + a[1] * -im, right = a[1] * re + a[0] * im;
    x[0] -= left;
    x[1] -= right;
}

/* What a division x/a needs: if real, a; if complex (Smith, CACM 5 (1962) 435), the ratio r of a's parts, the smaller
   over the larger, and d. */
typedef struct { double r, d; int wide; } divisor;

INLINE divisor divisor_of(int parts, const double *a)
{
    if (parts == 1) return (divisor){.d = a[0]};
    int wide = fabs(a[0]) >= fabs(a[1]);
    double r = wide ? a[1] / a[0] : a[0] / a[1];
    return (divisor){r, wide ? a[0] + a[1] * r : a[0] * r + a[1], wide};
}

INLINE void number_divide_by(int parts, double *x, const divisor *by)
{
    if (parts == 1) { x[0] /= by->d; return; }
    double re = by->wide ? x[0] + x[1] * by->r : x[0] * by->r + x[1];
    double im = by->wide ? x[1] - x[0] * by->r : x[1] * by->r - x[0];
    x[0] = re / by->d;
    x[1] = im / by->d;
}

/* x <- x/a */
INLINE void number_divide(int parts, double *x, const double *a)
{
    const divisor by = divisor_of(parts, a);
    number_divide_by(parts, x, &by);
}

INLINE void number_exchange(int parts, double *a, double *b)
{
    for (int k = 0; k < parts; k++) {
        double swap = a[k];
        a[k] = b[k];
        b[k] = swap;
    }
}

#endif
