/* estimate.c (irk) - the error estimate of an implicit step, and of its tangents.

       est = h e0 E(t, y, k) with k = -sum e_j Z_j/(h e0),  for right-hand sides h e0 f(t,y) + M sum e_j Z_j,
       filtered: err = Re sigma (sigma M - J)^-1 est,  sigma = eig_0/h  (mathematics, eq. 13.6 to 13.9;
       for methods without a real eigenvalue sigma is complex and the real part is taken: it has the same limits for
       h -> 0 and for stiff J)

   Stages solved loosely may need no filter: err = sum e_j Z_j (inexact.c).

   With c_1 = 0 that is blind to f(t); a second part has the defect of the dense output u at one more point:
       est += h ex0 f(t + at h, u(at)) + sum ex_j Z_j                       (codegen/estimate.py: inner_defect) */
#include <math.h>
#include <string.h>
#include "base/pattern.h"
#include "irk/irk.h"

/* the point of the estimate's second part, u = u(at) */
static costate_point inner_point(const stepper *c, const record *r, double *u)
{
    double D[STAGES_MOST];
    dense_weights(c->m, c->m->est.at, D, NULL);
    combine((size_t)c->n, u, r->y, 1, c->s, D, r->X, (size_t)c->n);
    return point(c->maps, r->t + c->m->est.at * r->h, u);
}

int irk_inner_value(stepper *c, const map *f, const record *r, double *out)
{
    if (c->m->est.ex0 == 0) return 0;
    costate_point x = inner_point(c, r, work(c)->Y);
    return map_value(c->maps, f, x.t, x.y, out);
}

/* filter by a real sigma; known: as of combine_known */
INLINE int filter_by_real(size_t known, stepper *c, double sigma, const accuracy *to, double *x)
{
    size_t n = known ? known : (size_t)c->n;
    TRY(factors_solve_one((int)known, 1, c->sh, c->fac, 0, to, x));
    for (size_t i = 0; i < n; i++) x[i] *= sigma;
    return 0;
}

/* x <- Re sigma (sigma M - J)^-1 x; w: of the norm that x is measured in */
static int filter(stepper *c, const record *r, const double *w, double *x)
{
    if (irk_inexact(c)) return irk_inexact_filter(c, r, w, x);
    double h = r->h;
    const irk_work *a = c->own;
    accuracy to = irk_accuracy(c, 0);
    double im, re = shifts_sigma(c->sh, 0, &im) / h;
    im /= h;
    if (im == 0) return filter_by_real(0, c, re, &to, x);
    for (int i = 0; i < c->n; i++) { a->pair[2 * i] = x[i]; a->pair[2 * i + 1] = 0; }
    TRY(factors_solve(c->sh, c->fac, 0, 0, 1, &to, a->pair));
    for (int i = 0; i < c->n; i++) x[i] = re * a->pair[2 * i] - im * a->pair[2 * i + 1];
    return 0;
}

/* x <- M x, M of the filter's matrix */
static int apply_mass(stepper *c, const record *r, double *x)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n;
    memcpy(a->k, x, n * sizeof *x);
    memset(x, 0, n * sizeof *x);
    if (c->maps->residual && c->lin.J) {
        pattern_multiply(c->n, c->maps->pattern, c->lin.M, 0, 1, 1, a->k, x);
        return 0;
    }
    costate_point at = equation_point(c->maps, c->fac->t, c->fac->y, c->fac->yp);
    if (irk_inexact(c)) at = equation_point(c->maps, r->t, r->y, r->yp);
    return equation_mass(c->maps, &at, 0, 1, a->k, x, a->v1);
}

/* A part of the estimate: h w0 E(t, y, -sum w_j Z_j/(h w0)), which for right-hand sides is M sum w_j Z_j + h w0 f and
   so for w0 = 0, too; f: f(t, y), of those. */
typedef struct { const double *w; double w0, t; const double *y, *f; } estimate_part;

/* add_part where M is the identity; known: as of combine_known */
INLINE void add_plain(size_t known, const stepper *c, const record *r, const estimate_part *p, int onto, double *err)
{
    size_t n = known ? known : (size_t)c->n;
    double scale = r->h * p->w0;
    combine_known(known, n, err, onto ? err : NULL, 1, c->s, p->w, r->X);
    for (size_t i = 0; p->w0 != 0 && i < n; i++) err[i] += scale * p->f[i];
}

