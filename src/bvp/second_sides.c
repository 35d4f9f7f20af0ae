/* second_sides.c - the right-hand sides of a Hessian product: points, integrals, stages and conditions, differentiated
   along the directions with their multipliers held fixed (mathematics, eq. 7.5 to 7.7).

   A stage contributes  phi = w . E(T, Y, K, p),  w = -h nu_j;  T = t + c_j h,  Y = y + sum_l a_jl X_l,  K = X_j/h.
   Along x' = (T', Y', K', p'), with w' = -h nu' - h' nu:

       phi_x'   = E_x^T w' + (E''[x', .])^T w
       to       Y' -> y_i, a_jl X_l;   K' -> X_j:  phi_K'/h - phi_K h'/h^2;   T' -> t;   p' -> p
       h        c_j phi_T' - (phi_K'.X + phi_K.X')/h^2 + 2 phi_K.X h'/h^3

   Terms with nu' are on the left-hand side of its equation, and are added to the results when it is known.  omega_j . r
   is treated alike, including the dependence of omega on h and on theta of the points. */
#include <string.h>
#include "base/vec.h"
#include "bvp/second.h"

static double *rho_of(const products *s, int c) { return s->rho + (size_t)c * s->d->all; }
static const double *seed(const products *s, int k) { return s->lambda + (size_t)k * (size_t)s->d->b->N_all; }
static const double *seed2(const products *s, int k, int c)
{
    return s->lambda2 + point_row(s->d, k, c) * (size_t)s->d->b->N_all;
}

static costate_gradient into(const products *s, double *t, double *y, int c)
{
    costate_gradient g = into_pm(&s->d->b->maps, t, y, s->into.p, (size_t)c);
    return g;
}

/* ---- points ---- */

/* tangents of D_j(theta) lambda to X_j, of lambda to y */
static void seed_states(products *s, int k)
{
    const derivation *d = s->d;
    const bvp *b = d->b;
    const mesh_point *at = &d->points.at[k];
    size_t n = (size_t)b->n;
    double D[STAGES_MOST], D1[STAGES_MOST];
    rk_weights(&b->rk, at->theta, D, D1, NULL);
    for (int c = 0; c < d->m; c++) {
        double theta = at->end < 0 ? derivation_theta(d, k, c) : 0, *z = rho_of(s, c);
        axpy(n, 1, seed2(s, k, c), y_of(b, z, at->i + at->right));
        for (int j = 0; at->end < 0 && j < b->s; j++) {
            axpy(n, D[j], seed2(s, k, c), X_of(b, z, at->i) + (size_t)j * n);
            axpy(n, D1[j] * theta, seed(s, k), X_of(b, z, at->i) + (size_t)j * n);
        }
    }
}

/* beta = lambda . (sum_j D_j' X_j, sum_j D_j' h r_j), and its tangent along column c */
static void slopes_of(products *s, int k, int c, double *beta, double *beta2)
{
    const derivation *d = s->d;
    bvp *b = d->b;
    size_t n = (size_t)b->n, nq = (size_t)b->nq, m = (size_t)d->m;
    const double *l = seed(s, k), *l2 = seed2(s, k, c), *X = X_of(b, d->x->z, d->points.at[k].i);
    const double *Xd = X_of(b, column(d, d->z, c), d->points.at[k].i);
    double theta = derivation_theta(d, k, c), h = d->x->h[d->points.at[k].i], D1[STAGES_MOST], D2[STAGES_MOST];
    rk_weights(&b->rk, d->points.at[k].theta, NULL, D1, D2);
    *beta = *beta2 = 0;
    for (size_t j = 0; j < (size_t)b->s; j++) {
        const double *r = d->rates + j * nq, *rd = d->slopes + (j * m + (size_t)c) * nq;
        double bend = D2[j] * theta, lr = dot(nq, l + n, r);
        *beta += D1[j] * (dot(n, l, X + j * n) + h * lr);
        *beta2 += D1[j] * (dot(n, l2, X + j * n) + dot(n, l, Xd + j * n) + h * dot(nq, l2 + n, r) + d->dh[c] * lr +
                           h * dot(nq, l + n, rd)) + bend * (dot(n, l, X + j * n) + h * lr);
    }
}

