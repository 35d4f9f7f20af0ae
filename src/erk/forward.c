/* forward.c (erk) - one explicit Runge-Kutta step for M y' = f, q' = r, M regular.

       Y_i = y + h sum_{j<i} a_ij K_j,  M K_i = f(t + c_i h, Y_i, p),  y+ = y + h sum b_i K_i,
       q+ = q + h sum b_i r(t + c_i h, Y_i, p),  est = h sum e_i K_i                      (mathematics, eq. 3.1 to 3.2)

   FSAL: the last stage is y+, and its slope the first of the next step. */
#include <math.h>
#include <string.h>
#include "erk/erk.h"

const double *erk_stage(const stepper *c, const record *r, int i, double *out)
{
    if (i == 0) return r->y;
    combine((size_t)c->n, out, r->y, r->h, i, c->m->A + (size_t)i * (size_t)c->s, r->X, (size_t)c->n);
    return out;
}

/* K_i <- the slope at Y = Y_i, M K_i = f; x: a point of the step */
INLINE int slope(size_t n, stepper *c, const record *r, trial *t, int i, const double *Y, costate_point *x)
{
    double *K = t->to.X + (size_t)i * n;
    TRY(map_value_next(c->maps, &c->maps->rhs, x, erk_time(c, r, i), Y, K));
    TRY(mass_solve(c->sh, 0, 1, K));
    if (c->m->b[i] != 0) return 0;
    /* y+ may not show it, but the next step and dense output would; 0.2: how far an error test cuts a step at most */
    return cut_by(t, 0.2, space_finite(&c->maps->space, n, K));
}

INLINE int first_slope(size_t n, stepper *c, const record *r, trial *t, costate_point *x)
{
    if (!slope_is_known(t) || !(c->m->is & COSTATE_FSAL)) return slope(n, c, r, t, 0, r->y, x);
    memcpy(t->to.X, t->before->X + (size_t)(c->s - 1) * n, n * sizeof *t->to.X);
    return 0;
}

static int quadrature(stepper *c, const record *r, int i, const double *Y, double *q1, double *errq)
{
    const costate_method *m = c->m;
    const erk_work *a = c->own;
    if (m->b[i] == 0 && (!m->est.e || m->est.e[i] == 0)) return 0;
    TRY(map_value(c->maps, &c->maps->cost, erk_time(c, r, i), Y, a->r));
    axpy((size_t)c->nq, r->h * m->b[i], a->r, q1);
    if (m->est.e) axpy((size_t)c->nq, r->h * m->est.e[i], a->r, errq);
    return 0;
}

/* DOP853's combination of an estimate of order 5 and one of order 3: |e|^2 / sqrt(|e|^2 + 0.01 |e2|^2)
   (Hairer, Norsett & Wanner I, II.10). */
static int combine_estimates(stepper *c, const record *r, const double *y1, double *err)
{
    size_t n = (size_t)c->n;
    double *v = ((erk_work *)c->own)->v;
    combine(n, v, NULL, r->h, c->s, c->m->est.e2, r->X, n);
    memset(v + n, 0, (size_t)c->nq * sizeof *v);
    double a, b;
    TRY(error_norm(c, r->y, y1, err, &a));
    TRY(error_norm(c, r->y, y1, v, &b));
    double under = sqrt(a * a + 0.01 * b * b);
    if (under > 0) for (int i = 0; i < c->N; i++) err[i] *= a / under;
    return 0;
}

/* known: as of combine_known */
INLINE int forward(size_t known, stepper *c, record *r, trial *t)
{
    const costate_method *m = c->m;
    const erk_work *a = c->own;
    size_t n = known ? known : (size_t)c->n;
    int s = c->s, last = m->is & COSTATE_FSAL ? s - 1 : s;          /* the stage that is y+ */
    const double *y = r->y, *X = r->X, h = r->h;
    double *y1 = t->y1, *err = t->err;
    costate_point x = point(c->maps, r->t, y);
    for (int k = 0; k < c->nq; k++) { y1[n + (size_t)k] = y[n + (size_t)k]; err[n + (size_t)k] = 0; }
    t->newton = 0;
    if (!t->started) TRY(first_slope(n, c, r, t, &x));
    t->started = 1;
    if (c->nq) TRY(quadrature(c, r, 0, y, y1 + n, err + n));
    for (int i = 1; i < s; i++) {
        double *Y = i == last ? y1 : a->Y;
        combine_known(known, n, Y, y, h, i, m->A + i * s, X);
        TRY(slope(n, c, r, t, i, Y, &x));
        if (c->nq) TRY(quadrature(c, r, i, Y, y1 + n, err + n));
    }
    if (last == s) combine_known(known, n, y1, y, h, s, m->b, X);
    if (m->est.e) combine_known(known, n, err, NULL, h, s, m->est.e, X);
    return m->est.e2 ? combine_estimates(c, r, y1, err) : 0;
}

#define FORWARD(known) static int forward_n_##known(stepper *c, record *r, trial *t) { return forward(known, c, r, t); }
FORWARD(0) FORWARD(1) SINGLY FORWARD(2) SINGLY FORWARD(3) FORWARD(4) FORWARD(5) FORWARD(6) FORWARD(7) FORWARD(8)

int erk_forward(stepper *c, record *r, trial *t)
{
    static int (*const by_size[KNOWN + 1])(stepper *, record *, trial *) = BY_KNOWN(forward_n);
    return by_size[IS_KNOWN(c->n)](c, r, t);
}