/* err <- the part; onto: added to err */
static int add_part(stepper *c, const record *r, const estimate_part *p, int onto, double *err)
{
    const irk_work *a = c->own;
    double h = r->h;
    size_t n = (size_t)c->n;
    if (equation_plain(c->maps)) { add_plain(0, c, r, p, onto, err); return 0; }
    if (!c->maps->residual || p->w0 == 0) {
        combine(n, a->slope_of_part, NULL, 1, c->s, p->w, r->X, n);
        TRY(apply_mass(c, r, a->slope_of_part));
        add_scaled(n, err, onto ? err : NULL, 1, a->slope_of_part);
    } else {
        combine(n, a->slope_of_part, NULL, -1 / (h * p->w0), c->s, p->w, r->X, n);
        TRY(equation_value(c->maps, p->t, p->y, a->slope_of_part, a->k));
        add_scaled(n, err, onto ? err : NULL, h * p->w0, a->k);
        return 0;
    }
    if (p->w0 != 0) axpy(n, h * p->w0, p->f, err);
    return 0;
}

/* Both parts into err, filtered.  The first has f(t,y), and with it what the step before left in the constraints:
   filtered once more, see step.h. */
static int estimate_with(stepper *c, const record *r, const estimate_part *first, const estimate_part *second,
                         double *err)
{
    size_t n = (size_t)c->n;
    if (irk_inexact_bounded(c)) { combine(n, err, NULL, 1, c->s, first->w, r->X, n); return 0; }
    TRY(add_part(c, r, first, 0, err));
    if (c->sh->singular && first->w0 != 0) {
        TRY(filter(c, r, c->w, err));
        TRY(apply_mass(c, r, err));
    }
    if (second->w0 != 0) TRY(add_part(c, r, second, 1, err));
    return filter(c, r, c->w, err);
}

/* FATODE's second choice: one more SDIRK stage Zhat = h theta0 f(t,y) + sum theta_j Z_j + h gamma f(t+h, y+Zhat),
   est = Zhat - sum d_j Z_j, by Newton with the real factorisation (mathematics, eq. 13.11). */
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
        axpy(n, m->est.theta0 / m->gamma, a->f0, G);
        combine(n, a->v1, NULL, 1, c->s, m->est.theta, r->X, n);
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
    if (!c->sh->singular || m->est.theta0 == 0) return 0;
    TRY(apply_mass(c, r, err));                                        /* it has f(t,y): see step.h */
    return filter(c, r, c->w, err);
}

/* The tangent along direction j of h w0 E(t, y, k), k = -sum w_l Z_l/(h w0), into err (onto: added to err); dy:
   that of y. */
static int add_tangent(stepper *c, const record *r, const directions *d, int j, double ci, const estimate_part *p,
                       const double *dy, int onto, double *err)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)d->m;
    double h = r->h, dh = d->dh[j], scale = p->w0 != 0 ? -1 / (h * p->w0) : 1;
    costate_point dx = direction(c, d, j, ci, dy);
    combine(n, a->systems.kdot, NULL, scale, c->s, p->w, d->Xd + (size_t)j * n, stride);
    if (p->w0 == 0) {
        TRY(apply_mass(c, r, a->systems.kdot));
        add_scaled(n, err, onto ? err : NULL, 1, a->systems.kdot);
        return 0;
    }
    combine(n, a->slope_of_part, NULL, scale, c->s, p->w, r->X, n);
    axpy(n, -dh / h, a->slope_of_part, a->systems.kdot);
    costate_point x = equation_point(c->maps, p->t, p->y, a->slope_of_part);
    TRY(equation_tangents(c->maps, &x, 1, &dx, a->systems.kdot, n, a->k, n));
    add_scaled(n, err, onto ? err : NULL, h * p->w0, a->k);
    if (dh == 0) return 0;
    TRY(equation_value(c->maps, p->t, p->y, a->slope_of_part, a->k));
    axpy(n, dh * p->w0, a->k, err);
    return 0;
}

static estimate_part first_part(const stepper *c, const record *r, const double *y, const double *f)
{
    return (estimate_part){c->m->est.e, c->m->est.e0, r->t, y, f};
}

static estimate_part second_part(const stepper *c, const record *r, const double *y, const double *f)
{
    return (estimate_part){c->m->est.ex, c->m->est.ex0, r->t + c->m->est.at * r->h, y, f};
}

