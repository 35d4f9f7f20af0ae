/* swe_run.h - one measured run of the shallow-water benchmark. */
#ifndef BENCH_SWE_RUN_H
#define BENCH_SWE_RUN_H

#include <costate/costate.h>

enum swe_mode { SWE_FORWARD, SWE_TLM, SWE_ADJ };   /* y(tf); dy(tf)/dy_0(0); gradient of y_0(tf) by y(0) */

typedef struct {
    const char *method;
    int solver, stage_solve;     /* enum costate_solver, enum costate_stage_solve */
    int nx, ny;                  /* ny 0: nx */
    double tf, rtol, atol;       /* atol 0: rtol */
    int mode;
    int keep_factors;
    int repeat;                  /* the fastest of so many runs */
    const char *reference;       /* file of the 40 x 40, tf = 0.011 reference */
    int no_error;                /* 1: do not compare (and make no reference run) */
} swe_task;

typedef struct {
    int status;                  /* enum costate_status */
    char message[512];
    char solver[32];             /* the linear solver in use */
    int n, nnz;
    costate_stats stats;
    double forward, backward;    /* seconds */
    double error;                /* relative, in the 2-norm; NaN: not known */
    char reference[160];         /* what the error refers to */
    double *result;              /* n: y(tf), tangent or gradient; swe_result_free */
} swe_result;

int swe_run(const swe_task *, swe_result *);    /* returns result.status */
void swe_result_free(swe_result *);

#endif
