/* method.h - descriptors (descriptor.h) inside the library: members, polynomials of the dense output, the table. */
#ifndef COSTATE_METHOD_H
#define COSTATE_METHOD_H

#include "step/descriptor.h"

/* members: the method itself, or those of a composite one */
static inline int method_members(const costate_method *m) { return m->of ? m->of->count : 1; }
static inline const costate_method *method_member(const costate_method *m, int k)
{
    return m->of ? m->of->member[k].method : m;
}

/* A polynomial of the dense output, sum_{k=1..degree} a_k theta^k, and its first two derivatives.  Inline: weights of
   predictions are 2 % of van der Pol with sdirk4a. */
static inline double dense_value(int degree, const double *a, double theta)
{
    double v = 0;
    for (int k = degree; k > 0; k--) v = (v + a[k - 1]) * theta;
    return v;
}
static inline double dense_slope(int degree, const double *a, double theta)
{
    double v = 0;
    for (int k = degree; k > 0; k--) v = v * theta + k * a[k - 1];
    return v;
}
static inline double dense_second(int degree, const double *a, double theta)
{
    double v = 0;
    for (int k = degree; k > 1; k--) v = v * theta + k * (k - 1) * a[k - 1];
    return v;
}

/* In the order of enum costate_family, in a family by name; ends with NULL. */
extern const costate_method *const costate_method_table[];
extern const char *const method_layout;        /* of the descriptors in the table: method_object.layout */

#endif
