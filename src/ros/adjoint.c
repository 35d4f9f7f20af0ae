/* adjoint.c (ros) - m functionals back through one Rosenbrock step: the transpose of tangent.c
   (mathematics, eq. 6.11 to 6.15).

       E^T u_i = m_i lambda + h b_i r_y^T theta + sum_{j>i} ( a_ji v_j^y + (c_ji/h) M^T u_j ) + seed_i       i = s..1
       v_i = f'(i)^T u_i + h b_i r'(i)^T theta                       (no factor h in front of f'(i)^T u_i)
       H_i = grad [ u_i^T f' e_i + h b_i theta^T r' e_i ],  u_i and e_i = (h gamma_i, U_i, 0) held fixed
       (lambda, mu, t) += sum (v_i + H_i)
       h = sum { alpha_i v_i^t + gamma_i f_t^T u_i + (1/h) K_i^T M^T u_i
                 + b_i theta^T [ r_i + r' e_i + h gamma_i r_t ] }

   All of this is linear in lambda, theta and the seeds, so that derivatives of a functional along x_0, x_i, e_i of
   tangent.c and e'_i = (h' gamma_i, U'_i, 0) are further columns, to which terms are added that come from the
   functional (mathematics, section 2.5):

       E^T u'_i = ... + h'/h^2 M^T (u_i/gamma - sum_{j>i} c_ji u_j) + [f_y^T u_i]'_0
       v'_i = ... + [f'(i)^T u_i]'_i,    H'_i = ... + grad { u_i^T f' e'_i + u_i^T f''[e_i, x_0] }
       h' = ... + gamma_i [f_t^T u_i]'_0 + (1/h) K'_i^T M^T u_i - (h'/h^2) K_i^T M^T u_i + b_i theta^T [ ]'

   and the same of r with w = h b_i theta, of which w' = b_i (h theta' + h' theta).  [ ]'_0, [ ]'_i: along x_0 at the
   start of the step, along x_i at stage i, with u_i and theta held fixed. */
#include <string.h>
#include "ros/ros.h"

/* a stage on its way back */
typedef struct {
    stepper *c;
    const record *r;
    const functionals *g;
    int i;
    costate_point at0, at, e;   /* the start of the step, the stage; e_i */
    const double *w;            /* nq*m: h b_i theta; NULL: it has no rates */
    double *u;                  /* n*m: u_i */
} ros_back;

/* [f'(at)^T u_i + r'(at)^T w]' along dx with u_i and w of column j held fixed, onto `to` */
static int curve(const ros_back *b, size_t j, const costate_point *at, const costate_point *dx,
                 const costate_gradient *to)
{
    maps *a = b->c->maps;
    TRY(map_adjoint_tangent(a, &a->rhs, at, dx, b->u + j * (size_t)b->c->n, to));
    return b->w ? map_adjoint_tangent(a, &a->cost, at, dx, b->w + j * (size_t)b->c->nq, to) : 0;
}

static int right_hand_side(const ros_back *b)
{
    stepper *c = b->c;
    const functionals *g = b->g;
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m, s = (size_t)c->s, i = (size_t)b->i;
    double column[STAGES_MOST];
    for (size_t k = i + 1; k < s; k++) column[k] = c->m->A[k * s + i];
    for (int j = 0; j < g->m; j++) {
        double *to = b->u + (size_t)j * n;
        const double *Yb = work(c)->Yb + (i + 1) * stride + (size_t)j * n;
        add_scaled(n, to, NULL, c->m->d[i], g->lambda + (size_t)j * (size_t)c->N);
        combine(n, to, to, 1, c->s - b->i - 1, column + i + 1, Yb, stride);
        ros_coupling(c, b->r->h, 1, b->i, b->i + 1, c->s, g->U + (size_t)j * n, stride, to);
        if (g->seed) axpy(n, 1, g->seed + i * stride + (size_t)j * n, to);
        a->to[j] = (costate_gradient){.y = to};
    }
    int from_rates = b->w && !ros_holds(c);
    return from_rates ? map_adjoints(c->maps, &c->maps->cost, &b->at0, g->m, b->w, (size_t)c->nq, a->to) : 0;
}

