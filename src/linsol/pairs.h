/* pairs.h - pairs (x, J x) of systems solved before, and the best first guess that they hold for the next. */
#ifndef COSTATE_LINSOL_PAIRS_H
#define COSTATE_LINSOL_PAIRS_H

#include "base/arena.h"
#include "base/space.h"

enum { PAIRS_MOST = 24 };

typedef struct {
    const space *space;
    size_t n;
    int room, count, next;      /* a ring; the last one stands before next */
    int plain;                  /* M is the identity: u is x */
    double *w, *x, *u, *v;      /* weights, when the first came; weighted, of length 1 to 2 by u: x, u = M x, v = J x */
    double *b;                  /* n: work */
    double uu[PAIRS_MOST][PAIRS_MOST], uv[PAIRS_MOST][PAIRS_MOST], vv[PAIRS_MOST][PAIRS_MOST];
} pairs;

void pairs_layout(pairs *, cursor *, size_t n, int room, int plain);
void pairs_clear(pairs *);
void pairs_drop(pairs *, int count);                  /* the last ones */
/* where the next x, u and v go, unweighted: w: weights; then pairs_add takes them in, for guesses
   by the last `use` */
void pairs_next(const pairs *, double **x, double **u, double **v);
int pairs_add(pairs *, int use, const double *w);
/* x <- the combination of the last `use` pairs that makes b - (sigma M - J) x least; *good: 0: there is none, x is 0 */
int pairs_guess(pairs *, int use, double sigma, const double *b, double *x, int *good);

#endif
