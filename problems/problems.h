/* problems.h - the test problems: every derivative exact, reference values where they are known. */
#ifndef PROBLEMS_PROBLEMS_H
#define PROBLEMS_PROBLEMS_H

#include <costate/costate.h>
#include "num.h"

enum problem_mass { MASS_IDENTITY, MASS_REGULAR, MASS_SINGULAR };

/* At t1: state, integral of the cost, and the gradients of y[kout] and of the integral. */
typedef struct {
    const double *y;                     /* n */
    double G;
    int kout;
    const double *dyk_dy0, *dyk_dp;      /* n, np */
    const double *dG_dy0, *dG_dp;
} problem_reference;

/* Closed form: (y, q)(t) of the run from y0, q = 0 at t0. */
typedef void problem_solution(num t0, const num *y0, num t, const num *p, num *yq);

typedef struct {
    const char *name;
    double t0, t1;
    const double *y0, *p0;               /* n, np (NULL when np = 0) */
    costate_problem P;
    int autonomous, stiff, mass;         /* mass: enum problem_mass */
    const problem_reference *reference;  /* NULL: none */
    problem_solution *solution;          /* NULL: none */
} problem;

/* The table: oracle problems, closed forms, stiff van der Pol.  k from 0; NULL past the end. */
const problem *problem_at(int k);
const problem *problem_find(const char *name);       /* NULL: no such name */

/* The family for transpose tests: n = 3, nonlinear, mildly stiff, t from 0.3 to 1.3, consistent y0.
   mass: enum problem_mass; np, nq: 0 or 2; sparse: 1 with the pattern of f_y and M.  NULL: out of range. */
const problem *problem_synthetic(int mass, int autonomous, int np, int nq, int sparse);
enum { PROBLEM_SYNTHETICS = 48 };
const problem *problem_synthetic_at(int k);          /* all of them in turn; NULL past the end */

/* Closed form of problem b at t, from y0 at t0: yq (N), and its derivatives dy0 (N by n, by columns), dp (N by np),
   dt0 (N), dt (N), each NULL when not wanted.  A DAE uses the components of M y0 alone.  0: it has no closed form. */
int problem_exact(const problem *b, double t0, const double *y0, const double *p, double t,
                  double *yq, double *dy0, double *dp, double *dt0, double *dt);

/* Method of lines, allocated; NULL: no memory or size out of range.  problem_free takes NULL. */
problem *problem_brusselator(int points);            /* n = 2 points, bands of 2; 2 <= points <= 256 */
problem *problem_heat(int interior);                 /* n = (interior + 2)^2 */
/* The same as a residual, with the values on the boundary as parameters 2 + problem_heat_boundary(b, i); that is -1 for
   an interior point i.  with_jacobians: jac and jac_yp are given. */
problem *problem_heat_dae(int interior, int with_jacobians);
int problem_heat_boundary(const problem *, int i);
void problem_free(problem *);

/* The heat problem with 40 interior points a side: g1 = sum of y(t1)^2, g2 = integral of the sum of y. */
typedef struct { int j, k; double dg1, dg2; } heat_sample;    /* derivatives by y0[k*42 + j] */
typedef struct {
    double g1, g2, dg1_dp[2], dg2_dp[2];
    double norm_dg1, norm_dg2, sum_dg1, sum_dg2;              /* of the gradients by y0: 2-norms and sums */
    int count;
    const heat_sample *sample;
} heat_reference;
const heat_reference *problem_heat_reference(void);

#endif
