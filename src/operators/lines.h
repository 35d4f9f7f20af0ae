/* lines.h - tridiagonal matrices along the lines of a grid: which are equal, their factorisation, solves. */
#ifndef COSTATE_OPERATORS_LINES_H
#define COSTATE_OPERATORS_LINES_H

#include "operators/intern.h"

/* Lines are solved in bundles of LANES at a time, one in each lane.  The coefficients of a bundle are a `set`, stored
   once for all bundles that have the same; if all its lines are equal, it has one lane. */
enum { LANES = 8 };
typedef struct {
    int lanes;                  /* 1, or the lines of the bundle */
    size_t at;                  /* points of the sets before it, times their lanes */
} line_set;

/* Of a set, points by lanes each, lanes first.  l, u: of the links from k to k + 1; d: inverse pivots; m, g: last row
   and last column of periodic lines, else NULL. */
typedef struct { double *l, *d, *u, *m, *g; } line_factors;

typedef struct {
    size_t n, lines, points, stride, bundles, sets;
    int periodic, loop;         /* with 2 points or more; one point whose neighbour it is itself */
    int rows, factors;          /* numbers per point: of a row of the matrix (3, or 4 with M), of its factorisation */
    int *set_of;                /* bundles */
    line_set *set;              /* sets */
    double *row, *factor;       /* of all sets */
    double *tile;               /* points by LANES */
} tridiagonals;

/* What lines of one splitting share while they are made; only used inside lines_read. */
typedef struct {
    double *raw;                /* 3 n: lower, diagonal, upper */
    interned line, bundle;
} lines_room;

int lines_new(tridiagonals *, size_t n, size_t points, size_t stride, int periodic, int with_mass);   /* 0: no memory */
void lines_free(tridiagonals *);
void lines_read(tridiagonals *, lines_room *, const double *mass);    /* the matrix is in room->raw; mass: n, or NULL */
/* Factors unit - by * A, where unit = sigma M and by = 1 (first), or unit = 1 and by = 1/(sigma M).  0: a pivot is too
   small. */
int lines_factor(tridiagonals *, double sigma, int first);
line_factors lines_factors(const tridiagonals *, const line_set *);
size_t lines_first(const tridiagonals *, size_t line);                /* the unknown that a line starts with */
size_t lines_width(const tridiagonals *, size_t bundle);              /* how many lines are in it */
void lines_solve(const tridiagonals *, int transpose, int count, double *X);  /* X: n by count */

#endif
