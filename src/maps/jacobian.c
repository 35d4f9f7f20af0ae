/* jacobian.c - J = df/dy: the user's, or formed column group by column group from products or differences.

   Columns that share no row can be formed by one product f'(x) (sum of their unit vectors) (Curtis, Powell, Reid,
   J. Inst. Math. Appl. 13 (1974) 117); a greedy colouring of the columns in their order finds the groups. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core.h"

/* colour by colour: each takes the columns, in order, that meet none of its own */
int colour(const costate_pattern *a, int *color)
{
    int n = a->n, ncolor = 0;
    int *met = malloc((size_t)n * sizeof *met);
    if (!met) return -1;
    for (int j = 0; j < n; j++) color[j] = -1;
    for (int todo = n; todo; ncolor++) {
        memset(met, 0, (size_t)n * sizeof *met);
        for (int j = 0; j < n; j++) {
            int free_rows = color[j] < 0;
            for (int k = a->col[j]; free_rows && k < a->col[j + 1]; k++) free_rows = !met[a->row[k]];
            if (!free_rows) continue;
            color[j] = ncolor;
            todo--;
            for (int k = a->col[j]; k < a->col[j + 1]; k++) met[a->row[k]] = 1;
        }
    }
    free(met);
    return ncolor;
}

int jacobian_prepare(costate *c)
{
    c->differenced = !c->P.jac && !c->P.rhs.tangent;
    if (c->matfree || c->P.jac || c->m->family == COSTATE_ERK) return COSTATE_OK;
    if (!(c->color = malloc((size_t)c->n * sizeof *c->color))) return fail(&c->v, COSTATE_NO_MEMORY, "No memory to colour the pattern.");
    for (int j = 0; j < c->n; j++) c->color[j] = j;
    c->ncolor = c->P.pattern ? colour(c->P.pattern, c->color) : c->n;
    return c->ncolor >= 0 ? COSTATE_OK : fail(&c->v, COSTATE_NO_MEMORY, "No memory to colour the pattern.");
}

/* one-sided difference along seed, scaled by each column's own increment afterwards */
static int difference(costate *c, double t, const double *y, const double *f, const double *seed, double *out)
{
    for (int i = 0; i < c->n; i++) c->Y[i] = y[i] + seed[i];
    int status = map_value(c, RHS, t, c->Y, out);
    for (int i = 0; status == 0 && i < c->n; i++) out[i] -= f[i];
    return status;
}

static double increment(const costate *c, const double *y, int j)
{
    double size = fmax(fabs(y[j]), c->w[j] > 0 ? 1e-3 / c->w[j] : 1e-8), d = sqrt(DBL_EPSILON) * size;
    volatile double moved = y[j] + (y[j] < 0 ? -d : d);   /* the increment as the machine sees it */
    return moved - y[j];
}

static void scatter(costate *c, int color, const double *seed, const double *column, double *J)
{
    const costate_pattern *a = c->P.pattern;
    for (int j = 0; j < c->n; j++) {
        if (c->color[j] != color) continue;
        if (a) for (int k = a->col[j]; k < a->col[j + 1]; k++) J[k] = column[a->row[k]] / seed[j];
        else for (int i = 0; i < c->n; i++) J[(size_t)j * (size_t)c->n + (size_t)i] = column[i] / seed[j];
    }
}

static int formed(costate *c, double t, const double *y, double *J)
{
    costate_point x = {t, y, c->p};
    double *seed = c->v1, *column = c->v2, *f = c->R;
    int exact = c->P.rhs.tangent != NULL;
    int status = exact ? 0 : map_value(c, RHS, t, y, f);
    for (int color = 0; status == 0 && color < c->ncolor; color++) {
        for (int j = 0; j < c->n; j++) seed[j] = c->color[j] == color ? exact ? 1 : increment(c, y, j) : 0;
        c->count.jac_products++;
        costate_point dx = {0, seed, NULL};
        if (exact) { status = map_tangent(c, RHS, &x, &dx, column); c->count.tangents--; }
        else { status = difference(c, t, y, f, seed, column); c->count.f--; }
        if (status == 0) scatter(c, color, seed, column, J);
    }
    if (!exact) c->count.differences++;
    return status;
}

