/* eigenvalues.h - all eigenvalues of a real matrix. */
#ifndef COSTATE_EIGENVALUES_H
#define COSTATE_EIGENVALUES_H

/* re[k] + i im[k], k < n, are the eigenvalues of A (n by n, by columns), in no particular order, but the two of a
   complex pair stand together, im > 0 first.  A is overwritten.  Returns 0, or 1 and no eigenvalues: an entry is not
   finite, or the iteration does not converge. */
int eigenvalues(int n, double *A, double *re, double *im);

#endif
