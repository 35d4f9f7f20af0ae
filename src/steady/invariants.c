/* invariants.c (steady) - the rank of f_y, and linear invariants from its left null space (mathematics, eq. 17.3,
   17.4).

   Elimination with complete pivoting, P D' Q = L U, of D = f_y with its rows and columns scaled to a largest entry of 1
   (LAPACK's dgetc2).  Pivots that are round-off end it: r of them are left.  For each other row i

       w_i = 1,    w_R^T L_RR = -L_iR,      w^T D = 0,

   in the order of P.  A vector so found annihilates f_y here; it is an invariant if it does so elsewhere, too.  The
   weights of invariants mostly are small fractions, as atoms are counted: where a fraction is nearer than round-off
   could tell, and annihilates f_y as well, it is taken: the null vector of a badly conditioned f_y is not exact enough
   to annihilate the others. */
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "linsol/lapack.h"
#include "maps/callbacks.h"
#include "maps/differences.h"
#include "steady/steady.h"

enum { LARGEST_DENOMINATOR = 64 };
static const double ROUND_OFF = 1e-11,          /* of a pivot; of w^T D, in units of |w|^T |D| */
                    DIFFERENCED = 1e-5,         /* the same, where D is made by differences */
                    NEAR = 100,                 /* a fraction, in these units */
                    BESIDE = 0.01;              /* a sample from the start, relative */

static double blur(const steady *s) { return s->maps.form.differenced ? DIFFERENCED : ROUND_OFF; }

/* L <- D with rows, then columns of a largest modulus 1 */
static void scale(steady *s, const double *D)
{
    size_t n = (size_t)s->n;
    double *of_row = s->eliminated.row_scale;
    memset(of_row, 0, n * sizeof *of_row);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) of_row[i] = fmax(of_row[i], fabs(D[j * n + i]));
    for (size_t i = 0; i < n; i++) of_row[i] = of_row[i] > 0 ? 1 / of_row[i] : 1;
    for (size_t j = 0; j < n; j++) {
        double most = 0;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(D[j * n + i] * of_row[i]));
        for (size_t i = 0; i < n; i++) s->dense.L[j * n + i] = most > 0 ? D[j * n + i] * of_row[i] / most : 0;
    }
}

static void null_vector(const steady *s, const int *row, int rank, int i, double *w)
{
    size_t n = (size_t)s->n;
    double *x = s->work.e;
    for (int j = rank - 1; j >= 0; j--) {
        x[j] = -s->dense.L[(size_t)j * n + (size_t)i];
        for (int k = j + 1; k < rank; k++) x[j] -= x[k] * s->dense.L[(size_t)j * n + (size_t)k];
    }
    memset(w, 0, n * sizeof *w);
    for (int j = 0; j < rank; j++) w[row[j]] = x[j] * s->eliminated.row_scale[row[j]] / s->eliminated.row_scale[row[i]];
    w[row[i]] = 1;
}

void steady_rank(steady *s, const double *D, int *row, double *w, int *null)
{
    int n = s->n, rank = 0, info;
    size_t k = (size_t)n;
    scale(s, D);
    dgetc2_(&n, s->dense.L, &n, s->eliminated.pivot, s->eliminated.pivot + n, &info);
    while (rank < n && fabs(s->dense.L[(size_t)rank * (k + 1)]) > blur(s)) rank++;
    LS_row_order(n, s->eliminated.pivot, row);
    LS_row_order(n, s->eliminated.pivot + n, s->eliminated.column);
    *null = n - rank;
    for (int i = rank; i < n; i++) null_vector(s, row, rank, i, w + (size_t)(i - rank) * k);
}

/* the fraction nearest to x that has a small denominator, or x */
static double fraction(double x, double near)
{
    for (int q = 1; q <= LARGEST_DENOMINATOR; q++) {
        double p = rint(x * q);
        if (fabs(x * q - p) <= near * fmax(1, fabs(x))) return p / q;
    }
    return x;
}

/* of one column */
static int annihilates_column(const steady *s, const double *w, const double *column)
{
    double sum = 0, size = 0;
    for (int i = 0; i < s->n; i++) {
        sum += w[i] * column[i];
        size += fabs(w[i] * column[i]);
    }
    return fabs(sum) <= blur(s) * size;
}

static int annihilates(const steady *s, const double *w, const double *D)
{
    size_t n = (size_t)s->n;
    for (size_t j = 0; j < n; j++) if (!annihilates_column(s, w, D + j * n)) return 0;
    return 1;
}

