/* inexact.c (irk) - single stages solved without a matrix: Newton's iteration with a Krylov method, each only as
   accurate as the error of the step requires (mathematics, eq. 8.11).

   In the equation of stage i only Y_i is unknown:  (W_ii/h) M (Z_i - k) = f(T_i, y + Z_i).  k collects the other terms
   of R_i = 0 (if M is not the identity and there is an explicit first stage, approximately).  A solved stage provides a
   pair (D, J D) without an additional product,
       D = Z_i - k,   J D = (W_ii/h) M D - r(k),   r = -R_i.
   The next stage starts from its own k plus the combination of the last USE pairs that minimises its residual.  This is
   a better guess than a polynomial through earlier stages, or both combined.

   J is that of the iterate, so Newton's iteration converges quadratically.  The first correction is assumed to leave
   the fraction FIRST of itself as error.  For a residual, k is the point where K_i equals y' at the start of the step,
   where F is certainly defined, and M is that of the solved stage.  The preconditioner is kept until sigma has changed
   fourfold; an old one only costs iterations.  Pairs of a rejected try are dropped, so that a replay has the same pairs
   as the run. */
#include <math.h>
#include <string.h>
#include "irk/irk.h"

/* USE: 5 pairs were best for a 2-D Brusselator and heat.  KEPT: most steps for which a preconditioner is used, as in
   CVODES.  LINEAR: the fraction of newton_tol that the Krylov iteration may leave.  UNKNOWN: the factor by which errors
   are assumed to be underestimated at first (with 1, a Brusselator with diffusion 100 rejected one step of five, and
   its errors were two to three times larger). */
enum { USE = 5, KEPT = 20 };
static const double FOURFOLD = 4, FIRST = 0.1, LINEAR = 0.5, DIVERGES = 0.9, UNKNOWN = 10;

/* Can stages be solved this way?  Only a preconditioner weighs constraints against increments of y, so it is required
   where M may be singular. */
int irk_inexact_suits(const stepper *c)
{
    int scaled = c->maps->residual ? matfree_preconditioned(c->sh) && !c->maps->index : !c->sh->singular;
    return c->m->block == 1 && !c->m->npair && scaled && !c->o->derivative_mode &&
           c->o->estimator == COSTATE_EST_CLASSICAL;
}

void irk_inexact_layout(stepper *c, cursor *at)
{
    if (!irk_inexact(c)) return;
    int room = c->s + USE < PAIRS_MOST ? c->s + USE : PAIRS_MOST;
    work(c)->pool.space = &c->maps->space;
    pairs_layout(&work(c)->pool, at, (size_t)c->n, room, equation_plain(c->maps));
}

/* The first step of a run, and a step that is recomputed alone, have no earlier pairs. */
static void begin_step(stepper *c, const trial *t)
{
    irk_work *a = c->own;
    if (!t->before || !t->predict) {
        pairs_clear(&a->pool);
        a->amplified = UNKNOWN;
    } else if (a->tried == t->serial) {
        pairs_drop(&a->pool, a->added);
        a->amplified = a->amplified_before;
    }
    a->amplified_before = a->amplified;
    a->tried = t->serial;
    a->added = 0;
}

/* Chooses the preconditioner: made at the start of this or an earlier step, with the h of that step. */
static int precondition(stepper *c, record *r, const trial *t)
{
    const decisions *as = t->as;
    double ratio = c->fac->h / r->h, *w = c->w;
    int kept = c->lin.serial && c->lin.serial != t->serial && c->lin.serial == c->fac->serial &&
               ratio > 1 / FOURFOLD && ratio < FOURFOLD && t->serial - c->lin.serial < KEPT;
    long want = as ? as->jacobian : kept ? c->lin.serial : t->serial;
    const record *at = as && as->from ? as->from : r;
    double h = as ? at->h : kept ? c->fac->h : r->h;
    r->jacobian = want;
    if (c->lin.serial == want && c->fac->serial == want && c->fac->h == h) return 0;
    if (at != r) { w = work(c)->w; weights(c, at->y, w); }
    costate_point x = start_of_step(c, at);
    TRY(linearise(c->maps, want, &x, w, &c->lin));
    return shifts_factor(c->sh, &c->lin, h, &c->fac);
}

double irk_sigma(const stepper *c, double h) { return shifts_sigma(c->sh, 0, &(double){0}) / h; }

/* Z <- k */
static void known(const stepper *c, const record *r, int i, double *Z)
{
    double w[STAGES_MOST], Wii = c->m->W[i * (c->s + 1)];
    for (int j = 0; j < i; j++) w[j] = -c->m->W[i * c->s + j] / Wii;
    combine((size_t)c->n, Z, NULL, 1, i, w, r->X, (size_t)c->n);
    if (c->m->g && !c->maps->M) axpy((size_t)c->n, r->h * c->m->g[i] / Wii, work(c)->f0, Z);
    if (c->maps->residual) axpy((size_t)c->n, r->h / Wii, r->yp, Z);
}

/* Starts a pair with k and r(k), and sets Z to the guess from the pool; *moved: Z differs from k, so r must be formed
   again */
static int guess(stepper *c, const record *r, int i, const double *earlier, double *Z, int *moved)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n;
    double *x, *u, *v, *R = a->R;
    known(c, r, i, Z);
    TRY(irk_residual(c, r, i, Z, earlier));
    pairs_next(&a->pool, &x, &u, &v);
    memcpy(x, Z, n * sizeof *x);
    memcpy(v, R, n * sizeof *v);
    TRY(pairs_guess(&a->pool, USE, irk_sigma(c, r->h), R, a->pair, moved));
    if (*moved) axpy(n, 1, a->pair, Z);
    return 0;
}

