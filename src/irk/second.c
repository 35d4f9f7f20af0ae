/* second.c (irk) - a functional and its derivatives along m directions back through one implicit step: the derivative
   of adjoint.c along x_i = (t' + c_i h', y' + Z'_i, K'_i, p') (mathematics, eq. 5.20 to 5.24).

       V_i = [E'(i)^T u_i]' = (V^t, V^y, V^k, V^p)_i,   R_i = h b_i r'(i)^T theta
       K'_i = (1/h) (sum W_ij Z'_j - h' K_i)
       P_i = h [(1/h) M(i)^T u_i]' = M^T u'_i - V_i^k - (h'/h) M^T u_i
       B^T u' = d_j lambda' + R'_j^y + V_j^y + seed'_j - (1/h) sum_i W_ij (P_i - M^T u'_i)     of stage j
       the rest as in adjoint.c, with P_i in the place of M^T u_i, and E'(i)^T u'_i + V_i in that of E'(i)^T u_i;
       h'-part: (1/h) sum [ K_i^T P_i + K'_i^T M^T u_i ] + sum b_i (r'(i) x_i)^T theta + ...

   Of a block the functional's systems come first, then those of its derivatives with the same matrix. */
#include <string.h>
#include "irk/irk.h"

typedef struct {
    stepper *c;
    const record *r;
    const directions *d;
    irk_back of, dots;          /* the functional; its derivatives */
    int slopes;                 /* K'_i are there */
} back;

static const double *mass_product(const back *x, int i)
{
    size_t at = (size_t)i * (size_t)x->c->n;
    return x->of.MU ? x->of.MU + at : x->of.g->U + at;
}

static void slopes(const back *x)
{
    const stepper *c = x->c;
    size_t n = (size_t)c->n, m = (size_t)x->d->m;
    for (size_t i = 0; x->slopes && i < (size_t)c->s; i++)
        for (size_t j = 0; j < m; j++) {
            double *k = work(c)->Kd + (i * m + j) * n;
            irk_coupling(c, x->r->h, 0, (int)i, 0, c->s, 1, x->d->Xd + j * n, n * m, NULL, k);
            if (x->d->dh[j] != 0) axpy(n, -x->d->dh[j] / x->r->h, work(c)->slope + i * n, k);
        }
}

/* x_i along all directions; i < 0: x_0 = (t', y', p') */
static costate_point *stage_directions(const back *x, int i)
{
    const stepper *c = x->c;
    const irk_work *a = work(c);
    const directions *d = x->d;
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m, at = i < 0 ? 0 : (size_t)i * m * n;
    double ci = i < 0 ? 0 : c->m->c[i];
    for (size_t j = 0; i >= 0 && j < m; j++) add_scaled(n, a->Yd + j * n, d->V + j * N, 1, d->Xd + at + j * n);
    columns_along(c, &a->columns, d, ci, i < 0 ? d->V : a->Yd, i < 0 ? N : n);
    for (size_t j = 0; c->maps->residual && j < m; j++) a->columns.dx[j].yp = a->Kd + at + j * n;
    return a->columns.dx;
}

/* R'_i^y + V_i^y into `to` (n*m, added), their other parts where they belong; P_i - M^T u'_i */
static int curve(const back *x, int i)
{
    stepper *c = x->c;
    const irk_work *a = work(c);
    const functionals *gd = x->dots.g;
    size_t n = (size_t)c->n, m = (size_t)x->d->m, at = (size_t)i * m * n;
    costate_point here = irk_stage_point(c, x->r, i);
    const costate_point *dx = stage_directions(x, i);
    columns_to(c, &a->columns, gd, gd->U + at, n);
    for (size_t j = 0; j < m; j++) {
        double *P = x->dots.MU + at + j * n;
        costate_gradient *to = &a->columns.to[j];
        memcpy(a->u, x->of.g->U + (size_t)i * n, n * sizeof *a->u);
        memset(a->by_k, 0, n * sizeof *a->by_k);
        to->yp = c->maps->residual ? a->by_k : NULL;
        TRY(equation_adjoint_tangent(c->maps, &here, &dx[j], a->u, to));
        to->yp = NULL;
        add_scaled(n, P, NULL, -1, a->by_k);
        if (x->d->dh[j] != 0) axpy(n, -x->d->dh[j] / x->r->h, mass_product(x, i), P);
    }
    here.yp = NULL;
    for (size_t j = 0; j < m; j++) a->columns.dx[j].yp = NULL;
    if (c->nq && c->m->b[i] != 0)
        TRY(columns_curve_rates(c, &a->columns, x->r, x->d, x->of.g, gd, c->m->b[i], &here, dx, a->columns.to));
    columns_times(&a->columns, gd, c->m->c[i]);
    return 0;
}

