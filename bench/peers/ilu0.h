/* ilu0.h - incomplete LU without fill: the preconditioner that CVODES is raced with. */
#ifndef BENCH_ILU0_H
#define BENCH_ILU0_H

#include <costate/costate.h>

typedef struct ilu0 ilu0;
ilu0 *ilu0_new(const costate_pattern *);     /* kept, not copied; it has a diagonal, rows ascend.  NULL: no memory */
void ilu0_free(ilu0 *);
/* of I - gamma J, values in the pattern; 0, or 1: a zero pivot */
int ilu0_factor(ilu0 *, const double *J, double gamma);
/* of A + c B */
int ilu0_factor_sum(ilu0 *, const double *A, double c, const double *B);
/* z from r, which may not be the same; transposed: with the transpose */
void ilu0_solve(const ilu0 *, int transposed, const double *r, double *z);

#endif
