/* order.h - orders of rows and columns for elimination in a sparse matrix. */
#ifndef COSTATE_LINSOL_ORDER_H
#define COSTATE_LINSOL_ORDER_H

#include <costate/linsol.h>

/* row[j]: the row that is matched with column j, its own where that is in the pattern; -1: the matrix is singular for
   any numbers.  COSTATE_LS_... */
int LS_match(int n, const costate_pattern *, int *row);
/* order[k]: the column that is eliminated k-th, with the row that is matched with it (row, of LS_match) */
int LS_minimum_degree(int n, const costate_pattern *, const int *row, int *order);

#endif
