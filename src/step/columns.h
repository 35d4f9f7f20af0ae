/* columns.h - the columns of a step as blocks: the directions and gradients of all of them for one product. */
#ifndef COSTATE_COLUMNS_H
#define COSTATE_COLUMNS_H

#include "step/step.h"

typedef struct {
    costate_point *dx;          /* m: directions */
    costate_gradient *to;       /* m: where adjoints add */
    double *t;                  /* m: their parts of t */
    double *y;                  /* n*m: a family's y-parts of directions, or weights */
    double *rates;              /* nq*m: integrals: rates along directions, or weights */
    double *theta;              /* nq: weights of the one functional of second */
} column_work;

void columns_layout(stepper *, cursor *, int m, column_work *);

/* the work of the columns behind the first ones, so that one product serves both */
static inline column_work columns_behind(const column_work *w, int first, int nq)
{
    column_work tail = *w;
    tail.to += first;
    tail.t += first;
    tail.rates += first * nq;
    return tail;
}

/* What follows is inline for systems of a few states. */

/* (dt_j + ci dh_j, y, pm'_j) */
static inline costate_point direction(const stepper *c, const directions *d, int j, double ci, const double *y)
{
    return along_pm(c->maps, d->dt[j] + ci * d->dh[j], y, d->Vp, (size_t)j);
}

/* the directions of all columns, y_j = y + j stride */
static inline const costate_point *columns_along(const stepper *c, const column_work *w, const directions *d, double ci,
                                                 const double *y, size_t stride)
{
    for (int j = 0; j < d->m; j++) w->dx[j] = direction(c, d, j, ci, y + (size_t)j * stride);
    return w->dx;
}

/* into y_j (NULL: not wanted), the columns of mu, and t, which is zero until columns_times adds it: t_j to t, c_i t_j
   to h */
static inline const costate_gradient *columns_to(const stepper *c, const column_work *w, const functionals *g,
                                                 double *y, size_t stride)
{
    for (int j = 0; j < g->m; j++) {
        w->t[j] = 0;
        double *to = y ? y + (size_t)j * stride : NULL;
        w->to[j] = into_pm(c->maps, g->times ? &w->t[j] : NULL, to, g->mu, (size_t)j);
    }
    return w->to;
}

static inline void columns_times(const column_work *w, const functionals *g, double ci)
{
    for (int j = 0; g->times && j < g->m; j++) {
        g->t[j] += w->t[j];
        g->h[j] += ci * w->t[j];
    }
}

/* q'_j += h b r'(x) dx_j + h'_j b r(x), in V1; value: nq, work */
int columns_integrate(stepper *, const column_work *, const record *, const directions *, double b,
                      const costate_point *x, const costate_point *dx, double *value);
/* h b theta, theta_j the integrals' part of lambda_j */
const double *columns_theta(const stepper *, const column_work *, const record *, const functionals *, double b);
/* h_j += b r^T theta_j */
void columns_rate(const stepper *, const functionals *, double b, const double *r);
/* What is still to be added to the derivatives of h b r'(x)^T theta and b r^T theta along dx, where those by theta' are
   there:  [h b r'(x)^T theta]' + h'_j b r'(x)^T theta  to `to`,  b (r'(x) dx_j)^T theta  to h_j */
int columns_curve_rates(stepper *, const column_work *, const record *, const directions *, const functionals *g,
                        const functionals *gd, double b, const costate_point *x, const costate_point *dx,
                        const costate_gradient *to);

#endif
