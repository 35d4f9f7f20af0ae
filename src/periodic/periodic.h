/* periodic.h - shared by the files for periodic orbits: the map of one period, its linearisation, the orbit.

   The unknowns are y0 and, unless it is given, T; the equations (mathematics, eq. 16.1)

       Phi(y0, T, p) + W eta = y0,   c^T (y0 - y_ref) = 0,   W^T (y0 - y_given) = 0

   with W the invariants and eta = 0 unknowns that make the system square.  The last two hold for the guess, and each
   correction keeps them.  All are scaled: y_i by its size s_i on the orbit, T by T, so that the bordered matrix has no
   units. */
#ifndef COSTATE_PERIODIC_ROOM_H
#define COSTATE_PERIODIC_ROOM_H

#include <costate/periodic.h>
#include "base/entry.h"
#include "linsol/ls.h"
#include "solver/solver.h"

typedef struct {                /* y0 and T, and the run over one period from there */
    double *y, *end;            /* n, N: at its start and its end */
    double T;
    costate_tape *tape;
} period;

typedef struct {                /* derivatives of the run at the orbit, or at an iterate */
    double *V;                  /* N by n + 1: with respect to y0, and to T */
    double *size;               /* n: the size of each component along the run, at least what its tolerance resolves */
    double *c;                  /* n: the phase condition, in scaled variables, of length 1 */
    double *B;                  /* d*d: minus the bordered matrix */
    LS *factors;
    double gain;                /* the largest row sum of the moduli of its inverse */
} linear;

typedef struct costate_periodic periodic;
struct costate_periodic {
    call_entry entry;
    verdict v;
    costate_problem P;
    costate_options run;
    costate_periodic_options o;
    costate_stats count;        /* of the bordered matrix */
    costate *c;
    int n, np, nq, N, d;        /* N = n + nq; d: unknowns of the bordered system */
    int free_T;                 /* 1: T is an unknown */
    double rtol;
    period now, next;           /* the iterate; one that is tried */
    linear at;
    double *W;                  /* n by ninvariants: scaled, with columns of length 1 */
    double *p;                  /* np */
    double *dx, *x;             /* d each: a correction; work */
    double *re, *im, *A;        /* n, n, n*n: multipliers, work */
    void *block;                /* NULL: costate_periodic_new failed */
    int found;                  /* there is an orbit: now, at */
    costate_orbit orbit;
};

/* ---- solver.c ---- */
int periodic_begin(periodic *);
void periodic_free(periodic *);
int periodic_needs_orbit(periodic *);
int run_failed(periodic *, int status, const char *what);       /* with the sentence of the run; returns status */

/* ---- period.c: the map of one period ---- */
int period_run(periodic *, period *);                           /* with new steps, from x->y over x->T */
int period_follow(periodic *, period *, double T);                /* x->y <- the state after T, a period or less */
int period_again(periodic *, const period *of, period *);       /* with the steps of another one */
int period_linearise(periodic *);                               /* at `now`: V, size, c, B and its factors, gain */
void period_residual(const periodic *, const period *, double *out);    /* d: the scaled equations */
int period_solve(periodic *, int transpose, int m, double *X);  /* d by m, scaled: with the bordered matrix */
double period_extent(const periodic *, const period *);         /* how far the run goes from its start, in sizes */

/* ---- newton.c, multipliers.c, derive.c: the calls behind the gate ---- */
int call_periodic_solve(periodic *, double *y, double *T, const double *p);
int multipliers_judge(periodic *);                              /* sets those of the orbit */
int call_periodic_multipliers(periodic *, double *re, double *im);
int call_periodic_multiplier_gradient(periodic *, int k, double *re, double *im);
int call_periodic_tangent(periodic *, int m, const double *Vp, double *V);
int call_periodic_adjoint(periodic *, int m, const double *lambda, double *mu);
int call_periodic_hessian(periodic *, int m, const double *Vp, costate_periodic_seed seed, void *ctx, double *mu,
                          double *mu2);
/* w (N by m), the seeds of backward sweeps, for functionals of X whose gradients are lambda: see derive.c */
int periodic_multipliers_of(periodic *, int m, const double *lambda, double *w);
int periodic_sweep_back(periodic *, int m, double *w, double *mu);      /* w is overwritten */

#endif
