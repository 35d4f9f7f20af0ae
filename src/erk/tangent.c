/* tangent.c (erk) - m directions through one explicit step (mathematics, eq. 3.3 to 3.4).

       Y'_i = y' + sum_{j<i} a_ij X'_j,   X_j = h K_j,   X'_j = h K'_j + h' K_j
       M K'_i = f_t(i) (t' + c_i h') + f_y(i) Y'_i + f_p(i) p'
       y+' = y' + sum b_i X'_i,   q+' = q' + sum b_i { h' r_i + h [r_t (t' + c_i h') + r_y Y'_i + r_p p'] } */
#include <string.h>
#include "erk/erk.h"

const costate_point *erk_directions(const stepper *c, const directions *d, int i, double *Y)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m;
    const erk_work *a = c->own;
    for (size_t j = 0; i > 0 && j < m; j++)
        combine(n, Y + j * n, d->V + j * N, 1, i, c->m->A + (size_t)i * (size_t)c->s, d->Xd + j * n, n * m);
    return columns_along(c, &a->columns, d, c->m->c[i], i > 0 ? Y : d->V, i > 0 ? n : N);
}

static int stage(stepper *c, const record *r, const directions *d, int i)
{
    size_t n = (size_t)c->n, m = (size_t)d->m, stride = n * m;
    const erk_work *a = c->own;
    costate_point x = point(c->maps, erk_time(c, r, i), erk_stage(c, r, i, a->Y));
    double *X = d->Xd + (size_t)i * stride;
    const costate_point *dx = erk_directions(c, d, i, a->columns.y);
    TRY(map_tangents(c->maps, &c->maps->rhs, &x, d->m, dx, X, n));
    if (c->nq && c->m->b[i] != 0) TRY(columns_integrate(c, &a->columns, r, d, c->m->b[i], &x, dx, a->r));
    TRY(mass_solve(c->sh, 0, d->m, X));
    for (size_t k = 0; k < stride; k++) X[k] *= r->h;
    for (size_t j = 0; j < m; j++)
        if (d->dh[j] != 0) axpy(n, d->dh[j], r->X + (size_t)i * n, X + j * n);
    return 0;
}

/* A last stage with b_i = 0 (FSAL) has no part in y+; only dense output and error tests look at it. */
int erk_tangent(stepper *c, const record *r, const directions *d)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, stride = n * (size_t)d->m;
    memcpy(d->V1, d->V, N * (size_t)d->m * sizeof *d->V1);
    for (int i = 0; i < c->s; i++) {
        int last_unused = i == c->s - 1 && c->m->b[i] == 0 && !d->stages;
        if (!last_unused) TRY(stage(c, r, d, i));
    }
    for (int j = 0; j < d->m; j++)
        combine(n, d->V1 + (size_t)j * N, d->V1 + (size_t)j * N, 1, c->s, c->m->b, d->Xd + (size_t)j * n, stride);
    return 0;
}
