/* tangent.c (ros) - m directions through one Rosenbrock step (mathematics, eq. 6.8 to 6.9).

       x_0 = (t', y', p'),  x_i = (t' + alpha_i h', y' + sum a_ij U'_j, p'),  e_i = (h gamma_i, U_i, 0)
       E U'_i = f'(i) x_i + (1/h) M sum c_ij U'_j + f''[e_i, x_0] + h' gamma_i f_t + (h'/h) M K_i
       y+' = y' + sum m_i U'_i
       q+' = q' + sum b_i { h' (r_i + r' e_i) + h ( r'(i) x_i + r' (h' gamma_i, U'_i, 0) + r''[e_i, x_0] ) } */
#include <string.h>
#include "ros/ros.h"

/* points of stage i, and the direction of f_y and f_t that its matrix and its time bring */
typedef struct { costate_point at0, at, e; int i; } bundle;

static bundle gather(stepper *c, const record *r, int i)
{
    const double *Y = ros_stage(c, r, i, work(c)->Y);
    return (bundle){.at0 = point(c->maps, r->t, r->y),
                    .at = point(c->maps, r->t + c->m->c[i] * r->h, Y),
                    .e = {.t = r->h * c->m->gi[i], .y = r->X + (size_t)i * (size_t)c->n},
                    .i = i};
}

/* x_0 along direction j */
costate_point ros_start_direction(const stepper *c, const directions *d, int j)
{
    return direction(c, d, j, 0, d->V + (size_t)j * (size_t)c->N);
}

/* x_i along all directions */
const costate_point *ros_stage_directions(const stepper *c, const directions *d, int i)
{
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m;
    for (size_t j = 0; i > 0 && j < m; j++)
        combine(n, a->y + j * n, d->V + j * N, 1, i, c->m->A + (size_t)i * (size_t)c->s, d->Xd + j * n, n * m);
    return columns_along(c, a, d, c->m->c[i], i > 0 ? a->y : d->V, i > 0 ? n : N);
}

/* what one direction adds to the product with f'(i) */
static int right_hand_side(stepper *c, const record *r, const directions *d, const bundle *b, int j, double *to)
{
    const ros_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)d->m;
    costate_point x0 = ros_start_direction(c, d, j);
    double dh = d->dh[j];
    if (!ros_holds(c)) {
        TRY(map_tangent2(c->maps, &c->maps->rhs, &b->at0, &b->e, &x0, a->v2));
        axpy(n, 1, a->v2, to);
    }
    ros_coupling(c, r->h, 0, b->i, 0, b->i, d->Xd + (size_t)j * n, stride, to);
    if (dh == 0) return 0;
    axpy(n, dh / a->unit * c->m->gi[b->i], a->ft, to);
    ros_slope(c, b->i, r->X, n, a->v2);
    mass_multiply(c->maps, 0, ros_over_square(r->h, dh), 1, a->v2, to);
    return 0;
}

/* what does not depend on the new slopes' tangents but on h': for one direction */
static int moving_rates(stepper *c, const directions *d, const bundle *b, int j, double *q1)
{
    const ros_work *a = c->own;
    size_t nq = (size_t)c->nq;
    double w = d->dh[j] * c->m->b[b->i];
    if (d->dh[j] == 0) return 0;
    TRY(map_value(c->maps, &c->maps->cost, b->at.t, b->at.y, a->r));
    axpy(nq, w, a->r, q1);
    if (ros_holds(c)) return 0;
    TRY(map_tangent(c->maps, &c->maps->cost, &b->at0, &b->e, a->r));
    axpy(nq, w, a->r, q1);
    return 0;
}

/* rates along the directions dx at x, all columns, into q1 */
static int add_rates(stepper *c, const directions *d, double w, const costate_point *x, const costate_point *dx)
{
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n, N = (size_t)c->N, nq = (size_t)c->nq;
    TRY(map_tangents(c->maps, &c->maps->cost, x, d->m, dx, a->rates, nq));
    for (size_t j = 0; j < (size_t)d->m; j++) axpy(nq, w, a->rates + j * nq, d->V1 + j * N + n);
    return 0;
}

static int quadrature(stepper *c, const record *r, const directions *d, const bundle *b, const costate_point *dx)
{
    const ros_work *a = c->own;
    size_t nq = (size_t)c->nq, n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m, i = (size_t)b->i;
    double w = r->h * c->m->b[i];
    if (!nq || c->m->b[i] == 0) return 0;
    TRY(add_rates(c, d, w, &b->at, dx));
    for (size_t j = 0; ros_holds(c) && j < m; j++) TRY(moving_rates(c, d, b, (int)j, d->V1 + j * N + n));
    if (ros_holds(c)) return 0;
    for (size_t j = 0; j < m; j++)
        a->columns.dx[j] = (costate_point){.t = d->dh[j] * c->m->gi[i], .y = d->Xd + (i * m + j) * n};
    TRY(add_rates(c, d, w, &b->at0, a->columns.dx));
    for (size_t j = 0; j < m; j++) {
        costate_point x0 = ros_start_direction(c, d, (int)j);
        double *q1 = d->V1 + j * N + n;
        TRY(map_tangent2(c->maps, &c->maps->cost, &b->at0, &b->e, &x0, a->r));
        axpy(nq, w, a->r, q1);
        TRY(moving_rates(c, d, b, (int)j, q1));
    }
    return 0;
}

int ros_tangent(stepper *c, const record *r, const directions *d)
{
    size_t n = (size_t)c->n, N = (size_t)c->N, stride = n * (size_t)d->m;
    const factors *f;
    int moving = 0;
    TRY(ros_matrices(c, r, &f));
    for (int j = 0; j < d->m; j++) moving = moving || d->dh[j] != 0;
    if (moving) TRY(ros_time_slope(c, r));
    memcpy(d->V1, d->V, N * (size_t)d->m * sizeof *d->V1);
    for (int i = 0; i < c->s; i++) {
        double *X = d->Xd + (size_t)i * stride;
        bundle b = gather(c, r, i);
        const costate_point *dx = ros_stage_directions(c, d, i);
        TRY(map_tangents(c->maps, &c->maps->rhs, &b.at, d->m, dx, X, n));
        for (int j = 0; j < d->m; j++) TRY(right_hand_side(c, r, d, &b, j, X + (size_t)j * n));
        TRY(ros_solve(c, f, 0, d->m, &(accuracy){.left = c->m->b[i], .from = &work(c)->sweep, .sweep = 1}, X));
        TRY(quadrature(c, r, d, &b, dx));
    }
    for (int j = 0; j < d->m; j++)
        combine(n, d->V1 + (size_t)j * N, d->V1 + (size_t)j * N, 1, c->s, c->m->d, d->Xd + (size_t)j * n, stride);
    return 0;
}
