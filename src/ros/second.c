/* second.c (ros) - a functional and its derivatives along m directions back through one Rosenbrock step: the derivative
   of adjoint.c, with x_0, x_i, e_i of tangent.c and e'_i = (h' gamma_i, U'_i, 0) (mathematics, eq. 6.16 to 6.20).

       E^T u'_i = [right-hand side of u_i]' - E'^T u_i                                                       i = s..1
       -E'^T u_i = h'/(h^2 gamma) M^T u_i + [f_y^T u_i]'_0
       v'_i = f'(i)^T u'_i + [f'(i)^T u_i]'_i + the same of r with h b_i theta
       H'_i = grad { u'_i^T f' e_i + u_i^T f' e'_i + u_i^T f''[e_i, x_0] } + the same of r with h b_i theta
       h'-part: sum { alpha_i v'_i^t + gamma_i (f_t^T u'_i + [f_t^T u_i]'_0) + (1/h) (K_i^T M^T u'_i + K'_i^T M^T u_i)
                      - (h'/h^2) K_i^T M^T u_i + the derivative of the rates' part }

   [ ]'_0, [ ]'_i: along x_0 at the start of the step, along x_i at stage i, with u_i and theta held fixed.  The rates'
   weights w = h b_i theta have derivatives, too: w' = b_i (h theta' + h' theta). */
#include <string.h>
#include "ros/ros.h"

typedef struct {
    stepper *c;
    const record *r;
    const directions *d;
    const factors *f;
    ros_back of, dots;          /* the functional; its derivatives */
    const double *w, *wd;       /* of the stage: nq, nq*m; NULL: it has no rates */
    costate_point at0, e;       /* the start of the step; e_i */
} back;

static const double *adjoint_of(const back *x, int i) { return x->of.g->U + (size_t)i * (size_t)x->c->n; }

static const double *theta(const back *x) { return x->of.g->lambda + x->c->n; }

/* w, w' of stage i */
static void weights_of_rates(back *x, int i)
{
    stepper *c = x->c;
    const column_work *a = &work(c)->columns;
    size_t nq = (size_t)c->nq;
    x->w = ros_theta(c, x->r, x->of.g, i);
    if (x->w) memcpy(a->theta, x->w, nq * sizeof *a->theta);
    if (x->w) x->w = a->theta;
    x->wd = ros_theta(c, x->r, x->dots.g, i);
    for (size_t j = 0; x->wd && j < (size_t)x->d->m; j++)
        axpy(nq, x->d->dh[j] * c->m->b[i], theta(x), a->rates + j * nq);
}

/* [F'(at)^T u_i]' along dx, and the rates' */
static int curve(const back *x, int i, const costate_point *at, const costate_point *dx, const costate_gradient *to)
{
    maps *a = x->c->maps;
    TRY(map_adjoint_tangent(a, &a->rhs, at, dx, adjoint_of(x, i), to));
    return x->w ? map_adjoint_tangent(a, &a->cost, at, dx, x->w, to) : 0;
}

/* h' (1/h^2) M^T (u_i/gamma - sum_{j>i} c_ji u_j) onto the right-hand side */
static void moving_matrix(const back *x, int i, double *sum, double *rho)
{
    const stepper *c = x->c;
    size_t n = (size_t)c->n, s = (size_t)c->s;
    double column[STAGES_MOST];
    for (size_t k = 0; k < s; k++) column[k] = c->m->C[k * s + (size_t)i];
    add_scaled(n, sum, NULL, 1 / c->m->gamma, adjoint_of(x, i));
    combine(n, sum, sum, -1, c->s - i - 1, column + i + 1, x->of.g->U + (size_t)(i + 1) * n, n);
    for (size_t j = 0; j < (size_t)x->d->m; j++) {
        double by = ros_over_square(x->r->h, x->d->dh[j]);
        if (by != 0) mass_multiply(c->maps, 1, by, 1, sum, rho + j * n);
    }
}

static int right_hand_side(const back *x, int i)
{
    stepper *c = x->c;
    size_t n = (size_t)c->n, m = (size_t)x->d->m;
    double *rho = x->dots.g->U + (size_t)i * m * n, *by_t = work(c)->by_t;
    TRY(ros_right_hand_side(c, x->r, &x->dots, i, x->wd));
    moving_matrix(x, i, work(c)->v1, rho);
    for (size_t j = 0; j < m; j++) {
        costate_point x0 = ros_start_direction(c, x->d, (int)j);
        costate_gradient to = {.t = x->dots.g->times ? by_t + j : NULL, .y = rho + j * n}, rates = {.y = to.y};
        by_t[j] = 0;
        TRY(map_adjoint_tangent(c->maps, &c->maps->rhs, &x->at0, &x0, adjoint_of(x, i), &to));
        if (x->w) TRY(map_adjoint_tangent(c->maps, &c->maps->cost, &x->at0, &x0, x->w, &rates));
    }
    return 0;
}

/* [f'(i)^T u_i]'_i */
static int first_order(const back *x, int i)
{
    stepper *c = x->c;
    const functionals *gd = x->dots.g;
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n;
    costate_point at = point(c->maps, x->r->t + c->m->c[i] * x->r->h, ros_stage(c, x->r, i, work(c)->Y));
    const costate_point *dx = ros_stage_directions(c, x->d, i);
    const costate_gradient *to = columns_to(c, a, gd, x->dots.Yb + (size_t)i * n * (size_t)gd->m, n);
    for (int j = 0; j < gd->m; j++) TRY(curve(x, i, &at, &dx[j], &to[j]));
    columns_times(a, gd, c->m->c[i]);
    for (int j = 0; x->w && gd->times && j < gd->m; j++) {
        TRY(map_tangent(c->maps, &c->maps->cost, &at, &dx[j], work(c)->rq));
        gd->h[j] += c->m->b[i] * dot((size_t)c->nq, work(c)->rq, theta(x));
    }
    return 0;
}

