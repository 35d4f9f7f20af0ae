/* family_trial.c - a trial of step.h: explicit Runge-Kutta methods written against it alone, for M = identity.

   z = (y, q), F = (f, r); K_i, X'_i are the first n of F_i, Z_i; no slope is taken over from the step before:
       Y_i = y + h sum_{j<i} a_ij K_j,  F_i = F(t + c_i h, Y_i, p),  z+ = z + h sum b_i F_i,  est = h sum e_i F_i */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "step/step.h"

/* a stage and its slopes, n and n + nq; their derivatives; n + nq each: weights of a slope, the functional's of a jet.
   Memory variables, the last rows of a state, have no slopes. */
typedef struct { double *Y, *F, *dY, *dF, *W, *W0; } trial_work;

static size_t rows_of(const stepper *c) { return (size_t)c->n + (size_t)c->nq; }

static int prepare(stepper *c)
{
    if (c->maps->M) return fail(c->v, COSTATE_BAD_ARGUMENT, "This family takes no mass matrix: M = I.");
    return own_new(c, sizeof(trial_work));
}

static void layout(stepper *c, cursor *at)
{
    trial_work *a = c->own;
    a->Y = take(at, (size_t)c->n);
    a->F = take(at, rows_of(c));
}

static void layout_derivatives(stepper *c, cursor *at, int m)
{
    trial_work *a = c->own;
    (void)m;            /* columns are taken one by one */
    a->dY = take(at, (size_t)c->n);
    a->dF = take(at, rows_of(c));
    a->W = take(at, rows_of(c));
    a->W0 = take(at, rows_of(c));
}

/* (t + c_i h, Y_i, p) and the memory variables, from the slopes of the stages before */
static costate_point stage(const stepper *c, const record *r, int i)
{
    const trial_work *a = c->own;
    combine((size_t)c->n, a->Y, r->y, r->h, i, c->m->A + i * c->s, r->X, (size_t)c->n);
    return point(c->maps, c->m->c[i] == 1 ? r->end : r->t + c->m->c[i] * r->h, a->Y);
}

/* F_i; K: K_i where it is known, or NULL */
static int slopes(stepper *c, const costate_point *x, const double *K, double *F)
{
    if (K) memcpy(F, K, (size_t)c->n * sizeof *F);
    else TRY(map_value(c->maps, &c->maps->rhs, x->t, x->y, F));
    return c->nq ? map_value(c->maps, &c->maps->cost, x->t, x->y, F + c->n) : 0;
}

static int forward(stepper *c, record *r, trial *t)
{
    const trial_work *a = c->own;
    size_t n = (size_t)c->n, N = (size_t)c->N;
    memcpy(t->y1, r->y, N * sizeof *t->y1);
    memset(t->err, 0, N * sizeof *t->err);
    for (int i = 0; i < c->s; i++) {
        costate_point x = stage(c, r, i);
        TRY(slopes(c, &x, NULL, a->F));
        memcpy(t->to.X + (size_t)i * n, a->F, n * sizeof *a->F);
        axpy(rows_of(c), r->h * c->m->b[i], a->F, t->y1);
        if (c->m->est.e) axpy(rows_of(c), r->h * c->m->est.e[i], a->F, t->err);
    }
    t->newton = 0;
    return 0;
}

/* (t' + c_i h', Y'_i, pm'_j) along direction j, and F'(i) of it into dF;  Y'_i = y' + sum_{j<i} a_ij X'_j */
static int along(stepper *c, const directions *d, int i, size_t j, const costate_point *x, costate_point *dx)
{
    const trial_work *a = c->own;
    size_t n = (size_t)c->n;
    *dx = along_pm(c->maps, d->dt[j] + c->m->c[i] * d->dh[j], a->dY, d->Vp, j);
    combine(n, a->dY, d->V + j * (size_t)c->N, 1, i, c->m->A + i * c->s, d->Xd + j * n, (size_t)d->m * n);
    TRY(map_tangent(c->maps, &c->maps->rhs, x, dx, a->dF));
    return c->nq ? map_tangent(c->maps, &c->maps->cost, x, dx, a->dF + n) : 0;
}