static int remember(stepper *c, const record *r, int i, const double *Z)
{
    irk_work *a = c->own;
    double *x, *u, *v;
    pairs_next(&a->pool, &x, &u, &v);
    for (int l = 0; l < c->n; l++) x[l] = Z[l] - x[l];
    a->added++;
    costate_point at = equation_point(c->maps, r->t + c->m->c[i] * r->h, a->Y, a->R + c->n);
    solved_system of = {&at, irk_sigma(c, r->h), 0};
    return pair_of_solution(&a->pool, c->maps, USE, &of, c->w);
}

/* *enough: theta |d| is below the tolerance, where theta is the contraction, or FIRST if it is not known yet */
static int accepts(stepper *c, int it, double size, double old, int *enough)
{
    double theta = it > 1 ? (old > 0 ? size / old : 0) : FIRST;
    work(c)->theta = it > 1 ? theta : 0;
    *enough = size * fmin(theta, 1) <= c->o->newton_tol;
    if (*enough) return 0;
    if (it >= c->o->newton_max || (it > 1 && theta > DIVERGES)) return retry(c->v, WHY_NEWTON);
    return 0;
}

static int stage(stepper *c, const record *r, int i, double *Z, unsigned char *iterations, int fixed)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n;
    const double *earlier = irk_earlier(c, r, i);
    double size = 0, old, *d = a->R;
    int moved, enough = 0;
    TRY(guess(c, r, i, earlier, Z, &moved));
    for (int it = 1; !enough; it++) {
        if (moved) TRY(irk_residual(c, r, i, Z, earlier));
        costate_point at = equation_point(c->maps, r->t + c->m->c[i] * r->h, a->Y, a->R + n);
        TRY(matfree_correct(c->sh, &at, irk_sigma(c, r->h), c->w, LINEAR * c->o->newton_tol, &a->amplified, d));
        c->maps->count->newton++;
        old = size;
        TRY(space_norm(&c->maps->space, n, c->w, d, &size));
        if (!(size < HUGE_VAL)) return retry(c->v, WHY_NOT_FINITE);
        axpy(n, 1, d, Z);
        moved = 1;
        if (!fixed) { *iterations = (unsigned char)it; TRY(accepts(c, it, size, old, &enough)); }
        else enough = it == *iterations;
    }
    return remember(c, r, i, Z);
}

int irk_inexact_stages(stepper *c, record *r, trial *t)
{
    const unsigned char *fixed = t->as ? t->as->iterations : NULL;
    begin_step(c, t);
    TRY(precondition(c, r, t));
    t->newton = 1;
    for (int i = 0; i < c->s; i++) {
        unsigned char *its = &t->to.iterations[i];
        if (fixed) *its = fixed[i];
        TRY(stage(c, r, i, t->to.X + (size_t)i * (size_t)c->n, its, fixed != NULL));
        if (*its > t->newton) t->newton = *its;
    }
    return 0;
}

/* Defaults of newton_tol, compared at equal error.  COARSE takes 10 to 25 % fewer iterations than FINE where it does
   not spoil the error estimate; where the estimate is filtered, runs with COARSE reject steps and their errors grow.
   CONSTRAINED is for residuals: near the steady state of a food web errors of steps decay, but errors of the last
   stages do not.  sdirk4a at rtol 1e-6 took 806 iterations forward and backward for an error of 2.8e-8; with FINE 654
   for 7e-7. */
static const double COARSE = 0.1, FINE = 0.03, CONSTRAINED = 0.003;

/* Must the estimate be filtered?  An estimate that only uses Z is bounded where J is stiff.  The error of the stages in
   it is at most newton_tol sum |e_j|; the filter is only needed if that would affect step size control (sdirk4a: 32
   newton_tol).  Where COARSE exceeds this bound, FINE sometimes does, too: Cash's method of order 4, with sum |e_j|
   from 2 to 6, took a third more steps in short runs. */
static int tells(const costate_method *m, double newton_tol)
{
    const double TELLS = 0.2;
    double sum = 0;
    if (!m->est.e || m->est.e0 != 0 || m->est.ex0 != 0) return 0;
    for (int i = 0; i < m->s; i++) sum += fabs(m->est.e[i]);
    return newton_tol * sum <= TELLS;
}

int irk_inexact_bounded(const stepper *c) { return irk_inexact(c) && tells(c->m, fmax(c->o->newton_tol, COARSE)); }

double irk_loosely(const stepper *c)
{
    if (!irk_inexact(c)) return 0;
    return c->maps->residual ? CONSTRAINED : tells(c->m, COARSE) ? COARSE : FINE;
}

/* x <- sigma (sigma M - J)^-1 x for an error estimate, as accurately as step size control requires */
int irk_inexact_filter(stepper *c, const record *r, const double *w, double *x)
{
    const double TELLS = 0.03;
    double sigma = irk_sigma(c, r->h), amplified = work(c)->amplified;
    costate_point at = equation_point(c->maps, r->t, r->y, r->yp);
    for (int i = 0; i < c->n; i++) x[i] *= sigma;
    return matfree_correct(c->sh, &at, sigma, w, TELLS, &amplified, x);
}
