/* adjoint.c (erk) - m functionals back through one explicit step: the transpose of tangent.c
   (mathematics, eq. 3.5 to 3.7).

       w_i = b_i lambda + sum_{j>i} a_ji Yb_j + seed_i,   M^T v_i = h w_i                   i = s..1
       (tb_i, Yb_i, pb_i) = f'(i)^T v_i + h b_i r'(i)^T theta
       lambda <- lambda + sum Yb_i,  mu += sum pb_i,  t = sum tb_i,
       h = sum [ c_i tb_i + b_i r_i^T theta + K_i^T w_i ] */
#include <string.h>
#include "erk/erk.h"

int erk_matters(const stepper *c, const functionals *g, int i)
{
    if (c->m->b[i] != 0 || g->seed) return 1;
    for (int j = i + 1; j < c->s; j++)
        if (c->m->A[(size_t)j * (size_t)c->s + (size_t)i] != 0) return 1;
    return 0;
}

void erk_weights(const stepper *c, const record *r, const functionals *g, int i, double *to)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)g->m, stride = n * m, s = (size_t)c->s;
    double column[STAGES_MOST];
    for (size_t k = 0; k < s; k++) column[k] = c->m->A[k * s + (size_t)i];
    for (size_t j = 0; j < m; j++) {
        double *w = to + j * n;
        add_scaled(n, w, NULL, c->m->b[i], g->lambda + j * N);
        combine(n, w, w, 1, c->s - i - 1, column + i + 1, g->U + (size_t)(i + 1) * stride + j * n, stride);
        if (g->seed) axpy(n, 1, g->seed + (size_t)i * stride + j * n, w);
        if (g->times) g->h[j] += dot(n, r->X + (size_t)i * n, w);
    }
}

static int quadrature(stepper *c, const record *r, const functionals *g, int i, const costate_point *x,
                      const costate_gradient *to)
{
    const erk_work *a = c->own;
    double b = c->m->b[i];
    if (!c->nq || b == 0) return 0;
    const double *theta = columns_theta(c, &a->columns, r, g, b);
    TRY(map_adjoints(c->maps, &c->maps->cost, x, g->m, theta, (size_t)c->nq, to));
    if (!g->times) return 0;
    TRY(map_value(c->maps, &c->maps->cost, x->t, x->y, a->r));
    columns_rate(c, g, b, a->r);
    return 0;
}

static int stage(stepper *c, const record *r, const functionals *g, int i)
{
    const erk_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    double *v = a->columns.y, *Yb = g->U + (size_t)i * stride;
    erk_weights(c, r, g, i, v);
    for (size_t k = 0; k < stride; k++) v[k] *= r->h;
    TRY(mass_solve(c->sh, 1, g->m, v));
    costate_point x = point(c->maps, erk_time(c, r, i), erk_stage(c, r, i, a->Y));
    memset(Yb, 0, stride * sizeof *Yb);
    const costate_gradient *to = columns_to(c, &a->columns, g, Yb, n);
    TRY(map_adjoints(c->maps, &c->maps->rhs, &x, g->m, v, n, to));
    TRY(quadrature(c, r, g, i, &x, to));
    columns_times(&a->columns, g, c->m->c[i]);
    return 0;
}

void erk_add_stages(const stepper *c, const functionals *g)
{
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    double one[STAGES_MOST];
    for (int i = 0; i < c->s; i++) one[i] = 1;
    for (int j = 0; j < g->m; j++) {
        double *lambda = g->lambda + (size_t)j * (size_t)c->N;
        combine(n, lambda, lambda, 1, c->s, one, g->U + (size_t)j * n, stride);
    }
}

int erk_adjoint(stepper *c, const record *r, const functionals *g)
{
    size_t stride = (size_t)c->n * (size_t)g->m;
    for (int i = c->s - 1; i >= 0; i--) {
        if (erk_matters(c, g, i)) TRY(stage(c, r, g, i));
        else memset(g->U + (size_t)i * stride, 0, stride * sizeof *g->U);
    }
    erk_add_stages(c, g);
    return 0;
}
