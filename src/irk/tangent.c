/* tangent.c (irk) - m directions through one implicit step (mathematics, eq. 5.10 to 5.12).

   Where all stages are one block, and no unknown has index 2, the unknowns are Y'_i = y' + Z'_i, the directions of
   the states at the stages:

       B Y' = E'(i) (t' + c_i h', 0, k'_i, p')
       in a column that goes to what Newton's iteration left: and -R_i (mathematics, eq. 8.5)
       k'_i = -(1/h) (W 1)_i y' - (h'/h) K_i
       y+' = R y' + sum d_j Y'_j,   R = 1 - sum d_j
       q+' = q' + sum b_i { h' r_i + h r'(i) (t' + c_i h', Y'_i, p') }  (+ b0 at (t, y))

   This is the transpose of adjoint.c, operation by operation: f_y acts only in B^-1. With the equations for Z', whose
   right-hand sides hold f_y y', the gap between tangent and adjoint is eps |u|^T |f_y| |y'|, which in kinetics with
   rates of 1e13 has been 1e-5 of the functional.

   Else the unknowns are Z', block by block:

       B Z' = E'(i) (t' + c_i h', y', k'_i, p') + g_i f'(0) (t', y', p')
       k'_i = (1/h) sum_{j of earlier blocks} W_ij Z'_j - (h'/h) K_i,   y+' = y' + sum d_j Z'_j

   for what is left of earlier blocks is multiplied by rows of W that sum to 71 (sdirk4b) and 118 times their
   diagonal (esdirk54i8), and so it should be relative to Z', not to y' (test_scales, test_order). Unknowns of index
   2 are Z'/h, and so are the errors in them. So it is where systems are solved loosely, too. */
#include <string.h>
#include "irk/irk.h"

static int by_states(const stepper *c) { return irk_short_form(c) && c->m->block == c->s && !c->maps->index; }

/* right-hand side of stage i, all columns, into X (m*n) */
static int right_hand_side(stepper *c, const record *r, const directions *d, int i, const double *f0dot, double *X)
{
    size_t n = (size_t)c->n, N = (size_t)c->N;
    costate_point x = irk_stage_point(c, r, i);
    columns_along(c, &work(c)->systems.columns, d, c->m->c[i], d->V, N);
    coupled_slope z = {.i = i, .to = i / c->m->block * c->m->block, .X = d->Xd, .stride = n * (size_t)d->m, .column = n,
                       .dh = d->dh};
    if (by_states(c)) {
        for (int j = 0; j < d->m; j++) work(c)->systems.columns.dx[j].y = NULL;
        z.less = d->V;
        z.less_column = N;
    }
    TRY(irk_tangents(c, r->h, &x, &z, d->m, X, n));
    for (int j = 0; c->m->g && j < d->m; j++) axpy(n, c->m->g[i], f0dot + (size_t)j * n, X + (size_t)j * n);
    if (!d->solved) return 0;
    TRY(irk_residual_left(c, r, i, work(c)->Y));
    axpy(n, 1, work(c)->Y, X + (size_t)(d->m - 1) * n);
    return 0;
}

/* f'(t,y,p) along each direction, for the explicit first stage */
static int first_stage(stepper *c, const record *r, const directions *d, double *out)
{
    if (!c->m->g) return 0;
    costate_point x = irk_node_point(c, r, -1);
    return map_tangents(c->maps, &c->maps->rhs, &x, d->m, irk_stage_directions(c, d, -1), out, (size_t)c->n);
}

static int quadrature(stepper *c, const record *r, const directions *d, int i)
{
    const irk_work *a = c->own;
    double b = irk_b(c, i);
    if (b == 0) return 0;
    costate_point x = irk_node_point(c, r, i);
    return columns_integrate(c, &a->systems.columns, r, d, b, &x, irk_stage_directions(c, d, i), a->r);
}

static int moving(const directions *d)
{
    for (int j = 0; j < d->m; j++) if (d->dh[j] != 0) return 1;
    return 0;
}

/* y+', and Z'_i in the place of Y'_i */
static void finish(const stepper *c, const directions *d)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m;
    double R = irk_remainder(c->m);
    memcpy(d->V1, d->V, N * m * sizeof *d->V1);
    for (size_t j = 0; j < m; j++) {
        double *v = d->V1 + j * N;
        for (size_t i = 0; by_states(c) && i < n; i++) v[i] = R == 0 ? 0 : R * v[i];
        combine(n, v, v, 1, c->s, c->m->d, d->Xd + j * n, n * m);
        for (size_t i = 0; by_states(c) && i < (size_t)c->s; i++)
            axpy(n, -1, d->V + j * N, d->Xd + (i * m + j) * n);
    }
}

int irk_tangent(stepper *c, const record *r, const directions *d)
{
    size_t stride = (size_t)c->n * (size_t)d->m;
    int k = c->m->block;
    irk_stage_states(c, r, moving(d) || d->solved);
    if (d->solved) TRY(irk_residuals_begin(c, r));
    double *f0dot = work(c)->systems.f0dot;
    TRY(irk_stage_start(c, r));
    TRY(first_stage(c, r, d, f0dot));
    for (int block = 0; block < c->s / k; block++) {
        for (int i = block * k; i < (block + 1) * k; i++)
            TRY(right_hand_side(c, r, d, i, f0dot, d->Xd + (size_t)i * stride));
        stage_system s = {.c = c, .r = r, .block = block};
        TRY(irk_stage_solve(&s, d->m, 0, d->m, d->Xd + (size_t)(block * k) * stride));
    }
    finish(c, d);
    for (int i = -1; c->nq && i < c->s; i++) TRY(quadrature(c, r, d, i));
    return 0;
}
