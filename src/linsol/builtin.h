/* builtin.h - routines with the interfaces of LAPACK and BLAS, for where no library is linked. */
#ifndef COSTATE_LINSOL_BUILTIN_H
#define COSTATE_LINSOL_BUILTIN_H

#include "linsol/lapack_types.h"

lapack_getrf LS_dgetrf, LS_zgetrf;
lapack_getrs LS_dgetrs, LS_zgetrs;
lapack_gecon LS_dgecon;             /* of the sum norm */
lapack_getc2 LS_dgetc2;
lapack_gesc2 LS_dgesc2;
lapack_laswp LS_dlaswp;             /* forwards */
blas_trsm LS_dtrsm;                 /* B <- L^-1 B, with ones on the diagonal of L: "L", "L", "N", "U" and 1 */
blas_gemm LS_dgemm;                 /* C <- C - A B: "N", "N", -1 and 1 */

#endif
