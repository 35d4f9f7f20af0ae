/* calls.h - the public calls of a solver as they are inside: calls.c sees to it that one solver is in one of them. */
#ifndef COSTATE_RUN_CALLS_H
#define COSTATE_RUN_CALLS_H

#include <costate/costate.h>

int solver_integrate(costate *c, double t0, double t1, double *y, const double *p, costate_tape *tape);
int solver_integrate_tlm(costate *c, double t0, double t1, double *y, const double *p, int m, double *V,
                         const double *Vp, const costate_times *times, costate_tape *tape);
int solver_continue(costate *c, costate_tape *tape, double t1, double *y);
int solver_tangent(costate *c, const costate_tape *tape, int m, double *V, const double *Vp, const costate_times *times,
                   const costate_observations *o);
int solver_adjoint(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                   const costate_observations *o);
int solver_integrate_adj(costate *c, double t0, double t1, double *y, const double *p, int m, double *lambda,
                         double *mu, const costate_times *times, costate_seed seed, void *ctx);
int solver_hessian(costate *c, const costate_tape *tape, const costate_second *s);
int solver_gauss_newton(costate *c, const costate_tape *tape, const costate_second *s);
int solver_replay(costate *c, const costate_tape *tape, double *y, const double *p);
int solver_replay_onto(costate *c, const costate_tape *tape, double *y, const double *p, costate_tape *onto);
int solver_tape_read(costate *c, costate_tape *tape);
int solver_resume(costate *c, costate_tape *tape, double *y);
int solver_tape_eval(costate *c, const costate_tape *tape, double t, double *y);
int solver_consistent(costate *c, double t, double *y, double *yp, const double *p);
int solver_check_adjoint(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r);
int solver_check_matrix(costate *, double t, double h, const double *y, const double *p, costate_report *);
int solver_check_hessian(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                         void *ctx, costate_report *r);

#endif
