/* pattern.h - matrices stored in a sparsity pattern, column by column.  Pattern NULL: dense, n*n, by columns. */
#ifndef COSTATE_BASE_PATTERN_H
#define COSTATE_BASE_PATTERN_H

#include <costate/costate.h>

/* NULL when the pattern is sound, else a sentence that says what is wrong with it. */
const char *pattern_fault(const costate_pattern *, int n);
static inline size_t pattern_entries(const costate_pattern *a, int n)       /* NULL: n*n */
{
    return a ? (size_t)a->col[n] : (size_t)n * (size_t)n;
}
int pattern_holds(const costate_pattern *, int i, int j);      /* is (i, j) an entry? */
/* The share of off-diagonal entries (i, j) with (j, i) in the pattern as well; 1 for a diagonal one. */
double pattern_symmetry(const costate_pattern *);
void pattern_band(const costate_pattern *, int *lower, int *upper);     /* diagonals below and above the main one */
/* y += a A x, or a A^T x, for a matrix in the pattern, m columns of n. */
void pattern_multiply(int n, const costate_pattern *, const double *A, int transpose, double a, int m, const double *x,
                      double *y);

#endif
