/* lapack.h - declarations of the LAPACK routines that are used, with Fortran's names.

   With COSTATE_BUILTIN_LAPACK they are those of builtin.c. */
#ifndef COSTATE_LAPACK_H
#define COSTATE_LAPACK_H

#include "linsol/lapack_types.h"

#ifdef COSTATE_BUILTIN_LAPACK
#include "linsol/builtin.h"
#define dlaswp_ LS_dlaswp
#define dtrsm_ LS_dtrsm
#define dgemm_ LS_dgemm
#define dgecon_ LS_dgecon
#define dgetrf_ LS_dgetrf
#define zgetrf_ LS_zgetrf
#define dgetrs_ LS_dgetrs
#define zgetrs_ LS_zgetrs
#define dgetc2_ LS_dgetc2
#define dgesc2_ LS_dgesc2
#else
extern lapack_laswp dlaswp_;
extern blas_trsm dtrsm_;
extern blas_gemm dgemm_;
extern lapack_gecon dgecon_;
extern lapack_getrf dgetrf_, zgetrf_;
extern lapack_getrs dgetrs_, zgetrs_;
extern lapack_gbtrf dgbtrf_, zgbtrf_;
extern lapack_gbtrs dgbtrs_, zgbtrs_;
extern lapack_getc2 dgetc2_;
extern lapack_gesc2 dgesc2_;
#endif

/* The permutation of rows that LAPACK's sequence of exchanges produces. */
static inline void LS_row_order(int n, const int *pivot, int *order)
{
    for (int k = 0; k < n; k++) order[k] = k;
    for (int k = 0; k < n; k++) {
        int with = pivot[k] - 1, i = order[with];
        order[with] = order[k];
        order[k] = i;
    }
}

#endif
