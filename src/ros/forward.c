/* forward.c (ros) - one Rosenbrock step in the form (3.10) of Zhang & Sandu, M y' = f, q' = r
   (mathematics, eq. 6.2 to 6.5).

       E = M/(h gamma) - f_y,   Y_i = y + sum_{j<i} a_ij U_j,   T_i = t + alpha_i h
       E U_i = f(T_i, Y_i, p) + h gamma_i f_t + (1/h) M sum_{j<i} c_ij U_j
       y+ = y + sum m_i U_i,   est = sum e_i U_i   (filtered where M is singular: filter)
       q+ = q + h sum b_i [ r(T_i, Y_i, p) + h gamma_i r_t + r_y U_i ]
   f_y, f_t, r_y, r_t at (t, y, p): always those of this step.

   With a matrix of the user's, E, which is held (mathematics, section 6.5):
       E U_i = f(T_i, Y_i, p) + (1/h) M sum_{j<i} c_ij U_j,   q+ = q + h sum b_i r(T_i, Y_i, p) */
#include <string.h>
#include "ros/ros.h"
#include "step/coupling.h"

/* out = base + (1/h) M sum_j C_ij X_j, transposed M^T and C_ji */
static void couple(stepper *c, double h, int transpose, int i, int from, int to, const double *X, size_t stride,
                          const double *base, double *out)
{
    size_t n = (size_t)c->n;
    double *sum = work(c)->v2;
    if (!c->maps->M) { stage_sum(c, c->m->C, transpose, i, from, to, 1 / h, X, stride, base, out); return; }
    if (out != base) memcpy(out, base, n * sizeof *out);
    if (to <= from) return;
    stage_sum(c, c->m->C, transpose, i, from, to, 1 / h, X, stride, NULL, sum);
    mass_multiply(c->maps, transpose, 1, 1, sum, out);
}

void ros_coupling(stepper *c, double h, int transpose, int i, int from, int to, const double *X, size_t stride,
                  double *out)
{
    couple(c, h, transpose, i, from, to, X, stride, out, out);
}

void ros_slope(const stepper *c, int i, const double *X, size_t stride, double *out)
{
    size_t n = (size_t)c->n;
    add_scaled(n, out, NULL, ros_holds(c) ? 0 : 1 / c->m->gamma, X + (size_t)i * stride);
    combine(n, out, out, -1, i, c->m->C + (size_t)i * (size_t)c->s, X, stride);
}

const double *ros_stage(const stepper *c, const record *r, int i, double *out)
{
    if (i == 0) return r->y;
    combine((size_t)c->n, out, r->y, 1, i, c->m->A + (size_t)i * (size_t)c->s, r->X, (size_t)c->n);
    return out;
}

/* What the stages of a step share.  Copies, which a compiler need not read again after each callback. */
typedef struct {
    const costate_method *m;
    const ros_work *a;
    maps *maps;
    const factors *lu;          /* over a tape, the kept ones */
    const double *y;            /* at the start */
    double *X;                  /* U_i */
    int timed;                  /* there is a term with f_t */
    int plain;                  /* there is none, nor a mass matrix, and the system is factored */
    double t, h, per_h;         /* per_h: 1/h */
} shared;

/* row i of A, or y+ (i = s), into out; before: Y_i-1.  The methods of the RODAS family add up their last stages.
   known: as of combine_known */
INLINE void next_point(size_t known, size_t n, const shared *all, int i, const double *before, double *out)
{
    static const double one = 1;
    const costate_method *m = all->m;
    const double *w = i < m->s ? m->A + (size_t)i * (size_t)m->s : m->d;
    if (all->a->extends[i]) combine_known(known, n, out, before, 1, 1, &one, all->X + (size_t)(i - 1) * n);
    else combine_known(known, n, out, all->y, 1, i, w, all->X);
}

/* is there a term with f_t? */
static int slopes_in_t(const stepper *c) { return !c->o->autonomous && !ros_holds(c); }

int ros_time_slope(stepper *c, const record *r)
{
    work(c)->unit = ldexp(1, ilogb(r->h));
    costate_point x = point(c->maps, r->t, r->y), dt = {.t = work(c)->unit};
    if (!slopes_in_t(c)) { memset(work(c)->ft, 0, (size_t)c->n * sizeof *work(c)->ft); return 0; }
    return map_tangent(c->maps, &c->maps->rhs, &x, &dt, work(c)->ft);
}

int ros_iterate(stepper *c, const factors *f, int transpose, int m, const accuracy *how, double *X)
{
    accuracy to = *how;
    to.tol = c->o->krylov_tol;                             /* nothing corrects what is left */
    if (!how->sweep || !matfree_relaxes(c->sh)) return factors_solve(c->sh, f, 0, transpose, m, &to, X);
    for (int j = 0, its, good; j < m; j++, to.first++) {
        shifted a = {c->sh, equation_point(c->maps, f->t, f->y, f->yp), shifts_sigma(c->sh, 0, &(double){0}) / f->h, 0,
                     transpose};
        double *x = X + (size_t)j * (size_t)c->n;
        TRY(matfree_relaxed(&a, &to, to.first, x, &its, &good));
        if (good) c->maps->count->solves++;
        else TRY(factors_solve(c->sh, f, 0, transpose, 1, &to, x));
    }
    return 0;
}

