/* dense.c - the state inside a step: u(theta) = y + sum_j D_j(theta) X_j, theta = (t - t_n)/h (erk: h X_j)
   (mathematics, eq. 9.1). */
#include "base/vec.h"
#include "step/step.h"

void dense_weights(const costate_method *m, double theta, double *D, double *D1)
{
    const method_dense *u = &m->dense;
    for (int j = 0; j < m->s; j++) {
        const double *a = u->D + (size_t)j * (size_t)u->degree;
        D[j] = dense_value(u->degree, a, theta);
        if (D1) D1[j] = dense_slope(u->degree, a, theta);
    }
}

void dense_curvature(const costate_method *m, double theta, double *D2)
{
    const method_dense *u = &m->dense;
    for (int j = 0; j < m->s; j++) D2[j] = dense_second(u->degree, u->D + (size_t)j * (size_t)u->degree, theta);
}

double dense_scale(const stepper *c, const record *r) { return c->F->is & SLOPES ? r->h : 1; }

void dense_state(const stepper *c, const record *r, const double *D, double *y)
{
    combine((size_t)c->n, y, r->y, dense_scale(c, r), c->s, D, r->X, (size_t)c->n);
}

void dense_eval(const stepper *c, const record *r, double t, double *y)
{
    double D[STAGES_MOST];
    dense_weights(c->m, (t - r->t) / r->h, D, NULL);
    dense_state(c, r, D, y);
}
