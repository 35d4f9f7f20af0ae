/* adjoint.c - adjoints of the solution: gradients of functionals of (y, q) at points (mathematics, eq. 12.7 and 12.9).

       Psi_z     a point inside:  lambda to y_i,  D_j(theta) lambda to X_j;  r(T_j, Y_j) weighs
                 omega_j = h (b_j sum of q's lambda beyond the interval + sum of those inside D_j(theta) lambda)
       solve     W^T nu = Psi_z^T
       gradient  of w_j . E at the stages, w_j = -h nu_j, and omega_j . r by p, T_j and h:  T_j = t + c_j h,  K = X/h

   Gradients with respect to t and h of an interval are passed on to the ends of its piece. */
#include <string.h>
#include "base/vec.h"
#include "bvp/derive.h"

static const double *seed(const derivation *d, const double *lambda, int k, int c)
{
    return lambda + point_row(d, k, c) * (size_t)d->b->N_all;
}

/* ---- Psi_z of y ---- */

static void seed_states(derivation *d, const double *lambda, int k)
{
    const bvp *b = d->b;
    const mesh_point *at = &d->points.at[k];
    size_t n = (size_t)b->n;
    double D[STAGES_MOST];
    rk_weights(&b->rk, at->theta, D, NULL, NULL);
    for (int c = 0; c < d->m; c++) {
        double *z = column(d, d->z, c);
        const double *l = seed(d, lambda, k, c);
        axpy(n, 1, l, y_of(b, z, at->i + at->right));
        for (int j = 0; at->end < 0 && j < b->s; j++) axpy(n, D[j], l, X_of(b, z, at->i) + (size_t)j * n);
    }
}

/* ---- q ---- */

/* omega of stage j: the part of lambda that belongs to q after the interval, and at points inside it */
static void weigh(derivation *d, const double *lambda, int i, int j)
{
    bvp *b = d->b;
    size_t nq = (size_t)b->nq, all = nq * (size_t)d->m;
    double D[STAGES_MOST];
    add_scaled(all, d->omega, NULL, d->x->h[i] * b->rk.b[j], d->tail);
    for (int k = d->points.first[i]; k >= 0; k = d->points.next[k]) {
        if (d->points.at[k].end >= 0) continue;
        rk_weights(&b->rk, d->points.at[k].theta, D, NULL, NULL);
        for (int c = 0; c < d->m; c++)
            axpy(nq, d->x->h[i] * D[j], seed(d, lambda, k, c) + b->n, d->omega + (size_t)c * nq);
    }
}

/* tail += the part of lambda that belongs to q at the points of interval i (right: only those at its end) */
static void gather(derivation *d, const double *lambda, int i, int right)
{
    size_t nq = (size_t)d->b->nq;
    for (int k = d->points.first[i]; k >= 0; k = d->points.next[k])
        for (int c = 0; d->points.at[k].right == right && c < d->m; c++)
            axpy(nq, 1, seed(d, lambda, k, c) + d->b->n, d->tail + (size_t)c * nq);
}

static void gradients_to(derivation *d, double *y)
{
    size_t n = (size_t)d->b->n;
    for (int c = 0; c < d->m; c++) {
        d->tb[c] = 0;
        d->to[c] = into_pm(&d->b->maps, d->into.ends ? &d->tb[c] : NULL, y ? y + (size_t)c * n : NULL, d->into.p,
                           (size_t)c);
    }
}

static int wanted(const derivation *d) { return d->into.p || d->into.ends; }

