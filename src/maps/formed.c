/* formed.c - J = E_y, and M = -E_k of a residual, formed column group by column group from products or differences.

   Columns that share no row can be formed by one product f'(x) (sum of their unit vectors) (Curtis, Powell, Reid,
   J. Inst. Math. Appl. 13 (1974) 117); a greedy colouring of the columns in their order finds the groups.

   A difference with increment d is wrong by the round-off of E over d, and by d/2 times a second derivative.
   d = sqrt(eps) |y_j| is right where |y_j| is the size that y_j will have.  Where it is not - y_j is 0, or has hardly
   begun to grow - the change of E tells: beside the terms of its row,

       r_ij = |E_i(y + d e_j) - E_i(y)| / N_i,    N_i = |E_i| + sum_l |J_il y_l| + |M_il y'_l|,

   it is to be VISIBLE, and if not, d is made larger until it is (D. E. Salane, SIAM J. Sci. Stat. Comput. 7 (1986)
   1186, does so with increments that are kept from one Jacobian to the next; these depend only on the point, so that a
   step that is made again has the same J).  An increment that is larger than y_j itself becomes smaller where r_ij says
   that it may: slow modes depend on what is far below its tolerance, too.  Columns that seem to be zero are tried with
   larger increments all at once: where E stays the same to the last bit they are zero, for one call. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "maps/formed.h"

static const double VISIBLE = 1e3 * DBL_EPSILON;        /* from this r on three digits of the derivative are right */
static const double SHARP = 1e-9;                       /* seven digits: with fewer Newton's iteration takes longer */
static const double WANTED = 1.5e-8;                    /* half of the digits, as with sqrt(eps) |y_j| */
static const double ENOUGH = 1e-5;                      /* enough to see what is weaker in another row */
static const double TOO_MUCH = 1e-4;                    /* beyond it the derivative may be that of another point */
static const double ROOT = 1.5e-8;                      /* sqrt(eps) */
static const double FLOOR = 1e-3;                       /* of the tolerance: an increment of what is as small as that */
static const double SMALL = 100;                        /* tolerances: y_j up to this may become much larger */
static const double GROWTH = 1e16;                      /* of increments that E does not show: with the next one it
                                                           changes by no more than the terms of a row; */
static const double SLOPE_GROWTH = 1e40;                /* of y', in which E is linear more often than not */
enum { CORRECTIONS = 4 };               /* rounds in which increments are corrected */
/* Rounds of larger increments after which a column is believed to be zero.  One is enough where y_j is not small, as
   E does not depend on y_j as it is.  An unknown that is not seen in the other matrix either is tried with all
   magnitudes. */
enum { PROBES = 3, PROBES_MOST = 80 };

/* ---- entries of a column ---- */

static size_t first_of(const maps *a, int j)
{
    return a->pattern ? (size_t)a->pattern->col[j] : (size_t)j * (size_t)a->n;
}
static size_t end_of(const maps *a, int j)
{
    return a->pattern ? (size_t)a->pattern->col[j + 1] : ((size_t)j + 1) * (size_t)a->n;
}
static int row_of(const maps *a, int j, size_t k)
{
    return a->pattern ? a->pattern->row[k] : (int)(k - (size_t)j * (size_t)a->n);
}

static int column_is_zero(const maps *a, const double *A, int j)
{
    for (size_t k = first_of(a, j), end = end_of(a, j); k < end; k++) if (A[k] != 0) return 0;
    return 1;
}

/* ---- increments ---- */

static double tolerance(const forming *s, int j) { return s->w[j] > 0 ? 1 / s->w[j] : 1e-5; }
static double unit(const forming *s, int j) { return fmax(fabs(s->x.y[j]), tolerance(s, j)); }

static int is_small(const forming *s, int j)
{
    return s->slope ? s->x.yp[j] == 0 : fabs(s->x.y[j]) < SMALL * tolerance(s, j);
}

double formed_rate(const forming *s)
{
    double most = 0;
    for (int j = 0; j < s->a->n; j++) most = fmax(most, fabs(s->x.yp[j]) / unit(s, j));
    return most > 0 ? most : 1;
}

static double centre(const forming *s, int j) { return s->slope ? s->x.yp[j] : s->x.y[j]; }

/* the increment as the machine sees it, away from zero */
static double seen(const forming *s, int j, double d)
{
    double at = centre(s, j);
    volatile double moved = at + (at < 0 ? -d : d);
    return moved - at;
}

static double unit_of_slope(const forming *s, int j) { return fmax(fabs(s->x.yp[j]), s->rate * unit(s, j)); }

static double first_increment(const forming *s, int j)
{
    double at = fabs(centre(s, j));
    if (s->slope) return at > 0 ? ROOT * at : ROOT * unit_of_slope(s, j);
    return is_small(s, j) ? fmax(ROOT * at, FLOOR * tolerance(s, j)) : ROOT * at;
}