/* Z_i = h F'(i)(t' + c_i h', Y'_i, p') + h' F_i,  z+' = z' + sum b_i Z_i */
static int tangent(stepper *c, const record *r, const directions *d)
{
    const trial_work *a = c->own;
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m;
    memcpy(d->V1, d->V, N * m * sizeof *d->V1);
    for (int i = 0; i < c->s; i++) {
        costate_point x = stage(c, r, i), dx;
        TRY(slopes(c, &x, r->X + (size_t)i * n, a->F));
        for (size_t j = 0; j < m; j++) {
            TRY(along(c, d, i, j, &x, &dx));
            for (size_t k = 0; k < rows_of(c); k++) a->dF[k] = r->h * a->dF[k] + d->dh[j] * a->F[k];
            memcpy(d->Xd + ((size_t)i * m + j) * n, a->dF, n * sizeof *a->dF);
            axpy(rows_of(c), c->m->b[i], a->dF, d->V1 + j * N);
        }
    }
    return 0;
}

/* What the functional's weights W_0 of F_i add to a derivative of a jet:  (h W)' = h W' + h' W_0,  [h F'(i)^T W_0]'
   with W_0 held fixed, and (F'(i) x_i)^T W_0 onto h' */
static int curve(stepper *c, const record *r, const functionals *g, int i, size_t j, const costate_point *x,
                 const costate_gradient *to)
{
    const trial_work *a = c->own;
    size_t n = (size_t)c->n, rows = rows_of(c);
    double dh = g->along->dh[j - 1];
    costate_point dx;
    TRY(along(c, g->along, i, j - 1, x, &dx));
    if (g->times) g->h[j] += dot(rows, a->dF, a->W0);
    axpy(rows, dh, a->W0, a->W);
    for (size_t k = 0; k < rows; k++) a->dF[k] = r->h * a->W0[k];
    TRY(map_adjoint_tangent(c->maps, &c->maps->rhs, x, &dx, a->dF, to));
    return c->nq ? map_adjoint_tangent(c->maps, &c->maps->cost, x, &dx, a->dF + n, to) : 0;
}

/* W_i = b_i lambda + (sum_{j>i} a_ji U_j + seed_i, 0),  (tb_i, U_i, pb_i) = h F'(i)^T W_i of column j */
static int column_back(stepper *c, const record *r, const functionals *g, int i, size_t j, const costate_point *x)
{
    const trial_work *a = c->own;
    size_t n = (size_t)c->n, m = (size_t)g->m, row = (size_t)i * m * n, rows = rows_of(c);
    double tb = 0, *W = a->W, *U = g->U + j * n;
    costate_gradient to = into_pm(c->maps, g->times ? &tb : NULL, U + row, g->mu, j);
    add_scaled(rows, W, NULL, c->m->b[i], g->lambda + j * (size_t)c->N);
    for (int k = i + 1; k < c->s; k++) axpy(n, c->m->A[k * c->s + i], U + (size_t)k * m * n, W);
    if (g->seed) axpy(n, 1, g->seed + row + j * n, W);
    if (g->times) g->h[j] += dot(rows, a->F, W);
    if (j == 0) memcpy(a->W0, W, rows * sizeof *W);
    for (size_t k = 0; k < rows; k++) W[k] *= r->h;
    if (g->along && j > 0) TRY(curve(c, r, g, i, j, x, &to));
    TRY(map_adjoint(c->maps, &c->maps->rhs, x, W, &to));
    if (c->nq) TRY(map_adjoint(c->maps, &c->maps->cost, x, W + n, &to));
    if (g->times) { g->t[j] += tb; g->h[j] += c->m->c[i] * tb; }
    return 0;
}

/* the transpose, i = s..1:
   lambda += (sum U_i, 0),  mu += sum pb_i,  t += sum tb_i,  h += sum (c_i tb_i + F_i^T W_i) */
static int adjoint(stepper *c, const record *r, const functionals *g)
{
    const trial_work *a = c->own;
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)g->m;
    memset(g->U, 0, (size_t)c->s * m * n * sizeof *g->U);
    for (int i = c->s - 1; i >= 0; i--) {
        costate_point x = stage(c, r, i);
        if (g->times) TRY(slopes(c, &x, r->X + (size_t)i * n, a->F));
        for (size_t j = 0; j < m; j++) TRY(column_back(c, r, g, i, j, &x));
    }
    for (size_t i = 0; i < (size_t)c->s; i++)
        for (size_t j = 0; j < m; j++) axpy(n, 1, g->U + (i * m + j) * n, g->lambda + j * N);
    return 0;
}

const family trial_family = {.is = REGULAR_MASS | DIAGONAL_MASS | SLOPES, .controller = COSTATE_PI, .pi_beta = 0.2,
    .needs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .costs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF}, .prepare = prepare,
    .layout = layout, .layout_derivatives = layout_derivatives, .forward = forward, .tangent = tangent,
    .adjoint = adjoint, .estimate = stage_estimate, .free = free};
