/* few.h - getrf and getrs for a few rows, with LAPACK's arguments. */
#ifndef COSTATE_FEW_H
#define COSTATE_FEW_H

#include "linsol/lapack.h"

enum { LS_FEW = 24 };            /* measured: up to here it is faster than OpenBLAS */

extern lapack_getrf LS_few_dgetrf, LS_few_zgetrf;
extern lapack_getrs LS_few_dgetrs, LS_few_zgetrs;
void LS_few_invert(int n, int is_complex, double *A);      /* the diagonal of U, between getrf and getrs */

#endif
