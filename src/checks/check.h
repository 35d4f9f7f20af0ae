/* check.h - checks of derivatives of a run against differences of runs. */
#ifndef COSTATE_CHECKS_CHECK_H
#define COSTATE_CHECKS_CHECK_H

#include "solver/solver.h"

int solver_check_adjoint(costate *, double t0, double t1, const double *y, const double *p, costate_report *);
int solver_check_hessian(costate *, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                         void *ctx, costate_report *);
int solver_check_run(costate *, double t0, double t1, const double *y, const double *p, costate_review *);
int solver_check_matrix(costate *, double t, double h, const double *y, const double *p, costate_report *);

#endif
