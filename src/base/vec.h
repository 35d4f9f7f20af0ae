/* vec.h - sums over vectors that touch memory once: over what is here of them (space.h adds up over processes). */
#ifndef COSTATE_BASE_VEC_H
#define COSTATE_BASE_VEC_H

#include <stddef.h>

enum { TERMS_MOST = 32 };       /* of combine: stages of a method */
void combine(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
             size_t stride);
void combine_many(size_t n, double *out, double scale, int k, const double *w, const double *X);
void add_scaled(size_t n, double *out, const double *y, double a, const double *x);  /* out = y + a x; y NULL: zero */
void axpy(size_t n, double a, const double *x, double *y);
double dot(size_t n, const double *x, const double *y);
int all_finite(size_t n, const double *x);
double sum_scaled(size_t n, double rtol, double atol, const double *y, const double *z, const double *e);
double sum_weighted(size_t n, const double *w, const double *x);

#endif
