/* forward.c (irk) - one implicit step: sdirk (with or without explicit first stage) and firk.

       K-free form: residuals R_i of irk.h, Newton by blocks, y+ = y + sum d_j Z_j,
       q+ = q + h sum b_i r(t + c_i h, y + Z_i, p) + h b0 r(t, y, p)
       est = h est0 f(t,y) + sum e_j Z_j, filtered: err = Re sigma (sigma M - J)^-1 (M sum e_j Z_j + h est0 f),
       sigma = eig_0/h                                                   (step-maps 3.1, 12.2; for methods without a
       real eigenvalue sigma is complex and the real part is taken: it has the same limits for h -> 0 and for stiff J)

   With c_1 = 0 that is blind to f(t); a second part has the defect of the dense output u at one more point:
       est += h estx f(t + at h, u(at)) + sum ex_j Z_j                       (codegen/estimate.py: inner_defect) */
#include <math.h>
#include <string.h>
#include "irk/irk.h"

enum { LARGE = 100 };

/* Jacobian and factorisation of the step, kept where they still hold; a replay takes the recorded Jacobian's step. */
static int prepare_matrices(costate *c, record *r)
{
    const costate_tape *tape = c->replay;
    long here = c->at + 1;
    if (!tape && c->n >= LARGE && c->fac->h != r->h) c->lin.serial = 0;     /* beside a factorisation J costs little */
    long want = tape ? tape->list[c->at].jacobian : c->lin.serial ? c->lin.serial : here;
    if (c->lin.serial != want) {
        const record *at = tape && want != here ? &tape->list[want - 1] : r;
        if (at != r) weights(c, at->y, c->w);       /* of that step: differences take their increments from them */
        int status = linearise(&c->maps, want, at->t, at->y, c->w, &c->lin);
        if (at != r) weights(c, r->y, c->w);
        if (status) return status;
    }
    r->jacobian = want;
    return factors_fit(c->fac, &c->lin, r->h) ? 0 : shifts_factor(&c->sh, &c->lin, r->h, &c->fac);
}

static int start_slope(costate *c, record *r)
{
    if (r->started || (!c->m->g && c->m->est0 == 0)) return 0;
    int status = map_value(&c->maps, &c->maps.rhs, r->t, r->y, c->f0);
    r->started = status == 0;
    return status;
}

/* Z_i = u_prev(1 + c_i h/h_prev) - y, the dense output of the step before continued */
static void predict(costate *c, const record *r, const record *prev)
{
    size_t n = (size_t)c->n;
    double D[STAGES_MOST];
    if (!prev || !c->predict) { memset(r->to.X, 0, (size_t)c->s * n * sizeof *r->to.X); return; }
    for (int i = 0; i < c->s; i++) {
        dense_weights(c->m, 1 + c->m->c[i] * r->h / prev->h, D, NULL);
        for (int j = 0; j < c->s; j++) D[j] -= c->m->d[j];
        combine(n, r->to.X + (size_t)i * n, NULL, 1, c->s, D, prev->X, n);
    }
}

/* the point of the estimate's second part, u = u(at) */
static costate_point inner_point(const costate *c, const record *r, double *u)
{
    double D[STAGES_MOST];
    dense_weights(c->m, c->m->at, D, NULL);
    combine((size_t)c->n, u, r->y, 1, c->s, D, r->X, (size_t)c->n);
    return (costate_point){r->t + c->m->at * r->h, u, c->maps.p};
}

static int inner_value(costate *c, const map *f, const record *r, double *out)
{
    if (c->m->estx == 0) return 0;
    costate_point x = inner_point(c, r, c->Y);
    return map_value(&c->maps, f, x.t, x.y, out);
}

static int quadrature(costate *c, const record *r, double *q1, double *errq)
{
    const costate_method *m = c->m;
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    if (!nq) return 0;
    for (int i = -1; i < c->s; i++) {
        double b = i < 0 ? m->b0 : m->b[i], e = i < 0 ? c->eb0 : c->eb[i];
        const double *Y = r->y;
        if (b == 0 && e == 0) continue;
        if (i >= 0) { add_scaled(n, c->Y, r->y, 1, r->X + (size_t)i * n); Y = c->Y; }
        int status = map_value(&c->maps, &c->maps.cost, r->t + (i < 0 ? 0 : m->c[i] * r->h), Y, c->r);
        if (status != 0) return status;
        axpy(nq, r->h * b, c->r, q1);
        axpy(nq, r->h * e, c->r, errq);
    }
    if (c->m->estx == 0 || !estimating(c)) return 0;
    int status = inner_value(c, &c->maps.cost, r, c->r);
    if (status == 0) axpy(nq, r->h * c->m->estx, c->r, errq);
    return status;
}