/* P_i += M^T u'_i, and the stage's other products */
static int stage(const back *x, int i)
{
    stepper *c = x->c;
    size_t stride = (size_t)c->n * (size_t)x->d->m, at = (size_t)i * stride;
    double *K = equation_plain(c->maps) ? NULL : work(c)->MX + at;
    TRY(irk_stage_back(c, x->r, &x->dots, i, K));
    axpy(stride, 1, K ? K : x->dots.g->U + at, x->dots.MU + at);
    return 0;
}

static int block_back(const back *x, int block)
{
    stepper *c = x->c;
    size_t n = (size_t)c->n, m = (size_t)x->d->m, stride = n * m;
    int k = c->m->block, i0 = block * k;
    double *U = x->dots.g->U;
    TRY(irk_block_back(c, x->r, &x->of, block));
    for (int i = i0; i < i0 + k; i++) {
        TRY(irk_rates_back(c, x->r, &x->dots, i));
        TRY(curve(x, i));
    }
    for (int i = i0; i < i0 + k; i++) {
        irk_right_hand_side(c, x->r, &x->dots, i);
        for (size_t j = 0; j < m; j++) {
            double *rho = U + (size_t)i * stride + j * n;
            irk_coupling(c, x->r->h, 1, i, i0, i0 + k, -1, x->dots.MU + j * n, stride, rho, rho);
        }
    }
    stage_system s = {.c = c, .r = x->r, .block = block, .transpose = 1, .first = 1, .same = 1};
    TRY(irk_stage_solve(&s, x->d->m, U + (size_t)i0 * stride));
    for (int i = i0; i < i0 + k; i++) TRY(stage(x, i));
    return 0;
}

/* of the explicit first stage: [f'(0)^T sum g_i u_i]', and the rates' part of weight b0 */
static int first_stage(const back *x)
{
    stepper *c = x->c;
    const irk_work *a = work(c);
    size_t n = (size_t)c->n;
    TRY(irk_first_stage_back(c, x->r, &x->dots));
    if (!c->m->g && !(c->nq && c->m->b0 != 0)) return 0;
    costate_point here = point(c->maps, x->r->t, x->r->y);
    const costate_point *dx = stage_directions(x, -1);
    const costate_gradient *to = columns_to(c, &a->columns, x->dots.g, x->dots.sum, n);
    for (int j = 0; c->m->g && j < x->d->m; j++) {
        combine(n, a->u, NULL, 1, c->s, c->m->g, x->of.g->U, n);
        TRY(equation_adjoint_tangent(c->maps, &here, &dx[j], a->u, &to[j]));
    }
    if (c->nq && c->m->b0 != 0)
        TRY(columns_curve_rates(c, &a->columns, x->r, x->d, x->of.g, x->dots.g, c->m->b0, &here, dx, to));
    columns_times(&a->columns, x->dots.g, 0);
    return 0;
}

/* (1/h) K'_i^T M^T u_i */
static void moving_slopes(const back *x)
{
    const stepper *c = x->c;
    size_t n = (size_t)c->n, m = (size_t)x->d->m;
    const functionals *gd = x->dots.g;
    for (size_t i = 0; gd->times && i < (size_t)c->s; i++)
        for (size_t j = 0; j < m; j++)
            gd->h[j] += dot(n, work(c)->Kd + (i * m + j) * n, mass_product(x, (int)i)) / x->r->h;
}

int irk_second(stepper *c, const record *r, const directions *d, const functionals *g, const functionals *gd)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n;
    back x = {c, r, d, {g, a->MU, a->sum_of}, {gd, a->MUd, a->sum}, gd->times || c->maps->residual};
    irk_stage_states(c, r, 1);
    slopes(&x);
    memset(a->sum_of, 0, n * sizeof *a->sum_of);
    memset(a->sum, 0, n * (size_t)d->m * sizeof *a->sum);
    TRY(irk_stage_start(c, r));
    for (int block = c->s / c->m->block - 1; block >= 0; block--) TRY(block_back(&x, block));
    TRY(irk_first_stage_back(c, r, &x.of));
    TRY(first_stage(&x));
    moving_slopes(&x);
    TRY(irk_finish_back(c, r, &x.of));
    return irk_finish_back(c, r, &x.dots);
}
