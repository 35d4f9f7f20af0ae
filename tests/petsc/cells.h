/* cells.h - a problem on a line of cells that are spread over processes, whatever carries values between these.

   u_i' = p1 (u_{i-1} - 2 u_i + u_{i+1}) + wind (u_{i-1} - u_i) + p0 u_i - u_i^3 + sin t,  u = 0 beyond both ends;
   q' = sum u_i^2, of which each process has its share. */
#ifndef TESTS_CELLS_H
#define TESTS_CELLS_H

#include <costate/costate.h>

enum { CELLS = 40, RANKS_MOST = 4, NP = 2, NQ = 1 };

/* The cells of one process.  The first member of what a process has, which is the ctx of the problem. */
typedef struct cells {
    int from, n;                        /* from, from + 1 .. */
    double wind;
    /* out_i += a (v_{i-1} - 2 v_i + v_{i+1}) + b (v_{i-1} - v_i), and its transpose; 0, or -1 */
    int (*stencil)(struct cells *, double a, double b, const double *v, double *out);
    int (*stencil_back)(struct cells *, double a, double b, const double *w, double *out);
} cells;

int cells_value(const costate_point *, double *f, void *ctx);
int cells_tangent(const costate_point *, const costate_point *dx, double *out, void *ctx);
int cells_adjoint(const costate_point *, const double *w, const costate_gradient *, void *ctx);
costate_problem cells_problem(cells *);

#endif
