/* consistent.c - whether the initial values satisfy the constraints of M y' = f with singular M, or of F(t, y, y', p) =
   0 (mathematics, eq. 11.15).

   Index 1: f can be written as M u - J d with d in the kernel of M.  The constraints are satisfied if d = 0; otherwise
   d is, to first order, the change of y that satisfies them.  d does not depend on the scaling of rows or states, and
   is compared with the tolerance of y.  With sigma large relative to the rates of J,

       r <- -J (sigma M - J)^-1 r,      starting from r = f,

   each pass keeps the part -J d and divides the rest by sigma over the rates; (sigma M - J)^-1 r converges to d.  Rows
   in which M is zero keep f as it is.  If constraints are linear combinations of rows, sigma M must not drown them in
   round-off: so sigma is no larger than necessary, and d is only accepted if a smaller sigma gives the same.

   For a residual the same passes are Newton's iteration for y' = k with y fixed,

       k <- k + sigma x,   x = (sigma M - J)^-1 r,   r <- E(t, y, k),

   where r is -J x if E is linear in k; what remains of it when k has converged is -J d.  The matrix is kept if a pass
   found E to be linear, or reduced x tenfold. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/modulus.h"
#include "run/consistent.h"

/* In tolerances.  A run leaves a part of its tolerance in the constraints, with ros2 and radau1a the error of a step.
   Newton's iteration absorbs a smaller jump in the first step. */
static const double ALLOWED = 100;
/* PASSES for d; SLOPE_PASSES, SLOPE_MOST: least and most for y': where F is not linear in it, a pass may only halve its
   error */
enum { PASSES = 12, SLOPE_PASSES = 3, SLOPE_MOST = 60 };

typedef struct {
    double *f, *r, *d, *rate, *row;      /* n each; rate: moduli of M in rows; row: those of J */
    double *terms;                       /* n: work; of a residual f is E before the last pass */
    double t, unit;                      /* unit: the size of the first pass */
} jump;

/* the unit in which a change of a component is measured: its tolerance, at least the round-off of a linear solution */
static double unit_of(const costate *c, int i) { return fmax(1 / c->st.w[i], 1e3 * DBL_EPSILON * fabs(c->work.y[i])); }

static double largest(const costate *c, const double *d, int *where)
{
    double most = 0;
    for (int i = 0; i < c->st.n; i++) {
        double size = fabs(d[i]) / unit_of(c, i);
        if (c->maps.index && c->maps.index[i] == 2) continue;       /* the first step determines it from any value */
        if (size > most) { most = size; *where = i; }
    }
    return most;
}

/* adds |A_ij x_j| to the sums of rows; x NULL: the units of y */
static void add_row_sums(const costate *c, const double *A, const double *x, double *sums)
{
    const costate_pattern *a = c->P.pattern;
    memset(sums, 0, (size_t)c->st.n * sizeof *sums);
    for (int j = 0; j < c->st.n; j++) {
        int from = a ? a->col[j] : 0, to = a ? a->col[j + 1] : c->st.n;
        const double *column = a ? A : A + (size_t)j * (size_t)c->st.n;
        double size = x ? fabs(x[j]) : unit_of(c, j);
        for (int k = from; k < to; k++) sums[a ? a->row[k] : k] += fabs(column[k]) * size;
    }
}

/* the largest rate of a row, in the units of y; at least one change over the run */
static double fastest(const costate *c, jump *x, double span)
{
    double most = 1 / span;
    add_row_sums(c, c->st.lin.M, NULL, x->rate);
    add_row_sums(c, c->st.lin.J, NULL, x->row);
    for (int i = 0; i < c->st.n; i++)
        if (x->rate[i] > 0) most = fmax(most, x->row[i] / x->rate[i]);
    return most;
}

/* r <- -J d; in rows where M is zero r stays f */
static int without_slope(costate *c, jump *x)
{
    size_t n = (size_t)c->st.n;
    memset(x->r, 0, n * sizeof *x->r);
    pattern_multiply(c->st.n, c->P.pattern, c->st.lin.J, 0, -1, 1, x->d, x->r);
    for (size_t i = 0; i < n; i++) if (x->rate[i] == 0) x->r[i] = x->f[i];
    return 0;
}

