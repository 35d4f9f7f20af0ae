/* detect.c - finds a sparsity pattern by probing: f_y e_j by rhs.tangent, or f(y + d e_j) - f(y), for each column j at
   a few points; for a residual F_y e_j and F_y' e_j.  Entries are where the result is not zero: if f_i does not depend
   on y_j, the difference is zero to the last bit. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

/* x itself, and random points within a tenth of the sizes of t, y and p: an entry that vanishes at one point, or lies
   in a branch that is not taken there, is likely found at another.  Each point costs n more products. */
enum { POINTS = 4 };
static const double NEAR = 0.1;

enum { TRIES = 40 };                     /* halvings, to 4e-12 of the first distance; then x itself */

typedef struct {
    const costate_problem *P;
    costate_point at[POINTS];
    double *y[POINTS], *p[POINTS], *f[POINTS], *yp[POINTS];         /* n, np, n, n (of a residual, else NULL) */
    double *size, *move, *out;           /* n each */
    char *hit;                           /* n: rows of the column */
    double *mass;                        /* n*n: M of a problem without a pattern, or NULL */
    int *col, *row;
    size_t count, room;
    double *block;                       /* holds the arrays of numbers but mass */
    costate_pattern *found;              /* the place for it */
} probing;

static const costate_map *equation(const probing *s) { return s->P->residual.value ? &s->P->residual : &s->P->rhs; }

static int finite_value(probing *s, const costate_point *x, double *out)
{
    TRY(equation(s)->value(x, out, s->P->ctx));
    return all_finite((size_t)s->P->n, out) ? 0 : 1;
}

/* like check_size_among, of y': where all are zero, it is as if one were 1 */
static double slope_size(const double *yp, int n, int i)
{
    double most = 0;
    for (int j = 0; j < n; j++) most = fmax(most, fabs(yp[j]));
    return fmax(fabs(yp[i]), 1e-3 * (most > 0 ? most : 1));
}

/* Chooses point k.  If f is not defined there, half the distance is tried, with the other sign for components that are
   zero. */
static int put_point(probing *s, int k, const costate_point *x, unsigned *seed)
{
    int n = s->P->n, np = s->P->np, code = 1;
    double near = k > 0 ? NEAR : 0;
    for (int tries = 0; code > 0 && tries < TRIES; tries++, near = tries < TRIES - 1 ? near / 2 : 0) {
        double side = tries % 2 ? -1 : 1;
        s->at[k] = (costate_point){.t = x->t + near * random_number(seed) * fmax(fabs(x->t), 1e-2),
                                    .y = s->y[k],
                                    .p = s->p[k],
                                    .yp = s->yp[k],
                                    .m = x->m,
                                    .mode = x->mode};
        for (int i = 0; s->yp[k] && i < n; i++)
            s->yp[k][i] = x->yp[i] + near * random_number(seed) * slope_size(x->yp, n, i);
        for (int i = 0; i < n + np; i++) {
            double from = i < n ? x->y[i] : x->p[i - n], r = random_number(seed);
            double *to = i < n ? s->y[k] + i : s->p[k] + i - n;
            double size = i < n ? check_size_among(n, x->y, i) : check_size_among(np, x->p, i - n);
            *to = from + near * (from == 0 ? side * fabs(r) : r) * size;
        }
        code = finite_value(s, &s->at[k], s->f[k]);
        if (near == 0) break;
    }
    return code;
}

/* F_y e_j, or F_y' e_j, at point k, into out */
static int column_by_tangent(probing *s, int k, int j, int slope)
{
    const costate_map *f = equation(s);
    memset(s->move, 0, (size_t)s->P->n * sizeof *s->move);
    s->move[j] = 1;
    costate_point dx = {.y = slope ? NULL : s->move, .yp = slope ? s->move : NULL};
    int code = call_prepare(f, &s->at[k], s->P->ctx);
    return code == 0 ? call_tangent(f, &s->at[k], &dx, s->out, s->P->ctx) : code;
}

/* 1 in the rows of out where a change of y[j], or y'[j], changes the value */
static int column_by_value(probing *s, int k, int j, int slope)
{
    size_t n = (size_t)s->P->n;
    costate_point z = s->at[k];
    double d = NEAR / 2 * (slope ? slope_size(s->yp[k], s->P->n, j) : s->size[j]);
    memcpy(s->move, slope ? s->yp[k] : s->y[k], n * sizeof *s->move);
    s->move[j] += s->move[j] < 0 ? -d : d;
    *(slope ? &z.yp : &z.y) = s->move;
    int code = finite_value(s, &z, s->out);
    for (size_t i = 0; code == 0 && i < n; i++) s->out[i] = s->out[i] != s->f[k][i];
    return code;
}

/* the rows where column j acts at point k; NaN: not there */
static int probe_column(probing *s, int k, int j)
{
    for (int slope = 0; slope <= (s->yp[k] != NULL); slope++) {
        int code = has_tangent(equation(s)) ? column_by_tangent(s, k, j, slope) : column_by_value(s, k, j, slope);
        if (code < 0) return code;
        for (int i = 0; code == 0 && i < s->P->n; i++) s->hit[i] |= s->out[i] != 0 && s->out[i] == s->out[i];
    }
    return 0;
}

