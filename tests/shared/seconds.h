/* seconds.h - problems with all derivatives to the third, and references of gradients and Hessian products. */
#ifndef TESTS_SECONDS_H
#define TESTS_SECONDS_H

#include <costate/costate.h>
#include "graph.h"

enum { SECONDS_U = 96, SECONDS_M = 5 };              /* most unknowns (and N), most directions */

/* What is differentiated are functionals of `unknowns` u: parameters and states at t0 are start(u), the functional is
   end(y(t1), p) and the integral of cost, where there are such.  H u for `directions` directions u. */
typedef struct {
    const char *name;
    int unknowns, directions;
    double t0, t1;
    double u[SECONDS_U], along[SECONDS_U * SECONDS_M];
    const int *block;                                /* ends of blocks of unknowns, each of one scale; the last is
                                                        `unknowns` */
    double value;
    const double *gradient, *products;               /* unknowns; by directions */
    graph rhs, cost, start, end;                     /* start: p, then y; end: no rows where there is none */
    costate_event corners;                           /* of the control: a step ends at each */
    double corner[16];
    costate_pattern *pattern;
    costate_problem P;
} second;

enum { SECONDS = 7 };
/* a problem of one's own: graphs begun, rows to be written; callbacks, ctx set */
void second_declare(second *, const char *name, int n, int np, int nq, double t1, int unknowns, int directions);
second *second_new(int k);                           /* NULL: no memory */
void second_free(second *);                          /* takes NULL */

/* (y, q)(t0), p, and along the directions of the unknowns; V, Vp NULL: not wanted */
void second_start(const second *, double *y, double *p, double *V, double *Vp);
double second_value(const second *, const double *y, const double *p);       /* of y, q at t1 */
/* costate_seed2; ctx: the second */
int second_seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx);
/* From lambda, mu and their derivatives: gradient and products by the unknowns; products NULL: not wanted */
void second_unknowns(const second *, const double *lambda, const double *mu, const double *lambda2, const double *mu2,
                     double *gradient, double *products);

#endif
