/* columns.h - the m columns of a step as one block: directions and gradients of all columns for one call of a product.
   */
#ifndef COSTATE_COLUMNS_H
#define COSTATE_COLUMNS_H

#include "step/step.h"

typedef struct {
    costate_point *dx;          /* m: directions */
    costate_gradient *to;       /* m: gradients that adjoint products add to */
    double *t;                  /* m: gradients with respect to t */
    double *y;                  /* n*m: y-components of directions, or adjoint weights */
    double *rates;              /* nq*m: derivatives of the integrands, or their adjoint weights */
} column_work;

void columns_layout(stepper *, cursor *, int m, column_work *);

/* Inline because of their cost in systems of a few states. */

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

/* gradients into y_j (NULL: not requested), the columns of mu, and t, which starts at zero; columns_times adds t_j to t
   and c_i t_j to h */
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
/* in a jet: adds [f'(x)^T w]' along dx_j, for fixed w, to the columns of derivatives */
int columns_curve(stepper *, const map *f, const functionals *, const costate_point *x, const costate_point *dx,
                  const double *w, const costate_gradient *to);
/* adds f'(x)^T w_j to `to`_j; in a jet also the derivative of f'(x)^T w_0 along dx; w_j = w + j ld */
static inline int columns_adjoints(stepper *c, const map *f, const functionals *g, const costate_point *x,
                                   const costate_point *dx, const double *w, size_t ld, const costate_gradient *to)
{
    TRY(map_adjoints(c->maps, f, x, g->m, w, ld, to));
    return g->along ? columns_curve(c, f, g, x, dx, w, to) : 0;
}
/* h b theta_j, where theta_j is the part of lambda_j for the integrals; in derivatives
   (h b theta)' = h b theta_j + h'_j b theta_0 */
const double *columns_theta(const stepper *, const column_work *, const record *, const functionals *, double b);
/* h_j += b r^T theta_j */
void columns_rate(const stepper *, const functionals *, double b, const double *r);
/* adds b (r'(x) dx_j)^T theta_0 to h of the derivatives */
int columns_moving_rate(stepper *, const column_work *, const functionals *, double b, const costate_point *x,
                        const costate_point *dx);
/* h b r'(x)^T theta to `to`, b r(x)^T theta to h, and their derivatives along dx; value: nq, work */
int columns_integrate_back(stepper *, const column_work *, const record *, const functionals *, double b,
                           const costate_point *x, const costate_point *dx, const costate_gradient *to, double *value);

#endif
