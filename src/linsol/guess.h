/* guess.h - first guesses for the systems of a step or a sweep, by pairs of the last ones: a pool a column. */
#ifndef COSTATE_LINSOL_GUESS_H
#define COSTATE_LINSOL_GUESS_H

#include "linsol/pairs.h"
#include "maps/maps.h"

enum { GUESSES = 4 };           /* columns that have a pool */

typedef struct guesses {
    maps *maps;
    int columns;                /* 0: no guesses */
    pairs of[GUESSES];
} guesses;

void guesses_layout(guesses *, cursor *, maps *, int m);               /* of m columns the first; empty */
void guesses_clear(guesses *);
/* of column j, into x; *good: 0: there is none */
int guesses_make(guesses *, int j, double sigma, const double *b, double *x, int *good);
/* (sigma M - J) x = b - r is solved, or transposed; r NULL: zero.  at: where M is, of a residual */
typedef struct { const costate_point *at; double sigma; int transpose; } solved_system;
/* w: weights of residuals */
int guesses_add(guesses *, int j, const solved_system *, const double *w, const double *b, const double *r,
                const double *x);
/* the same as a pair of any pool: x and b - r stand in its next x and v, and guesses are by the last `use` */
int pair_of_solution(pairs *, maps *, int use, const solved_system *, const double *w);

#endif
