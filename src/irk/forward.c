/* forward.c (irk) - one implicit step: sdirk (with or without explicit first stage) and firk.

       K-free form: residuals R_i of irk.h, Newton by blocks, y+ = y + sum d_j Z_j,
       q+ = q + h sum b_i r(t + c_i h, y + Z_i, p) + h b0 r(t, y, p)
       est = h est0 f(t,y) + sum e_j Z_j, filtered: err = Re sigma (sigma M - J)^-1 (M sum e_j Z_j + h est0 f),
       sigma = eig_0/h                                                   (step-maps 3.1, 12.2; for methods without a
       real eigenvalue sigma is complex and the real part is taken: it has the same limits for h -> 0 and for stiff J)

   Stages solved loosely may need no filter: err = sum e_j Z_j (inexact.c).

   With c_1 = 0 that is blind to f(t); a second part has the defect of the dense output u at one more point:
       est += h estx f(t + at h, u(at)) + sum ex_j Z_j                       (codegen/estimate.py: inner_defect) */
#include <math.h>
#include <string.h>
#include "irk/irk.h"

/* From so many unknowns on, J costs little beside the factorisation that a new h asks for anyway, and a new one lets
   Newton converge faster.  A coarse bound between small dense systems, where J is dear, and large sparse ones. */
enum { LARGE = 100 };

/* Jacobian and factorisation of the step, kept where they still hold; a replay takes the recorded Jacobian's step. */
static int prepare_matrices(stepper *c, record *r, const trial *t)
{
    const decisions *as = t->as;
    if (!as && c->n >= LARGE && c->fac->h != r->h) c->lin.serial = 0;
    long want = as ? as->jacobian : c->lin.serial ? c->lin.serial : t->serial;
    if (c->lin.serial != want) {
        const record *at = as && as->from ? as->from : r;
        double *w = at == r ? c->w : work(c)->w;        /* of that step: differences take their increments from them */
        if (at != r) weights(c, at->y, w);
        TRY(linearise(c->maps, want, at->t, at->y, w, &c->lin));
    }
    r->jacobian = want;
    return factors_fit(c->fac, &c->lin, r->h) ? 0 : shifts_factor(c->sh, &c->lin, r->h, &c->fac);
}

static int start_slope(stepper *c, const record *r, trial *t)
{
    if (t->started || (!c->m->g && c->m->est0 == 0)) return 0;
    TRY(map_value(c->maps, &c->maps->rhs, r->t, r->y, work(c)->f0));
    t->started = 1;
    return 0;
}

/* Z_i = u_prev(1 + c_i h/h_prev) - y, the dense output of the step before continued */
static void predict(const stepper *c, const record *r, const trial *t)
{
    size_t n = (size_t)c->n;
    double D[STAGES_MOST * STAGES_MOST];
    const record *prev = t->before;
    if (!prev || !t->predict) { memset(t->to.X, 0, (size_t)c->s * n * sizeof *t->to.X); return; }
    for (int i = 0; i < c->s; i++) {
        double *row = D + i * c->s;
        dense_weights(c->m, 1 + c->m->c[i] * r->h / prev->h, row, NULL);
        for (int j = 0; j < c->s; j++) row[j] -= c->m->d[j];
    }
    mix(n, t->to.X, 0, 1, c->s, D, prev->X);
}

/* the point of the estimate's second part, u = u(at) */
static costate_point inner_point(const stepper *c, const record *r, double *u)
{
    double D[STAGES_MOST];
    dense_weights(c->m, c->m->at, D, NULL);
    combine((size_t)c->n, u, r->y, 1, c->s, D, r->X, (size_t)c->n);
    return (costate_point){r->t + c->m->at * r->h, u, c->maps->p};
}

static int inner_value(stepper *c, const map *f, const record *r, double *out)
{
    if (c->m->estx == 0) return 0;
    costate_point x = inner_point(c, r, work(c)->Y);
    return map_value(c->maps, f, x.t, x.y, out);
}

static int quadrature(stepper *c, const record *r, const trial *t, double *q1, double *errq)
{
    const irk_work *a = c->own;
    const costate_method *m = c->m;
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    if (!nq) return 0;
    for (int i = -1; i < c->s; i++) {
        double b = i < 0 ? m->b0 : m->b[i], e = i < 0 ? a->error_b0 : a->error_b[i];
        const double *Y = r->y;
        if (b == 0 && e == 0) continue;
        if (i >= 0) { add_scaled(n, a->Y, r->y, 1, r->X + (size_t)i * n); Y = a->Y; }
        TRY(map_value(c->maps, &c->maps->cost, r->t + (i < 0 ? 0 : m->c[i] * r->h), Y, a->r));
        axpy(nq, r->h * b, a->r, q1);
        axpy(nq, r->h * e, a->r, errq);
    }
    if (c->m->estx == 0 || !t->estimate) return 0;
    TRY(inner_value(c, &c->maps->cost, r, a->r));
    axpy(nq, r->h * c->m->estx, a->r, errq);
    return 0;
}

