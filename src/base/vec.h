/* vec.h - sums over vectors that touch memory once: over what is here of them (space.h adds up over processes). */
#ifndef COSTATE_BASE_VEC_H
#define COSTATE_BASE_VEC_H

#include <stddef.h>

enum { TERMS_MOST = 32 };       /* of combine: stages of a method */
void combine(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
             size_t stride);
/* k sums of the same k vectors: out_i = sum_j scale A_ij X_j, onto: beside what it is; transpose: A_ji.  X and out: k
   vectors of n, apart. */
void mix(size_t n, double *out, int onto, double scale, int k, const double *A, int transpose, const double *X);
void combine_many(size_t n, double *out, double scale, int k, const double *w, const double *X);
void add_scaled(size_t n, double *out, const double *y, double a, const double *x);  /* out = y + a x; y NULL: zero */
void axpy(size_t n, double a, const double *x, double *y);
double dot(size_t n, const double *x, const double *y);
double sum_moduli(size_t n, const double *x);
double sum_scaled(size_t n, double rtol, double atol, const double *y, const double *z, const double *e);
double sum_weighted(size_t n, const double *w, const double *x);

/* 0 * Inf and 0 * NaN are NaN.  Inline, as most vectors that are asked about are short. */
int all_finite_of_many(size_t n, const double *x);
static inline int all_finite(size_t n, const double *x)
{
    double rest = 0;
    if (n > 8) return all_finite_of_many(n, x);
    for (size_t i = 0; i < n; i++) rest += 0 * x[i];
    return rest == 0;
}

#endif