/* factors sigma M - J; RETRY: it is singular */
static int shift(costate *c, double sigma)
{
    double im, re = c->st.sh->matfree ? shifts_sigma(c->st.sh, 0, &im) : 0;
    if (c->st.sh->matfree) return shifts_factor(c->st.sh, &c->st.lin, modulus(re, im) / sigma, &c->st.fac);
    return mass_shift(c->st.sh, sigma, &c->st.lin);
}

static int solve_shifted(costate *c, const jump *x, double sigma, double *d)
{
    const double TOL = 1e-3;
    double amplified = 1;
    costate_point at = equation_point(&c->maps, x->t, c->work.y, c->work.yp);
    if (c->st.sh->matfree) return matfree_correct(c->st.sh, &at, sigma, c->st.w, TOL * fmax(x->unit, 1), &amplified, d);
    return mass_shift_solve(c->st.sh, d);
}

/* yp <- yp + sigma d, r <- E there, f: E before */
static int with_slope(costate *c, jump *x, double sigma)
{
    memcpy(x->f, x->r, (size_t)c->st.n * sizeof *x->f);
    axpy((size_t)c->st.n, sigma, x->d, c->work.yp);
    return equation_value(&c->maps, x->t, c->work.y, c->work.yp, x->r);
}

/* Was E linear over the last pass, that is, did it change as its Jacobian predicts?  Compared row by row, relative to
   the sum of the moduli of the terms. */
static int linear(const costate *c, const jump *x, double sigma)
{
    const double PART = 1e-6;
    double *f = x->f;
    if (c->st.sh->matfree) return 0;
    add_row_sums(c, c->st.lin.M, x->d, x->terms);
    for (int i = 0; i < c->st.n; i++) x->terms[i] = fabs(f[i]) + sigma * x->terms[i];
    pattern_multiply(c->st.n, c->P.pattern, c->st.lin.M, 0, -sigma, 1, x->d, f);
    for (int i = 0; i < c->st.n; i++)
        if (!(fabs(x->r[i] - f[i]) <= PART * x->terms[i])) return 0;
    return 1;
}

static int linearise_here(costate *c, double t)
{
    costate_point at = equation_point(&c->maps, t, c->work.y, c->work.yp);
    return linearise(&c->maps, c->at + 1, &at, c->st.w, &c->st.lin);
}

/* Chooses the matrix of the next pass; fell: the size of this pass relative to the previous one, 1: there was none. */
static int renew(costate *c, jump *x, double sigma, double fell)
{
    if (!c->maps.residual || fell <= 0.1 || linear(c, x, sigma)) return 0;
    TRY(linearise_here(c, x->t));
    return shift(c, sigma);
}

/* Computes d by passes until its part outside the kernel of M has vanished; *size: its size, -1: no answer. */
static int passes(costate *c, jump *x, double sigma, double *size)
{
    size_t n = (size_t)c->st.n;
    int at = 0, least = c->maps.residual ? SLOPE_PASSES : 0, most = c->maps.residual ? SLOPE_MOST : PASSES;
    double last = -1;
    TRY(shift(c, sigma));
    memcpy(x->r, x->f, n * sizeof *x->r);
    x->unit = 0;
    for (int k = 0; k < most; k++) {
        memcpy(x->d, x->r, n * sizeof *x->d);
        TRY(solve_shifted(c, x, sigma, x->d));
        double now = largest(c, x->d, &at);
        if (k == 0) x->unit = now;
        TRY(c->maps.residual ? with_slope(c, x, sigma) : without_slope(c, x));
        if (k >= least && (now <= ALLOWED || (last > 0 && fabs(now - last) <= 1e-3 * now))) { *size = now; return 0; }
        if (!(now < HUGE_VAL)) return RETRY;
        TRY(renew(c, x, sigma, last > 0 ? now / last : 1));
        last = now;
    }
    return RETRY;
}

