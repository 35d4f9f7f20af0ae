/* tangent.c (ros) - m directions through one Rosenbrock step (step-maps 4, TLM).

       x_0 = (t', y', p'),  x_i = (t' + alpha_i h', y' + sum a_ij U'_j, p'),  e_i = (h gamma_i, U_i, 0)
       E U'_i = f'(i) x_i + (1/h) M sum c_ij U'_j + f''[e_i, x_0] + h' gamma_i f_t + (h'/h) M K_i
       y+' = y' + sum m_i U'_i
       q+' = q' + sum b_i { h' (r_i + r' e_i) + h ( r'(i) x_i + r' (h' gamma_i, U'_i, 0) + r''[e_i, x_0] ) } */
#include <string.h>
#include "ros/ros.h"

/* points and directions of stage i, along direction j */
typedef struct { costate_point at0, at, e, x0, x; int i, j; double dh; } bundle;

static int right_hand_side(stepper *c, const record *r, const directions *d, const bundle *b, double *to)
{
    const ros_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)d->m;
    TRY(map_tangent(c->maps, &c->maps->rhs, &b->at, &b->x, to));
    TRY(map_tangent2(c->maps, &c->maps->rhs, &b->at0, &b->e, &b->x0, a->v2));
    axpy(n, 1, a->v2, to);
    ros_coupling(c, r->h, 0, b->i, 0, b->i, d->Xd + (size_t)b->j * n, stride, to);
    if (b->dh == 0) return 0;
    axpy(n, b->dh * c->m->gi[b->i], a->ft, to);
    ros_slope(c, r, b->i, a->v2);
    mass_multiply(c->maps, 0, b->dh / (r->h * r->h), 1, a->v2, to);
    return 0;
}

static int quadrature(stepper *c, const record *r, const directions *d, const bundle *b)
{
    const ros_work *a = c->own;
    size_t nq = (size_t)c->nq, n = (size_t)c->n;
    double w = c->m->b[b->i], *q1 = d->V1 + (size_t)b->j * (size_t)c->N + n;
    if (!nq || w == 0) return 0;
    costate_point u = {b->dh * c->m->gi[b->i], d->Xd + ((size_t)b->i * (size_t)d->m + (size_t)b->j) * n, NULL};
    TRY(map_tangent(c->maps, &c->maps->cost, &b->at, &b->x, a->r));
    axpy(nq, r->h * w, a->r, q1);
    TRY(map_tangent(c->maps, &c->maps->cost, &b->at0, &u, a->r));
    axpy(nq, r->h * w, a->r, q1);
    TRY(map_tangent2(c->maps, &c->maps->cost, &b->at0, &b->e, &b->x0, a->r));
    axpy(nq, r->h * w, a->r, q1);
    if (b->dh == 0) return 0;
    TRY(map_value(c->maps, &c->maps->cost, b->at.t, b->at.y, a->r));
    axpy(nq, b->dh * w, a->r, q1);
    TRY(map_tangent(c->maps, &c->maps->cost, &b->at0, &b->e, a->r));
    axpy(nq, b->dh * w, a->r, q1);
    return 0;
}

static bundle gather(stepper *c, const record *r, const directions *d, int i, int j)
{
    size_t n = (size_t)c->n, stride = n * (size_t)d->m;
    const double *v = d->V + (size_t)j * (size_t)c->N, *vp = d->Vp ? d->Vp + (size_t)j * (size_t)c->np : NULL;
    bundle b = {.i = i, .j = j, .dh = d->dh[j]};
    b.at0 = (costate_point){r->t, r->y, c->maps->p};
    b.at = (costate_point){r->t + c->m->c[i] * r->h, i == 0 ? r->y : work(c)->Y, c->maps->p};
    b.e = (costate_point){r->h * c->m->gi[i], r->X + (size_t)i * n, NULL};
    b.x0 = (costate_point){d->dt[j], v, vp};
    b.x = (costate_point){d->dt[j] + c->m->c[i] * d->dh[j], v, vp};
    if (i > 0) {
        combine(n, work(c)->v1, v, 1, i, c->m->A + (size_t)i * (size_t)c->s, d->Xd + (size_t)j * n, stride);
        b.x.y = work(c)->v1;
    }
    return b;
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
        ros_stage(c, r, i, work(c)->Y);
        for (int j = 0; j < d->m; j++) {
            bundle b = gather(c, r, d, i, j);
            TRY(right_hand_side(c, r, d, &b, X + (size_t)j * n));
        }
        TRY(ros_solve(c, f, 0, d->m, X));
        for (int j = 0; c->nq && j < d->m; j++) {
            bundle b = gather(c, r, d, i, j);
            TRY(quadrature(c, r, d, &b));
        }
    }
    for (int j = 0; j < d->m; j++)
        combine(n, d->V1 + (size_t)j * N, d->V1 + (size_t)j * N, 1, c->s, c->m->d, d->Xd + (size_t)j * n, stride);
    return 0;
}