/* estimate_with, but of the tangents of both parts */
static int estimate_tangent(stepper *c, const record *r, const directions *d, int j, double *err)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n, stride = n * (size_t)d->m;
    double D[STAGES_MOST], *du = a->R;
    const double *v = d->V + (size_t)j * (size_t)c->N, *Xd = d->Xd + (size_t)j * n;
    estimate_part first = first_part(c, r, r->y, NULL), second = second_part(c, r, a->Y, NULL);
    if (irk_inexact_bounded(c)) { combine(n, err, NULL, 1, c->s, first.w, Xd, stride); return 0; }
    TRY(add_tangent(c, r, d, j, 0, &first, v, 0, err));
    const double *w = tangent_weights(c, j, v, a->w);
    if (c->sh->singular && first.w0 != 0) {
        TRY(filter(c, r, w, err));
        TRY(apply_mass(c, r, err));
    }
    if (second.w0 != 0) {
        inner_point(c, r, a->Y);
        dense_weights(c->m, c->m->est.at, D, NULL);
        combine(n, du, v, 1, c->s, D, Xd, stride);
        TRY(add_tangent(c, r, d, j, c->m->est.at, &second, du, 1, err));
    }
    return filter(c, r, w, err);
}

static int estimate(stepper *c, const record *r, const trial *t)
{
    const irk_work *a = c->own;
    double *err = t->err, size;
    if (c->o->estimator == COSTATE_EST_SDIRK) return estimate_by_stage(c, r, err);
    estimate_part first = first_part(c, r, r->y, a->f0), second = second_part(c, r, a->Y, a->R);
    if (!c->maps->residual) TRY(irk_inner_value(c, &c->maps->rhs, r, a->R));
    else if (second.w0 != 0) inner_point(c, r, a->Y);
    TRY(estimate_with(c, r, &first, &second, err));
    if (!t->cautious || first.w0 == 0) return 0;
    TRY(error_norm(c, r->y, t->y1, err, &size));
    if (!(size > 1)) return 0;
    double *moved = a->R + c->n;                         /* once more, at y + err */
    add_scaled((size_t)c->n, moved, r->y, 1, err);
    if (!c->maps->residual) TRY(map_value(c->maps, &c->maps->rhs, r->t, moved, a->v2));
    first = first_part(c, r, moved, a->v2);
    return estimate_with(c, r, &first, &second, err);
}

/* known: as of combine_known */
INLINE int estimate_plain(size_t known, stepper *c, const record *r, double *err)
{
    estimate_part first = first_part(c, r, r->y, work(c)->f0);
    add_plain(known, c, r, &first, 0, err);
    return filter_by_real(known, c, shifts_sigma(c->sh, 0, &(double){0}) / r->h, NULL, err);
}

#define PLAIN(known) \
    static int plain_n_##known(stepper *c, const record *r, double *err) { return estimate_plain(known, c, r, err); }
PLAIN(0) PLAIN(1) PLAIN(2) PLAIN(3) PLAIN(4) PLAIN(5) PLAIN(6) PLAIN(7) PLAIN(8)

int irk_error_plain(stepper *c, const record *r, double *err)
{
    static int (*const by_size[KNOWN + 1])(stepper *, const record *, double *) = BY_KNOWN(plain_n);
    return by_size[IS_KNOWN(c->n)](c, r, err);
}

int irk_error(stepper *c, const record *r, const trial *t)
{
    TRY(estimate(c, r, t));
    index_scale(c, r->h, t->err);
    return 0;
}

int irk_estimate(stepper *c, const record *r, const directions *d, int j, double *err)
{
    TRY(estimate_tangent(c, r, d, j, err));
    index_scale(c, r->h, err);
    return 0;
}

/* unknowns of index 2 have their own scale in estimates: index_scale */
static void index_unscale(const stepper *c, double h, double *x)
{
    const int *index = c->maps->index;
    for (int i = 0; index && i < c->n; i++) if (index[i] == 2) x[i] /= fabs(h);
}

int irk_stiff_part(stepper *c, const record *r, double *x)
{
    double *slow = work(c)->R;
    index_unscale(c, r->h, x);
    memcpy(slow, x, (size_t)c->n * sizeof *x);
    if (!equation_plain(c->maps)) TRY(apply_mass(c, r, slow));
    TRY(filter(c, r, c->w, slow));
    axpy((size_t)c->n, -1, slow, x);
    index_scale(c, r->h, x);
    return 0;
}