/* ---- products and differences ---- */

/* one-sided difference along seed, scaled by each column's own increment afterwards */
static int difference(const forming *s, const double *seed, double *out)
{
    maps *a = s->a;
    const double *from = s->slope ? s->x.yp : s->x.y;
    for (int i = 0; i < a->n; i++) a->form.moved[i] = from[i] + seed[i];
    TRY(equation_value(a, s->x.t, s->slope ? s->x.y : a->form.moved, s->slope ? a->form.moved : s->x.yp, out));
    for (int i = 0; i < a->n; i++) out[i] -= s->f[i];
    return 0;
}

static int product(const forming *s, const double *v, double *out)
{
    maps *a = s->a;
    costate_point dx = {.y = s->slope ? NULL : v};
    a->count->jac_products++;
    if (!s->exact) { a->count->f--; return difference(s, v, out); }
    a->count->tangents--;
    return equation_tangents(a, &s->x, 1, &dx, s->slope ? v : NULL, 0, out, (size_t)a->n);
}

int formed_along(void *ctx, const double *v, double *out) { return product(ctx, v, out); }

/* column j of A from the product of its group; 0: it is not finite, and A stays as it is */
static int scatter(const forming *s, int j, double *A)
{
    const maps *a = s->a;
    double scale = s->slope ? -1 : 1;
    size_t from = first_of(a, j), end = end_of(a, j);
    for (size_t k = from; k < end; k++) if (!isfinite(a->form.column[row_of(a, j, k)])) return 0;
    for (size_t k = from; k < end; k++) A[k] = scale * a->form.column[row_of(a, j, k)] / a->form.seed[j];
    return 1;
}

double formed_size(const forming *s, const double *A, int j)
{
    return s->exact || column_is_zero(s->a, A, j) ? first_increment(s, j) : fabs(s->step[j]);
}

int form_columns(const forming *s, double *A)
{
    maps *a = s->a;
    for (int j = 0; j < a->n; j++) s->step[j] = s->exact ? 1 : seen(s, j, first_increment(s, j));
    for (int color = 0; color < a->form.ncolor; color++) {
        for (int j = 0; j < a->n; j++) a->form.seed[j] = a->form.color[j] == color ? s->step[j] : 0;
        TRY(product(s, a->form.seed, a->form.column));
        for (int j = 0; j < a->n; j++)
            if (a->form.color[j] == color && !scatter(s, j, A)) return retry(a->v, WHY_NOT_FINITE);
    }
    if (!s->exact) a->count->differences++;
    return 0;
}

/* ---- are they large enough? ---- */

static void add_terms(const maps *a, const double *A, const double *x)
{
    for (int j = 0; A && x && j < a->n; j++)
        for (size_t k = first_of(a, j), end = end_of(a, j); k < end; k++)
            a->form.terms[row_of(a, j, k)] += fabs(A[k] * x[j]);
}

void formed_terms(const forming *s, const double *J, const double *M)
{
    maps *a = s->a;
    for (int i = 0; i < a->n; i++) a->form.terms[i] = fabs(s->f[i]);
    add_terms(a, J, s->x.y);
    if (a->residual) add_terms(a, M, s->x.yp);
}

/* Is y_j, small and growing, not seen in its own row, of which others may say nothing? */
static int unseen_at_home(const forming *s, const double *A, int j)
{
    const maps *a = s->a;
    if (s->slope || !is_small(s, j) || a->form.terms[j] == 0) return 0;
    for (size_t k = first_of(a, j), end = end_of(a, j); k < end; k++) if (row_of(a, j, k) == j) return A[k] == 0;
    return 0;
}

/* Is the increment of what is small larger than that itself? */
static int leaves(const forming *s, int j)
{
    double at = fabs(centre(s, j));
    return !s->slope && at > 0 && fabs(s->step[j]) > at;
}

/* By which factor is the increment of column j wrong?  1: it is right.  What is small is to be seen in its own row as
   well as anywhere: elsewhere weak entries are many, and need not be sharp. */
static double correction(const forming *s, const double *A, int j, int enlarged)
{
    const maps *a = s->a;
    double home = HUGE_VAL, most = 0;
    int small = is_small(s, j);
    for (size_t k = first_of(a, j), end = end_of(a, j); k < end; k++) {
        int i = row_of(a, j, k);
        if (A[k] == 0 || a->form.terms[i] == 0) continue;
        double r = fabs(A[k] * s->step[j]) / a->form.terms[i];
        if (i == j && small) home = r;
        most = fmax(most, r);
    }
    if (most == 0) return 1;
    if ((enlarged || leaves(s, j)) && most > TOO_MUCH) return ENOUGH / most;
    double least = fmin(home, most);
    return least < (small ? SHARP : VISIBLE) ? fmin(WANTED / least, fmax(1, ENOUGH / most)) : 1;
}