/* E at y, in s->work.r, may be round-off of its terms, which have sizes like those of E_y y, in s->work.z */
static int annihilates_value(const steady *s, const double *w)
{
    double size = 0;
    for (int i = 0; i < s->n; i++) size += fabs(w[i]) * s->work.z[i];
    return fabs(dot((size_t)s->n, w, s->work.r)) <= blur(s) * size;
}

static int annihilates_all(const steady *s, const double *w, const double *D)
{
    if (!annihilates_value(s, w) || !annihilates(s, w, D)) return 0;
    for (int k = 0; k < s->dense.samples; k++) if (!annihilates(s, w, s->dense.sample[k])) return 0;
    return 1;
}

int steady_hold(steady *s, const double *D, int null, limit *x)
{
    size_t n = (size_t)s->n;
    x->k = 0;
    TRY(steady_value(s, s->o.t0, x->y, s->work.r));
    memset(s->work.z, 0, n * sizeof *s->work.z);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) s->work.z[i] += fabs(D[j * n + i] * x->y[j]);
    for (int i = 0; i < null; i++) {
        double *w = x->w + (size_t)i * n;
        for (size_t j = 0; j < n; j++) s->work.e[j] = fraction(w[j], NEAR * blur(s));
        if (annihilates_all(s, s->work.e, D)) memcpy(w, s->work.e, n * sizeof *w);
        else if (!annihilates_all(s, w, D)) continue;
        if (x->k < i) memcpy(x->w + (size_t)x->k * n, w, n * sizeof *w);
        x->k++;
    }
    memset(x->W, 0, (size_t)x->k * n * sizeof *x->W);
    mass_multiply(&s->maps, 1, 1, x->k, x->w, x->W);
    return 0;
}

/* ---- invariants that depend on parameters ----

   With w(p)^T E_y = 0 at y* for all p, w' by p is w'^T E_y = -w^T E_yp.  It acts on M (y* - y0) = E_y z. */

void steady_sample(const steady *s, const limit *x, int k, double *y)
{
    double most = 0;
    for (int i = 0; i < s->n; i++) most = fmax(most, fabs(x->y0[i]));
    for (int i = 0; i < s->n; i++)              /* another part of each: a ratio of states is no invariant */
        y[i] = x->y0[i] + k * BESIDE * (fabs(x->y0[i]) + 0.1 * most) * (1 + 0.5 * sin(3 * i + 1));
}

/* Is w_i^T E_pm = 0 here, in each parameter and memory variable? */
static int stays_at(steady *s, const limit *x, const double *y, int *stays)
{
    size_t n = (size_t)s->n;
    costate_point at = steady_point(s, y);
    for (int j = 0; *stays && j < s->np + s->nm; j++) {
        memset(s->work.unit, 0, (size_t)(s->np + s->nm) * sizeof *s->work.unit);
        s->work.unit[j] = 1;
        costate_point d = {.p = s->np ? s->work.unit : NULL, .m = s->nm ? s->work.unit + s->np : NULL};
        TRY(equation_tangents(&s->maps, &at, 1, &d, NULL, 0, s->work.d, n));
        for (int i = 0; i < x->k; i++) *stays &= annihilates_column(s, x->w + (size_t)i * n, s->work.d);
    }
    return 0;
}

static int stays_everywhere(steady *s, const limit *x, int *stays)
{
    *stays = 1;
    for (int k = 0; k < SAMPLES; k++) {
        steady_sample(s, x, k, s->work.z);
        int status = stays_at(s, x, s->work.z, stays);
        if (status == RETRY) continue;
        TRY(status);
    }
    return 0;
}

int steady_turns(steady *s, limit *x)
{
    size_t n = (size_t)s->n;
    int stays = 1, of_f = s->n - x->k;
    x->turns = 0;
    if (steady_given(s) || x->k == 0 || s->np + s->nm == 0) return 0;
    if (!has_tangent(s->maps.rhs.user) && !s->maps.differences) { x->turns = -1; return 0; }
    TRY(stays_everywhere(s, x, &stays));
    if (stays) return 0;
    x->turns = 1;
    add_scaled(n, s->work.e, x->y, -1, x->y0);
    memset(s->work.r, 0, n * sizeof *s->work.r);
    mass_multiply(&s->maps, 0, 1, 1, s->work.e, s->work.r);
    memset(x->z, 0, n * sizeof *x->z);
    for (int i = 0; i < of_f; i++) x->z[i] = s->work.r[x->row[i]];
    return steady_solve(s, 0, 1, x->z);
}
