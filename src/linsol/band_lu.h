/* band_lu.h - LU of a band with partial pivoting, in LAPACK's storage. */
#ifndef COSTATE_LINSOL_BAND_LU_H
#define COSTATE_LINSOL_BAND_LU_H

typedef struct {
    int parts, n;              /* doubles of a number: 1 real, 2 complex */
    int lower, upper;          /* diagonals below and above that of A */
    double *LU;                /* as of gbtrf: 2 lower + upper + 1 rows, n columns */
    double *inverse;           /* of the diagonal of U: n numbers */
    int *pivot;                /* LAPACK's exchanges, counted from 1: n */
} LS_band_lu;

/* 0, or the first column without a pivot, counted from 1 */
int LS_band_factor(const LS_band_lu *b);
void LS_band_solve(const LS_band_lu *b, int transpose, int nrhs, double *X);

#endif