static int integral_stage(derivation *d, const double *lambda, int i, int j)
{
    bvp *b = d->b;
    size_t n = (size_t)b->n, nq = (size_t)b->nq;
    costate_point x = stage_point(b, d->x, i, j);
    weigh(d, lambda, i, j);
    memset(d->y, 0, n * (size_t)d->m * sizeof *d->y);
    gradients_to(d, d->y);
    TRY(map_adjoints(&b->maps, &b->maps.cost, &x, d->m, d->omega, nq, d->to));
    for (int c = 0; c < d->m; c++) derivation_to_unknowns(b, i, j, d->y + (size_t)c * n, column(d, d->z, c));
    if (!d->into.ends && !d->into.times) return 0;
    TRY(map_value(&b->maps, &b->maps.cost, x.t, x.y, d->rates + (size_t)j * nq));
    for (int c = 0; c < d->m; c++) {
        d->dt[c] += d->tb[c];
        d->dh[c] += b->rk.c[j] * d->tb[c] + dot(nq, d->omega + (size_t)c * nq, d->rates + (size_t)j * nq) / d->x->h[i];
    }
    return 0;
}

/* ---- theta of points ---- */

/* dPsi/dtheta of point k, for column c: lambda . (sum_j D_j' X_j, sum_j D_j' h r_j) */
static double slope(derivation *d, const double *lambda, int k, int c)
{
    bvp *b = d->b;
    const mesh_point *at = &d->points.at[k];
    size_t n = (size_t)b->n, nq = (size_t)b->nq;
    const double *l = seed(d, lambda, k, c);
    double sum = 0, D1[STAGES_MOST];
    rk_weights(&b->rk, at->theta, NULL, D1, NULL);
    for (size_t j = 0; j < (size_t)b->s; j++) {
        sum += D1[j] * dot(n, l, X_of(b, d->x->z, at->i) + j * n);
        sum += D1[j] * d->x->h[at->i] * dot(nq, l + n, d->rates + j * nq);
    }
    return sum;
}

/* theta = (t_k - t)/h */
static void move_points(derivation *d, const double *lambda, int i)
{
    for (int k = d->points.first[i]; (d->into.ends || d->into.times) && k >= 0; k = d->points.next[k])
        for (int c = 0; d->points.at[k].end < 0 && c < d->m; c++) {
            double by_time = slope(d, lambda, k, c) / d->x->h[i];
            if (d->into.times) d->into.times[point_row(d, k, c)] += by_time;
            d->dt[c] -= by_time;
            d->dh[c] -= d->points.at[k].theta * by_time;
        }
}

/* from the last interval to the first */
static int right_sides(derivation *d, const double *lambda)
{
    bvp *b = d->b;
    size_t m = (size_t)d->m, nq = (size_t)b->nq;
    memset(d->z, 0, d->all * m * sizeof *d->z);
    memset(d->tail, 0, nq * m * sizeof *d->tail);
    for (int i = d->x->N - 1; i >= 0; i--) {
        memset(d->dt, 0, m * sizeof *d->dt);
        memset(d->dh, 0, m * sizeof *d->dh);
        for (int k = d->points.first[i]; k >= 0; k = d->points.next[k]) seed_states(d, lambda, k);
        gather(d, lambda, i, 1);
        for (int j = 0; nq > 0 && j < b->s; j++) TRY(integral_stage(d, lambda, i, j));
        move_points(d, lambda, i);
        gather(d, lambda, i, 0);
        derivation_to_ends(d, i, d->dt, d->dh);
    }
    return 0;
}

/* ---- the gradient of w . E ---- */

static int equation_stage(derivation *d, int i, int j)
{
    bvp *b = d->b;
    size_t n = (size_t)b->n;
    double h = d->x->h[i];
    costate_point x = stage_point(b, d->x, i, j);
    gradients_to(d, NULL);
    for (int c = 0; c < d->m; c++)
        add_scaled(n, d->w + (size_t)c * n, NULL, -h, column(d, d->z, c) + (size_t)i * (size_t)b->L + (size_t)j * n);
    TRY(equation_adjoints_apart(&b->maps, &x, d->m, d->w, n, d->to, d->into.ends ? d->K : NULL, n));
    for (int c = 0; d->into.ends && c < d->m; c++) {
        d->dt[c] += d->tb[c];
        d->dh[c] += b->rk.c[j] * d->tb[c] + dot(n, d->K + (size_t)c * n, b->stage.K) / h;
    }
    return 0;
}

