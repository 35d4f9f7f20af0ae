/* order.h - orders of rows and columns for elimination in a sparse matrix. */
#ifndef COSTATE_LINSOL_ORDER_H
#define COSTATE_LINSOL_ORDER_H

#include <costate/linsol.h>

/* row[j]: the row that is matched with column j, its own where that is in the pattern; -1: the matrix is singular for
   any numbers.  COSTATE_LS_... */
int LS_match(int n, const costate_pattern *, int *row);
/* order[k]: the column that is eliminated k-th, with the row that is matched with it (row, of LS_match; NULL: its own).
   work: multiplications of a factorisation with these pivots, entries: of its L, for the pattern of B + B^T */
int LS_minimum_degree(int n, const costate_pattern *, const int *row, int *order, double *work, double *entries);
int LS_fill(const costate_pattern *, double *work, double *entries);       /* the counts alone, own rows */

#endif
