/* layout.h - where the entries of J and M go in the matrix that a backend factors. */
#ifndef COSTATE_LINSOL_LAYOUT_H
#define COSTATE_LINSOL_LAYOUT_H

#include "base/pattern.h"

/* It depends on the pattern and on the kind of backend alone, so solvers that are alike share it; it also keeps alive
   the pattern that the backends were given. */
typedef struct {
    int refs;
    size_t entries;            /* of J and M as given */
    size_t size;               /* of the matrix formed */
    size_t *at;                /* entry k goes to at[k]; NULL: to k, and nothing else is in the matrix */
    size_t *diagonal;          /* n places */
    int *col, *row;            /* of pattern */
    costate_pattern pattern;   /* with the diagonal; unused by dense backends */
} layout;

/* p NULL: n*n.  dense: the backend is.  COSTATE_LS_...; what was begun is in *lay also after a failure. */
int layout_new(layout **lay, int n, const costate_pattern *p, int dense);
void layout_free(layout *);             /* one reference less; NULL is fine */

#endif
