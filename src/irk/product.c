/* product.c (irk) - the matrix B of a stage system by products of the problem's maps, and the columns of its unknowns.

       B_ij = (1/h) W_ij M(i) - delta_ij J(i),   J(i), M(i) = E_y, -E_k at (T_i, Y_i, K_i, p)  (mathematics, eq. 5.6) */
#include <string.h>
#include "irk/irk.h"

double irk_row_sum(const costate_method *m, int i)
{
    double sum = 0;
    for (int j = 0; j < m->s; j++) sum += m->W[i * m->s + j];
    return sum;
}

void irk_stage_states(stepper *c, const record *r, int slopes)
{
    size_t n = (size_t)c->n;
    for (int i = 0; i < c->s; i++)
        add_scaled(n, work(c)->systems.stage + (size_t)i * n, r->y, 1, r->X + (size_t)i * n);
    for (int i = 0; (slopes || c->maps->residual) && i < c->s; i++)
        irk_coupling(c, r->h, 0, i, 0, c->s, 1, r->X, n, NULL, work(c)->systems.slope + (size_t)i * n);
}

const costate_point *irk_stage_directions(const stepper *c, const directions *d, int i)
{
    const column_work *a = &work(c)->systems.columns;
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m;
    for (size_t j = 0; i >= 0 && j < m; j++)
        add_scaled(n, a->y + j * n, d->V + j * N, 1, d->Xd + ((size_t)i * m + j) * n);
    return columns_along(c, a, d, irk_c(c, i), i < 0 ? d->V : a->y, i < 0 ? N : n);
}

int irk_residuals_begin(stepper *c, const record *r)
{
    return c->m->g ? map_value(c->maps, &c->maps->rhs, r->t, r->y, work(c)->f0) : 0;
}

int irk_residual_left(stepper *c, const record *r, int i, double *out)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n, at = (size_t)i * n;
    TRY(equation_value(c->maps, r->t + c->m->c[i] * r->h, a->systems.stage + at, a->systems.slope + at, out));
    if (c->m->g) axpy(n, c->m->g[i], a->f0, out);
    return 0;
}

/* E_y^T x_i into out, M^T x_i into K (NULL: it is x_i), all columns of stage i of the block */
static int stage_back(const stage_system *s, int m, int i, const double *X, double *out, double *K)
{
    const column_work *a = &work(s->c)->systems.columns;
    size_t n = (size_t)s->c->n, len = (size_t)s->c->m->block * n, at = (size_t)i * n;
    costate_point x = irk_stage_point(s->c, s->r, s->block * s->c->m->block + i);
    for (size_t j = 0; j < (size_t)m; j++) a->to[j] = (costate_gradient){.y = out + at + j * len};
    return equation_adjoints(s->c->maps, &x, m, X + at, len, a->to, K ? K + at : NULL, len);
}

/* out <- base + a k'_j */
static void add_slope(const stepper *c, double h, const coupled_slope *z, size_t j, double a, const double *base,
                      double *out)
{
    size_t n = (size_t)c->n;
    irk_coupling(c, h, 0, z->i, z->from, z->to, a, z->X + j * z->column, z->stride, base, out);
    if (z->less) axpy(n, -a * irk_row_sum(c->m, z->i) / h, z->less + j * z->less_column, out);
    if (z->dh && z->dh[j] != 0) axpy(n, -a * z->dh[j] / h, work(c)->systems.slope + (size_t)z->i * n, out);
}

int irk_tangents(stepper *c, double h, const costate_point *x, const coupled_slope *z, int m, double *out, size_t ld)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n;
    int plain = equation_plain(c->maps);
    for (size_t j = 0; !plain && j < (size_t)m; j++) add_slope(c, h, z, j, 1, NULL, a->systems.kdot + j * n);
    TRY(equation_tangents(c->maps, x, m, a->systems.columns.dx, plain ? NULL : a->systems.kdot, n, out, ld));
    for (size_t j = 0; plain && j < (size_t)m; j++) add_slope(c, h, z, j, -1, out + j * ld, out + j * ld);
    return 0;
}

/* E'(0, x_i, (1/h) sum W_ij x_j), all columns of stage i of the block, into its part of out */
static int stage_forward(const stage_system *s, int m, int i, const double *X, double *out)
{
    stepper *c = s->c;
    size_t n = (size_t)c->n, len = (size_t)c->m->block * n, at = (size_t)i * n;
    int k = c->m->block, i0 = s->block * k;
    costate_point x = irk_stage_point(c, s->r, i0 + i);
    coupled_slope z = {.i = i0 + i, .from = i0, .to = i0 + k, .X = X - (size_t)i0 * n, .stride = n, .column = len};
    for (size_t j = 0; j < (size_t)m; j++) work(c)->systems.columns.dx[j] = (costate_point){.y = X + j * len + at};
    return irk_tangents(c, s->r->h, &x, &z, m, out + at, len);
}

int irk_stage_apply(const stage_system *s, int m, const double *X, double *out)
{
    stepper *c = s->c;
    size_t n = (size_t)c->n, len = (size_t)c->m->block * n, all = len * (size_t)m;
    int k = c->m->block, i0 = s->block * k;
    double *K = s->transpose && !equation_plain(c->maps) ? work(c)->systems.MX : NULL;
    if (s->transpose) memset(out, 0, all * sizeof *out);
    for (int i = 0; i < k; i++) TRY(s->transpose ? stage_back(s, m, i, X, out, K) : stage_forward(s, m, i, X, out));
    for (size_t l = 0; l < all; l++) out[l] = -out[l];
    for (size_t j = 0; s->transpose && j < (size_t)m; j++)
        for (int i = 0; i < k; i++) {
            const double *z = (K ? K : X) + j * len - (size_t)i0 * n;
            double *to = out + j * len + (size_t)i * n;
            irk_coupling(c, s->r->h, 1, i0 + i, i0, i0 + k, 1, z, n, to, to);
        }
    return space_finite(&c->maps->space, all, out);
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