enum { DONE = -1 };                     /* of s->next: the increment stays as it is; 0: it may be asked again */

/* the columns whose increments are to be corrected, into next; how many */
static int plan_corrections(const forming *s, const double *A, int round)
{
    int count = 0;
    for (int j = 0; j < s->a->n; j++) {
        if (s->next[j] != 0 || column_is_zero(s->a, A, j)) continue;
        if (round < PROBES && unseen_at_home(s, A, j)) continue;
        double d = fabs(s->step[j]), to = round < CORRECTIONS ? d * correction(s, A, j, round > 0) : d;
        if (to > d / 2 && to < 2 * d) { s->next[j] = DONE; continue; }
        s->next[j] = seen(s, j, fmax(to, ROOT * fabs(centre(s, j))));
        count++;
    }
    return count;
}

/* the increment by which column j, that seems to be zero, or unseen at home, is tried next; 0: it is */
static double probing(const forming *s, const double *other, int j, int round)
{
    const maps *a = s->a;
    double d = fabs(first_increment(s, j)), most = 0;
    int known = !other || !column_is_zero(a, other, j);
    int rounds = !known ? PROBES_MOST : s->slope || is_small(s, j) ? PROBES : 1;
    if (round >= rounds || (s->slope && a->index && a->index[j] > 0)) return 0;
    for (int i = 0; s->slope && i < a->n; i++) most = fmax(most, a->form.terms[i]);
    d = s->slope ? fmax(unit_of_slope(s, j), ROOT * most) : fmax(2 * d, unit(s, j));
    d *= pow(s->slope ? SLOPE_GROWTH : GROWTH, round);
    return d < 1e200 ? d : 0;
}

/* All columns that seem to be zero moved at once, or all that are unseen at home: does E change, or do their own rows?
   1: some of them are to be tried one by one, as next says. */
static int plan_probes(const forming *s, const double *A, const double *other, int at_home, int round)
{
    maps *a = s->a;
    int planned = 0, changed = 0;
    memset(a->form.seed, 0, (size_t)a->n * sizeof *a->form.seed);
    for (int j = 0; j < a->n; j++) {
        if (s->next[j] != 0 || !(at_home ? unseen_at_home(s, A, j) : column_is_zero(a, A, j))) continue;
        double d = probing(s, other, j, round);
        planned |= d > 0;
        s->next[j] = d > 0 ? (a->form.seed[j] = seen(s, j, d)) : at_home ? 0 : DONE;
    }
    if (!planned) return 0;
    int status = product(s, a->form.seed, a->form.column);
    if (status < 0) return status;
    for (int i = 0; i < a->n; i++) changed |= (!at_home || a->form.seed[i] != 0) && !(a->form.column[i] == 0);
    if (status > 0 || changed) return 1;
    for (int j = 0; j < a->n; j++) if (a->form.seed[j] != 0) s->next[j] = 0;
    return 0;
}

/* the columns in next once more; where E is not defined so far away they stay as they are */
static int again(const forming *s, double *A)
{
    maps *a = s->a;
    for (int color = 0; color < a->form.ncolor; color++) {
        int any = 0, status;
        for (int j = 0; j < a->n; j++) {
            int moves = a->form.color[j] == color && s->next[j] != 0 && s->next[j] != DONE;
            a->form.seed[j] = moves ? s->next[j] : 0;
            any |= moves;
        }
        if (!any) continue;
        status = product(s, a->form.seed, a->form.column);
        if (status < 0) return status;
        for (int j = 0; j < a->n; j++) {
            if (a->form.seed[j] == 0) continue;
            int there = status == 0 && scatter(s, j, A);
            if (there) s->step[j] = a->form.seed[j];
            s->next[j] = there ? 0 : DONE;
        }
    }
    return 0;
}

static int settled(const forming *s)
{
    for (int j = 0; j < s->a->n; j++) if (s->next[j] != DONE) return 0;
    return 1;
}

int correct_columns(const forming *s, double *A, const double *other)
{
    memset(s->next, 0, (size_t)s->a->n * sizeof *s->next);
    for (int round = 0; round < PROBES_MOST && !settled(s); round++) {
        int zeros = plan_probes(s, A, other, 0, round), unseen = 0;
        if (zeros < 0) return zeros;
        if (round < PROBES && (unseen = plan_probes(s, A, NULL, 1, round)) < 0) return unseen;
        if (plan_corrections(s, A, round) + zeros + unseen > 0) TRY(again(s, A));
    }
    return 0;
}
