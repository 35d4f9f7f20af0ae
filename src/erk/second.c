/* second.c (erk) - a functional and its derivatives along m directions back through one explicit step: with w_i, v_i,
   Yb_i of adjoint.c and x_i = (t' + c_i h', Y'_i, p') of tangent.c its derivative (mathematics, eq. 3.8 to 3.10).

       w'_i = b_i lambda' + sum_{j>i} a_ji Yb'_j + seed'_i,   M^T v'_i = h w'_i + h' w_i                     i = s..1
       (tb, Yb, pb)'_i = f'(i)^T v'_i + [f'(i)^T v_i]' + b_i r'(i)^T (h theta' + h' theta) + h b_i [r'(i)^T theta]'
       h'-part: sum [ c_i tb'_i + b_i (r_i^T theta' + (r'(i) x_i)^T theta) + K_i^T w'_i + K'_i^T w_i ]

   where [F'^T w]' is the derivative along x_i, w held fixed. */
#include <string.h>
#include "erk/erk.h"

/* K'_i^T w_i onto h, of columns whose h stays; h'/h w_i onto w' of the others */
static void moving_weights(const stepper *c, const record *r, const directions *d, const functionals *gd, int i,
                           const double *w, double *wd)
{
    size_t n = (size_t)c->n, m = (size_t)d->m;
    for (size_t j = 0; j < m; j++) {
        if (d->dh[j] != 0) axpy(n, d->dh[j] / r->h, w, wd + j * n);
        else if (gd->times) gd->h[j] += dot(n, d->Xd + ((size_t)i * m + j) * n, w) / r->h;
    }
}

typedef struct {
    stepper *c;
    const record *r;
    const directions *d;
    const functionals *g, *gd;
    column_work dots;           /* of the derivatives: the functional's column stands before theirs */
} back;

/* f'(i)^T and r'(i)^T of all columns, the functional and its derivatives, by one product each: w, v_i in its place */
static int products(const back *x, int i, const costate_point *at, double *w)
{
    stepper *c = x->c;
    const erk_work *a = c->own;
    size_t n = (size_t)c->n, m = (size_t)x->d->m;
    double b = c->m->b[i], *Yb = x->g->U + (size_t)i * n, *Ybd = x->gd->U + (size_t)i * n * m;
    memset(Yb, 0, n * sizeof *Yb);
    memset(Ybd, 0, n * m * sizeof *Ybd);
    for (size_t k = 0; k < n * (m + 1); k++) w[k] *= x->r->h;
    TRY(mass_solve(c->sh, 1, x->d->m + 1, w));
    const costate_gradient *to = columns_to(c, &a->columns, x->g, Yb, n);
    columns_to(c, &x->dots, x->gd, Ybd, n);
    TRY(map_adjoints(c->maps, &c->maps->rhs, at, x->d->m + 1, w, n, to));
    if (!c->nq || b == 0) return 0;
    columns_theta(c, &x->dots, x->r, x->gd, b);
    const double *theta = columns_theta(c, &a->columns, x->r, x->g, b);
    TRY(map_adjoints(c->maps, &c->maps->cost, at, x->d->m + 1, theta, (size_t)c->nq, to));
    if (!x->g->times) return 0;
    TRY(map_value(c->maps, &c->maps->cost, at->t, at->y, a->r));
    columns_rate(c, x->g, b, a->r);
    columns_rate(c, x->gd, b, a->r);
    return 0;
}

/* K'_i^T w_i = (f'(i) x_i)^T v_i/h of columns whose h moves: X'_i - h' K_i would leave few digits in a short step */
static int moving_slopes(const back *x, const costate_point *at, const costate_point *dx, const double *v)
{
    stepper *c = x->c;
    double *slope = work(c)->v;
    for (int j = 0; x->gd->times && j < x->d->m; j++) {
        if (x->d->dh[j] == 0) continue;
        TRY(map_tangent(c->maps, &c->maps->rhs, at, &dx[j], slope));
        x->gd->h[j] += dot((size_t)c->n, slope, v) / x->r->h;
    }
    return 0;
}

/* [f'(i)^T v]' and the rates' part */
static int curve(const back *x, int i, const costate_point *at, const double *v)
{
    stepper *c = x->c;
    double b = c->m->b[i];
    const costate_point *dx = erk_directions(c, x->d, i, work(c)->Yd);
    const costate_gradient *to = x->dots.to;
    for (int j = 0; j < x->d->m; j++) TRY(map_adjoint_tangent(c->maps, &c->maps->rhs, at, &dx[j], v, &to[j]));
    TRY(moving_slopes(x, at, dx, v));
    return c->nq && b != 0 ? columns_curve_rates(c, &x->dots, x->r, x->d, x->g, x->gd, b, at, dx, to) : 0;
}

static int stage(const back *x, int i)
{
    stepper *c = x->c;
    size_t n = (size_t)c->n;
    double *w = work(c)->columns.y;
    costate_point at = point(c->maps, erk_time(c, x->r, i), erk_stage(c, x->r, i, work(c)->Y));
    erk_weights(c, x->r, x->g, i, w);
    erk_weights(c, x->r, x->gd, i, w + n);
    moving_weights(c, x->r, x->d, x->gd, i, w, w + n);
    TRY(products(x, i, &at, w));
    TRY(curve(x, i, &at, w));
    columns_times(&work(c)->columns, x->g, c->m->c[i]);
    columns_times(&x->dots, x->gd, c->m->c[i]);
    return 0;
}

int erk_second(stepper *c, const record *r, const directions *d, const functionals *g, const functionals *gd)
{
    back x = {c, r, d, g, gd, columns_behind(&work(c)->columns, 1, c->nq)};
    size_t n = (size_t)c->n, m = (size_t)d->m;
    for (int i = c->s - 1; i >= 0; i--) {
        if (erk_matters(c, g, i)) { TRY(stage(&x, i)); continue; }
        memset(g->U + (size_t)i * n, 0, n * sizeof *g->U);
        memset(gd->U + (size_t)i * n * m, 0, n * m * sizeof *gd->U);
    }
    erk_add_stages(c, g);
    erk_add_stages(c, gd);
    return 0;
}