/* what the functional adds to the right-hand sides of its derivatives; [f_t^T u_i]'_0 into by_t */
static int moving_matrix(const ros_back *b)
{
    stepper *c = b->c;
    maps *a = c->maps;
    const directions *d = b->g->along;
    size_t n = (size_t)c->n, s = (size_t)c->s, stride = n * (size_t)b->g->m, i = (size_t)b->i;
    double column[STAGES_MOST], *sum = work(c)->v1, *by_t = work(c)->by_t;
    for (size_t k = i + 1; k < s; k++) column[k] = c->m->C[k * s + i];
    add_scaled(n, sum, NULL, ros_holds(c) ? 0 : 1 / c->m->gamma, b->u);
    combine(n, sum, sum, -1, c->s - b->i - 1, column + i + 1, b->u + stride, stride);
    for (int j = 0; j < d->m; j++) {
        double by = ros_over_square(b->r->h, d->dh[j]), *rho = b->u + (size_t)(1 + j) * n;
        costate_point x0 = ros_start_direction(c, d, j);
        costate_gradient to = {.t = b->g->times ? by_t + j : NULL, .y = rho}, rates = {.y = rho};
        if (by != 0) mass_multiply(a, 1, by, 1, sum, rho);
        by_t[j] = 0;
        if (ros_holds(c)) continue;
        TRY(map_adjoint_tangent(a, &a->rhs, &b->at0, &x0, b->u, &to));
        if (b->w) TRY(map_adjoint_tangent(a, &a->cost, &b->at0, &x0, b->w, &rates));
    }
    return 0;
}

/* v_i: its y-part into Yb_i, p-part into mu, t-part into t and h */
static int first_order(const ros_back *b, const costate_point *dx)
{
    stepper *c = b->c;
    const functionals *g = b->g;
    const ros_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    double *Yb = a->Yb + (size_t)b->i * stride;
    memset(Yb, 0, stride * sizeof *Yb);
    const costate_gradient *to = columns_to(c, &a->columns, g, Yb, n);
    TRY(map_adjoints(c->maps, &c->maps->rhs, &b->at, g->m, b->u, n, to));
    if (b->w) TRY(map_adjoints(c->maps, &c->maps->cost, &b->at, g->m, b->w, (size_t)c->nq, to));
    for (int j = 1; g->along && j < g->m; j++) TRY(curve(b, 0, &b->at, &dx[j - 1], &to[j]));
    columns_times(&a->columns, g, c->m->c[b->i]);
    return 0;
}

/* H_i of column j */
static int second_order(const ros_back *b, int j)
{
    stepper *c = b->c;
    maps *a = c->maps;
    const functionals *g = b->g;
    double *sum = work(c)->sum + (size_t)j * (size_t)c->n;
    costate_gradient to = into_pm(a, g->times ? &g->t[j] : NULL, sum, g->mu, (size_t)j);
    TRY(curve(b, (size_t)j, &b->at0, &b->e, &to));
    if (!g->along || j == 0) return 0;
    costate_point x0 = ros_start_direction(c, g->along, j - 1), ed = ros_matrix_direction(c, g->along, b->i, j - 1);
    TRY(curve(b, 0, &b->at0, &ed, &to));
    TRY(map_adjoint_tangent2(a, &a->rhs, &b->at0, &b->e, &x0, b->u, &to));
    return b->w ? map_adjoint_tangent2(a, &a->cost, &b->at0, &b->e, &x0, b->w, &to) : 0;
}

/* theta_0^T b_i [ r_i + r' e_i + h gamma_i r_t ]' onto h of derivatives; e: e_i with twice its t; spoils w */
static int moving_rates(const ros_back *b, const costate_point *dx, const costate_point *e)
{
    stepper *c = b->c;
    const map *cost = &c->maps->cost;
    const functionals *g = b->g;
    const double *theta = g->lambda + c->n;
    double *rate = work(c)->rq, weight = c->m->b[b->i];
    TRY(columns_moving_rate(c, &work(c)->columns, g, weight, &b->at, dx));
    for (int j = 1; j < g->m; j++) {
        costate_point x0 = ros_start_direction(c, g->along, j - 1), ed = ros_matrix_direction(c, g->along, b->i, j - 1);
        ed.t *= 2;
        TRY(map_tangent(c->maps, cost, &b->at0, &ed, rate));
        g->h[j] += weight * dot((size_t)c->nq, rate, theta);
        TRY(map_tangent2(c->maps, cost, &b->at0, e, &x0, rate));
        g->h[j] += weight * dot((size_t)c->nq, rate, theta);
    }
    return 0;
}

static int rates(const ros_back *b, const costate_point *dx)
{
    stepper *c = b->c;
    const map *cost = &c->maps->cost;
    double *rate = work(c)->r, weight = c->m->b[b->i];
    costate_point e = {.t = 2 * b->e.t, .y = b->e.y};
    TRY(map_value(c->maps, cost, b->at.t, b->at.y, rate));
    columns_rate(c, b->g, weight, rate);
    if (ros_holds(c)) return b->g->along ? columns_moving_rate(c, &work(c)->columns, b->g, weight, &b->at, dx) : 0;
    TRY(map_tangent(c->maps, cost, &b->at0, &e, rate));             /* r' e_i + h gamma_i r_t */
    columns_rate(c, b->g, weight, rate);
    return b->g->along ? moving_rates(b, dx, &e) : 0;
}

