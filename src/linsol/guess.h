/* guess.h - initial guesses for linear systems from earlier solutions: each column has a pool of (x, A x). */
#ifndef COSTATE_LINSOL_GUESS_H
#define COSTATE_LINSOL_GUESS_H

#include "linsol/pairs.h"
#include "maps/maps.h"

enum { GUESSES = 4 };           /* columns that have a pool */

typedef struct guesses {
    maps *maps;
    int columns;                /* 0: no guesses */
    pairs of[GUESSES];
    double amplified[GUESSES];  /* of relaxed.c: see loose.h */
} guesses;

void guesses_layout(guesses *, cursor *, maps *, int m);               /* for the first of m columns; starts empty */
void guesses_clear(guesses *);
/* the guess for column j, into x; *good 0: there is none */
int guesses_make(guesses *, int j, double sigma, const double *b, double *x, int *good);
/* records that x solves (sigma M - J) x = b - r, or its transpose; r NULL: zero.  at: the point of M, for residuals */
typedef struct { const costate_point *at; double sigma; int transpose; } solved_system;
/* w: weights of residuals */
int guesses_add(guesses *, int j, const solved_system *, const double *w, const double *b, const double *r,
                const double *x);
/* the same for any pool: x and b - r are stored in its next x and v; guesses use the last `use` pairs */
int pair_of_solution(pairs *, maps *, int use, const solved_system *, const double *w);

#endif
