/* second.h - the work space of a Hessian product of a boundary value problem. */
#ifndef COSTATE_BVP_SECOND_H
#define COSTATE_BVP_SECOND_H

#include "bvp/derive.h"

typedef struct {
    derivation *d;                  /* the directions: m columns; z: their tangents */
    double *nu;                     /* all */
    double *rho;                    /* all*m: right sides, then nu' */
    double *X;                      /* N*points: (y, q) there */
    double *lambda, *lambda2;       /* N*points, by m */
    theta_gradients into;           /* where results are added */
    double *omega, *omega2;         /* nq, nq*m: of a stage */
    double *tail, *tail2;           /* nq, nq*m */
    double *dt, *dh;                /* m: gradients' tangents by t and h of the interval */
    double *y, *k, *w, *phi;        /* n each */
    double *block;
} products;

/* [Psi_z^T]' - [W^T]' nu into rho, and the parts of the results that do not depend on nu' */
int second_sides(products *);

#endif
