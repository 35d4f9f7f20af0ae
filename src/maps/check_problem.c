/* check_problem.c - the public check of a problem: its maps, jac, the pattern, mass. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

/* ---- what jac and mass write: in the pattern, and nowhere else ---- */

/* Behind the entries of a pattern lie those that a callback would write which took the layout for n*n. */
typedef struct { double *entry; size_t count, guards; } guarded;

enum { MOST_GUARDED = 1000 };                       /* rows: 8 MB of guards */

static guarded guarded_new(const costate_problem *P)
{
    size_t n = (size_t)P->n, count = P->pattern ? (size_t)P->pattern->col[P->n] : n * n;
    guarded g = {NULL, count, P->pattern && n <= MOST_GUARDED ? n * n - count : 0};
    g.entry = calloc(count + g.guards + 1, sizeof *g.entry);
    for (size_t k = 0; g.entry && k < g.guards; k++) g.entry[count + k] = CHECK_GUARD;
    return g;
}

static int overrun(const guarded *g)
{
    for (size_t k = 0; k < g->guards; k++) if (g->entry[g->count + k] != CHECK_GUARD) return 1;
    return 0;
}

static int written_outside(const costate_problem *P, const guarded *g, const char *name, costate_report *r)
{
    size_t used = strlen(r->text);
    snprintf(r->text + used, sizeof r->text - used, "%s WRONG: it writes outside of the %zu entries of the pattern, as "
             "if the matrix were %d by %d. ", name, g->count, P->n, P->n);
    return COSTATE_CHECK_FAILED;
}

/* ---- mass: nothing else knows M; it must be finite, constant, and in its layout ---- */

/* where entry k is */
static void place_of(const costate_problem *P, size_t k, int *row, int *column)
{
    int n = P->n, j = 0;
    if (P->pattern) while ((size_t)P->pattern->col[j + 1] <= k) j++;
    *column = P->pattern ? j : (int)(k / (size_t)n);
    *row = P->pattern ? P->pattern->row[k] : (int)(k % (size_t)n);
}

static int judge_mass(const costate_problem *P, const guarded *g, const guarded *again, costate_report *r)
{
    int row, column;
    size_t used = strlen(r->text), room = sizeof r->text - used;
    if (overrun(g)) return written_outside(P, g, "mass", r);
    for (size_t k = 0; k < g->count; k++) {
        double a = g->entry[k], b = again->entry[k];
        if (isfinite(a) && a == b) continue;
        place_of(P, k, &row, &column);
        if (!isfinite(a)) snprintf(r->text + used, room, "mass WRONG: row %d of column %d is %g. ", row, column, a);
        else snprintf(r->text + used, room, "mass WRONG: not constant: row %d of column %d is %.8g, in a second call "
                      "%.8g. ", row, column, a, b);
        return COSTATE_CHECK_FAILED;
    }
    return COSTATE_OK;
}

static int check_mass(const costate_problem *P, const costate_point *x, costate_report *r)
{
    (void)x;
    guarded g = guarded_new(P), again = guarded_new(P);
    int status;
    if (!g.entry || !again.entry) status = check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    else {
        int code = P->mass(g.entry, P->ctx);
        if (code == 0) code = P->mass(again.entry, P->ctx);
        status = code != 0 ? check_says(r, COSTATE_CALLBACK, "The callback mass returned %d.", code)
                           : judge_mass(P, &g, &again, r);
    }
    free(g.entry);
    free(again.entry);
    return status;
}

/* ---- jac against the map, all of it: entries outside the pattern count as zeros ---- */

/* column j by tangent or differences, into d */
static int column_of_f(const probe *q, int j, worst *w)
{
    costate_point dx = check_unit(q, j);
    TRY(call_prepare(q->map, q->x, q->ctx));
    if (has_tangent(q->map)) return call_tangent(q->map, q->x, &dx, q->d, q->ctx);
    TRY(check_difference(q, OF_VALUE, j, q->n, q->d, q->b));
    check_allow(w, q->n, q->b);
    return 0;
}

static void column_of_jac(const costate_problem *P, const double *J, int j, double *column)
{
    const costate_pattern *a = P->pattern;
    size_t n = (size_t)P->n;
    memset(column, 0, n * sizeof *column);
    if (!a) memcpy(column, J + (size_t)j * n, n * sizeof *column);
    else for (int k = a->col[j]; k < a->col[j + 1]; k++) column[a->row[k]] = J[k];
}

/* jac, or jac_yp, against the columns of q's map from `first` on */
typedef struct {
    const costate_problem *P;
    const char *name;
    int (*of)(const costate_point *, double *, void *);
    const costate_point *x;                     /* where it is called */
    int first;
} jacobian_check;

