/* product.c (irk) - the matrix B of a stage system by products of the problem's maps, and the columns of its unknowns.

       B_ij = (1/h) W_ij M - delta_ij f_y(T_i, Y_i, p)                                          (step-maps 6) */
#include <string.h>
#include "irk/irk.h"

void irk_stage_states(stepper *c, const record *r)
{
    size_t n = (size_t)c->n;
    for (int i = 0; i < c->s; i++) add_scaled(n, work(c)->stage + (size_t)i * n, r->y, 1, r->X + (size_t)i * n);
}

int irk_stage_apply(const stage_system *s, const double *x, double *out)
{
    stepper *c = s->c;
    size_t n = (size_t)c->n;
    int k = c->m->block, i0 = s->block * k;
    memset(out, 0, (size_t)k * n * sizeof *out);
    for (int i = 0; i < k; i++) {
        const double *xi = x + (size_t)i * n;
        double *to = out + (size_t)i * n;
        costate_point at = {s->r->t + c->m->c[i0 + i] * s->r->h, work(c)->stage + (size_t)(i0 + i) * n, c->maps->p};
        costate_point dx = {0, xi, NULL};
        costate_gradient g = {NULL, to, NULL};
        const map *f = &c->maps->rhs;
        TRY(s->transpose ? map_adjoint(c->maps, f, &at, xi, &g) : map_tangent(c->maps, f, &at, &dx, to));
        for (size_t l = 0; l < n; l++) to[l] = -to[l];
        irk_coupling(c, s->r->h, s->transpose, i0 + i, i0, i0 + k, 1, x - (size_t)i0 * n, n, to);
    }
    return space_finite(&c->maps->space, (size_t)k * n, out, 0.5);
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