/* x <- Re sigma (sigma M - J)^-1 x */
static int filter(stepper *c, const record *r, double *x)
{
    if (irk_inexact(c)) return irk_inexact_filter(c, r, x);
    double h = r->h;
    const irk_work *a = c->own;
    accuracy to = irk_accuracy(c, 0);
    double im, re = shifts_sigma(c->sh, 0, &im) / h;
    im /= h;
    if (im == 0) {
        TRY(factors_solve(c->sh, c->fac, 0, 0, 1, &to, x));
        for (int i = 0; i < c->n; i++) x[i] *= re;
        return 0;
    }
    for (int i = 0; i < c->n; i++) { a->pair[2 * i] = x[i]; a->pair[2 * i + 1] = 0; }
    TRY(factors_solve(c->sh, c->fac, 0, 0, 1, &to, a->pair));
    for (int i = 0; i < c->n; i++) x[i] = re * a->pair[2 * i] - im * a->pair[2 * i + 1];
    return 0;
}

/* err <- M sum w_j Z_j + h w0 f, Z_j = Z + j stride; onto: beside what it is */
static void add_part(stepper *c, double h, const double *w, double w0, const double *f, const double *Z, size_t stride,
                     int onto, double *err)
{
    size_t n = (size_t)c->n;
    if (!c->maps->M) combine(n, err, onto ? err : NULL, 1, c->s, w, Z, stride);
    else {
        combine(n, work(c)->v1, NULL, 1, c->s, w, Z, stride);
        if (!onto) memset(err, 0, n * sizeof *err);
        mass_multiply(c->maps, 0, 1, 1, work(c)->v1, err);
    }
    if (w0 != 0) axpy(n, h * w0, f, err);
}

/* Both parts into err, filtered.  The first has f(t,y), and with it what the step before left in the constraints:
   filtered once more, see step.h. */
static int estimate_with(stepper *c, const record *r, const double *f, const double *fx, const double *Z, size_t stride,
                         double *err)
{
    if (irk_inexact_bounded(c)) { combine((size_t)c->n, err, NULL, 1, c->s, c->m->e, Z, stride); return 0; }
    add_part(c, r->h, c->m->e, c->m->est0, f, Z, stride, 0, err);
    if (c->sh->singular && c->m->est0 != 0) {
        TRY(filter(c, r, err));
        mass_apply(c->maps, err, work(c)->v1);
    }
    if (c->m->estx != 0) add_part(c, r->h, c->m->ex, c->m->estx, fx, Z, stride, 1, err);
    return filter(c, r, err);
}

/* FATODE's second choice: one more SDIRK stage Zhat = h theta0 f(t,y) + sum theta_j Z_j + h gamma f(t+h, y+Zhat),
   est = Zhat - sum d_j Z_j, by Newton with the real factorisation (step-maps 12.2). */
static int estimate_by_stage(stepper *c, const record *r, double *err)
{
    const irk_work *a = c->own;
    const costate_method *m = c->m;
    size_t n = (size_t)c->n;
    accuracy to = irk_accuracy(c, 0);
    double size, sigma = 1 / (r->h * m->gamma), *Z = a->R, *G = a->v2;
    combine(n, Z, NULL, 1, c->s, m->d, r->X, n);
    for (int it = 0; it < c->o->newton_max; it++) {
        add_scaled(n, a->Y, r->y, 1, Z);
        TRY(map_value(c->maps, &c->maps->rhs, r->t + r->h, a->Y, G));
        axpy(n, m->theta0 / m->gamma, a->f0, G);
        combine(n, a->v1, NULL, 1, c->s, m->theta, r->X, n);
        axpy(n, -1, Z, a->v1);
        mass_multiply(c->maps, 0, sigma, 1, a->v1, G);
        TRY(factors_solve(c->sh, c->fac, 0, 0, 1, &to, G));
        axpy(n, 1, G, Z);
        c->maps->count->newton++;
        TRY(space_norm(&c->maps->space, n, c->w, G, &size));
        if (size <= c->o->newton_tol) break;
    }
    combine(n, err, NULL, -1, c->s, m->d, r->X, n);
    axpy(n, 1, Z, err);
    if (!c->sh->singular || m->theta0 == 0) return 0;
    mass_apply(c->maps, err, a->v1);                                /* it has f(t,y): see step.h */
    return filter(c, r, err);
}

/* h out = (h f(x))' along dx and h' = dh;  f: f(x), wanted where dh is not 0 */
static int slope_tangent(stepper *c, const record *r, const costate_point *x, const costate_point *dx, double dh,
                         const double *f, double *out)
{
    TRY(map_tangent(c->maps, &c->maps->rhs, x, dx, out));
    if (dh != 0) axpy((size_t)c->n, dh / r->h, f, out);
    return 0;
}

