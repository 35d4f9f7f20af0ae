/* adjoint.c (erk) - m functionals back through one explicit step: the transpose of tangent.c
   (mathematics, eq. 3.5 to 3.7).

       w_i = b_i lambda + sum_{j>i} a_ji Yb_j + seed_i,   M^T v_i = h w_i                   i = s..1
       (tb_i, Yb_i, pb_i) = f'(i)^T v_i + h b_i r'(i)^T theta
       lambda <- lambda + sum Yb_i,  mu += sum pb_i,  t = sum tb_i,
       h = sum [ c_i tb_i + b_i r_i^T theta + K_i^T w_i ]

   All of this is linear in lambda, theta and the seeds, so that derivatives of a functional along x_i = (t' + c_i h',
   Y'_i, p') of tangent.c are further columns, to which terms are added that come from the functional
   (mathematics, section 2.5):

       M^T v'_i = h w'_i + h' w_i,   [f'(i)^T v_i]' with v_i held fixed, the same of h b_i r'(i)^T theta
       h' gets K'_i^T w_i and b_i (r'(i) x_i)^T theta */
#include <string.h>
#include "erk/erk.h"

/* w_i of all columns, and K_i^T w_i onto h */
static void weights_of(const stepper *c, const record *r, const functionals *g, int i, double *to)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)g->m, stride = n * m;
    const double *column = work(c)->At + i * c->s;
    for (size_t j = 0; j < m; j++) {
        double *w = to + j * n;
        add_scaled(n, w, NULL, c->m->b[i], g->lambda + j * N);
        combine(n, w, w, 1, c->s - i - 1, column + i + 1, g->U + (size_t)(i + 1) * stride + j * n, stride);
        if (g->seed) axpy(n, 1, g->seed + (size_t)i * stride + j * n, w);
        if (g->times) g->h[j] += dot(n, r->X + (size_t)i * n, w);
    }
}

/* (h w)' / h = w' + (h'/h) w; of a derivative whose h stays, K'_i^T w onto h */
static void moving_weights(const stepper *c, const record *r, const functionals *g, int i, double *w)
{
    const directions *d = g->along;
    size_t n = (size_t)c->n, m = (size_t)d->m;
    for (size_t j = 0; j < m; j++) {
        if (d->dh[j] != 0) axpy(n, d->dh[j] / r->h, w, w + (1 + j) * n);
        else if (g->times) g->h[1 + j] += dot(n, d->Xd + ((size_t)i * m + j) * n, w) / r->h;
    }
}

/* K'_i^T w_i = (f'(i) x_i)^T v_i/h of derivatives whose h moves: X'_i - h' K_i would leave few digits in a short
   step */
static int moving_slopes(stepper *c, const record *r, const functionals *g, const costate_point *x,
                         const costate_point *dx, const double *v)
{
    const directions *d = g->along;
    double *slope = work(c)->v;
    for (int j = 0; g->times && j < d->m; j++) {
        if (d->dh[j] == 0) continue;
        TRY(map_tangent(c->maps, &c->maps->rhs, x, &dx[j], slope));
        g->h[1 + j] += dot((size_t)c->n, slope, v) / r->h;
    }
    return 0;
}

static int stage(stepper *c, const record *r, const functionals *g, int i)
{
    const erk_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    double *v = a->columns.y, *Yb = g->U + (size_t)i * stride, b = c->m->b[i];
    weights_of(c, r, g, i, v);
    if (g->along) moving_weights(c, r, g, i, v);
    for (size_t k = 0; k < stride; k++) v[k] *= r->h;
    TRY(mass_solve(c->sh, 1, g->m, v));
    costate_point x = point(c->maps, erk_time(c, r, i), erk_stage(c, r, i, a->Y));
    const costate_point *dx = NULL;
    memset(Yb, 0, stride * sizeof *Yb);
    const costate_gradient *to = columns_to(c, &a->columns, g, Yb, n);
    TRY(map_adjoints(c->maps, &c->maps->rhs, &x, g->m, v, n, to));
    if (g->along) {
        dx = erk_directions(c, g->along, i, a->Yd);
        TRY(columns_curve(c, &c->maps->rhs, g, &x, dx, v, to));
        TRY(moving_slopes(c, r, g, &x, dx, v));
    }
    if (c->nq && b != 0) TRY(columns_integrate_back(c, &a->columns, r, g, b, &x, dx, to, a->r));
    columns_times(&a->columns, g, c->m->c[i]);
    return 0;
}

static void add_stages(const stepper *c, const functionals *g)
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
        if (work(c)->used[i] || g->seed) TRY(stage(c, r, g, i));
        else memset(g->U + (size_t)i * stride, 0, stride * sizeof *g->U);
    }
    add_stages(c, g);
    return 0;
}
