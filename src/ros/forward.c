/* forward.c (ros) - one Rosenbrock step in the form (3.10) of Zhang & Sandu, M y' = f, q' = r (step-maps 4).

       E = M/(h gamma) - f_y,   Y_i = y + sum_{j<i} a_ij U_j,   T_i = t + alpha_i h
       E U_i = f(T_i, Y_i, p) + h gamma_i f_t + (1/h) M sum_{j<i} c_ij U_j
       y+ = y + sum m_i U_i,   est = sum e_i U_i   (filtered where M is singular: filter)
       q+ = q + h sum b_i [ r(T_i, Y_i, p) + h gamma_i r_t + r_y U_i ]
   f_y, f_t, r_y, r_t at (t, y, p): always those of this step. */
#include <math.h>
#include <string.h>
#include "ros/ros.h"

void ros_coupling(costate *c, double h, int transpose, int i, int from, int to, const double *X, size_t stride, double *out)
{
    size_t n = (size_t)c->n;
    int s = c->s;
    double w[STAGES_MOST];
    if (from >= to) return;
    for (int j = from; j < to; j++) w[j - from] = c->m->C[transpose ? j * s + i : i * s + j];
    if (!c->maps.M) { combine(n, out, out, 1 / h, to - from, w, X + (size_t)from * stride, stride); return; }
    combine(n, c->v2, NULL, 1 / h, to - from, w, X + (size_t)from * stride, stride);
    mass_multiply(&c->maps, transpose, 1, 1, c->v2, out);
}

void ros_slope(const costate *c, const record *r, int i, double *out)
{
    size_t n = (size_t)c->n;
    add_scaled(n, out, NULL, 1 / c->m->gamma, r->X + (size_t)i * n);
    combine(n, out, out, -1, i, c->m->C + (size_t)i * (size_t)c->s, r->X, n);
}

const double *ros_stage(const costate *c, const record *r, int i, double *out)
{
    if (i == 0) return r->y;
    combine((size_t)c->n, out, r->y, 1, i, c->m->A + (size_t)i * (size_t)c->s, r->X, (size_t)c->n);
    return out;
}

int ros_matrices(costate *c, const record *r, const factors **f)
{
    *f = r->kept ? r->kept : c->fac;
    if (r->kept || (c->fac->h == r->h && c->fac->serial == c->at + 1)) return 0;
    if (c->lin.serial != c->at + 1) TRY(linearise(&c->maps, c->at + 1, r->t, r->y, c->w, &c->lin));
    int status = shifts_factor(&c->sh, &c->lin, r->h, &c->fac);
    *f = c->fac;
    return status;
}

int ros_time_slope(costate *c, const record *r)
{
    costate_point x = {r->t, r->y, c->maps.p}, dt = {1, NULL, NULL};
    if (c->o.autonomous) { memset(c->ft, 0, (size_t)c->n * sizeof *c->ft); return 0; }
    return map_tangent(&c->maps, &c->maps.rhs, &x, &dt, c->ft);
}

int ros_solve(costate *c, const factors *f, int transpose, int m, double *X)
{
    accuracy to = {c->o.krylov_tol, 0};       /* nothing corrects what is left */
    return factors_solve(&c->sh, f, 0, transpose, m, &to, X);
}

/* q1 += h b_i [...], errq += h (bhat_i - b_i) [...] */
static int quadrature(costate *c, const record *r, int i, const double *Y, double *q1, double *errq)
{
    size_t nq = (size_t)c->nq;
    if (!nq || (c->m->b[i] == 0 && c->eb[i] == 0)) return 0;
    costate_point x = {r->t, r->y, c->maps.p}, e = {r->h * c->m->gi[i], r->X + (size_t)i * (size_t)c->n, NULL};
    int status = map_value(&c->maps, &c->maps.cost, r->t + c->m->c[i] * r->h, Y, c->r);
    if (status == 0) status = map_tangent(&c->maps, &c->maps.cost, &x, &e, c->rq);
    if (status != 0) return status;
    axpy(nq, 1, c->rq, c->r);
    axpy(nq, r->h * c->m->b[i], c->r, q1);
    axpy(nq, r->h * c->eb[i], c->r, errq);
    return 0;
}

/* Y: the stage's point, the one before's where the method repeats it */
static int stage(costate *c, record *r, const factors *lu, int i, const double **Y, double *f)
{
    size_t n = (size_t)c->n;
    double *U = r->to.X + (size_t)i * n;
    if (c->m->newf[i]) {
        *Y = ros_stage(c, r, i, c->Y);
        int status = map_value(&c->maps, &c->maps.rhs, r->t + c->m->c[i] * r->h, *Y, f);
        if (status != 0) return status;
    }
    add_scaled(n, U, f, c->o.autonomous ? 0 : r->h * c->m->gi[i], c->ft);
    ros_coupling(c, r->h, 0, i, 0, i, r->X, n, U);
    return ros_solve(c, lu, 0, 1, U);
}

