/* jacobian.c - J = df/dy: the user's, or formed column group by column group from products or differences.

   Columns that share no row can be formed by one product f'(x) (sum of their unit vectors) (Curtis, Powell, Reid,
   J. Inst. Math. Appl. 13 (1974) 117); a greedy colouring of the columns in their order finds the groups. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "maps/maps.h"

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

int jacobian_colour(maps *a)
{
    if (!(a->color = malloc((size_t)a->n * sizeof *a->color)))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory to colour the pattern.");
    for (int j = 0; j < a->n; j++) a->color[j] = j;
    a->ncolor = a->pattern ? colour(a->pattern, a->color) : a->n;
    return a->ncolor >= 0 ? 0 : fail(a->v, COSTATE_NO_MEMORY, "No memory to colour the pattern.");
}

/* where J is formed; f: rhs there, where differences need it */
typedef struct { maps *a; double t; const double *y, *w, *f; int exact; } forming;

/* one-sided difference along seed, scaled by each column's own increment afterwards */
static int difference(const forming *s, const double *seed, double *out)
{
    maps *a = s->a;
    for (int i = 0; i < a->n; i++) a->moved[i] = s->y[i] + seed[i];
    TRY(map_value(a, &a->rhs, s->t, a->moved, out));
    for (int i = 0; i < a->n; i++) out[i] -= s->f[i];
    return 0;
}

/* f_y v, or the difference along v: counted as a product made for J, not as the call that it is */
static int along(void *ctx, const double *v, double *out)
{
    const forming *s = ctx;
    maps *a = s->a;
    costate_point x = {s->t, s->y, a->p}, dx = {0, v, NULL};
    a->count->jac_products++;
    if (!s->exact) { a->count->f--; return difference(s, v, out); }
    a->count->tangents--;
    return map_tangent(a, &a->rhs, &x, &dx, out);
}

/* sqrt(eps) of a component, and of a thousandth of what the tolerances call 1 where it is small */
static double increment(const forming *s, int j)
{
    double size = fmax(fabs(s->y[j]), s->w[j] > 0 ? 1e-3 / s->w[j] : 1e-8), d = sqrt(DBL_EPSILON) * size;
    volatile double moved = s->y[j] + (s->y[j] < 0 ? -d : d);   /* the increment as the machine sees it */
    return moved - s->y[j];
}

static void scatter(const maps *a, int color, double *J)
{
    const costate_pattern *S = a->pattern;
    size_t n = (size_t)a->n;
    for (int j = 0; j < a->n; j++) {
        if (a->color[j] != color) continue;
        if (S) for (int k = S->col[j]; k < S->col[j + 1]; k++) J[k] = a->column[S->row[k]] / a->seed[j];
        else for (size_t i = 0; i < n; i++) J[(size_t)j * n + i] = a->column[i] / a->seed[j];
    }
}

static int formed(const forming *s, double *J)
{
    maps *a = s->a;
    if (!s->exact) TRY(map_value(a, &a->rhs, s->t, s->y, a->f));
    for (int color = 0; color < a->ncolor; color++) {
        for (int j = 0; j < a->n; j++) a->seed[j] = a->color[j] != color ? 0 : s->exact ? 1 : increment(s, j);
        TRY(along((void *)s, a->seed, a->column));
        scatter(a, color, J);
    }
    if (!s->exact) a->count->differences++;
    return 0;
}

/* Does the pattern hold it all?  Asked once a solver, of the first Jacobian formed, for one product more.  Differences
   are short by round-off and by half a second derivative; an entry that is worth finding is larger: a millionth of its
   row, or a hundredth where products are differences.  Smaller ones hardly slow Newton (check_pattern.c finds them,
   too). */
static int whole(const forming *s, const double *J)
{
    maps *a = s->a;
    size_t n = (size_t)a->n;
    double *size = a->probe, *noise = a->probe + n;
    const double WORTH = 1e-6, WORTH_DIFFERENCED = 1e-2;
    unsigned seed = 5;
    missing_entry found = {-1, 0, 0, 0};
    pattern_probe p = {.pattern = a->pattern,
                       .product = along,
                       .ctx = (void *)s,
                       .size = size,
                       .noise = s->exact ? NULL : noise,
                       .least = s->exact ? WORTH : WORTH_DIFFERENCED,
                       .work = a->probe + 2 * n};
    for (int j = 0; j < a->n; j++) {
        size[j] = increment(s, j);
        noise[j] = s->exact ? 0 : 16 * DBL_EPSILON * fabs(s->f[j]);
    }
    int status = missing_find(&p, J, &seed, &found);
    if (status != 0) return status < 0 ? status : 0;     /* not defined so near: the next one is asked */
    a->seen_whole = 1;
    if (found.row < 0) return 0;
    return fail(a->v, COSTATE_BAD_ARGUMENT, "problem.pattern leaves out row %d by y[%d], which is %.8g at t = %.10g: "
                "the Jacobian formed in the pattern by products is wrong (costate_check_problem says the same).",
                found.row, found.column, found.value, s->t);
}

/* Large and without a pattern: would one be worth its while?  Counted once a solver. */
static void count_zeros(maps *a, const double *J)
{
    enum { LARGE = 1000 };
    if (a->filled > 0 || a->pattern || a->n < LARGE) return;
    size_t filled = 0;
    for (size_t k = 0; k < a->entries; k++) filled += J[k] != 0 || (a->M && a->M[k] != 0);
    a->filled = ((double)filled + 1e-3) / (double)a->entries;       /* all zero is counted, too */
}

int jacobian(maps *a, double t, const double *y, const double *w, double *J)
{
    costate_point x = {t, y, a->p};
    forming s = {a, t, y, w, a->f, has_tangent(a->rhs.user)};
    if (a->jac) TRY(map_jac(a, &x, J));
    else {
        int status = formed(&s, J);
        a->count->jac++;
        TRY(status);
        if (a->pattern && !a->seen_whole) TRY(whole(&s, J));
    }
    TRY(space_finite(&a->space, a->entries, J, 0.5));
    count_zeros(a, J);
    return 0;
}

int linearise(maps *a, long serial, double t, const double *y, const double *w, linearisation *at)
{
    at->serial = 0;
    at->t = t;
    if (at->J) TRY(jacobian(a, t, y, w, at->J));
    else memcpy(at->y, y, (size_t)a->n * sizeof *y);
    at->serial = serial;
    return 0;
}

void mass_multiply(const maps *a, int transpose, double s, int m, const double *x, double *y)
{
    if (a->M) pattern_multiply(a->n, a->pattern, a->M, transpose, s, m, x, y);
    else axpy((size_t)a->n * (size_t)m, s, x, y);
}

void mass_apply(const maps *a, double *x, double *work)
{
    size_t n = (size_t)a->n;
    memcpy(work, x, n * sizeof *x);
    memset(x, 0, n * sizeof *x);
    mass_multiply(a, 0, 1, 1, work, x);
}