/* H'_i but for what is H_i of u'_i */
static int second_order(const back *x, int i)
{
    stepper *c = x->c;
    const functionals *gd = x->dots.g;
    maps *a = c->maps;
    size_t n = (size_t)c->n, m = (size_t)gd->m;
    for (size_t j = 0; j < m; j++) {
        costate_point x0 = ros_start_direction(c, x->d, (int)j);
        costate_point ed = {.t = x->d->dh[j] * c->m->gi[i], .y = x->d->Xd + ((size_t)i * m + j) * n};
        costate_gradient to = into_pm(a, gd->times ? &gd->t[j] : NULL, x->dots.sum + j * n, gd->mu, j);
        TRY(curve(x, i, &x->at0, &ed, &to));
        TRY(map_adjoint_tangent2(a, &a->rhs, &x->at0, &x->e, &x0, adjoint_of(x, i), &to));
        if (x->w) TRY(map_adjoint_tangent2(a, &a->cost, &x->at0, &x->e, &x0, x->w, &to));
    }
    return 0;
}

/* b_i theta^T { r' e'_i + h' gamma_i r_t + r''[e_i + h gamma_i, x_0] } */
static int moving_rates(const back *x, int i)
{
    stepper *c = x->c;
    const map *cost = &c->maps->cost;
    const functionals *gd = x->dots.g;
    size_t n = (size_t)c->n, m = (size_t)gd->m, nq = (size_t)c->nq;
    costate_point e = {.t = 2 * x->e.t, .y = x->e.y};
    for (size_t j = 0; x->w && j < m; j++) {
        costate_point x0 = ros_start_direction(c, x->d, (int)j);
        costate_point ed = {.t = 2 * x->d->dh[j] * c->m->gi[i], .y = x->d->Xd + ((size_t)i * m + j) * n};
        TRY(map_tangent(c->maps, cost, &x->at0, &ed, work(c)->rq));
        gd->h[j] += c->m->b[i] * dot(nq, work(c)->rq, theta(x));
        TRY(map_tangent2(c->maps, cost, &x->at0, &e, &x0, work(c)->rq));
        gd->h[j] += c->m->b[i] * dot(nq, work(c)->rq, theta(x));
    }
    return 0;
}

static int step_size(const back *x, int i)
{
    stepper *c = x->c;
    const ros_work *a = c->own;
    const functionals *gd = x->dots.g;
    size_t n = (size_t)c->n, m = (size_t)gd->m;
    double h = x->r->h, *slope = a->v1;
    if (!gd->times) return 0;
    memset(a->Mu, 0, n * sizeof *a->Mu);
    mass_multiply(c->maps, 1, 1, 1, adjoint_of(x, i), a->Mu);
    ros_slope(c, x->r, i, slope);
    double hK = dot(n, slope, a->Mu);
    for (size_t j = 0; j < m; j++) {
        const double *Ud = x->d->Xd + j * n;
        add_scaled(n, slope, NULL, 1 / c->m->gamma, Ud + (size_t)i * m * n);
        combine(n, slope, slope, -1, i, c->m->C + (size_t)i * (size_t)c->s, Ud, n * m);
        gd->h[j] += ros_over_square(h, dot(n, slope, a->Mu) - 2 * x->d->dh[j] / h * hK);
        gd->h[j] += c->m->gi[i] * a->by_t[j];
    }
    return moving_rates(x, i);
}

static int stage(back *x, int i)
{
    stepper *c = x->c;
    size_t n = (size_t)c->n;
    accuracy how = {.left = c->m->gi[i], .from = &work(c)->sweep};
    x->e = (costate_point){.t = x->r->h * c->m->gi[i], .y = x->r->X + (size_t)i * n};
    weights_of_rates(x, i);
    TRY(ros_right_hand_side(c, x->r, &x->of, i, x->w));
    TRY(ros_solve(c, x->f, 1, 1, &how, x->of.g->U + (size_t)i * n));
    TRY(ros_stage_back(c, x->r, &x->of, i, x->w));
    TRY(right_hand_side(x, i));
    how.first = 1;
    TRY(ros_solve(c, x->f, 1, x->d->m, &how, x->dots.g->U + (size_t)i * n * (size_t)x->d->m));
    TRY(ros_stage_back(c, x->r, &x->dots, i, x->wd));
    TRY(first_order(x, i));
    TRY(second_order(x, i));
    return step_size(x, i);
}

int ros_second(stepper *c, const record *r, const directions *d, const functionals *g, const functionals *gd)
{
    ros_work *a = c->own;
    size_t n = (size_t)c->n, s = (size_t)c->s;
    back x = {.c = c, .r = r, .d = d, .of = {g, a->Yb, a->sum}, .dots = {gd, a->Yb + s * n, a->sum + n},
              .at0 = point(c->maps, r->t, r->y)};
    TRY(ros_matrices(c, r, &x.f));
    if (g->times) TRY(ros_time_slope(c, r));
    memset(a->sum, 0, n * (size_t)(d->m + 1) * sizeof *a->sum);
    for (int i = c->s - 1; i >= 0; i--) TRY(stage(&x, i));
    ros_finish_back(c, &x.of);
    ros_finish_back(c, &x.dots);
    return 0;
}