static int jump_of(costate *c, jump *x, double sigma, double *size)
{
    *size = -1;
    int status = passes(c, x, sigma, size);
    return status == RETRY ? 0 : status;
}

/* the row of the constraints with the largest violation, preferably one in which M is zero */
static int worst_row(const costate *c, const jump *x)
{
    int best[2] = {0, 0};
    double most[2] = {0, 0};
    for (int i = 0; i < c->st.n; i++) {
        int k = x->rate[i] == 0;
        double size = fabs(x->r[i]) / x->row[i];
        if (size > most[k]) { most[k] = size; best[k] = i; }
    }
    return best[most[1] > 1];
}

static int refuse(costate *c, const jump *x, double size)
{
    int at = 0, row = worst_row(c, x), alone = x->rate[row] == 0;
    largest(c, x->d, &at);
    const char *of = c->maps.residual ? "the residual" : "f";
    const char *why = c->maps.residual ? "whatever y' is" : alone ? "where M y' is 0" :
                      "where no M y' can be (the part that M does not reach)";
    return fail(&c->v, COSTATE_INCONSISTENT, "The start is inconsistent: %s, and at t = %.10g row %d of %s "
                "is %.6g %s; to meet the constraints y[%d] = %.8g would change by %.3g, %.3g times its tolerance.",
                c->maps.residual ? "dF/dy' is singular" : "M is singular", x->t, row, of,
                c->maps.residual ? -x->r[row] : alone ? x->f[row] : x->r[row], why, at, c->work.y[at], x->d[at], size);
}

static int start_over(costate *c, jump *x)
{
    if (c->work.yp) memset(c->work.yp, 0, (size_t)c->st.n * sizeof *c->work.yp);
    TRY(linearise_here(c, x->t));
    return equation_value(&c->maps, x->t, c->work.y, c->work.yp, x->f);
}

static double column_sum(const costate *c, const double *A, int j)
{
    const costate_pattern *a = c->P.pattern;
    size_t n = (size_t)c->st.n, from = a ? (size_t)a->col[j] : (size_t)j * n;
    return sum_moduli(a ? (size_t)(a->col[j + 1] - a->col[j]) : n, A + from);
}

/* Refuses a column or row without entries in J and M: sigma M - J is singular for every sigma. */
static int refuse_empty(costate *c, const jump *x)
{
    for (int i = 0; i < c->st.n; i++) {
        if (x->rate[i] + x->row[i] == 0)
            return fail(&c->v, COSTATE_SINGULAR, "Row %d of the residual depends on no unknown at t = %.10g.", i, x->t);
        if (column_sum(c, c->st.lin.J, i) + column_sum(c, c->st.lin.M, i) == 0)
            return fail(&c->v, COSTATE_SINGULAR, "The residual depends neither on y[%d] nor on y'[%d] at t = %.10g.", i,
                        i, x->t);
    }
    return COSTATE_OK;
}

static jump jump_at(const costate *c, double t)
{
    return (jump){.f = c->work.f, .r = c->work.err, .d = c->work.y1, .rate = c->work.z, .row = c->work.scratch[0].X,
                  .terms = c->work.scratch[1].X, .t = t};
}

/* COSTATE_OK; RETRY if J or f cannot be evaluated; or a status */
static int judge(costate *c, double t, double span)
{
    jump x = jump_at(c, t);
    double size, less;
    int where = 0;
    weights(&c->st, c->work.y, c->st.w);
    TRY(start_over(c, &x));
    if (!all_finite((size_t)c->st.n, x.f)) return COSTATE_OK;
    double sigma = 1e3 * fastest(c, &x, span);
    if (c->maps.residual) TRY(refuse_empty(c, &x));
    TRY(jump_of(c, &x, sigma, &size));
    if (!(size > ALLOWED)) return COSTATE_OK;
    if (c->maps.residual) TRY(start_over(c, &x));
    TRY(jump_of(c, &x, sigma / 16, &less));
    if (!(less > ALLOWED) || fabs(size - less) > 0.1 * size) return COSTATE_OK;
    return refuse(c, &x, largest(c, x.d, &where));
}

