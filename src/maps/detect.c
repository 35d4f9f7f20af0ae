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
    probe q;                             /* of the equation */
    double *inputs[POINTS], *f[POINTS];  /* of q; n */
    double *out;                         /* n */
    char *hit;                           /* n: rows of the column */
    double *mass;                        /* n*n: M of a problem without a pattern, or NULL */
    int *col, *row;
    size_t count, room;
    double *block;                       /* holds the arrays of numbers but mass */
    costate_pattern *found;              /* the place for it */
} probing;

static int finite_value(const probing *s, const double *inputs, double *out)
{
    TRY(check_product(&s->q, CALL_VALUE, &(product_arguments){.x = inputs}, out));
    return all_finite((size_t)s->P->n, out) ? 0 : 1;
}

/* Chooses point k.  If f is not defined there, half the distance is tried, with the other sign for inputs that are
   zero. */
static int put_point(const probing *s, int k, unsigned *seed)
{
    const probe *q = &s->q;
    int code = 1;
    double near = k > 0 ? NEAR : 0;
    memcpy(s->inputs[k], q->base, q->start[PARTS] * sizeof *q->base);
    for (int tries = 0; code > 0 && tries < TRIES; tries++, near = tries < TRIES - 1 ? near / 2 : 0) {
        double side = tries % 2 ? -1 : 1;
        for (size_t i = 0; i < q->start[PARTS]; i++) {
            double from = q->base[i], r = random_number(seed);
            s->inputs[k][i] = from + near * (from == 0 ? side * fabs(r) : r) * q->unit[i];
        }
        code = finite_value(s, s->inputs[k], s->f[k]);
        if (near == 0) break;
    }
    return code;
}

/* out <- the column of input i at point k by tangent; or 1 in the rows where a change of it changes the value */
static int column_at(const probing *s, int k, size_t i)
{
    const probe *q = &s->q;
    size_t n = (size_t)s->P->n, in = q->start[PARTS];
    memset(q->e, 0, in * sizeof *q->e);
    q->e[i] = 1;
    if (has_tangent(q->map))
        return check_product(q, CALL_TANGENT, &(product_arguments){.x = s->inputs[k], .a = q->e}, s->out);
    memcpy(q->moved, s->inputs[k], in * sizeof *q->moved);
    double d = NEAR / 2 * q->unit[i];
    q->moved[i] += q->moved[i] < 0 ? -d : d;
    int code = finite_value(s, q->moved, s->out);
    for (size_t l = 0; code == 0 && l < n; l++) s->out[l] = s->out[l] != s->f[k][l];
    return code;
}

/* the rows where y_j, or y'_j, acts at point k; NaN: not there */
static int probe_column(const probing *s, int k, int j)
{
    for (int part = PART_Y; part <= PART_YP; part++) {
        size_t first = s->q.start[part];
        if (first == s->q.start[part + 1]) continue;
        int code = column_at(s, k, first + (size_t)j);
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

static int all_columns(probing *s, costate_report *r)
{
    const char *probed = has_tangent(s->q.map) ? tangent_name(s->q.map) : "value";
    const char *of = s->P->residual.value ? "residual" : "rhs";
    unsigned seed = 13;
    int code = s->mass ? s->P->mass(s->mass, s->P->ctx) : 0;
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "The callback mass returned %d.", code);
    for (int k = 0; k < POINTS; k++) {
        code = put_point(s, k, &seed);
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
    check_end(&s->q);
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
    size_t n = (size_t)s->P->n, in = s->q.start[PARTS];
    int dense = s->P->mass && !s->P->pattern;
    double *at = s->block = calloc(POINTS * (in + n) + n, sizeof *at);
    s->found = malloc(sizeof *s->found);
    s->hit = malloc(n);
    s->col = calloc(n + 1, sizeof *s->col);
    if (dense) s->mass = calloc(n, n * sizeof *s->mass);
    if (!at || !s->found || !s->hit || !s->col || (dense && !s->mass)) return 0;
    for (int k = 0; k < POINTS; k++, at += in + n) s->inputs[k] = at, s->f[k] = at + in;
    s->out = at;
    return 1;
}

/* y and y' differ in size; where all of y' are zero, it is as if one were 1: a change of it must be seen beside f */
static void set_units(const probe *q)
{
    const size_t *at = q->start;
    check_sizes(at[PART_YP] - at[PART_Y], q->base + at[PART_Y], 1e-3, q->unit + at[PART_Y]);
    check_sizes(at[PART_P] - at[PART_YP], q->base + at[PART_YP], 1, q->unit + at[PART_YP]);
}

static int detect(probing *s, costate_pattern **out, costate_report *r)
{
    if (check_begin(&s->q, r) || !allocate(s))
        return check_says(r, COSTATE_NO_MEMORY, "No memory to find the pattern.");
    set_units(&s->q);
    TRY(all_columns(s, r));
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
    int residual = P->residual.value != NULL;
    probing s = {.P = P, .q = probe_of(P, residual ? &P->residual : &P->rhs, P->n, x, 1, residual)};
    s.q.start[PARTS] = s.q.start[PART_M];           /* memory stays as it is given */
    int status = detect(&s, out, r);
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
