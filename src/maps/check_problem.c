/* check_problem.c - the public check of a problem: its equation, jac, pattern, mass matrix and running cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

/* ---- what jac and mass write: in the pattern, and nowhere else ---- */

/* Guard values behind the entries of the pattern: a callback that writes a dense n*n matrix overwrites them. */
typedef struct { double *entry; size_t count, guards; } guarded_maps;

enum { MOST_GUARDED = 1000 };                       /* rows: 8 MB of guards */

static guarded_maps guarded_new(const costate_problem *P)
{
    size_t n = (size_t)P->n, count = pattern_entries(P->pattern, P->n);
    guarded_maps g = {NULL, count, P->pattern && n <= MOST_GUARDED ? n * n - count : 0};
    g.entry = calloc(count + g.guards + 1, sizeof *g.entry);
    for (size_t k = 0; g.entry && k < g.guards; k++) g.entry[count + k] = CHECK_GUARD;
    return g;
}

static int overrun(const guarded_maps *g)
{
    for (size_t k = 0; k < g->guards; k++) if (g->entry[g->count + k] != CHECK_GUARD) return 1;
    return 0;
}

static int written_outside(const costate_problem *P, const guarded_maps *g, const char *name, costate_report *r)
{
    check_adds(r, "%s WRONG: it writes outside of the %zu entries of the pattern, as if the matrix were %d by %d. ",
               name, g->count, P->n, P->n);
    return COSTATE_CHECK_FAILED;
}

/* ---- mass and W: nothing else knows them; they must be finite, constant, and in their layout ---- */

/* where entry k is */
static void place_of(const costate_problem *P, size_t k, int *row, int *column)
{
    int n = P->n, j = 0;
    if (P->pattern) while ((size_t)P->pattern->col[j + 1] <= k) j++;
    *column = P->pattern ? j : (int)(k / (size_t)n);
    *row = P->pattern ? P->pattern->row[k] : (int)(k % (size_t)n);
}

/* where: of the second call */
static int judge_constant(const costate_problem *P, const char *name, const char *where, const guarded_maps *g,
                          const guarded_maps *again, costate_report *r)
{
    int row, column;
    if (overrun(g)) return written_outside(P, g, name, r);
    for (size_t k = 0; k < g->count; k++) {
        double a = g->entry[k], b = again->entry[k];
        if (isfinite(a) && a == b) continue;
        place_of(P, k, &row, &column);
        if (!isfinite(a)) check_adds(r, "%s WRONG: row %d of column %d is %g. ", name, row, column, a);
        else check_adds(r, "%s WRONG: not constant: row %d of column %d is %.8g, %s %.8g. ", name, row, column, a,
                        where, b);
        return COSTATE_CHECK_FAILED;
    }
    return COSTATE_OK;
}

/* a matrix that two calls must write alike; where: of the second one */
typedef struct {
    const char *callback, *name, *where;
    int (*at)(const costate_problem *, const costate_point *, double *);
} constant_matrix;

static int check_constant(const constant_matrix *c, const costate_problem *P, const costate_point *x,
                          const costate_point *again_at, costate_report *r)
{
    guarded_maps g = guarded_new(P), again = guarded_new(P);
    int status;
    if (!g.entry || !again.entry) status = check_no_memory(r);
    else {
        int code = c->at(P, x, g.entry);
        if (code == 0) code = c->at(P, again_at, again.entry);
        status = code != 0 ? check_says(r, COSTATE_CALLBACK, "The callback %s returned %d.", c->callback, code)
                           : judge_constant(P, c->name, c->where, &g, &again, r);
    }
    free(g.entry);
    free(again.entry);
    return status;
}

static int call_mass(const costate_problem *P, const costate_point *x, double *M)
{
    (void)x;
    return P->mass(M, P->ctx);
}

static int call_jac(const costate_problem *P, const costate_point *x, double *J) { return P->jac(x, J, P->ctx); }

static int check_mass(const costate_problem *P, const costate_point *x, costate_report *r)
{
    static const constant_matrix mass = {"mass", "mass", "in a second call", call_mass};
    return check_constant(&mass, P, x, x, r);
}

/* W may depend on p, but not on t and y */
static int check_w(const costate_problem *P, const costate_point *x, costate_report *r)
{
    static const constant_matrix w = {"jac", "jac (W)", "at another t and y", call_jac};
    double *y = malloc((size_t)P->n * sizeof *y);
    if (!y) return check_no_memory(r);
    costate_point moved = *x;
    for (int i = 0; i < P->n; i++) y[i] = 1.25 * x->y[i] + 0.5;
    moved.y = y;
    moved.t = 1.25 * x->t + 0.5;
    int status = check_constant(&w, P, x, &moved, r);
    if (status == COSTATE_OK) r->jac = 0;
    free(y);
    return status;
}

/* ---- jac against the map, all of it: entries outside the pattern count as zeros ---- */

/* column j by tangent or differences, into d */
static int column_of_f(const probe *q, int j, worst *w)
{
    costate_point dx = check_unit(q, j);
    TRY(call_prepare(q->map, &q->at, q->ctx));
    if (has_tangent(q->map)) return call_tangent(q->map, &q->at, &dx, q->d, q->ctx);
    TRY(check_difference(q, OF_VALUE, j, q->k, q->d, q->b));
    check_allow(w, q->k, q->b);
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
    check_judge(q, c->name, &w, &r->jac, r);
    if (!(check_relative(&w) <= CHECK_RIGHT) && P->pattern &&
        !pattern_holds(P->pattern, w.row, w.input - c->first))
        check_adds(r, "The pattern leaves it out. ");
    return 0;
}

static int check_one_jac(const jacobian_check *c, probe *q, costate_report *r)
{
    guarded_maps g = guarded_new(c->P);
    double *column = calloc((size_t)c->P->n, sizeof *column);
    int status = COSTATE_NO_MEMORY;
    if (!column || !g.entry) check_no_memory(r);
    else if ((status = check_begin(q, r)) == COSTATE_OK) {
        int code = compare_jac(c, q, g.entry, column, r);
        status = overrun(&g) ? written_outside(c->P, &g, c->name, r) : check_result(code, r);
        check_end(q);
    }
    free(column);
    free(g.entry);
    return status;
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

/* M y' = f: if one part is wrong, the others are checked as well; a failed call ends the check. */
static int check_equations(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    const struct { int given; check *of; } parts[] = {
        {1, check_rhs}, {P->jac && !P->jac_is_w, check_jac},
        {P->jac && P->jac_is_w, check_w}, {!P->jac && P->pattern, check_pattern},
        {P->mass != NULL, check_mass},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        int status = parts[k].given ? parts[k].of(P, x, r) : COSTATE_OK;
        if (status == COSTATE_CHECK_FAILED) *wrong = 1;
        else TRY(status);
    }
    return COSTATE_OK;
}

/* F(t, y, y', p): its inputs are y, then y', and each Jacobian holds the columns of one of them */
static int check_residual(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    const jacobian_check jacs[] = {{P, "jac", P->jac, x, 0}, {P, "jac_yp", P->jac_yp, x, P->n}};
    probe q = probe_of(P, &P->residual, P->n, x);
    q.slopes = 1;
    for (int k = -1; k < 2; k++) {
        int status = k < 0 ? check_map(&q, r) : jacs[k].of ? check_one_jac(&jacs[k], &q, r) : COSTATE_OK;
        if (status == COSTATE_CHECK_FAILED) *wrong = 1;
        else TRY(status);
    }
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