int consistent(costate *c, double t, double span)
{
    if (!c->st.sh->singular || c->st.sh->matfree) return COSTATE_OK;
    int status = judge(c, t, span);
    return status == RETRY ? COSTATE_OK : status;                /* the first step will give a better message */
}

/* Computes yp only, with the first sigma for which the passes converge: larger than the rates, but no larger than
   necessary. */
static int slope_without_matrix(costate *c, double t, double span)
{
    jump x = jump_at(c, t);
    double size = -1;
    weights(&c->st, c->work.y, c->st.w);
    for (double sigma = 1e4 / span; size < 0 && sigma < 1e12 / span; sigma *= 100) {
        TRY(start_over(c, &x));
        if (!all_finite((size_t)c->st.n, x.f)) return COSTATE_OK;
        TRY(jump_of(c, &x, sigma, &size));
    }
    return size < 0 ? start_over(c, &x) : COSTATE_OK;
}

/* Sets y' to 0 for unknowns whose y' does not appear in the residual; 1: some were not 0. */
static int clear_undetermined(costate *c)
{
    int changed = 0;
    for (int j = 0; j < c->st.n; j++) {
        int empty = !c->st.sh->matfree && column_sum(c, c->st.lin.M, j) == 0;
        if (!empty && !(c->maps.index && c->maps.index[j] == 2)) continue;
        changed |= c->work.yp[j] != 0;
        c->work.yp[j] = 0;
    }
    return changed;
}

/* y' is known: the first step is linearised there */
static int settle(costate *c, double t)
{
    int status = linearise_here(c, t);
    if (clear_undetermined(c)) linearisation_outdate(&c->st.lin);
    return status == RETRY ? COSTATE_OK : status;
}

int residual_start(costate *c, double t, double span)
{
    int status = c->st.sh->matfree ? slope_without_matrix(c, t, span) : judge(c, t, span);
    if (status != COSTATE_OK) return status;
    if (!all_finite((size_t)c->st.n, c->work.f)) return retry(&c->v, WHY_NOT_FINITE);
    return settle(c, t);
}

/* V <- V + d for m tangents (N apart), so that they satisfy the linearised constraints: the passes above for
   r = J V + E_p Vp.  Vp: (np + nm) by m, or NULL. */
int tangents_along_constraints(costate *c, double t, double span, int m, double *V, const double *Vp)
{
    jump x = jump_at(c, t);
    const space *all = &c->maps.space;
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N;
    double *old = x.terms;
    weights(&c->st, c->work.y, c->st.w);
    TRY(linearise_here(c, t));
    double sigma = 1e3 * fastest(c, &x, span);
    TRY(shift(c, sigma));
    costate_point at = equation_point(&c->maps, t, c->work.y, c->work.yp);
    for (int j = 0; j < m; j++) {
        double *v = V + (size_t)j * N;
        costate_point dx = along_pm(&c->maps, 0, v, Vp, (size_t)j);
        TRY(equation_tangents(&c->maps, &at, 1, &dx, NULL, n, x.f, n));
        memcpy(x.r, x.f, n * sizeof *x.r);
        for (int k = 0, done = 0; k < PASSES && !done; k++) {
            double change = 0, size = 0;
            memcpy(old, x.d, n * sizeof *old);
            memcpy(x.d, x.r, n * sizeof *x.d);
            TRY(solve_shifted(c, &x, sigma, x.d));
            TRY(without_slope(c, &x));
            for (size_t i = 0; i < n; i++) {
                change = fmax(change, fabs(x.d[i] - old[i]));
                size = fmax(size, fabs(v[i]) + fabs(x.d[i]));
            }
            TRY(space_greatest(all, &change));
            TRY(space_greatest(all, &size));
            done = k > 0 && change <= 1e-10 * size;
        }
        axpy(n, 1, x.d, v);
    }
    return space_finite(all, N * (size_t)m, V);
}
