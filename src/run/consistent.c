/* consistent.c - M y' = f with a singular M: are the constraints met where a run starts?

   Index 1: every f is M u - J d with d in the kernel of M; the constraints are met if d = 0, and else d is, to first
   order, the jump of y that meets them.  That does not depend on how rows or states are scaled, and is what the
   tolerance of y judges.  With sigma large beside the rates of J,

       r <- -J (sigma M - J)^-1 r,      from r = f,

   keeps the part -J d and divides the rest by sigma over the rates each time; (sigma M - J)^-1 r tends to d.  Rows that
   M does not enter keep f as it is.  sigma M must not drown the constraints in round-off, where they are combinations
   of rows: so sigma is no larger than need be, and only a d that a smaller sigma gives, too, is believed. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/run.h"

/* Times the tolerance.  A run leaves some of it in the constraints, ros2 and radau1a the error of a step; Newton
   takes a jump by less than this for part of the step. */
static const double ALLOWED = 100;
enum { PASSES = 12 };

typedef struct {
    double *f, *r, *d, *rate, *row;      /* n each; rate: moduli of M, then of J, in rows; row: those of J */
    double sigma;
} jump;

/* what a component may change by: no less than round-off of a solution of a system */
static double unit_of(const costate *c, int i) { return fmax(1 / c->st.w[i], 1e3 * DBL_EPSILON * fabs(c->work.y[i])); }

static double largest(const costate *c, const double *d, int *where)
{
    double most = 0;
    for (int i = 0; i < c->st.n; i++) {
        double size = fabs(d[i]) / unit_of(c, i);
        if (size > most) { most = size; *where = i; }
    }
    return most;
}

static void add_row_sums(const costate *c, const double *A, double *sums)
{
    const costate_pattern *a = c->P.pattern;
    memset(sums, 0, (size_t)c->st.n * sizeof *sums);
    for (int j = 0; j < c->st.n; j++) {
        int from = a ? a->col[j] : 0, to = a ? a->col[j + 1] : c->st.n;
        const double *column = a ? A : A + (size_t)j * (size_t)c->st.n;
        for (int k = from; k < to; k++) sums[a ? a->row[k] : k] += fabs(column[k]) * unit_of(c, j);
    }
}

/* the largest rate of a row, in the units of y; no less than one change over the run */
static double fastest(const costate *c, jump *x, double span)
{
    double most = 1 / span;
    add_row_sums(c, c->maps.M, x->rate);
    add_row_sums(c, c->st.lin.J, x->row);
    for (int i = 0; i < c->st.n; i++)
        if (x->rate[i] > 0) most = fmax(most, x->row[i] / x->rate[i]);
    return most;
}

/* d by passes until its part outside of the kernel of M is gone; -1: no answer, else its size */
static double jump_of(costate *c, jump *x, double sigma)
{
    size_t n = (size_t)c->st.n;
    int at = 0;
    double last = -1;
    if (mass_shift(&c->sh, sigma, c->st.lin.J) != COSTATE_LS_OK) return -1;
    memcpy(x->r, x->f, n * sizeof *x->r);
    for (int k = 0; k < PASSES; k++) {
        memcpy(x->d, x->r, n * sizeof *x->d);
        if (mass_shift_solve(&c->sh, x->d) != COSTATE_LS_OK) return -1;
        double size = largest(c, x->d, &at);
        if (size <= ALLOWED || (last > 0 && fabs(size - last) <= 1e-3 * size)) return size;
        last = size;
        memset(x->r, 0, n * sizeof *x->r);
        pattern_multiply(c->st.n, c->P.pattern, c->st.lin.J, 0, -1, 1, x->d, x->r);
        for (size_t i = 0; i < n; i++) if (x->rate[i] == 0) x->r[i] = x->f[i];
    }
    return -1;
}

/* the row of the constraints that is missed by most; among those that M does not enter, if one of them is missed */
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

static int refuse(costate *c, const jump *x, double t, double size)
{
    int at = 0, row = worst_row(c, x);
    largest(c, x->d, &at);
    return fail(&c->v, COSTATE_INCONSISTENT, "The start is inconsistent: M is singular, and at t = %.10g row %d of f "
                "is %.6g where %s; to meet the constraints y[%d] = %.8g would change by %.3g, %.3g times its "
                "tolerance.", t, row,
                x->rate[row] == 0 ? x->f[row] : x->r[row],
                x->rate[row] == 0 ? "M y' is 0" : "no M y' can be (the part that M does not reach)", at, c->work.y[at],
                x->d[at], size);
}

/* COSTATE_OK, RETRY where J or f is not to be had, or a status */
static int judge(costate *c, double t, double span)
{
    jump x = {c->work.f, c->work.err, c->work.y1, c->work.z, c->work.scratch[0].X, 0};
    weights(&c->st, c->work.y, c->st.w);
    TRY(linearise(&c->maps, c->at + 1, t, c->work.y, c->st.w, &c->st.lin));
    TRY(map_value(&c->maps, &c->maps.rhs, t, c->work.y, x.f));
    if (!all_finite((size_t)c->st.n, x.f)) return COSTATE_OK;
    double sigma = 1e3 * fastest(c, &x, span), size = jump_of(c, &x, sigma);
    if (!(size > ALLOWED)) return COSTATE_OK;
    int where = 0;
    double less = jump_of(c, &x, sigma / 16);
    if (!(less > ALLOWED) || fabs(size - less) > 0.1 * size) return COSTATE_OK;
    return refuse(c, &x, t, largest(c, x.d, &where));
}

int consistent(costate *c, double t, double span)
{
    if (!c->sh.singular || c->sh.matfree) return COSTATE_OK;
    int status = judge(c, t, span);
    return status == RETRY ? COSTATE_OK : status;                /* the first step will say more */
}
