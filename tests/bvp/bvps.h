/* bvps.h - boundary value problems with every derivative: the oracles', one of a closed solution, random ones.

   Each is written once, as graphs of y' = f(t, y, p), q' = r, g(y(a), y(b), p), and given in one of three forms with
   the same solution:

   PLAIN     y' = f
   MASS      M y' = M f,                                 M_ii = 1 + (i mod 3)/2, M_i,i+1 = 0.4: not symmetric
   RESIDUAL  s_i (M (G(y') - G(f)))_i = 0,               G(x) = x + 0.3 x/(1 + x^2), s_i = 1 + 0.3 sin(y_i)

   so that F's second derivatives by y', too, are not zero at the solution. */
#ifndef TESTS_BVPS_H
#define TESTS_BVPS_H

#include <costate/bvp.h>
#include "graph.h"

enum bvps_form { BVPS_PLAIN, BVPS_MASS, BVPS_RESIDUAL, BVPS_FORMS };
enum { BVPS_N = 40, BVPS_NP = 16, BVPS_PIECES = 8 };    /* most n, np, pieces between breaks */

/* What is known of an oracle: at t the value of y_what, of r or of q, and its gradient by p; NULL: not known. */
enum { BVPS_COST = -1, BVPS_INTEGRAL = -2 };
typedef struct { double t; int what; double value; const double *gradient; } bvps_functional;

typedef struct {
    const char *name;
    double a, b, p[BVPS_NP];
    int nbreaks;
    double breaks[BVPS_PIECES];
    int functionals;
    const bvps_functional *functional;
    int form;
    graph rhs[BVPS_PIECES], cost[BVPS_PIECES];           /* by x->mode */
    graph conditions, solution;                          /* solution: of t, p: y, q + constants; no rows: unknown */
    costate_pattern pattern, border;
    int *room;                                           /* of the patterns */
    costate_problem P;
    costate_conditions C;
} bvps;

typedef struct { int form, jac, sparse; } bvps_kind;     /* jac, sparse: 1: with Jacobians, with patterns */

enum { BVPS_ORACLES = 6 };                               /* B1, B2, B3a (eps 0.1, 0.01), B3b, B3c (0.1) */
/* NULL: no memory.  p: their q.  B1: with breaks where its torque has corners. */
bvps *bvps_oracle(int k, bvps_kind);
bvps *bvps_find(const char *name, bvps_kind);            /* an oracle by its name */

/* n = 3, np = 3, nq = 1: y = s(t, p) at all p, b = a + length; v = y - s grows and decays at 2 rate and -1.5 rate. */
bvps *bvps_closed(double rate, double length, bvps_kind);
/* (y, q) of solution at t: N values, and where not NULL their derivatives by p (N by np) and by t (N) */
void bvps_exact(const bvps *, double t, double *Y, double *by_p, double *by_t);

typedef struct {
    unsigned seed;
    int n, np, pieces, backwards;      /* pieces: up to 3, f and r jump between; backwards: the same from b to a */
    bvps_kind kind;
} bvps_spec;
/* nq = 2: growing and decaying modes, conditions at both ends in one equation, not linear, all with p */
bvps *bvps_tangled(const bvps_spec *);

void bvps_free(bvps *);                                  /* takes NULL */

/* options with the problem's breaks */
costate_bvp_options bvps_options(const bvps *, double tol);
/* the value of y_what, r or q at a point X, mode 0; where not NULL lambda (N) += its gradient by X, mu (np) += that
   by p alone */
double bvps_value(const bvps *, int what, double t, const double *X, double *lambda, double *mu);

#endif
