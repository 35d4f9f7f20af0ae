/* jacobian.c - J = E_y, and M = -E_k of a residual: the user's, or formed column group by column group from products
   or differences.

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

/* where J is formed, and by what: E_y v, or of a residual also E_k v.  f: E there, where differences need it */
typedef struct { maps *a; costate_point x; const double *w, *f; int exact, slope; } forming;

/* one-sided difference along seed, scaled by each column's own increment afterwards */
static int difference(const forming *s, const double *seed, double *out)
{
    maps *a = s->a;
    const double *from = s->slope ? s->x.yp : s->x.y;
    for (int i = 0; i < a->n; i++) a->moved[i] = from[i] + seed[i];
    TRY(equation_value(a, s->x.t, s->slope ? s->x.y : a->moved, s->slope ? a->moved : s->x.yp, out));
    for (int i = 0; i < a->n; i++) out[i] -= s->f[i];
    return 0;
}

/* The product, or the difference along v: counted as a product made for J, not as the call that it is. */
static int along(void *ctx, const double *v, double *out)
{
    const forming *s = ctx;
    maps *a = s->a;
    costate_point dx = {.y = s->slope ? NULL : v};
    a->count->jac_products++;
    if (!s->exact) { a->count->f--; return difference(s, v, out); }
    a->count->tangents--;
    return equation_tangents(a, &s->x, 1, &dx, s->slope ? v : NULL, 0, out, (size_t)a->n);
}

/* sqrt(eps) of a component, and of a thousandth of what the tolerances call 1 where it is small; of a slope, of what is
   a rate of the point to either */
static double increment(const forming *s, int j)
{
    double size = fmax(fabs(s->x.y[j]), s->w[j] > 0 ? 1e-3 / s->w[j] : 1e-8);
    if (s->slope) size = fabs(s->x.yp[j]) > 0 ? fabs(s->x.yp[j]) : size;
    double at = s->slope ? s->x.yp[j] : s->x.y[j], d = sqrt(DBL_EPSILON) * size;
    volatile double moved = at + (at < 0 ? -d : d);     /* the increment as the machine sees it */
    return moved - at;
}

static void scatter(const maps *a, int color, double scale, double *J)
{
    const costate_pattern *S = a->pattern;
    size_t n = (size_t)a->n;
    for (int j = 0; j < a->n; j++) {
        if (a->color[j] != color) continue;
        if (S) for (int k = S->col[j]; k < S->col[j + 1]; k++) J[k] = scale * a->column[S->row[k]] / a->seed[j];
        else for (size_t i = 0; i < n; i++) J[(size_t)j * n + i] = scale * a->column[i] / a->seed[j];
    }
}

static int formed(const forming *s, double *J)
{
    maps *a = s->a;
    if (!s->exact) TRY(equation_value(a, s->x.t, s->x.y, s->x.yp, a->f));
    for (int color = 0; color < a->ncolor; color++) {
        for (int j = 0; j < a->n; j++) a->seed[j] = a->color[j] != color ? 0 : s->exact ? 1 : increment(s, j);
        TRY(along((void *)s, a->seed, a->column));
        scatter(a, color, s->slope ? -1 : 1, J);
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
                found.row, found.column, found.value, s->x.t);
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

/* E_y into J, or of a residual M = -E_k, by the user's callback, else by products or differences */
static int one_of_them(maps *a, const costate_point *x, const double *w, int slope, double *J)
{
    forming s = {a, *x, w, a->f, has_tangent(a->rhs.user), slope};
    if (slope ? a->jac_yp != NULL : a->jac != NULL) TRY(slope ? map_jac_yp(a, x, J) : map_jac(a, x, J));
    else {
        int status = formed(&s, J);
        a->count->jac += !slope;
        TRY(status);
        if (!slope && a->pattern && !a->seen_whole) TRY(whole(&s, J));
    }
    return space_finite(&a->space, a->entries, J, 0.5);
}

int jacobian(maps *a, const costate_point *x, const double *w, double *J, double *M)
{
    TRY(one_of_them(a, x, w, 0, J));
    if (a->residual) TRY(one_of_them(a, x, w, 1, M));
    count_zeros(a, J);
    return 0;
}

int linearise(maps *a, long serial, const costate_point *x, const double *w, linearisation *at)
{
    at->serial = 0;
    at->t = x->t;
    if (at->J) TRY(jacobian(a, x, w, at->J, at->M));
    else {
        memcpy(at->y, x->y, (size_t)a->n * sizeof *at->y);
        if (a->residual) memcpy(at->yp, x->yp, (size_t)a->n * sizeof *at->yp);
    }
    at->serial = serial;
    return 0;
}
