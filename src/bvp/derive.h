/* derive.h - derivatives of the solution of G(z, theta) = 0 on its mesh: what tangents, adjoints and Hessian products
   share (mathematics, eq. 12.6 to 12.8).

       tangent   W z' = -G_theta theta'
       adjoint   W^T nu = Psi_z^T,   dPsi/dtheta = Psi_theta - nu^T G_theta
       second    the tangent of the adjoint: W^T nu' = [Psi_z^T]' - [W^T]' nu

   W = G_z is factored once, at the solution.  theta: p, the ends (a, breaks, b), points' times, c. */
#ifndef COSTATE_BVP_DERIVE_H
#define COSTATE_BVP_DERIVE_H

#include "bvp/bvp.h"

/* theta: p, the ends (a, breaks, b), points' times, c.  A member that is NULL does not move, or its gradient is not
   wanted. */
typedef struct { const double *p, *ends, *times, *c; } theta_directions;
typedef struct { double *p, *ends, *times, *c; } theta_gradients;       /* where gradients are added */

typedef struct {                    /* at which derivatives are asked for */
    int count;
    const double *t;                /* count */
    mesh_point *at;                      /* count: where they are */
    int *first, *next;              /* those of interval i: first[i], next[..], -1: no more */
} point_list;

typedef struct {                    /* a call; m columns */
    bvp *b;
    const solution *x;              /* b->now */
    int m, nends;
    size_t all;                     /* unknowns */
    point_list points;
    theta_directions along;         /* of tangents, second */
    theta_gradients into;           /* of adjoints */
    double *z;                      /* all*m */
    double *V;                      /* N*count of points by m: tangents of the points, out */
    double *dt, *dh;                /* m each: tangents of t and h of the interval; in adjoints their gradients */
    double *tb;                     /* m: gradients of a product with respect to t */
    costate_point *dx;              /* m */
    costate_gradient *to;           /* m */
    double *y, *k, *w, *K;          /* n*m each */
    double *out;                    /* larger of n, nq, by m */
    double *rates, *slopes;         /* s*nq: r at the stages; s*nq*m: its tangents */
    double *omega, *tail;           /* nq*m each: weights of r; of q beyond the interval */
    double *qd;                     /* nq*m: q' at the start of the interval */
    double *block;
} derivation;

enum { BY_TANGENT = 1, BY_ADJOINT = 2, BY_SECOND = 4 };
/* Checks and lays out work space; which: the modes it is for.  Factors W unless that was done already. */
int derivation_begin(bvp *, derivation *, int which);
void derivation_end(derivation *);
int directions_finite(bvp *, int m, int points, const theta_directions *);
static inline double *column(const derivation *d, double *z, int j) { return z + (size_t)j * d->all; }
/* the place of point k, column j, in arrays of all points by columns */
static inline size_t point_row(const derivation *d, int k, int j)
{
    return (size_t)j * (size_t)d->points.count + (size_t)k;
}

/* the motion of interval i: dt, dh */
void derivation_motion(derivation *, int i);
double derivation_theta(const derivation *, int k, int j);      /* theta' of point k, inside an interval, along j */
/* dx of stage j of interval i along all columns of z; y, k: its parts */
costate_point derivation_stage(derivation *, int i, int j);
/* adds the gradient y (n) with respect to Y_j of interval i to y_i and X of z */
void derivation_to_unknowns(const bvp *, int i, int j, const double *y, double *z);
/* passes dt, dh, the gradients with respect to t and h of the interval, on to the ends */
void derivation_to_ends(const derivation *, int i, const double *dt, const double *dh);

int tangents(derivation *);         /* z: of y and the stages on the mesh */
int tangents_at_points(derivation *);                           /* V */
int adjoints(derivation *, const double *lambda);               /* z: multipliers; gradients */
int sums_finite(bvp *, int m, const double *mu, const char *name);
void gradients_begin(const bvp *, int m, int points, const theta_gradients *);  /* zeros, but p is added to */
int gradients_finite(bvp *, int m, int points, const theta_gradients *);        /* or RETRY */
int adjoint_gradients(derivation *);                            /* of -h nu . E and -alpha . g, nu and alpha in z */

#endif
