/* pairs.h - pairs (x, J x) of earlier systems, and the best initial guess for the next system that they contain. */
#ifndef COSTATE_LINSOL_PAIRS_H
#define COSTATE_LINSOL_PAIRS_H

#include "base/arena.h"
#include "base/space.h"

enum { PAIRS_MOST = 24 };

typedef struct {
    const space *space;
    size_t n;
    int room, count, next;      /* a ring buffer; the last pair is the one before next */
    int plain;                  /* M is the identity: u is x */
    double *w, *x, *u, *v;      /* weights at the first pair; weighted, scaled to 1 <= |u| < 2: x, u = M x, v = J x */
    double *b;                  /* n: work */
    double uu[PAIRS_MOST][PAIRS_MOST], uv[PAIRS_MOST][PAIRS_MOST], vv[PAIRS_MOST][PAIRS_MOST];
} pairs;

void pairs_layout(pairs *, cursor *, size_t n, int room, int plain);
int pairs_is_valid(const pairs *);                    /* an invariant */
void pairs_clear(pairs *);
void pairs_drop(pairs *, int count);                  /* the last ones */
/* where the next x, u and v are to be stored, without weights; then pairs_add adds them, for guesses from the last
   `use` pairs.  w: weights */
void pairs_next(const pairs *, double **x, double **u, double **v);
int pairs_add(pairs *, int use, const double *w);
/* x <- the combination of the last `use` pairs that makes b - (sigma M - J) x least; *good: 0: there is none, x is 0 */
int pairs_guess(pairs *, int use, double sigma, const double *b, double *x, int *good);

#endif
