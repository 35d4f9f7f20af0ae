/* adjoint.c (ros) - m functionals back through one Rosenbrock step: the transpose of tangent.c
   (mathematics, eq. 6.11 to 6.15).

       E^T u_i = m_i lambda + h b_i r_y^T theta + sum_{j>i} ( a_ji v_j^y + (c_ji/h) M^T u_j ) + seed_i       i = s..1
       v_i = f'(i)^T u_i + h b_i r'(i)^T theta                       (no factor h in front of f'(i)^T u_i)
       H_i = grad [ u_i^T f' e_i + h b_i theta^T r' e_i ],  u_i and e_i = (h gamma_i, U_i, 0) held fixed
       (lambda, mu, t) += sum (v_i + H_i)
       h = sum { alpha_i v_i^t + gamma_i f_t^T u_i + (1/h) K_i^T M^T u_i
                 + b_i theta^T [ r_i + r' e_i + h gamma_i r_t ] } */
#include <string.h>
#include "ros/ros.h"

static int has_cost(const stepper *c, int i) { return c->nq && c->m->b[i] != 0; }

/* r'(x)^T w, all columns, to where `to` says; w: h b_i theta, NULL: zero */
static int rates_back(stepper *c, int m, const costate_point *x, const double *w, const costate_gradient *to)
{
    return w ? map_adjoints(c->maps, &c->maps->cost, x, m, w, (size_t)c->nq, to) : 0;
}

int ros_right_hand_side(stepper *c, const record *r, const ros_back *b, int i, const double *w)
{
    const functionals *g = b->g;
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m, s = (size_t)c->s;
    double column[STAGES_MOST];
    for (size_t k = 0; k < s; k++) column[k] = c->m->A[k * s + (size_t)i];
    for (int j = 0; j < g->m; j++) {
        double *to = g->U + (size_t)i * stride + (size_t)j * n;
        const double *Yb = b->Yb + (size_t)(i + 1) * stride + (size_t)j * n;
        add_scaled(n, to, NULL, c->m->d[i], g->lambda + (size_t)j * (size_t)c->N);
        combine(n, to, to, 1, c->s - i - 1, column + i + 1, Yb, stride);
        ros_coupling(c, r->h, 1, i, i + 1, c->s, g->U + (size_t)j * n, stride, to);
        if (g->seed) axpy(n, 1, g->seed + (size_t)i * stride + (size_t)j * n, to);
        a->to[j] = (costate_gradient){.y = to};
    }
    costate_point x = point(c->maps, r->t, r->y);
    return rates_back(c, g->m, &x, w, a->to);
}

/* v_i: its y-part into Yb_i, p-part into mu, t-part into t and h */
static int first_order(stepper *c, const record *r, const ros_back *b, int i, const double *w)
{
    const functionals *g = b->g;
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n, at = (size_t)i * n * (size_t)g->m;
    costate_point x = point(c->maps, r->t + c->m->c[i] * r->h, i == 0 ? r->y : work(c)->Y);
    memset(b->Yb + at, 0, n * (size_t)g->m * sizeof *b->Yb);
    const costate_gradient *to = columns_to(c, a, g, b->Yb + at, n);
    TRY(map_adjoints(c->maps, &c->maps->rhs, &x, g->m, g->U + at, n, to));
    TRY(rates_back(c, g->m, &x, w, to));
    columns_times(a, g, c->m->c[i]);
    return 0;
}

/* H_i of column j: y-part into H */
static int second_order(stepper *c, const record *r, const functionals *g, int i, int j, const double *w,
                        const double *u, double *H)
{
    costate_point x = point(c->maps, r->t, r->y), e = {.t = r->h * c->m->gi[i], .y = r->X + (size_t)i * (size_t)c->n};
    costate_gradient to = into_pm(c->maps, g->times ? &g->t[j] : NULL, H, g->mu, (size_t)j);
    TRY(map_adjoint_tangent(c->maps, &c->maps->rhs, &x, &e, u, &to));
    return w ? map_adjoint_tangent(c->maps, &c->maps->cost, &x, &e, w + (size_t)j * (size_t)c->nq, &to) : 0;
}