/* q1 += h b_i [...], errq += h (bhat_i - b_i) [...] */
static int quadrature(stepper *c, const record *r, int i, const double *Y, double *q1, double *errq)
{
    const ros_work *a = c->own;
    size_t nq = (size_t)c->nq;
    if (c->m->b[i] == 0 && a->error_b[i] == 0) return 0;
    costate_point x = point(c->maps, r->t, r->y), e = {.t = r->h * c->m->gi[i], .y = r->X + (size_t)i * (size_t)c->n};
    TRY(map_value(c->maps, &c->maps->cost, r->t + c->m->c[i] * r->h, Y, a->r));
    if (!ros_holds(c)) {
        TRY(map_tangent(c->maps, &c->maps->cost, &x, &e, a->rq));
        axpy(nq, 1, a->rq, a->r);
    }
    axpy(nq, r->h * c->m->b[i], a->r, q1);
    axpy(nq, r->h * a->error_b[i], a->r, errq);
    return 0;
}

/* x: of the stage before, whose point some methods repeat */
INLINE int stage(size_t known, size_t n, stepper *c, int i, const shared *all, costate_point *x)
{
    const costate_method *m = all->m;
    const ros_work *a = all->a;
    double *U = all->X + (size_t)i * n, *f = a->v1;
    const double *base = f, *row = m->C + (size_t)i * (size_t)m->s;
    if (m->newf[i]) {
        if (i > 0) next_point(known, n, all, i, x->y, a->Y);
        TRY(map_value_next(all->maps, &all->maps->rhs, x, all->t + m->c[i] * all->h, i > 0 ? a->Y : all->y, f));
    }
    if (!all->plain && all->timed) { add_scaled(n, U, f, all->h / a->unit * m->gi[i], a->ft); base = U; }
    if (!all->plain && all->maps->M) couple(c, all->h, 0, i, 0, i, all->X, n, base, U);
    else combine_known(known, n, U, base, all->per_h, i, row, all->X);
    if (!all->plain && c->sh->matfree)
        return ros_iterate(c, all->lu, 0, 1, &(accuracy){.from = &work(c)->step}, U);
    return factors_solve_one((int)known, 1, c->sh, all->lu, 0, NULL, U);
}

/* err <- (1/(h gamma)) E^-1 M err, where it holds what the step before left in the constraints: see step.h. */
static int filter(stepper *c, const record *r, double *err)
{
    const factors *lu;
    if (!work(c)->filtered) return 0;
    TRY(ros_matrices(c, r, &lu));
    mass_apply(c->maps, err, work(c)->v1);
    for (int i = 0; i < c->n; i++) err[i] /= r->h * c->m->gamma;
    return ros_solve(c, lu, 0, 1, &(accuracy){.from = NULL}, err);
}

/* A step uses the matrix of the previous step if their lengths differ only by round-off, as at the end of a run with
   fixed steps.  Returns the h of its matrix.  Another sigma adds (sigma - sigma') M to W (mathematics, section 6.5). */
static double near(const stepper *c, double h)
{
    const double LEAST = 1e-12;
    double kept = c->fac->serial ? c->fac->h : 0;
    return pow(fabs(h - kept) / fabs(h), c->m->order) <= LEAST ? kept : h;
}

INLINE int forward(size_t known, stepper *c, record *r, trial *t)
{
    size_t n = known ? known : (size_t)c->n, nq = (size_t)c->nq;
    int s = c->s, timed = slopes_in_t(c);
    const factors *lu;
    costate_point x = point(c->maps, r->t, r->y);
    double *y1 = t->y1, *err = t->err;
    int measured = -1;                                  /* the guard is not asked */
    r->jacobian = t->serial;
    if (ros_holds(c)) r->held = t->as ? t->as->held : near(c, r->h);
    t->newton = 0;
    if (!t->as) ros_confirm_made(c, r);
    TRY(ros_matrices(c, r, &lu));
    if (ros_holds(c) && !t->as) TRY(ros_guard(c, r, t, &measured));
    if (!t->started && timed) TRY(ros_time_slope(c, r));
    t->started = 1;
    guesses_clear(&work(c)->step);       /* a recomputed step knows no other steps */
    if (nq) memcpy(y1 + n, r->y + n, nq * sizeof *y1);
    if (nq) memset(err + n, 0, nq * sizeof *err);
    const shared all = {c->m, work(c), c->maps, lu, r->y, t->to.X, timed, !timed && !c->maps->M && !c->sh->matfree,
                        r->t, r->h, 1 / r->h};
    for (int i = 0; i < s; i++) {
        TRY(stage(known, n, c, i, &all, &x));
        if (nq) TRY(quadrature(c, r, i, x.y, y1 + n, err + n));
    }
    next_point(known, n, &all, s, x.y, y1);
    if (measured >= 0) TRY(ros_smooth_step(c, r, y1, measured));
    if (!t->estimate) return 0;
    combine_known(known, n, err, NULL, 1, s, c->m->est.e, r->X);
    return filter(c, r, err);
}

#define FORWARD(known) static int forward_n_##known(stepper *c, record *r, trial *t) { return forward(known, c, r, t); }
FORWARD(0) FORWARD(1) SINGLY FORWARD(2) SINGLY FORWARD(3) SHORT_LOOPS FORWARD(4) SHORT_LOOPS FORWARD(5)
SHORT_LOOPS FORWARD(6) SHORT_LOOPS FORWARD(7) SHORT_LOOPS FORWARD(8)

int ros_forward(stepper *c, record *r, trial *t)
{
    static int (*const by_size[KNOWN + 1])(stepper *, record *, trial *) = BY_KNOWN(forward_n);
    return by_size[IS_KNOWN(c->n)](c, r, t);
}

int ros_estimate(stepper *c, const record *r, const directions *d, int j, double *err)
{
    TRY(stage_estimate(c, r, d, j, err));
    return filter(c, r, err);
}
