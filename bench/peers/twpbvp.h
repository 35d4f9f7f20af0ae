/* twpbvp.h - TWPBVPC and TWPBVPLC (Cash, Mazzia, Wright) on a boundary value problem of the race. */
#ifndef BENCH_TWPBVP_H
#define BENCH_TWPBVP_H

#include "bvp_cases.h"

typedef struct {
    int status;                     /* as they return it: 0, or below 0: solved */
    int intervals, meshes, f, jac;
    double seconds, error;          /* error: at mesh points, which is all that they give */
} bvp_twp_result;

/* lobatto: TWPBVPLC, else TWPBVPC; conditioning: it has a part in the choice of the mesh; most: intervals, at most.
   -1: neither is built in. */
int bvp_twp(const bvp_case *, int lobatto, int conditioning, double tol, int most, bvp_twp_result *);

#endif
