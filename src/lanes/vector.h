/* vector.h - numbers of L lanes in one register, and sums of vectors of them in the order of base/vec.c.

   Compiled with LANES = 2, 4 or 8.  Contraction and reassociation are off in all files, and every lane has the bits
   that vec.c has for a member alone. */
#ifndef COSTATE_LANES_VECTOR_H
#define COSTATE_LANES_VECTOR_H

#include <string.h>
#include "base/inline.h"
#include "base/vec.h"
#include "lanes/lanes.h"

#define JOINED(name, lanes) name##_##lanes
#define OF_LANES(name, lanes) JOINED(name, lanes)
#define LANED(name) OF_LANES(name, LANES)               /* name_8, for example */

typedef double vec __attribute__((vector_size(8 * LANES), may_alias));
typedef int64_t vecbits __attribute__((vector_size(8 * LANES), may_alias));

#define VEC(array) ((vec *)(void *)(array))
#define CVEC(array) ((const vec *)(const void *)(array))

/* a in all lanes, also -0 */
INLINE vec splat(double a) { return a - (vec){0}; }
INLINE vec pick(vecbits mask, vec a, vec b) { return (vec)((mask & (vecbits)a) | (~mask & (vecbits)b)); }
INLINE vec modulus(vec a) { return (vec)((vecbits)a & ((vecbits){0} + INT64_MAX)); }

/* all bits of the lanes in `bits` */
INLINE vecbits mask_of(int bits)
{
    vecbits mask;
    for (int l = 0; l < LANES; l++) mask[l] = -(int64_t)(bits >> l & 1);
    return mask;
}

INLINE int bits_of_mask(vecbits mask)
{
    int bits = 0;
    for (int l = 0; l < LANES; l++) bits |= (mask[l] != 0) << l;
    return bits;
}

enum { FEW = 32 };              /* as in vec.c: vectors up to this length are summed term by term */

/* count is a constant where this is inlined */
INLINE void sum_terms(int n, vec *out, const vec *y, int count, const vec *a, const vec *const *x)
{
    for (int i = 0; i < n; i++) {
        vec sum = y ? y[i] : (vec){0};
        for (int j = 0; j < count; j++) sum += a[j] * x[j][i];
        out[i] = sum;
    }
}

INLINE void sum_few_lanes(int n, vec *out, const vec *y, int used, const vec *a, const vec *const *x)
{
    switch (used) {
    case 0: sum_terms(n, out, y, 0, a, x); break;
    case 1: sum_terms(n, out, y, 1, a, x); break;
    case 2: sum_terms(n, out, y, 2, a, x); break;
    case 3: sum_terms(n, out, y, 3, a, x); break;
    case 4: sum_terms(n, out, y, 4, a, x); break;
    case 5: sum_terms(n, out, y, 5, a, x); break;
    case 6: sum_terms(n, out, y, 6, a, x); break;
    default: sum_terms(n, out, y, used, a, x);
    }
}

/* out = y + sum_j a_j X_j, a_j = scale w_j; y NULL: zero; scale NULL: 1.  combine of vec.c */
INLINE void combine_lanes(int n, vec *out, const vec *y, const vec *scale, int k, const double *w, const vec *X,
                          size_t stride)
{
    vec a[TERMS_MOST];
    const vec *x[TERMS_MOST];
    int used = 0;
    for (int j = 0; j < k; j++)
        if (w[j] != 0) { a[used] = scale ? *scale * w[j] : (vec){0} + w[j]; x[used++] = X + (size_t)j * stride; }
    if (n <= FEW) { sum_few_lanes(n, out, y, used, a, x); return; }
    for (int i = 0; i < n; i++) {
        vec sum = y ? y[i] : (vec){0};
        int j = 0;
        for (; j + 4 <= used; j += 4)
            sum += (a[j] * x[j][i] + a[j + 1] * x[j + 1][i]) + (a[j + 2] * x[j + 2][i] + a[j + 3] * x[j + 3][i]);
        for (; j + 2 <= used; j += 2) sum += a[j] * x[j][i] + a[j + 1] * x[j + 1][i];
        for (; j < used; j++) sum += a[j] * x[j][i];
        out[i] = sum;
    }
}

INLINE void axpy_lanes(int n, vec a, const vec *x, vec *y) { for (int i = 0; i < n; i++) y[i] += a * x[i]; }
INLINE void clear_lanes(size_t n, vec *x) { memset(x, 0, n * sizeof *x); }
INLINE void copy_lanes(size_t n, vec *to, const vec *from) { memcpy(to, from, n * sizeof *to); }

#endif