/* gamma_i [f_t^T u_i]'_0 + (1/h) K'_i^T M^T u_i - (h'/h^2) K_i^T M^T u_i onto h of derivatives; K: h K_i */
static void moving_slopes(const ros_back *b, const double *K)
{
    const stepper *c = b->c;
    const ros_work *a = c->own;
    const directions *d = b->g->along;
    size_t n = (size_t)c->n;
    memset(a->Mu, 0, n * sizeof *a->Mu);
    mass_multiply(c->maps, 1, 1, 1, b->u, a->Mu);
    double hK = dot(n, K, a->Mu);
    for (int j = 0; j < d->m; j++) {
        ros_slope(c, b->i, d->Xd + (size_t)j * n, n * (size_t)d->m, a->v1);
        b->g->h[1 + j] += ros_over_square(b->r->h, dot(n, a->v1, a->Mu) - 2 * d->dh[j] / b->r->h * hK);
        b->g->h[1 + j] += c->m->gi[b->i] * a->by_t[j];
    }
}

static int step_size(const ros_back *b, const costate_point *dx)
{
    stepper *c = b->c;
    const ros_work *a = c->own;
    const functionals *g = b->g;
    size_t n = (size_t)c->n;
    ros_slope(c, b->i, b->r->X, n, a->v1);
    memset(a->v2, 0, n * sizeof *a->v2);
    mass_multiply(c->maps, 0, 1, 1, a->v1, a->v2);
    for (int j = 0; j < g->m; j++) {
        const double *u = b->u + (size_t)j * n;
        g->h[j] += c->m->gi[b->i] * dot(n, a->ft, u) / a->unit;
        g->h[j] += ros_over_square(b->r->h, dot(n, a->v2, u));
    }
    if (g->along) moving_slopes(b, a->v1);
    return b->w ? rates(b, dx) : 0;
}

/* u_i of the functionals; then, with the same matrix, of derivatives */
static int ros_adjoint_solve(const ros_back *b, const factors *f)
{
    stepper *c = b->c;
    const functionals *g = b->g;
    accuracy how = {.left = c->m->gi[b->i], .from = &work(c)->sweep, .sweep = 1};
    if (!g->along) return ros_solve(c, f, 1, g->m, &how, b->u);
    TRY(ros_solve(c, f, 1, 1, &how, b->u));
    TRY(moving_matrix(b));
    how.first = 1;
    return ros_solve(c, f, 1, g->m - 1, &how, b->u + c->n);
}

static int stage(stepper *c, const record *r, const functionals *g, const factors *f, int i)
{
    size_t n = (size_t)c->n;
    int has_rates = c->nq && c->m->b[i] != 0;
    ros_back b = {c, r, g, i, point(c->maps, r->t, r->y),
                  point(c->maps, r->t + c->m->c[i] * r->h, ros_stage(c, r, i, work(c)->Y)),
                  {.t = r->h * c->m->gi[i], .y = r->X + (size_t)i * n},
                  has_rates ? columns_theta(c, &work(c)->columns, r, g, c->m->b[i]) : NULL,
                  g->U + (size_t)i * n * (size_t)g->m};
    TRY(right_hand_side(&b));
    TRY(ros_adjoint_solve(&b, f));
    const costate_point *dx = g->along ? ros_stage_directions(c, g->along, i) : NULL;
    TRY(first_order(&b, dx));
    for (int j = 0; !ros_holds(c) && j < g->m; j++) TRY(second_order(&b, j));
    return g->times ? step_size(&b, dx) : 0;
}

int ros_adjoint(stepper *c, const record *r, const functionals *g)
{
    const ros_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    const factors *f;
    double one[STAGES_MOST];
    TRY(ros_matrices(c, r, &f));
    TRY(ros_transposed(c, r, f));
    if (g->times) TRY(ros_time_slope(c, r));
    memset(a->sum, 0, stride * sizeof *a->sum);
    for (int i = c->s - 1; i >= 0; i--) TRY(stage(c, r, g, f, i));
    for (int i = 0; i < c->s; i++) one[i] = 1;
    for (size_t j = 0; j < (size_t)g->m; j++) {
        double *lambda = g->lambda + j * (size_t)c->N;
        axpy(n, 1, a->sum + j * n, lambda);
        combine(n, lambda, lambda, 1, c->s, one, a->Yb + j * n, stride);
    }
    return 0;
}
