/* dense.c - the state inside a step: u(theta) = y + sum_j D_j(theta) X_j, theta = (t - t_n)/h (erk: h X_j)
   (mathematics, eq. 9.1). */
#include "base/vec.h"
#include "step/step.h"

void dense_polynomials(int s, int degree, const double *coefficients, double theta, double *D, double *D1, double *D2)
{
    for (int j = 0; j < s; j++) {
        const double *a = coefficients + (size_t)j * (size_t)degree;
        double v = 0, first = 0, second = 0;
        for (int k = degree; D && k > 0; k--) v = (v + a[k - 1]) * theta;
        for (int k = degree; D1 && k > 0; k--) first = first * theta + k * a[k - 1];
        for (int k = degree; D2 && k > 1; k--) second = second * theta + k * (k - 1) * a[k - 1];
        if (D) D[j] = v;
        if (D1) D1[j] = first;
        if (D2) D2[j] = second;
    }
}

void dense_weights(const costate_method *m, double theta, double *D, double *D1)
{
    dense_polynomials(m->s, m->degree, m->D, theta, D, D1, NULL);
}

void dense_curvature(const costate_method *m, double theta, double *D2)
{
    dense_polynomials(m->s, m->degree, m->D, theta, NULL, NULL, D2);
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