/* x <- Re sigma (sigma M - J)^-1 x */
static int filter(costate *c, double h, double *x)
{
    accuracy to = irk_accuracy(c);
    double im, re = shifts_sigma(&c->sh, 0, &im) / h;
    im /= h;
    if (im == 0) {
        int status = factors_solve(&c->sh, c->fac, 0, 0, 1, &to, x);
        for (int i = 0; i < c->n; i++) x[i] *= re;
        return status;
    }
    for (int i = 0; i < c->n; i++) { c->Rz[2 * i] = x[i]; c->Rz[2 * i + 1] = 0; }
    int status = factors_solve(&c->sh, c->fac, 0, 0, 1, &to, c->Rz);
    for (int i = 0; i < c->n; i++) x[i] = re * c->Rz[2 * i] - im * c->Rz[2 * i + 1];
    return status;
}

/* err += M sum w_j Z_j + h w0 f, Z_j = Z + j stride */
static void add_part(costate *c, double h, const double *w, double w0, const double *f, const double *Z, size_t stride,
                     double *err)
{
    combine((size_t)c->n, c->v1, NULL, 1, c->s, w, Z, stride);
    mass_multiply(&c->maps, 0, 1, 1, c->v1, err);
    if (w0 != 0) axpy((size_t)c->n, h * w0, f, err);
}

/* Both parts into err, filtered.  The first has f(t,y), and with it what the step before left in the constraints:
   filtered once more, see core.h. */
static int estimate_with(costate *c, const record *r, const double *f, const double *fx, const double *Z, size_t stride,
                         double *err)
{
    memset(err, 0, (size_t)c->n * sizeof *err);
    add_part(c, r->h, c->m->e, c->m->est0, f, Z, stride, err);
    if (c->sh.singular && c->m->est0 != 0) {
        int status = filter(c, r->h, err);
        if (status != 0) return status;
        mass_apply(&c->maps, err, c->v1);
    }
    if (c->m->estx != 0) add_part(c, r->h, c->m->ex, c->m->estx, fx, Z, stride, err);
    return filter(c, r->h, err);
}

/* FATODE's second choice: one more SDIRK stage Zhat = h theta0 f(t,y) + sum theta_j Z_j + h gamma f(t+h, y+Zhat),
   est = Zhat - sum d_j Z_j, by Newton with the real factorisation (step-maps 12.2). */
static int estimate_by_stage(costate *c, const record *r, double *err)
{
    const costate_method *m = c->m;
    size_t n = (size_t)c->n;
    accuracy to = irk_accuracy(c);
    double sigma = 1 / (r->h * m->gamma), *Z = c->R, *G = c->v2;
    combine(n, Z, NULL, 1, c->s, m->d, r->X, n);
    for (int it = 0; it < c->o.newton_max; it++) {
        add_scaled(n, c->Y, r->y, 1, Z);
        int status = map_value(&c->maps, &c->maps.rhs, r->t + r->h, c->Y, G);
        if (status != 0) return status;
        axpy(n, m->theta0 / m->gamma, c->f0, G);
        combine(n, c->v1, NULL, 1, c->s, m->theta, r->X, n);
        axpy(n, -1, Z, c->v1);
        mass_multiply(&c->maps, 0, sigma, 1, c->v1, G);
        status = factors_solve(&c->sh, c->fac, 0, 0, 1, &to, G);
        if (status != 0) return status;
        axpy(n, 1, G, Z);
        c->count.newton++;
        if (norm_weighted(n, c->w, G) <= c->o.newton_tol) break;
    }
    combine(n, err, NULL, -1, c->s, m->d, r->X, n);
    axpy(n, 1, Z, err);
    if (!c->sh.singular || m->theta0 == 0) return 0;
    mass_apply(&c->maps, err, c->v1);                                /* it has f(t,y): see core.h */
    return filter(c, r->h, err);
}

/* h out = (h f(x))' along dx and h' = dh;  f: f(x), wanted where dh is not 0 */
static int slope_tangent(costate *c, const record *r, const costate_point *x, const costate_point *dx, double dh,
                         const double *f, double *out)
{
    int status = map_tangent(&c->maps, &c->maps.rhs, x, dx, out);
    if (status == 0 && dh != 0) axpy((size_t)c->n, dh / r->h, f, out);
    return status;
}

/* the second part's slope along direction j, into out; uses the n after it */
static int inner_tangent(costate *c, const record *r, const directions *d, int j, double *out)
{
    if (c->m->estx == 0) return 0;
    size_t n = (size_t)c->n;
    double D[STAGES_MOST], *f = out + n, *du = c->v1;
    int status = d->dh[j] != 0 ? inner_value(c, &c->maps.rhs, r, f) : 0;
    dense_weights(c->m, c->m->at, D, NULL);
    combine(n, du, d->V + (size_t)j * (size_t)c->N, 1, c->s, D, d->Xd + (size_t)j * n, n * (size_t)d->m);
    costate_point x = inner_point(c, r, c->Y);
    costate_point dx = {d->dt[j] + c->m->at * d->dh[j], du, d->Vp ? d->Vp + (size_t)j * (size_t)c->np : NULL};
    return status == 0 ? slope_tangent(c, r, &x, &dx, d->dh[j], f, out) : status;
}

