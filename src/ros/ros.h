/* ros.h - what the three steps of Rosenbrock methods share. */
#ifndef COSTATE_ROS_H
#define COSTATE_ROS_H

#include <math.h>
#include "base/vec.h"
#include "step/columns.h"

typedef struct {                /* confirm.c: at the end of a step */
    linearisation lin;          /* J' of the next one */
    factors *fac;               /* E' */
    double *w;                  /* N: weights */
    double *raw, *change;       /* N: E est / sigma; J' est / sigma - J est / sigma */
} ros_after;

typedef struct {
    double *Y, *v1, *v2;        /* n each */
    double *r, *rq;             /* nq each */
    double *ft, unit;           /* f_t of the step times unit = 2^ilogb(h), because f_t itself may overflow */
    double *error_b;            /* s: bhat - b, weights of the integrals' error estimate */
    int filtered;               /* the error estimate is, where M is singular */
    unsigned char extends[STAGES_MOST + 1];     /* Y_i = Y_i-1 + U_i-1; the last: y+ = Y_s + U_s */
    guesses step, sweep;        /* without a matrix: of the stages of one step; of the systems of a sweep */
    ros_after after;
    column_work columns;        /* y: Y'_i */
    int transposed;             /* transposed.c: seen in this sweep */
    double *sum;                /* n*m: adjoint of (t, y, p) at the start of the step */
    double *Yb;                 /* s*m*n: adjoints of the stage points */
    double *Mu, *by_t;          /* of jets: n: M^T u_i; m: [f_t^T u_i]' along x_0 */
} ros_work;

static inline ros_work *work(const stepper *c) { return c->own; }

/* x/h^2, also where h^2 is no number */
static inline double ros_over_square(double h, double x)
{
    double unit = ldexp(1, ilogb(h)), units = h / unit;
    return x / (units * units) / unit / unit;
}

/* Is the matrix the user's, held in derivatives?  Then nothing depends on f_y, f_t, r_y, r_t at the start of the
   step. */
static inline int ros_holds(const stepper *c) { return c->sh->held; }

void ros_guard_layout(stepper *, cursor *);
void ros_guard_ready(stepper *);
int ros_watched(stepper *, double t, const double *y, const double *v, double *out);
/* before a step of a run; RETRY with a shorter h; *measured <- whether it has measured anything */
int ros_guard(stepper *, const record *, trial *, int *measured);
int ros_looks(const stepper *);                     /* smooth.c: can it be measured how exact the user's matrix is? */
int ros_smooth(stepper *, const record *, int transpose, int times, double *v, smoothness out[2]);
/* after the stages of a step of a run, which the guard has measured or not */
int ros_smooth_step(stepper *, const record *, const double *y1, int measured);
void ros_smooth_remark(const stepper *, char *text, size_t room);
int ros_transposed(stepper *, const record *, const factors *);     /* before the first adjoint of a sweep */
double ros_keeps(const stepper *, const record *, double *z);
int ros_longest(stepper *, const record *, trial *, double *h);
static inline const char *ros_matrix_name(const stepper *c) { return c->sh->fixed ? "preconditioner" : "matrix W"; }
static inline const char *ros_inverse_name(const stepper *c) { return c->sh->fixed ? "P^-1" : "(sigma M - W)^-1"; }
void ros_guard_remark(const stepper *, int failed, char *text, size_t room);

static inline int ros_confirms(const stepper *c) { return !c->sh->matfree && !c->sh->held; }
void ros_confirm_layout(stepper *, cursor *);
void ros_confirm_clear(stepper *);                  /* what is known of the next step counts no more */
int ros_confirm(stepper *, const record *, const trial *, const next_step *, double norm, double *again);
void ros_confirm_made(stepper *, const record *);   /* takes J and E of this step from there, where they are */
int ros_forward(stepper *, record *, trial *);
int ros_tangent(stepper *, const record *, const directions *);
int ros_adjoint(stepper *, const record *, const functionals *);
int ros_estimate(stepper *, const record *, const directions *, int j, double *err);
int ros_matrices(stepper *, const record *, const factors **);  /* E = M/(h gamma) - f_y(t, y), factored */
int ros_time_slope(stepper *, const record *);                  /* unit, ft <- unit f_t(t, y) */
/* out += (1/h) M sum_{from <= j < to} C_ij X_j (transposed: (1/h) M^T sum C_ji X_j) */
void ros_coupling(stepper *, double h, int transpose, int i, int from, int to, const double *X, size_t stride,
                  double *out);
/* -h^2 times the derivative of the right-hand side by h: h K_i = U_i/gamma - sum_{j<i} c_ij U_j, U_j = X + j stride;
   where the matrix is held, without U_i/gamma */
void ros_slope(const stepper *, int i, const double *X, size_t stride, double *out);
const double *ros_stage(const stepper *, const record *, int i, double *out);   /* Y_i = y + sum a_ij U_j */
int ros_iterate(stepper *, const factors *, int transpose, int m, const accuracy *, double *X);   /* to krylov_tol */
static inline int ros_solve(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *X)
{
    return c->sh->matfree ? ros_iterate(c, f, transpose, m, to, X) : factors_solve(c->sh, f, 0, transpose, m, to, X);
}
/* x_0, e'_i along direction j; x_i along all, in work(c)->columns */
costate_point ros_start_direction(const stepper *, const directions *, int j);
static inline costate_point ros_matrix_direction(const stepper *c, const directions *d, int i, int j)
{
    return (costate_point){.t = d->dh[j] * c->m->gi[i], .y = d->Xd + (size_t)(i * d->m + j) * (size_t)c->n};
}
const costate_point *ros_stage_directions(const stepper *, const directions *, int i);

#endif
