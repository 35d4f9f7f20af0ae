/* residual.h - the accuracy of a solution x of A x = b, from its residual r = b - A x. */
#ifndef COSTATE_LINSOL_RESIDUAL_H
#define COSTATE_LINSOL_RESIDUAL_H

#include <float.h>
#include "maps/maps.h"

typedef struct {
    int iterations, longest;            /* of all cycles, of the longest */
    double residual;                    /* |w r| / |w b| */
    double error, norm;                 /* backward errors: worst component, weighted norm */
} gmres_result;

#define EXACT_KRYLOV 1e-13              /* a larger krylov_tol accepts more than round-off */
#define LEAST_BACKWARD_ERROR (32 * DBL_EPSILON)    /* a backward error that no correction would make smaller */
/* Components below this part of the largest one need not be more accurate than that.  Measured: 1 leaves gaps of 1e-11
   with extreme weights, 0 doubles the iterations. */
#define ITERATED 1e-2

int residual_weights(const maps *, int transpose, int len, double *w);          /* n values again and again */
void moduli(size_t n, const double *b, double *size);                           /* size <- |b| */
void moduli_of_terms(size_t n, const double *b, const double *r, double *size); /* on entry T x of A = T - J */
/* sets error and norm; size: |A||x| + |b|; slack: 0, or ITERATED */
int backward_error(const space *, size_t n, const double *w, const double *size, const double *r, double slack,
                   gmres_result *);
/* Is another cycle of GMRES useful after one that left the part `gained`, if the part `needed` is to be left? */
int another_cycle(double gained, double needed);
int at_round_off(double error);
double backward_stable(const maps *);                 /* a norm up to this is as good as the condition of A allows */
int solved(const maps *, const gmres_result *, double tol);        /* nearly to tol, or backward stable */

#endif