static int step_size(stepper *c, const record *r, const functionals *g, int i, const double *u)
{
    const ros_work *a = c->own;
    size_t n = (size_t)c->n;
    ros_slope(c, r, i, a->v1);
    memset(a->v2, 0, n * sizeof *a->v2);
    mass_multiply(c->maps, 0, 1, 1, a->v1, a->v2);
    for (int j = 0; j < g->m; j++) {
        const double *uj = u + (size_t)j * n;
        g->h[j] += c->m->gi[i] * dot(n, a->ft, uj) / a->unit;
        g->h[j] += ros_over_square(r->h, dot(n, a->v2, uj));
    }
    if (!has_cost(c, i)) return 0;
    costate_point x = point(c->maps, r->t, r->y), e = {.t = 2 * r->h * c->m->gi[i], .y = r->X + (size_t)i * n};
    TRY(map_value(c->maps, &c->maps->cost, r->t + c->m->c[i] * r->h, i == 0 ? r->y : a->Y, a->r));
    columns_rate(c, g, c->m->b[i], a->r);
    TRY(map_tangent(c->maps, &c->maps->cost, &x, &e, a->r));       /* r' e_i + h gamma_i r_t */
    columns_rate(c, g, c->m->b[i], a->r);
    return 0;
}

int ros_stage_back(stepper *c, const record *r, const ros_back *b, int i, const double *w)
{
    const functionals *g = b->g;
    size_t n = (size_t)c->n;
    const double *u = g->U + (size_t)i * n * (size_t)g->m;
    ros_stage(c, r, i, work(c)->Y);
    TRY(first_order(c, r, b, i, w));
    for (int j = 0; j < g->m; j++)
        TRY(second_order(c, r, g, i, j, w, u + (size_t)j * n, b->sum + (size_t)j * n));
    return g->times ? step_size(c, r, g, i, u) : 0;
}

const double *ros_theta(const stepper *c, const record *r, const functionals *g, int i)
{
    return has_cost(c, i) ? columns_theta(c, &work(c)->columns, r, g, c->m->b[i]) : NULL;
}

static int stage(stepper *c, const record *r, const ros_back *b, const factors *f, int i)
{
    const functionals *g = b->g;
    const double *w = ros_theta(c, r, g, i);
    TRY(ros_right_hand_side(c, r, b, i, w));
    double *u = g->U + (size_t)i * (size_t)c->n * (size_t)g->m;
    TRY(ros_solve(c, f, 1, g->m, &(accuracy){.left = c->m->gi[i], .from = &work(c)->sweep}, u));
    return ros_stage_back(c, r, b, i, w);
}

void ros_finish_back(const stepper *c, const ros_back *b)
{
    size_t n = (size_t)c->n, stride = n * (size_t)b->g->m;
    double one[STAGES_MOST];
    for (int i = 0; i < c->s; i++) one[i] = 1;
    for (int j = 0; j < b->g->m; j++) {
        double *lambda = b->g->lambda + (size_t)j * (size_t)c->N;
        axpy(n, 1, b->sum + (size_t)j * n, lambda);
        combine(n, lambda, lambda, 1, c->s, one, b->Yb + (size_t)j * n, stride);
    }
}

int ros_adjoint(stepper *c, const record *r, const functionals *g)
{
    const factors *f;
    const ros_back b = {g, work(c)->Yb, work(c)->sum};
    TRY(ros_matrices(c, r, &f));
    if (g->times) TRY(ros_time_slope(c, r));
    memset(b.sum, 0, (size_t)c->n * (size_t)g->m * sizeof *b.sum);
    for (int i = c->s - 1; i >= 0; i--) TRY(stage(c, r, &b, f, i));
    ros_finish_back(c, &b);
    return 0;
}
