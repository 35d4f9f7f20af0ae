/* forward.c (erk) - one explicit Runge-Kutta step for M y' = f, q' = r, M regular.

       Y_i = y + h sum_{j<i} a_ij K_j,  M K_i = f(t + c_i h, Y_i, p),  y+ = y + h sum b_i K_i,
       q+ = q + h sum b_i r(t + c_i h, Y_i, p),  est = h sum e_i K_i                      (step-maps 2)

   FSAL: the last stage is y+, and its slope the first of the next step. */
#include <math.h>
#include <string.h>
#include "erk/erk.h"

double erk_time(const costate *c, const record *r, int i)
{
    return c->m->c[i] == 1 ? r->end : r->t + c->m->c[i] * r->h;
}

const double *erk_stage(const costate *c, const record *r, int i, double *out)
{
    if (i == 0) return r->y;
    combine((size_t)c->n, out, r->y, r->h, i, c->m->A + (size_t)i * (size_t)c->s, r->X, (size_t)c->n);
    return out;
}

static int stage(costate *c, record *r, int i, const record *prev, const double *Y)
{
    size_t n = (size_t)c->n;
    double *K = r->to.X + (size_t)i * n;
    if (i == 0 && r->started) return 0;
    if (i == 0 && prev && (c->m->is & COSTATE_FSAL)) {
        memcpy(K, prev->X + (size_t)(c->s - 1) * n, n * sizeof *K);
        return 0;
    }
    int status = map_value(&c->maps, &c->maps.rhs, erk_time(c, r, i), Y, K);
    if (status == 0) status = mass_solve(&c->sh, 0, 1, K);
    if (status != 0 || c->m->b[i] != 0 || all_finite(n, K)) return status;
    return retry(&c->v, WHY_NOT_FINITE, 0.2);       /* y+ may not show it, but the next step and dense output would */
}

static int quadrature(costate *c, const record *r, int i, const double *Y, double *q1, double *errq)
{
    const costate_method *m = c->m;
    if (!c->nq || (m->b[i] == 0 && (!m->e || m->e[i] == 0))) return 0;
    int status = map_value(&c->maps, &c->maps.cost, erk_time(c, r, i), Y, c->r);
    if (status != 0) return status;
    axpy((size_t)c->nq, r->h * m->b[i], c->r, q1);
    if (m->e) axpy((size_t)c->nq, r->h * m->e[i], c->r, errq);
    return 0;
}

/* DOP853's combination of an estimate of order 5 and one of order 3: |e|^2 / sqrt(|e|^2 + 0.01 |e2|^2)
   (Hairer, Norsett & Wanner I, II.10). */
static void combine_estimates(costate *c, const record *r, const double *y1, double *err)
{
    size_t n = (size_t)c->n;
    combine(n, c->v1, NULL, r->h, c->s, c->m->e2, r->X, n);
    memset(c->v1 + n, 0, (size_t)c->nq * sizeof *c->v1);
    double a = error_norm(c, r->y, y1, err), b = error_norm(c, r->y, y1, c->v1), under = sqrt(a * a + 0.01 * b * b);
    if (under > 0) for (int i = 0; i < c->N; i++) err[i] *= a / under;
}

int erk_forward(costate *c, record *r, const record *prev, double *y1, double *err)
{
    const costate_method *m = c->m;
    size_t n = (size_t)c->n;
    int fsal = (m->is & COSTATE_FSAL) != 0;
    for (int k = 0; k < c->nq; k++) { y1[n + (size_t)k] = r->y[n + (size_t)k]; err[n + (size_t)k] = 0; }
    for (int i = 0; i < c->s; i++) {
        const double *Y = erk_stage(c, r, i, fsal && i == c->s - 1 ? y1 : c->Y);
        int status = stage(c, r, i, prev, Y);
        if (status == 0) status = quadrature(c, r, i, Y, y1 + n, err + n);
        if (status != 0) return status;
        r->started = 1;
    }
    if (!fsal) combine(n, y1, r->y, r->h, c->s, m->b, r->X, n);
    if (m->e) combine(n, err, NULL, r->h, c->s, m->e, r->X, n);
    if (m->e2) combine_estimates(c, r, y1, err);
    return 0;
}

static void erk_layout(costate *c, cursor *at) { (void)c; (void)at; }

static void erk_layout_derivatives(costate *c, cursor *at, int m)
{
    c->Q = take(at, (size_t)c->s * (size_t)c->n * (size_t)m);      /* Y_i adjoints */
}

static int erk_prepare(costate *c) { return shifts_prepare(&c->sh, 0, 0, NULL); }

const family erk_family = {
    REGULAR_MASS,
    {0, TANGENT_OF, ADJOINT_OF}, {0, TANGENT_OF, ADJOINT_OF},
    erk_layout, erk_layout_derivatives, erk_prepare, NULL, erk_forward, erk_tangent, erk_adjoint,
                           stage_estimate};
