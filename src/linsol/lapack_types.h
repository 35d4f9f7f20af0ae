/* lapack_types.h - interfaces of the LAPACK and BLAS routines that are used.

   Complex arrays are declared as double: they are pairs (re, im) in memory in any case, and real and complex routines
   then have the same type.  The last argument is the length of the character argument, which Fortran passes by value.
   */
#ifndef COSTATE_LAPACK_TYPES_H
#define COSTATE_LAPACK_TYPES_H

#include <stddef.h>

typedef void lapack_getrf(const int *m, const int *n, double *A, const int *lda, int *pivot, int *info);
typedef void lapack_getrs(const char *trans, const int *n, const int *nrhs, const double *A, const int *lda,
                          const int *pivot, double *B, const int *ldb, int *info, size_t trans_length);
typedef void lapack_gbtrf(const int *m, const int *n, const int *kl, const int *ku, double *A, const int *lda,
                          int *pivot, int *info);
typedef void lapack_gbtrs(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs,
                          const double *A, const int *lda, const int *pivot, double *B, const int *ldb, int *info,
                          size_t trans_length);
typedef void lapack_getc2(const int *n, double *A, const int *lda, int *rows, int *columns, int *info);
typedef void lapack_gesc2(const int *n, const double *A, const int *lda, double *x, const int *rows,
                          const int *columns, double *scale);
typedef void lapack_gecon(const char *norm, const int *n, const double *A, const int *lda, const double *anorm,
                          double *rcond, double *work, int *iwork, int *info, size_t norm_length);
typedef void lapack_laswp(const int *n, double *A, const int *lda, const int *k1, const int *k2, const int *pivot,
                          const int *step);
typedef void blas_trsm(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
                       const int *n, const double *alpha, const double *A, const int *lda, double *B, const int *ldb,
                       size_t side_length, size_t uplo_length, size_t trans_length, size_t diag_length);
typedef void blas_gemm(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                       const double *alpha, const double *A, const int *lda, const double *B, const int *ldb,
                       const double *beta, double *C, const int *ldc, size_t transa_length, size_t transb_length);

#endif
