/* layout.h - the positions of the entries of J and M in the matrix that a backend factors. */
#ifndef COSTATE_LINSOL_LAYOUT_H
#define COSTATE_LINSOL_LAYOUT_H

#include "base/pattern.h"

/* It depends only on the pattern and the kind of backend, so that similar solvers share it; it also owns the pattern
   that backends refer to. */
typedef struct {
    int refs;
    size_t entries;            /* of J and M as given */
    size_t size;               /* of the matrix formed */
    size_t *at;                /* entry k goes to at[k]; NULL: to k, and there are no other entries */
    size_t *diagonal;          /* n positions */
    int *col, *row;            /* of pattern */
    costate_pattern pattern;   /* with the diagonal; unused by dense backends */
} layout;

/* p NULL: n*n.  dense: the backend is.  COSTATE_LS_...; *lay must be freed even after a failure. */
int layout_new(layout **lay, int n, const costate_pattern *p, int dense);
void layout_free(layout *);             /* one reference less; NULL is fine */

#endif
