/* sliding.h - the right-hand side and the running costs of a solution that slides along the guard of a relation. */
#ifndef COSTATE_MAPS_SLIDING_H
#define COSTATE_MAPS_SLIDING_H

#include "maps/maps.h"

/* the ctx of callbacks; of a guard: rows is the relation */
typedef struct sliding_map { sliding *s; const costate_map *map; int rows; } sliding_map;

sliding *sliding_new(const maps *);                     /* NULL: no memory */
void sliding_free(sliding *);
/* What stands for the right-hand side, or the running costs, and the ctx of its callbacks.  Products are those that the
   user's maps and guards allow. */
costate_map sliding_of(sliding *, int of_cost);
const costate_map *sliding_rhs(const sliding *);        /* the user's */
void *sliding_ctx(sliding *, int of_cost);
/* the guard a (1 - a) of the end of sliding along relation k */
sliding_map *sliding_exit(sliding *, int k);
int exit_value(sliding_map *, const costate_point *x, double *out);
int exit_tangent(sliding_map *, const costate_point *x, const costate_point *d, double *out);
int exit_adjoint(sliding_map *, const costate_point *x, double w, const costate_gradient *g);
int exit_tangent2(sliding_map *, const costate_point *x, const costate_point *d, const costate_point *e, double *out);
int exit_adjoint_tangent(sliding_map *, const costate_point *x, const costate_point *d, double w,
                         const costate_gradient *g);
/* the relation among these values along which the solution slides; -1: none */
int relation_slides(int count, const int *values);
/* the time derivatives of guard k with f of the values below and above its zero */
int sliding_slopes(sliding *, const costate_point *x, int k, double *below, double *above);

#endif
