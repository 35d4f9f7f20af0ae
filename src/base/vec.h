/* vec.h - sums over the local part of vectors, each in one pass over memory (space.h adds up over processes). */
#ifndef COSTATE_BASE_VEC_H
#define COSTATE_BASE_VEC_H

#include <math.h>
#include <stddef.h>
#include "base/inline.h"

enum { TERMS_MOST = 32 };       /* of combine: stages of a method */
void combine(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
             size_t stride);
/* combine of up to KNOWN components: n is known where this is inlined, so that they stay in registers */
INLINE void sum_of(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
                   size_t stride)
{
    double sum[KNOWN];
    for (size_t i = 0; i < n; i++) sum[i] = y ? y[i] : 0;
    for (int j = 0; j < k; j++, X += stride) {
        double a = scale * w[j];
        if (w[j] != 0) for (size_t i = 0; i < n; i++) sum[i] += a * X[i];
    }
    for (size_t i = 0; i < n; i++) out[i] = sum[i];
}
/* combine, stride n: known: n where it is at most KNOWN and known to the compiler, else 0 */
INLINE void combine_known(size_t known, size_t n, double *out, const double *y, double scale, int k, const double *w,
                          const double *X)
{
    if (known) sum_of(known, out, y, scale, k, w, X, known);
    else combine(n, out, y, scale, k, w, X, n);
}
/* k sums of the same k vectors: out_i = sum_j scale A_ij X_j; onto: added to its old value.  X and out: k vectors of n,
   apart. */
void mix(size_t n, double *out, int onto, double scale, int k, const double *A, const double *X);
void combine_many(size_t n, double *out, double scale, int k, const double *w, const double *X);
void add_scaled(size_t n, double *out, const double *y, double a, const double *x);  /* out = y + a x; y NULL: zero */
void axpy(size_t n, double a, const double *x, double *y);
double dot(size_t n, const double *x, const double *y);
double sum_moduli(size_t n, const double *x);

/* The following are inline because most calls are for short vectors.  If a sum is finite, all its terms are. */
int all_finite_of_many(size_t n, const double *x);
static inline int all_finite(size_t n, const double *x)
{
    const double *at = x;
    double sum = 0;
    if (n > 15) return all_finite_of_many(n, x);
    for (size_t k = n & 12; k > 0; k -= 4, at += 4) sum += (at[0] + at[1]) + (at[2] + at[3]);
    if (n & 2) { sum += at[0] + at[1]; at += 2; }
    if (n & 1) sum += at[0];
    return sum - sum == 0 || all_finite_of_many(n, x);
}
/* infinite ones are allowed */
static inline int no_nan(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != x[i]) return 0;
    return 1;
}

/* sum (e_i / (atol + rtol max(|y_i|, |z_i|)))^2 */
static inline double scaled_square(double rtol, double atol, double y, double z, double e)
{
    double a = fabs(y), b = fabs(z), q = e / (atol + rtol * (a > b ? a : b));
    return q * q;
}
double sum_scaled_of_many(size_t n, double rtol, double atol, const double *y, const double *z, const double *e);
static inline double sum_scaled(size_t n, double rtol, double atol, const double *y, const double *z, const double *e)
{
    double rest = 0;
    if (n >= 8) return sum_scaled_of_many(n, rtol, atol, y, z, e);
    for (size_t i = 0; i < n; i++) rest += scaled_square(rtol, atol, y[i], z[i], e[i]);
    return rest;
}

/* sum (w_i x_i)^2 */
double sum_weighted_of_many(size_t n, const double *w, const double *x);
static inline double sum_weighted(size_t n, const double *w, const double *x)
{
    double rest = 0;
    if (n >= 8) return sum_weighted_of_many(n, w, x);
    for (size_t i = 0; i < n; i++) { double e = w[i] * x[i]; rest += e * e; }
    return rest;
}

#endif
