/* space.h - the space of states: sums, norms and verdicts over vectors that may be spread over processes.

   A process holds a part of each vector of states, of its tangents and adjoints; of an integral q each process has its
   share, and q is their sum.  sum adds up over all processes, and must give all of them the same bits, for they decide
   by it; where it is NULL there is one process, and nothing costs anything.  What a product of the problem's maps says
   of t and p is a share, too: sweeps add up gradients by times, those by parameters are the caller's to add.

   A sum is what takes time between processes, not its length: sums are batched. */
#ifndef COSTATE_BASE_SPACE_H
#define COSTATE_BASE_SPACE_H

#include <math.h>
#include <stddef.h>
#include "base/vec.h"
#include "base/verdict.h"

#define LEAST_SQUARES 1e-280     /* sums of squares between these have lost nothing that counts */
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
int space_finite_in_all(const space *, size_t n, const double *x, double factor);
int space_norms(const space *, size_t n, int count, const double *w, const double *const *x, double *out);
int space_dots(const space *, size_t n, int count, const double *X, size_t stride, const double *y, double *out);
/* 0, or COSTATE_NOT_FINITE in these words */
int space_sound(const space *, size_t n, const double *x, const char *what);

/* What follows is inline so that one process pays for a comparison: it is a hundredth of a run of two states. */

/* x <- its sum, number by number */
static inline int space_total(const space *s, int count, double *x)
{
    return s->sum ? space_total_of_all(s, count, x) : 0;
}

/* x >= 0 <- the greatest; of P processes up to P^(1/16) too much */
static inline int space_greatest(const space *s, double *x) { return s->sum ? space_greatest_of_all(s, x) : 0; }

/* A status found here alone becomes one that all processes return: 0, RETRY with one reason and one factor, or the
   worst failure, with its sentence where it was found. */
static inline int space_agree(const space *s, int status) { return s->sum ? space_agree_all(s, status) : status; }

/* 0, or retry(WHY_NOT_FINITE, factor) */
static inline int space_finite(const space *s, size_t n, const double *x, double factor)
{
    return all_finite(n, x) && !s->sum ? 0 : space_finite_in_all(s, n, x, factor);
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
