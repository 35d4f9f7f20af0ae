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
    return lambda + ((size_t)c * (size_t)d->points + (size_t)k) * (size_t)d->b->N_all;
}

/* ---- Psi_z of y ---- */

static void seed_states(derivation *d, const double *lambda, int k)
{
    const bvp *b = d->b;
    const place *at = &d->at[k];
    size_t n = (size_t)b->n;
    rk_weights(&b->rk, at->theta, b->D, NULL, NULL);
    for (int c = 0; c < d->m; c++) {
        double *z = column(d, d->z, c);
        const double *l = seed(d, lambda, k, c);
        axpy(n, 1, l, y_of(b, z, at->i + at->right));
        for (int j = 0; at->end < 0 && j < b->s; j++) axpy(n, b->D[j], l, X_of(b, z, at->i) + (size_t)j * n);
    }
}

/* ---- q ---- */

/* omega of stage j: the part of lambda that belongs to q after the interval, and at points inside it */
static void weigh(derivation *d, const double *lambda, int i, int j)
{
    bvp *b = d->b;
    size_t nq = (size_t)b->nq, all = nq * (size_t)d->m;
    add_scaled(all, d->omega, NULL, d->x->h[i] * b->rk.b[j], d->tail);
    for (int k = d->first[i]; k >= 0; k = d->next[k]) {
        if (d->at[k].end >= 0) continue;
        rk_weights(&b->rk, d->at[k].theta, b->D, NULL, NULL);
        for (int c = 0; c < d->m; c++)
            axpy(nq, d->x->h[i] * b->D[j], seed(d, lambda, k, c) + b->n, d->omega + (size_t)c * nq);
    }
}

/* tail += the part of lambda that belongs to q at the points of interval i (right: only those at its end) */
static void gather(derivation *d, const double *lambda, int i, int right)
{
    size_t nq = (size_t)d->b->nq;
    for (int k = d->first[i]; k >= 0; k = d->next[k])
        for (int c = 0; d->at[k].right == right && c < d->m; c++)
            axpy(nq, 1, seed(d, lambda, k, c) + d->b->n, d->tail + (size_t)c * nq);
}

static void gradients_to(derivation *d, double *y)
{
    size_t n = (size_t)d->b->n;
    for (int c = 0; c < d->m; c++) {
        d->tb[c] = 0;
        d->to[c] = into_pm(&d->b->maps, d->ends ? &d->tb[c] : NULL, y ? y + (size_t)c * n : NULL, d->mu, (size_t)c);
    }
}

static int wanted(const derivation *d) { return d->mu || d->ends; }

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
    if (!d->ends && !d->times) return 0;
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
    const place *at = &d->at[k];
    size_t n = (size_t)b->n, nq = (size_t)b->nq;
    const double *l = seed(d, lambda, k, c);
    double sum = 0;
    rk_weights(&b->rk, at->theta, NULL, b->D1, NULL);
    for (size_t j = 0; j < (size_t)b->s; j++) {
        sum += b->D1[j] * dot(n, l, X_of(b, d->x->z, at->i) + j * n);
        sum += b->D1[j] * d->x->h[at->i] * dot(nq, l + n, d->rates + j * nq);
    }
    return sum;
}

/* theta = (t_k - t)/h */
static void move_points(derivation *d, const double *lambda, int i)
{
    for (int k = d->first[i]; (d->ends || d->times) && k >= 0; k = d->next[k])
        for (int c = 0; d->at[k].end < 0 && c < d->m; c++) {
            double by_time = slope(d, lambda, k, c) / d->x->h[i];
            if (d->times) d->times[(size_t)c * (size_t)d->points + (size_t)k] += by_time;
            d->dt[c] -= by_time;
            d->dh[c] -= d->at[k].theta * by_time;
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
        for (int k = d->first[i]; k >= 0; k = d->next[k]) seed_states(d, lambda, k);
        gather(d, lambda, i, 1);
        for (int j = 0; nq > 0 && j < b->s; j++) TRY(integral_stage(d, lambda, i, j));
        move_points(d, lambda, i);
        gather(d, lambda, i, 0);
        derivation_to_ends(d, i);
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
    TRY(equation_adjoints_apart(&b->maps, &x, d->m, d->w, n, d->to, d->ends ? d->K : NULL, n));
    for (int c = 0; d->ends && c < d->m; c++) {
        d->dt[c] += d->tb[c];
        d->dh[c] += b->rk.c[j] * d->tb[c] + dot(n, d->K + (size_t)c * n, b->K) / h;
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
        costate_gradient g = into_pm(&b->edges, NULL, NULL, d->mu, (size_t)c);
        if (d->c) axpy(n, 1, alpha, d->c + (size_t)c * n);
        add_scaled(n, d->w, NULL, -1, alpha);
        if (g.p) TRY(map_adjoint(&b->edges, &b->g, &x, d->w, &g));
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
        derivation_to_ends(d, i);
    }
    return gradient_of_conditions(d);
}

int adjoints(derivation *d, const double *lambda)
{
    bvp *b = d->b;
    TRY(right_sides(d, lambda));
    b->count.solves += d->m;
    TRY(b->system->solve(b, 1, d->m, d->z));
    return adjoint_gradients(d);
}

int gradients_finite(bvp *b, int m, int points, const double *mu, const double *ends, const double *times,
                     const double *c)
{
    const struct { const double *x; int count; } table[] = {{mu, b->np}, {ends, b->nends}, {times, points}, {c, b->n}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].x)
            TRY(space_finite(&b->maps.space, (size_t)table[k].count * (size_t)m, table[k].x, 0.5));
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
    derivation d = {.m = s->m, .points = s->points, .t = s->t, .mu = b->np ? s->mu : NULL, .ends = s->ends,
                    .times = s->times, .c = s->c};
    int status = derivation_begin(b, &d, BY_ADJOINT);
    size_t m = (size_t)d.m;
    if (status == 0 && !all_finite((size_t)b->N_all * (size_t)d.points * m, s->lambda))
        status = fail(&b->v, COSTATE_BAD_ARGUMENT, "adjoints.lambda holds a NaN or Inf.");
    if (status == 0) {
        zero(s->ends, (size_t)b->nends * m);
        zero(s->times, (size_t)d.points * m);
        zero(s->c, (size_t)b->n * m);
        status = adjoints(&d, s->lambda);
        if (status == 0) status = gradients_finite(b, d.m, d.points, d.mu, s->ends, s->times, s->c);
    }
    if (d.b) derivation_end(&d);
    return bvp_failed(b, status, "a derivative of the solution");
}
