/* precondition.h - preconditioners of problems with diffusion on a grid: the same code for costate and CVODES. */
#ifndef BENCH_PRECONDITION_H
#define BENCH_PRECONDITION_H

#include "ivp.h"

/* sigma I - f_y without its reaction: by alternating directions, by multigrid; multigrid with the part of the
   reaction's diagonal that is <= 0, which depends on y: not for W-methods */
enum { PRECONDITION_NONE, PRECONDITION_ADI, PRECONDITION_MULTIGRID, PRECONDITION_REACTION };

typedef struct precondition precondition;
/* b is kept, with ivp.grid.  cycles, sweeps: see multigrid.h.  NULL: no memory, or the problem has no grid */
precondition *precondition_new(const ivp *b, int kind, int cycles, int sweeps);
void precondition_free(precondition *);
/* renewed: x is another point than at the last call; 0, or what a callback returned */
int precondition_setup(precondition *, double sigma, const costate_point *x, int renewed);
int precondition_solve(precondition *, int transposed, double *x);
/* the same for costate's options; lives as long as that */
const costate_preconditioner *precondition_for_costate(const precondition *);

#endif
