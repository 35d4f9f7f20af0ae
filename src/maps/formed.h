/* formed.h - Jacobians formed from products or differences: what jacobian.c asks formed.c for. */
#ifndef COSTATE_MAPS_FORMED_H
#define COSTATE_MAPS_FORMED_H

#include "maps/maps.h"

/* Where J or M is formed, and by what: E_y v, or of a residual also E_k v. */
typedef struct {
    maps *a;
    costate_point x;
    const double *w, *f;                /* n: weights; E there, where differences need it */
    int exact, slope;                   /* by products; M */
    double rate;                        /* of the point, for slopes */
    double *step, *next;                /* n each: increments, and those that come next */
} forming;

/* the fastest component, in units of itself or its tolerance; 1 for a point at rest */
double formed_rate(const forming *);
/* J or M, by the first increments */
int form_columns(const forming *, double *A);
/* a->terms: what the rows of E are sums of; M NULL but of a residual */
void formed_terms(const forming *, const double *J, const double *M);
/* Columns that do not stand above the round-off of these terms once more, by larger increments.  other: M beside J, J
   beside M, by which an unknown may be seen; NULL: the identity, by which it is */
int correct_columns(const forming *, double *A, const double *other);
/* of column j: an increment that shows what it does to E, and nothing that is not linear */
double formed_size(const forming *, const double *A, int j);
/* The product, or the difference along v: counted as a product made for J, not as the call that it is. */
int formed_along(void *forming, const double *v, double *out);

#endif
