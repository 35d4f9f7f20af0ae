/* cvodes.h - what both riders of CVODES hold and do alike: that of problems with events, and that of the others. */
#ifndef BENCH_CVODES_H
#define BENCH_CVODES_H

#include <cvodes/cvodes.h>

#include "sundials.h"

typedef struct {
    sun_rider s;
    void *memory;
    N_Vector y;
    N_Vector *tangents;          /* count of them */
    int count;
    SUNNonlinearSolver functional, functional_back, sensitivities;       /* adams */
    double scale;                /* of right-hand sides of the preconditioner: 1/gamma */
    const double *m;             /* memory of the problem; NULL: it has none */
} cvodes_rider;

int cvodes_adams(const cvodes_rider *);
int cvodes_open(cvodes_rider *);
/* From y0, with products by times where there is no matrix; fused: vector operations, which pays with many vectors.
   Below 0: failed, as are CVODES' own statuses. */
int cvodes_make(cvodes_rider *, CVLsJacTimesVecFn times, int fused);
void cvodes_start(cvodes_rider *);               /* y0 */
void cvodes_count(cvodes_rider *, void *memory); /* CVODES forgets its counters when it is reinitialised */
void cvodes_free(cvodes_rider *);

#endif