static int gradient_of_conditions(derivation *d)
{
    bvp *b = d->b;
    size_t n = (size_t)b->n;
    costate_point x = conditions_point(b, d->x);
    for (int c = 0; c < d->m; c++) {
        const double *alpha = column(d, d->z, c) + d->all - n;
        costate_gradient g = into_pm(&b->edge.maps, NULL, NULL, d->into.p, (size_t)c);
        if (d->into.c) axpy(n, 1, alpha, d->into.c + (size_t)c * n);
        add_scaled(n, d->w, NULL, -1, alpha);
        if (g.p) TRY(map_adjoint(&b->edge.maps, &b->edge.g, &x, d->w, &g));
    }
    return 0;
}

int adjoint_gradients(derivation *d)
{
    bvp *b = d->b;
    size_t m = (size_t)d->m;
    for (int i = 0; wanted(d) && i < d->x->N; i++) {
        memset(d->dt, 0, m * sizeof *d->dt);
        memset(d->dh, 0, m * sizeof *d->dh);
        for (int j = 0; j < b->s; j++) TRY(equation_stage(d, i, j));
        derivation_to_ends(d, i, d->dt, d->dh);
    }
    return gradient_of_conditions(d);
}

int adjoints(derivation *d, const double *lambda)
{
    bvp *b = d->b;
    TRY(right_sides(d, lambda));
    b->count.solves += d->m;
    TRY(b->linear.by->solve(b, 1, d->m, d->z));
    return adjoint_gradients(d);
}

void gradients_begin(const bvp *b, int m, int points, const theta_gradients *g)
{
    const struct { double *x; int count; } table[] = {{g->ends, b->nends}, {g->times, points}, {g->c, b->n}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].x) memset(table[k].x, 0, (size_t)table[k].count * (size_t)m * sizeof(double));
}

int gradients_finite(bvp *b, int m, int points, const theta_gradients *g)
{
    const struct { const double *x; int count; } table[] = {{g->p, b->np}, {g->ends, b->nends}, {g->times, points},
                                                            {g->c, b->n}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].x)
            TRY(space_finite(&b->maps.space, (size_t)table[k].count * (size_t)m, table[k].x));
    return 0;
}

/* checks that the arrays to which gradients are added are finite */
int sums_finite(bvp *b, int m, const double *mu, const char *name)
{
    if (!mu || m < 1 || all_finite((size_t)b->np * (size_t)m, mu)) return 0;
    return fail(&b->v, COSTATE_BAD_ARGUMENT, "%s holds a NaN or Inf.", name);
}

int call_bvp_adjoint(costate_bvp *b, const costate_bvp_adjoints *s)
{
    TRY(bvp_begin(b));
    if (!s || !s->lambda) return fail(&b->v, COSTATE_BAD_ARGUMENT, "%s is NULL.", s ? "adjoints.lambda" : "adjoints");
    TRY(sums_finite(b, s->m, s->mu, "adjoints.mu"));
    derivation d = {.m = s->m, .points = {.count = s->points, .t = s->t},
                    .into = {b->np ? s->mu : NULL, s->ends, s->times, s->c}};
    int status = derivation_begin(b, &d, BY_ADJOINT);
    if (status == 0 && !all_finite((size_t)b->N_all * point_row(&d, 0, d.m), s->lambda))
        status = fail(&b->v, COSTATE_BAD_ARGUMENT, "adjoints.lambda holds a NaN or Inf.");
    if (status == 0) {
        gradients_begin(b, d.m, d.points.count, &d.into);
        status = adjoints(&d, s->lambda);
        if (status == 0) status = gradients_finite(b, d.m, d.points.count, &d.into);
    }
    if (d.b) derivation_end(&d);
    return bvp_failed(b, status, "a derivative of the solution");
}