/* the rows marked, as column j; 0: no memory, or more entries than an int counts */
static int append(probing *s, int j)
{
    for (int i = 0; i < s->P->n; i++) {
        if (!s->hit[i]) continue;
        if (s->count == s->room) {
            size_t room = 2 * s->room + 64;
            int *more = realloc(s->row, room * sizeof *more);
            if (!more) return 0;
            s->row = more;
            s->room = room;
        }
        s->row[s->count++] = i;
    }
    s->col[j + 1] = (int)s->count;
    return s->count < INT_MAX - (size_t)s->P->n;
}

static void mark_known(probing *s, int j)
{
    const costate_pattern *a = s->P->pattern;
    memset(s->hit, 0, (size_t)s->P->n);
    s->hit[j] = 1;
    for (int k = a ? a->col[j] : 0; a && k < a->col[j + 1]; k++) s->hit[a->row[k]] = 1;
    for (int i = 0; s->mass && i < s->P->n; i++) s->hit[i] |= s->mass[(size_t)j * (size_t)s->P->n + (size_t)i] != 0;
}

static int all_columns(probing *s, const costate_point *x, costate_report *r)
{
    const char *probed = has_tangent(equation(s)) ? tangent_name(equation(s)) : "value";
    const char *of = s->P->residual.value ? "residual" : "rhs";
    unsigned seed = 13;
    int code = s->mass ? s->P->mass(s->mass, s->P->ctx) : 0;
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "The callback mass returned %d.", code);
    for (int k = 0; k < POINTS; k++) {
        code = put_point(s, k, x, &seed);
        if (code < 0) return check_says(r, COSTATE_CALLBACK, "%s.value returned %d.", of, code);
        if (code > 0) return check_says(r, COSTATE_NOT_FINITE, "%s.value is not finite, or not defined, at x.", of);
    }
    for (int j = 0; j < s->P->n; j++) {
        mark_known(s, j);
        for (int k = 0; k < POINTS; k++) {
            code = probe_column(s, k, j);
            if (code != 0) return check_says(r, COSTATE_CALLBACK, "%s.%s returned %d.", of, probed, code);
        }
        if (!append(s, j))
            return check_says(r, COSTATE_NO_MEMORY, "No memory for the pattern (%zu entries).", s->count);
    }
    return check_says(r, COSTATE_OK, "%zu entries, %.3g of a full matrix, from %d %ss at each of %d points.", s->count,
                      (double)s->count / s->P->n / s->P->n, s->P->n, probed, POINTS);
}

static void probing_free(probing *s)
{
    free(s->block);
    free(s->hit);
    free(s->mass);
    free(s->col);
    free(s->row);
    free(s->found);
}

/* 0: no memory */
static int allocate(probing *s)
{
    size_t n = (size_t)s->P->n, np = (size_t)s->P->np;
    int dense = s->P->mass && !s->P->pattern;
    int residual = s->P->residual.value != NULL;
    double *at = s->block = calloc(POINTS * (3 * n + np) + 3 * n, sizeof *at);
    s->found = malloc(sizeof *s->found);
    s->hit = malloc(n);
    s->col = calloc(n + 1, sizeof *s->col);
    if (dense) s->mass = calloc(n, n * sizeof *s->mass);
    if (!at || !s->found || !s->hit || !s->col || (dense && !s->mass)) return 0;
    for (int k = 0; k < POINTS; k++) {
        s->y[k] = at;
        s->f[k] = at + n;
        s->p[k] = at + 2 * n;
        s->yp[k] = residual ? at + 2 * n + np : NULL;
        at += 3 * n + np;
    }
    s->size = at;
    s->move = at + n;
    s->out = at + 2 * n;
    return 1;
}

static int detect(probing *s, const costate_point *x, costate_pattern **out, costate_report *r)
{
    if (!allocate(s)) return check_says(r, COSTATE_NO_MEMORY, "No memory to find the pattern.");
    for (int i = 0; i < s->P->n; i++) s->size[i] = check_size_among(s->P->n, x->y, i);
    TRY(all_columns(s, x, r));
    *out = s->found;
    **out = (costate_pattern){s->P->n, s->col, s->row};
    s->found = NULL;                     /* the caller's now, with its arrays */
    s->col = s->row = NULL;
    return COSTATE_OK;
}

int costate_pattern_detect(const costate_problem *P, const costate_point *x, costate_pattern **out, costate_report *r)
{
    costate_report unused;
    if (!r) r = &unused;
    check_clear(r);
    if (!out) return check_says(r, COSTATE_BAD_ARGUMENT, "There is no place for the pattern (NULL).");
    *out = NULL;
    TRY(check_given_problem(P, x, r));
    probing s = {.P = P};
    int status = detect(&s, x, out, r);
    probing_free(&s);
    return status;
}

void costate_pattern_free(costate_pattern *p)
{
    if (!p) return;
    free((void *)p->col);
    free((void *)p->row);
    free(p);
}
