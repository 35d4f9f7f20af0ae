/* product.c (irk) - the matrix B of a stage system by products of the problem's maps, and the columns of its unknowns.

       B_ij = (1/h) W_ij M - delta_ij f_y(T_i, Y_i, p)                                          (step-maps 6) */
#include <string.h>
#include "irk/irk.h"

void irk_stage_states(stepper *c, const record *r)
{
    size_t n = (size_t)c->n;
    for (int i = 0; i < c->s; i++) add_scaled(n, work(c)->stage + (size_t)i * n, r->y, 1, r->X + (size_t)i * n);
}

/* J or J^T of stage i of the block times its part of all columns, into that of out */
static inline int stage_product(const stage_system *s, int m, int i, const double *X, double *out)
{
    stepper *c = s->c;
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n, len = (size_t)c->m->block * n;
    int k = s->block * c->m->block + i;
    costate_point at = {s->r->t + c->m->c[k] * s->r->h, work(c)->stage + (size_t)k * n, c->maps->p};
    const double *x = X + (size_t)i * n;
    double *to = out + (size_t)i * n;
    for (size_t j = 0; j < (size_t)m; j++) {
        if (s->transpose) a->to[j] = (costate_gradient){NULL, to + j * len, NULL};
        else a->dx[j] = (costate_point){0, x + j * len, NULL};
    }
    if (s->transpose) return map_adjoints(c->maps, &c->maps->rhs, &at, m, x, len, a->to);
    return map_tangents(c->maps, &c->maps->rhs, &at, m, a->dx, to, len);
}

int irk_stage_apply(const stage_system *s, int m, const double *X, double *out)
{
    stepper *c = s->c;
    size_t n = (size_t)c->n, len = (size_t)c->m->block * n, all = len * (size_t)m;
    int k = c->m->block, i0 = s->block * k;
    if (s->transpose) memset(out, 0, all * sizeof *out);
    for (int i = 0; i < k; i++) TRY(stage_product(s, m, i, X, out));
    for (int j = 0; j < m; j++)
        for (int i = 0; i < k; i++) {
            const double *x = X + (size_t)j * len - (size_t)i0 * n;
            double *to = out + (size_t)j * len + (size_t)i * n;
            for (size_t l = 0; l < n; l++) to[l] = -to[l];
            irk_coupling(c, s->r->h, s->transpose, i0 + i, i0, i0 + k, 1, x, n, to);
        }
    return space_finite(&c->maps->space, all, out, 0.5);
}

void irk_gather(const stage_system *s, int m, int j, const double *X, double *x)
{
    size_t n = (size_t)s->c->n;
    for (int i = 0; i < s->c->m->block; i++)
        memcpy(x + (size_t)i * n, X + ((size_t)i * (size_t)m + (size_t)j) * n, n * sizeof *x);
}

void irk_scatter(const stage_system *s, int m, int j, const double *x, double *X)
{
    size_t n = (size_t)s->c->n;
    for (int i = 0; i < s->c->m->block; i++)
        memcpy(X + ((size_t)i * (size_t)m + (size_t)j) * n, x + (size_t)i * n, n * sizeof *x);
}