/* the second part's slope along direction j, into out; uses the n after it */
static int inner_tangent(stepper *c, const record *r, const directions *d, int j, double *out)
{
    if (c->m->estx == 0) return 0;
    size_t n = (size_t)c->n;
    double D[STAGES_MOST], *f = out + n, *du = work(c)->v1;
    if (d->dh[j] != 0) TRY(inner_value(c, &c->maps->rhs, r, f));
    dense_weights(c->m, c->m->at, D, NULL);
    combine(n, du, d->V + (size_t)j * (size_t)c->N, 1, c->s, D, d->Xd + (size_t)j * n, n * (size_t)d->m);
    costate_point x = inner_point(c, r, work(c)->Y);
    costate_point dx = {d->dt[j] + c->m->at * d->dh[j], du, d->Vp ? d->Vp + (size_t)j * (size_t)c->np : NULL};
    return slope_tangent(c, r, &x, &dx, d->dh[j], f, out);
}

/* the same for direction j: f' along it for f, Z' for Z */
int irk_estimate(stepper *c, const record *r, const directions *d, int j, double *err)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n;
    costate_point x = {r->t, r->y, c->maps->p};
    costate_point dx = {d->dt[j], d->V + (size_t)j * (size_t)c->N, d->Vp ? d->Vp + (size_t)j * (size_t)c->np : NULL};
    if (c->m->est0 != 0) TRY(slope_tangent(c, r, &x, &dx, d->dh[j], a->f0, a->v2));
    TRY(inner_tangent(c, r, d, j, a->R));
    return estimate_with(c, r, a->v2, a->R, d->Xd + (size_t)j * n, n * (size_t)d->m, err);
}

static int estimate(stepper *c, const record *r, const trial *t)
{
    const irk_work *a = c->own;
    double *err = t->err;
    if (c->o->estimator == COSTATE_EST_SDIRK) return estimate_by_stage(c, r, err);
    TRY(inner_value(c, &c->maps->rhs, r, a->R));
    TRY(estimate_with(c, r, a->f0, a->R, r->X, (size_t)c->n, err));
    if (!t->cautious || c->m->est0 == 0) return 0;
    double size;
    TRY(error_norm(c, r->y, t->y1, err, &size));
    if (!(size > 1)) return 0;
    add_scaled((size_t)c->n, a->Y, r->y, 1, err);      /* once more, with f(t, y + err) */
    TRY(map_value(c->maps, &c->maps->rhs, r->t, a->Y, a->v2));
    return estimate_with(c, r, a->v2, a->R, r->X, (size_t)c->n, err);
}

static int stages(stepper *c, record *r, trial *t)
{
    int counted = t->as && t->as->iterations && t->as->counted;
    if (irk_inexact(c) && !counted) return irk_inexact_stages(c, r, t);
    TRY(prepare_matrices(c, r, t));
    predict(c, r, t);
    int others = t->as && !t->as->counted && c->m->block == 1 && !c->sh->matfree;     /* of inexact.c: not these */
    const unsigned char *fixed = t->as && !others ? t->as->iterations : NULL;
    accuracy to = irk_accuracy(c, fixed && t->as->counted);
    unsigned char *iterations = t->to.iterations;
    double theta = 0;
    if (others) work(c)->eta = 1;                   /* nothing is known of how they contract */
    t->newton = 1;
    for (int b = 0; b < c->s / c->m->block; b++) {
        if (fixed) iterations[b] = fixed[b];
        TRY(newton(c, r, b, &to, t->to.X + (size_t)(b * c->m->block) * (size_t)c->n, &iterations[b], fixed != NULL));
        theta = fmax(theta, work(c)->theta);
        if (iterations[b] > t->newton) t->newton = iterations[b];
    }
    work(c)->theta = theta;
    return 0;
}

int irk_forward(stepper *c, record *r, trial *t)
{
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    TRY(start_slope(c, r, t));
    int status = stages(c, r, t);
    if (status == RETRY && c->v->why == WHY_NEWTON && c->lin.serial != t->serial && !t->as) {
        c->lin.serial = 0;                   /* an old Jacobian: the same step once more with a new one */
        c->v->factor = 1;
    }
    TRY(status);
    if (nq) memcpy(t->y1 + n, r->y + n, nq * sizeof *t->y1);
    if (nq) memset(t->err + n, 0, nq * sizeof *t->err);
    combine(n, t->y1, r->y, 1, c->s, c->m->d, r->X, n);
    TRY(quadrature(c, r, t, t->y1 + n, t->err + n));
    return t->estimate ? estimate(c, r, t) : 0;
}
