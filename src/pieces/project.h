/* project.h - a projection at a point, and what its products need (mathematics, section 10.8). */
#ifndef COSTATE_PIECES_PROJECT_H
#define COSTATE_PIECES_PROJECT_H

#include <stdatomic.h>
#include "pieces/pieces.h"

enum { K = COSTATE_INVARIANTS_MOST };

/* z = y + W G^T mu with g(t, z, p) = c; G = g_y at y, A = g_y(z) W G^T by columns, factored */
typedef struct work {
    struct work *next;                  /* of those that no call uses */
    costate_point at, at_z;             /* x without memory; the same with z */
    double mu[K], A[K * K], diagonal[K];
    int pivot[K];
    double unit[K];                     /* round-off of g */
    double *z, *dz;                     /* n; and its tangent */
    double *v, *u, *e;                  /* n, work */
} work;

struct costate_projection {
    costate_invariants g;
    int n, np, nm;
    void *ctx;                          /* of g */
    atomic_flag guard;                  /* of the list, held for a few instructions */
    work *idle;
};

/* Work space of a call: from the list, or new; NULL: no memory. */
work *work_take(costate_projection *);
void work_give(costate_projection *, work *);
void work_free(work *);

/* g does not see memory variables */
static inline costate_point alone(const costate_point *x)
{
    costate_point at = *x;
    at.m = NULL;
    return at;
}

/* project.c: with `keep`, g at the start into memory; ctx: the projection.  A new one, if g is sound (judge); NULL: why
   not is in v */
costate_map invariants_start(const costate_invariants *);
costate_projection *projection_new(verdict *, const costate_invariants *, const costate_problem *,
                                   int (*judge)(verdict *, const costate_invariants *, const costate_problem *));
/* projection.c.  with_matrix: A is made, too.  0; > 0: x cannot be projected; < 0: a callback failed */
int project(const costate_projection *, const costate_point *x, int with_matrix, work *);
/* g'(at) dx; g += g'(at)^T w; v <- W G^T a */
int project_push(const costate_projection *, const costate_point *at, const costate_point *dx, double *out);
int project_pull(const costate_projection *, const costate_point *at, const double *w, const costate_gradient *);
int project_along(const costate_projection *, const work *, const double *a, double *v);
/* x <- A^-1 x, A^-T x */
void project_solve(const costate_projection *, const work *, int transpose, double *x);
/* out <- W x, may be x */
void project_move(const costate_projection *, const double *x, double *out);

#endif
