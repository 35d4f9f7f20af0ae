/* differences.h - missing products of maps by central differences of the next lower derivative; codes of callbacks. */
#ifndef COSTATE_MAPS_DIFFERENCES_H
#define COSTATE_MAPS_DIFFERENCES_H

#include "maps/maps.h"

enum { DIFFERENCE_LEVELS = 4 };         /* a difference of third order may be one of values */

int map_missing(maps *, const map *, const char *name, const char *way);        /* maps.c: COSTATE_MISSING, said */

/* products of a map, as in struct map */
int difference_tangent(maps *, const map *, const costate_point *x, const costate_point *dx, double *out);
int difference_adjoint(maps *, const map *, const costate_point *x, const double *w, const costate_gradient *g);
int difference_tangent2(maps *, const map *, const costate_point *x, const costate_point *dx1,
                        const costate_point *dx2, double *out);
int difference_adjoint_tangent(maps *, const map *, const costate_point *x, const costate_point *dx, const double *w,
                               const costate_gradient *g);
int difference_adjoint_tangent2(maps *, const map *, const costate_point *x, const costate_point *dx1,
                                const costate_point *dx2, const double *w, const costate_gradient *g);

#endif