/* the same for direction j: f' along it for f, Z' for Z */
static int irk_tangent_estimate(costate *c, const record *r, const directions *d, int j, double *err)
{
    size_t n = (size_t)c->n;
    costate_point x = {r->t, r->y, c->maps.p};
    costate_point dx = {d->dt[j], d->V + (size_t)j * (size_t)c->N, d->Vp ? d->Vp + (size_t)j * (size_t)c->np : NULL};
    int status = c->m->est0 != 0 ? slope_tangent(c, r, &x, &dx, d->dh[j], c->f0, c->v2) : 0;
    if (status == 0) status = inner_tangent(c, r, d, j, c->R);
    return status == 0 ? estimate_with(c, r, c->v2, c->R, d->Xd + (size_t)j * n, n * (size_t)d->m, err) : status;
}

static int estimate(costate *c, const record *r, const double *y1, double *err)
{
    if (!estimating(c)) return 0;
    if (c->o.estimator == COSTATE_EST_SDIRK) return estimate_by_stage(c, r, err);
    int status = inner_value(c, &c->maps.rhs, r, c->R);
    if (status == 0) status = estimate_with(c, r, c->f0, c->R, r->X, (size_t)c->n, err);
    if (status != 0 || !c->cautious || c->m->est0 == 0 || !(error_norm(c, r->y, y1, err) > 1)) return status;
    add_scaled((size_t)c->n, c->Y, r->y, 1, err);      /* once more, with f(t, y + err) */
    status = map_value(&c->maps, &c->maps.rhs, r->t, c->Y, c->v2);
    return status == 0 ? estimate_with(c, r, c->v2, c->R, r->X, (size_t)c->n, err) : status;
}

static int stages(costate *c, const record *r)
{
    const record *fixed = c->replay && c->repeat ? &c->replay->list[c->at] : NULL;
    unsigned char *its = r->to.its;
    double theta = 0;
    c->most_newton = 1;
    for (int b = 0; b < c->s / c->m->block; b++) {
        if (fixed) its[b] = fixed->its[b];
        int status = newton(c, r, b, r->to.X + (size_t)(b * c->m->block) * (size_t)c->n, &its[b], fixed != NULL);
        if (status != 0) return status;
        theta = fmax(theta, c->theta);
        if (its[b] > c->most_newton) c->most_newton = its[b];
    }
    c->theta = theta;
    return 0;
}

int irk_forward(costate *c, record *r, const record *prev, double *y1, double *err)
{
    size_t n = (size_t)c->n;
    int status = prepare_matrices(c, r);
    if (status == 0) status = start_slope(c, r);
    if (status == 0) { predict(c, r, prev); status = stages(c, r); }
    if (status == RETRY && c->v.why == WHY_NEWTON && c->lin.serial != c->at + 1 && !c->replay) {
        c->lin.serial = 0;                   /* an old Jacobian: the same step once more with a new one */
        c->v.factor = 1;
    }
    if (status != 0) return status;
    memcpy(y1, r->y, (size_t)c->N * sizeof *y1);
    memset(err, 0, (size_t)c->N * sizeof *err);
    combine(n, y1, y1, 1, c->s, c->m->d, r->X, n);
    status = quadrature(c, r, y1 + n, err + n);
    return status == 0 ? estimate(c, r, y1, err) : status;
}

/* ---- family ---- */

static void irk_layout(costate *c, cursor *at)
{
    size_t n = (size_t)c->n, k = (size_t)c->m->block;
    c->R = take(at, 2 * k * n);
    c->Rz = take(at, 2 * n);
}

/* U: work of a block's systems; Q: s*m*n right-hand sides; stage: Y_i; wk: weights of residuals */
static void irk_layout_derivatives(costate *c, cursor *at, int m)
{
    size_t n = (size_t)c->n, s = (size_t)c->s;
    c->stage = take(at, s * n);
    c->U = take(at, irk_stage_work(c, m));
    c->Q = take(at, s * n * (size_t)m);
    c->wk = take(at, (size_t)c->m->block * n);
    c->krylov = take(at, irk_stage_krylov(c, m));
}

static int irk_prepare(costate *c)
{
    TRY(shifts_prepare(&c->sh, c->m->nreal, c->m->npair, c->m->eig));
    c->fac = factors_new(&c->sh, NULL);
    return c->fac ? 0 : c->v.status;
}

/* bhat - b from e + ex = (bhat - b)^T W:  eb = A^T (e + ex), eb0 = est0 + e^T a, a = A g (explicit first stage) */
static void irk_ready(costate *c)
{
    const costate_method *m = c->m;
    for (int i = 0; m->e && i < m->s; i++) {
        double a = 0;
        for (int j = 0; j < m->s; j++) {
            c->eb[i] += (m->e[j] + (m->ex ? m->ex[j] : 0)) * m->A[j * m->s + i];
            if (m->g) a += m->A[i * m->s + j] * m->g[j];
        }
        c->eb0 += m->e[i] * a;
    }
    if (m->e) c->eb0 += m->est0;
}

const family irk_family = {
    IMPLICIT,
    {0, TANGENT_OF, ADJOINT_OF}, {0, TANGENT_OF, ADJOINT_OF},
    irk_layout, irk_layout_derivatives, irk_prepare, irk_ready, irk_forward, irk_tangent, irk_adjoint,
                           irk_tangent_estimate};
