/* nums.h - what a map's callbacks return, from one formula over num of t, y, y', p, m and the mode. */
#ifndef PROBLEMS_NUMS_H
#define PROBLEMS_NUMS_H

#include <costate/costate.h>
#include "num.h"

/* largest n (and rows), np, nm; states of both sides of an event's transition */
enum { NUMS_N = 6, NUMS_P = 8, NUMS_M = 2, NUMS_BOTH = 8 };

typedef struct { num t, y[NUMS_BOTH], yp[NUMS_BOTH], p[NUMS_P], m[NUMS_M]; int mode; } num_point;

typedef struct {
    int n, np, nm, rows;
    void (*f)(const void *of, const num_point *, num *out);
    const void *of;
} num_map;

void num_value(const num_map *, const costate_point *x, double *out);
/* along dx; with another direction the second derivative along both */
void num_tangent(const num_map *, const costate_point *x, const costate_point *dx, const costate_point *other,
                 double *out);
/* g += F'(x)^T w, or (F''(x)[other, .])^T w; and (F'''(x)[a, b, .])^T w */
void num_adjoint(const num_map *, const costate_point *x, const costate_point *other, const double *w,
                 const costate_gradient *g);
void num_adjoint2(const num_map *, const costate_point *x, const costate_point *a, const costate_point *b,
                  const double *w, const costate_gradient *g);

#endif