/* ---- does the pattern hold it all?  Asked once a solver, of the first Jacobian formed: one product more ---- */

typedef struct { costate *c; double t; const double *y, *f; } forming;

static int along(void *ctx, const double *v, double *out)
{
    forming *s = ctx;
    costate *c = s->c;
    costate_point x = {s->t, s->y, c->p};
    costate_point dx = {0, v, NULL};
    c->count.jac_products++;
    if (!c->P.rhs.tangent) { c->count.f--; return difference(c, s->t, s->y, s->f, v, out); }
    c->count.tangents--;
    return map_tangent(c, RHS, &x, &dx, out);
}

/* Differences are short by round-off and by half a second derivative; an entry that is worth finding is larger. */
static int whole(costate *c, double t, const double *y, const double *J)
{
    size_t n = (size_t)c->n;
    int exact = c->P.rhs.tangent != NULL;
    double *size = c->pw, *noise = c->pw + n;
    unsigned seed = 5;
    missing_entry found = {-1, 0, 0, 0};
    forming s = {c, t, y, c->R};
    pattern_probe p = {c->P.pattern, along, &s, size, exact ? NULL : noise, exact ? 1e-6 : 1e-2, c->pw + 2 * n};
    for (int j = 0; j < c->n; j++) {
        size[j] = increment(c, y, j);
        noise[j] = exact ? 0 : 16 * DBL_EPSILON * fabs(c->R[j]);
    }
    int status = missing_find(&p, J, &seed, &found);
    if (status != 0) return status < 0 ? status : 0;     /* not defined so near: the next one is asked */
    c->held = 1;
    if (found.row < 0) return 0;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.pattern leaves out row %d by y[%d], which is %.8g at t = %.10g: the "
                "Jacobian formed in the pattern by products is wrong (costate_check_problem says the same).", found.row,
                found.column, found.value, t);
}

/* Large and without a pattern: would one be worth its while?  Counted once a solver. */
static void count_zeros(costate *c, const double *J)
{
    enum { LARGE = 1000 };
    if (c->filled > 0 || c->P.pattern || c->n < LARGE) return;
    size_t filled = 0;
    for (size_t k = 0; k < c->nnz; k++) filled += J[k] != 0 || (c->M && c->M[k] != 0);
    c->filled = ((double)filled + 1e-3) / (double)c->nnz;           /* all zero is counted, too */
    no_error(c);
}

int jacobian(costate *c, double t, const double *y, double *J)
{
    costate_point x = {t, y, c->p};
    if (c->matfree) { c->jt = t; memcpy(J, y, (size_t)c->n * sizeof *J); return 0; }
    int status = c->P.jac ? map_jac(c, &x, J) : formed(c, t, y, J);
    if (!c->P.jac) c->count.jac++;
    if (status == 0 && !c->P.jac && c->P.pattern && !c->held) status = whole(c, t, y, J);
    if (status == 0 && !all_finite(c->nnz, J)) return retry(&c->v, WHY_NOT_FINITE, 0.5);
    if (status == 0) count_zeros(c, J);
    return status;
}

void mass_multiply(const costate *c, int transpose, double a, int m, const double *x, double *y)
{
    if (c->M) pattern_multiply(c->n, c->P.pattern, c->M, transpose, a, m, x, y);
    else axpy((size_t)c->n * (size_t)m, a, x, y);
}

void mass_apply(costate *c, double *x)
{
    size_t n = (size_t)c->n;
    memcpy(c->v1, x, n * sizeof *x);
    memset(x, 0, n * sizeof *x);
    mass_multiply(c, 0, 1, 1, c->v1, x);
}
