/* multigrid.h - cycles of geometric multigrid for sigma I - (diffusion on a grid): a shared preconditioner. */
#ifndef BENCH_MULTIGRID_H
#define BENCH_MULTIGRID_H

#include "ivp.h"

typedef struct multigrid multigrid;
/* so many V-cycles with so many Jacobi sweeps before and after each coarser grid; NULL: no memory */
multigrid *multigrid_new(const ivp_grid *, int cycles, int sweeps);
void multigrid_free(multigrid *);
/* sigma I - diffusion - diag(reaction), of which only what is <= 0 is taken; NULL: none */
void multigrid_setup(multigrid *, double sigma, const double *reaction);
/* x: the right-hand side, and what the cycles make of it from 0.  Linear and symmetric: its own transpose */
void multigrid_solve(multigrid *, double *x);

#endif
