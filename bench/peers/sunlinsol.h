/* sunlinsol.h - a linear solver of SUNDIALS that factors with a backend of costate: the same factorisation. */
#ifndef BENCH_SUNLINSOL_H
#define BENCH_SUNLINSOL_H

#include <costate/linsol.h>
#include <sundials/sundials_linearsolver.h>

/* For sparse matrices in the pattern: by columns (CSC), or the transpose by rows (CSR).  like: NULL, or another one
   of the same pattern and backend, whose analysis is shared.  solves counts right-hand sides.  NULL: failed. */
SUNLinearSolver race_sunlinsol(const costate_backend *, const costate_pattern *, SUNLinearSolver like, long *solves,
                               SUNContext);

#endif