/* theta = (t_k - t)/h:  t_k gets beta/h, t the opposite, h gets -theta beta/h */
static void move_points(products *s, int i)
{
    const derivation *d = s->d;
    double h = d->x->h[i];
    for (int k = d->points.first[i]; (s->into.ends || s->into.times) && k >= 0; k = d->points.next[k])
        for (int c = 0; d->points.at[k].end < 0 && c < d->m; c++) {
            double beta, beta2;
            slopes_of(s, k, c, &beta, &beta2);
            double by_time = beta2 / h - beta * d->dh[c] / (h * h);
            if (s->into.times) s->into.times[point_row(d, k, c)] += by_time;
            s->dt[c] -= by_time;
            s->dh[c] -= d->points.at[k].theta * by_time + derivation_theta(d, k, c) * beta / h;
        }
}

/* ---- q ---- */

static void gather(products *s, int i, int right)
{
    const derivation *d = s->d;
    size_t n = (size_t)d->b->n, nq = (size_t)d->b->nq;
    for (int k = d->points.first[i]; k >= 0; k = d->points.next[k]) {
        if (d->points.at[k].right != right) continue;
        axpy(nq, 1, seed(s, k) + n, s->tail);
        for (int c = 0; c < d->m; c++) axpy(nq, 1, seed2(s, k, c) + n, s->tail2 + (size_t)c * nq);
    }
}

/* omega_j = h (b_j tail + sum_k D_j(theta_k) lambda_k), and its tangents */
static void weigh(products *s, int i, int j)
{
    const derivation *d = s->d;
    bvp *b = d->b;
    size_t n = (size_t)b->n, nq = (size_t)b->nq;
    double h = d->x->h[i], D[STAGES_MOST], D1[STAGES_MOST];
    add_scaled(nq, s->omega, NULL, h * b->rk.b[j], s->tail);
    add_scaled(nq * (size_t)d->m, s->omega2, NULL, h * b->rk.b[j], s->tail2);
    for (int k = d->points.first[i]; k >= 0; k = d->points.next[k]) {
        if (d->points.at[k].end >= 0) continue;
        rk_weights(&b->rk, d->points.at[k].theta, D, D1, NULL);
        axpy(nq, h * D[j], seed(s, k) + n, s->omega);
        for (int c = 0; c < d->m; c++) {
            axpy(nq, h * D[j], seed2(s, k, c) + n, s->omega2 + (size_t)c * nq);
            axpy(nq, h * D1[j] * derivation_theta(d, k, c), seed(s, k) + n, s->omega2 + (size_t)c * nq);
        }
    }
    for (int c = 0; c < d->m; c++) axpy(nq, d->dh[c] / h, s->omega, s->omega2 + (size_t)c * nq);
}

static int integral_stage(products *s, int i, int j)
{
    derivation *d = s->d;
    bvp *b = d->b;
    size_t n = (size_t)b->n, nq = (size_t)b->nq, m = (size_t)d->m;
    double h = d->x->h[i], *r = d->rates + (size_t)j * nq, *rd = d->slopes + (size_t)j * nq * m;
    costate_point x = derivation_stage(d, i, j);
    TRY(map_value(&b->maps, &b->maps.cost, x.t, x.y, r));
    TRY(map_tangents(&b->maps, &b->maps.cost, &x, d->m, d->dx, rd, nq));
    weigh(s, i, j);
    for (int c = 0; c < d->m; c++) {
        double t = 0, *omega2 = s->omega2 + (size_t)c * nq;
        memset(s->y, 0, n * sizeof *s->y);
        costate_gradient g = into(s, &t, s->y, c);
        TRY(map_adjoint(&b->maps, &b->maps.cost, &x, omega2, &g));
        TRY(map_adjoint_tangent(&b->maps, &b->maps.cost, &x, &d->dx[c], s->omega, &g));
        derivation_to_unknowns(b, i, j, s->y, rho_of(s, c));
        s->dt[c] += t;
        s->dh[c] += b->rk.c[j] * t + (dot(nq, omega2, r) - d->dh[c] / h * dot(nq, s->omega, r) +
                                      dot(nq, s->omega, rd + (size_t)c * nq)) / h;
    }
    return 0;
}

/* ---- w . E ---- */