/* Does est hold what the step before left in the constraints?  Of 0 = g(z) with residual g = 1, g_z = 1 the stages are
   U_i = -1 - sum a_ij U_j: est = -(R^(inf) - R(inf)), R^ of the embedded solution.  Stiffly accurate methods leave the
   constraints solved but for a remainder of second order; the weights of their estimates need not. */
static int holds_remainder(const costate_method *m)
{
    double U[STAGES_MOST], est = 0, size = 0;
    if (!(m->is & COSTATE_STIFFLY_ACCURATE)) return 1;
    for (int i = 0; i < m->s; i++) {
        U[i] = -1;
        for (int j = 0; j < i; j++) U[i] -= m->A[i * m->s + j] * U[j];
        est += m->e[i] * U[i];
        size += fabs(m->e[i] * U[i]);
    }
    return fabs(est) > 1e-10 * size;       /* digits that a table may lack; filtering once more costs a solution only */
}

/* err <- (1/(h gamma)) E^-1 M err, where M is singular: see core.h. */
static int filter(costate *c, const record *r, double *err)
{
    const factors *lu;
    if (!c->sh.singular || !holds_remainder(c->m)) return 0;
    int status = ros_matrices(c, r, &lu);
    if (status != 0) return status;
    mass_apply(&c->maps, err, c->v1);
    for (int i = 0; i < c->n; i++) err[i] /= r->h * c->m->gamma;
    return ros_solve(c, lu, 0, 1, err);
}

static int estimate(costate *c, const record *r, double *err)
{
    if (!estimating(c)) return 0;
    combine((size_t)c->n, err, NULL, 1, c->s, c->m->e, r->X, (size_t)c->n);
    return filter(c, r, err);
}

int ros_forward(costate *c, record *r, const record *prev, double *y1, double *err)
{
    size_t n = (size_t)c->n;
    const factors *lu;                    /* over a tape, the kept ones */
    const double *Y = r->y;
    (void)prev;
    int status = ros_matrices(c, r, &lu);
    if (status == 0 && !r->started) status = ros_time_slope(c, r);
    if (status == 0) r->started = 1;
    memcpy(y1, r->y, (size_t)c->N * sizeof *y1);
    memset(err, 0, (size_t)c->N * sizeof *err);
    for (int i = 0; status == 0 && i < c->s; i++) {
        status = stage(c, r, lu, i, &Y, c->v1);
        if (status == 0) status = quadrature(c, r, i, Y, y1 + n, err + n);
    }
    if (status != 0) return status;
    combine(n, y1, y1, 1, c->s, c->m->d, r->X, n);
    return estimate(c, r, err);
}

static int ros_tangent_estimate(costate *c, const record *r, const directions *d, int j, double *err)
{
    int status = stage_estimate(c, r, d, j, err);
    return status == 0 ? filter(c, r, err) : status;
}

/* ---- family ---- */

static void ros_layout(costate *c, cursor *at)
{
    c->R = take(at, (size_t)c->n);
    c->ft = take(at, (size_t)c->n);
}

/* U: m*n right-hand sides; Q: s*m*n Y_i adjoints */
static void ros_layout_derivatives(costate *c, cursor *at, int m)
{
    c->U = take(at, (size_t)c->n * (size_t)m);
    c->Q = take(at, (size_t)c->s * (size_t)c->n * (size_t)m);
}

static int ros_prepare(costate *c)
{
    c->sh.single = 1 / c->m->gamma;
    TRY(shifts_prepare(&c->sh, 1, 0, &c->sh.single));
    c->fac = factors_new(&c->sh, NULL);
    return c->fac ? 0 : c->v.status;
}

/* bhat - b = Gamma^T e, Gamma^-1 = diag(1/gamma) - C: solve Gamma^-T x = e from the last row */
static void ros_ready(costate *c)
{
    const costate_method *m = c->m;
    for (int i = m->s - 1; m->e && i >= 0; i--) {
        double x = m->e[i];
        for (int j = i + 1; j < m->s; j++) x += m->C[j * m->s + i] * c->eb[j];
        c->eb[i] = m->gamma * x;
    }
}

enum { ALWAYS = SLOPE_OF | EXACT_JACOBIAN };

const family ros_family = {
    IMPLICIT,
    {SLOPE_OF, ALWAYS | TANGENT_OF | TANGENT2_OF, ALWAYS | ADJOINT_OF | ADJOINT_TANGENT_OF},
    {TANGENT_OF, TANGENT_OF | TANGENT2_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    ros_layout, ros_layout_derivatives, ros_prepare, ros_ready, ros_forward, ros_tangent, ros_adjoint,
                           ros_tangent_estimate};