static int compare_jac(const jacobian_check *c, const probe *q, double *J, double *column, costate_report *r)
{
    const costate_problem *P = c->P;
    worst w = {0};
    TRY(c->of(c->x, J, P->ctx));
    for (int j = 0; j < P->n; j++) {
        TRY(column_of_f(q, c->first + j, &w));
        column_of_jac(P, J, j, column);
        check_compare(&w, c->first + j, check_size(q, c->first + j), P->n, column, q->d);
    }
    r->jac = r->jac >= check_relative(&w) ? r->jac : check_relative(&w);
    check_describe(q, c->name, &w, r);
    if (!(check_relative(&w) <= CHECK_RIGHT) && P->pattern &&
        !pattern_holds(P->pattern, w.row, w.input - c->first)) {
        size_t used = strlen(r->text);
        snprintf(r->text + used, sizeof r->text - used, "The pattern leaves it out. ");
    }
    return 0;
}

static int check_one_jac(const jacobian_check *c, const probe *given, costate_report *r)
{
    const costate_problem *P = c->P;
    size_t n = (size_t)given->n, in = (size_t)check_inputs(given);
    guarded g = guarded_new(P);
    double *at = calloc(6 * n + in, sizeof *at);
    if (!at || !g.entry) {
        free(at);
        free(g.entry);
        return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    }
    probe q = *given;
    q.y = at, q.b = at + n, q.d = at + 2 * n, q.e = at + 6 * n, q.r = at + 4 * n;
    int code = compare_jac(c, &q, g.entry, at + 3 * n, r), outside = overrun(&g);
    free(at);
    free(g.entry);
    if (outside) return written_outside(P, &g, c->name, r);
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "A callback returned %d.", code);
    return check_right(r) ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

static int check_jac(const costate_problem *P, const costate_point *x, costate_report *r)
{
    jacobian_check c = {P, "jac", P->jac, x, 0};
    probe q = probe_of(P, &P->rhs, P->n, x);
    return check_one_jac(&c, &q, r);
}

/* ---- all of it ---- */

static int check_rhs(const costate_problem *P, const costate_point *x, costate_report *r)
{
    probe q = probe_of(P, &P->rhs, P->n, x);
    return check_map(&q, r);
}

typedef int check(const costate_problem *, const costate_point *, costate_report *);

/* M y' = f: where one part is wrong the others are judged, too; a failure ends it. */
static int check_equations(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    const struct { int given; check *of; } parts[] = {
        {1, check_rhs}, {P->jac != NULL, check_jac}, {!P->jac && P->pattern, check_pattern},
        {P->mass != NULL, check_mass},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        int status = parts[k].given ? parts[k].of(P, x, r) : COSTATE_OK;
        if (status == COSTATE_CHECK_FAILED) *wrong = 1;
        else TRY(status);
    }
    return COSTATE_OK;
}

/* F(t, y, y', p): as a map of (y, y'); its Jacobians are by halves of it */
static int check_residual(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    slope_map ctx = {&P->residual, P->ctx, P->n};
    costate_map f = check_slope_map(&P->residual);
    costate_point z;
    int n = P->n, status;
    double *both = calloc(2 * (size_t)n, sizeof *both);
    if (!both) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    check_join(n, x, both, &z);
    const jacobian_check jacs[] = {{P, "jac", P->jac, x, 0}, {P, "jac_yp", P->jac_yp, x, n}};
    probe q = {.map = &f, .n = 2 * n, .states = n, .np = P->np, .nm = P->nm, .k = n, .x = &z, .ctx = &ctx};
    status = check_map(&q, r);
    for (int k = 0; k < 2 && (status == COSTATE_OK || status == COSTATE_CHECK_FAILED); k++) {
        if (status == COSTATE_CHECK_FAILED) *wrong = 1;
        status = jacs[k].of ? check_one_jac(&jacs[k], &q, r) : COSTATE_OK;
    }
    free(both);
    if (status != COSTATE_CHECK_FAILED) return status;
    *wrong = 1;
    return COSTATE_OK;
}

int check_problem_maps(const costate_problem *P, const costate_point *x, costate_report *rhs, costate_report *cost,
                       int *wrong)
{
    TRY(P->residual.value ? check_residual(P, x, rhs, wrong) : check_equations(P, x, rhs, wrong));
    TRY(check_further_maps(P, x, rhs, wrong));
    probe q = probe_of(P, &P->cost, P->nq, x);
    return P->nq > 0 && P->cost.value ? check_map(&q, cost) : COSTATE_OK;
}