/* along column c, without nu' */
static int equation_column(products *s, const costate_point *x, int i, int j, int c)
{
    derivation *d = s->d;
    bvp *b = d->b;
    size_t n = (size_t)b->n;
    double t = 0, h = d->x->h[i], dh = d->dh[c];
    const double *nu = s->nu + (size_t)i * (size_t)b->L + (size_t)j * n, *X = X_of(b, d->x->z, i) + (size_t)j * n;
    const double *Xd = X_of(b, column(d, d->z, c), i) + (size_t)j * n;
    memset(s->y, 0, n * sizeof *s->y);
    memset(s->k, 0, n * sizeof *s->k);
    costate_gradient g = into(s, &t, s->y, c);
    add_scaled(n, s->w, NULL, -dh, nu);
    if (dh != 0) TRY(equation_adjoints_apart(&b->maps, x, 1, s->w, n, &g, s->k, n));
    add_scaled(n, s->k, NULL, -1, s->k);                        /* phi_K' = E_K^T w' = -M^T w' */
    add_scaled(n, s->w, NULL, -h, nu);
    d->dx[c].yp = b->maps.residual ? d->k + (size_t)c * n : NULL;
    g.yp = b->maps.residual ? s->k : NULL;
    TRY(equation_adjoint_tangent(&b->maps, x, &d->dx[c], s->w, &g));
    derivation_to_unknowns(b, i, j, s->y, rho_of(s, c));
    double *to = X_of(b, rho_of(s, c), i) + (size_t)j * n;
    axpy(n, 1 / h, s->k, to);
    axpy(n, -dh / (h * h), s->phi, to);
    s->dt[c] += t;
    s->dh[c] += b->rk.c[j] * t - (dot(n, s->k, X) + dot(n, s->phi, Xd)) / (h * h) +
                2 * dh * dot(n, s->phi, X) / (h * h * h);
    return 0;
}

static int equation_stage(products *s, int i, int j)
{
    derivation *d = s->d;
    bvp *b = d->b;
    size_t n = (size_t)b->n;
    costate_point x = derivation_stage(d, i, j);
    costate_gradient none = {0};
    add_scaled(n, s->w, NULL, -d->x->h[i], s->nu + (size_t)i * (size_t)b->L + (size_t)j * n);
    TRY(equation_adjoints_apart(&b->maps, &x, 1, s->w, n, &none, s->phi, n));
    add_scaled(n, s->phi, NULL, -1, s->phi);
    for (int c = 0; c < d->m; c++) TRY(equation_column(s, &x, i, j, c));
    return 0;
}

/* ---- the conditions: -alpha . g ---- */

static int condition_column(products *s, const costate_point *x, int c)
{
    derivation *d = s->d;
    bvp *b = d->b;
    size_t n = (size_t)b->n;
    double *z = column(d, d->z, c), *to = rho_of(s, c);
    costate_gradient g = into_pm(&b->edge.maps, NULL, b->edge.gradient, s->into.p, (size_t)c);
    memcpy(b->edge.dy, y_of(b, z, 0), n * sizeof *z);
    memcpy(b->edge.dy + n, y_of(b, z, d->x->N), n * sizeof *z);
    memset(b->edge.gradient, 0, 2 * n * sizeof *b->edge.gradient);
    costate_point dx = {.y = b->edge.dy, .p = p_of(&b->edge.maps, d->along.p, (size_t)c)};
    add_scaled(n, s->w, NULL, -1, s->nu + d->all - n);
    TRY(map_adjoint_tangent(&b->edge.maps, &b->edge.g, x, &dx, s->w, &g));
    axpy(n, 1, b->edge.gradient, y_of(b, to, 0));
    axpy(n, 1, b->edge.gradient + n, y_of(b, to, d->x->N));
    return 0;
}

/* ---- all of them ---- */

/* everything that does not depend on nu', from the last interval to the first */
int second_sides(products *s)
{
    derivation *d = s->d;
    bvp *b = d->b;
    size_t m = (size_t)d->m;
    for (int i = d->x->N - 1; i >= 0; i--) {
        memset(s->dt, 0, m * sizeof *s->dt);
        memset(s->dh, 0, m * sizeof *s->dh);
        derivation_motion(d, i);
        for (int k = d->points.first[i]; k >= 0; k = d->points.next[k]) seed_states(s, k);
        gather(s, i, 1);
        for (int j = 0; j < b->s; j++) {
            if (b->nq > 0) TRY(integral_stage(s, i, j));
            TRY(equation_stage(s, i, j));
        }
        move_points(s, i);
        gather(s, i, 0);
        derivation_to_ends(d, i, s->dt, s->dh);
    }
    costate_point x = conditions_point(b, d->x);
    for (int c = 0; c < d->m; c++) TRY(condition_column(s, &x, c));
    return 0;
}
