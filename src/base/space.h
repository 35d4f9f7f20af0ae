/* space.h - sums, norms and common decisions for vectors that may be distributed over processes.

   A process holds a part of each state vector, and of its tangents and adjoints.  An integral q is the sum of the
   contributions of all processes.  `sum` adds up over all processes.  It must return the same bits to all of them,
   because they decide by the result.  If it is NULL there is one process, and nothing is spent.  Derivatives of the
   problem's maps with respect to t and p are contributions, too: sweeps add up gradients with respect to times; the
   caller adds up those with respect to parameters.

   The time of a sum over processes hardly depends on its length, so sums are batched. */
#ifndef COSTATE_BASE_SPACE_H
#define COSTATE_BASE_SPACE_H

#include <math.h>
#include <stddef.h>
#include "base/vec.h"
#include "base/verdict.h"

#define LEAST_SQUARES 1e-280     /* sums of squares between these have neither over- nor underflowed */
#define MOST_SQUARES 1e280
enum { SPACE_MOST = 32 };       /* norms at a time */

typedef struct {
    int (*sum)(int count, double *x, void *ctx);        /* x <- its sum over all processes; 0, or it failed */
    void *ctx;
    verdict *v;
} space;

/* Over all processes, where there are several.  Each returns 0, or COSTATE_CALLBACK where a sum failed. */
int space_total_of_all(const space *, int count, double *x);
int space_greatest_of_all(const space *, double *x);
int space_largest(const space *, size_t n, const double *x, double *out);          /* max |x|; NaN if there is one */
int space_agree_all(const space *, int status);
int space_finite_in_all(const space *, size_t n, const double *x);
int space_norms(const space *, size_t n, int count, const double *w, const double *const *x, double *out);
int space_dots(const space *, size_t n, int count, const double *X, size_t stride, const double *y, double *out);
/* 0, or COSTATE_NOT_FINITE with this sentence */
int space_sound(const space *, size_t n, const double *x, const char *what);

/* The following is inline, so that a single process pays for a comparison only: a call would be a hundredth of a run
   with two states. */

/* x <- its sum, number by number */
static inline int space_total(const space *s, int count, double *x)
{
    return s->sum ? space_total_of_all(s, count, x) : 0;
}

/* x >= 0 <- the greatest; of P processes up to P^(1/16) too much */
static inline int space_greatest(const space *s, double *x) { return s->sum ? space_greatest_of_all(s, x) : 0; }

/* All processes return the same status, even if only one found it: 0, RETRY with a common reason, or the worst
   failure; its sentence is in the verdict of the process that found it. */
static inline int space_agree(const space *s, int status) { return s->sum ? space_agree_all(s, status) : status; }

/* 0, or retry(WHY_NOT_FINITE) */
static inline int space_finite(const space *s, size_t n, const double *x)
{
    return all_finite(n, x) && !s->sum ? 0 : space_finite_in_all(s, n, x);
}

/* sqrt(mean (w x)^2) */
static inline int space_norm(const space *s, size_t n, const double *w, const double *x, double *out)
{
    double sum = sum_weighted(n, w, x);
    if (s->sum || !(sum > LEAST_SQUARES && sum < MOST_SQUARES)) return space_norms(s, n, 1, w, &x, out);
    *out = sqrt(sum / (double)n);
    return 0;
}

#endif
