/* check_problem.c - the public check of a problem: all its maps, jac, pattern and mass matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/pattern.h"
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

/* the place of entry k */
static void place_of(const costate_problem *P, size_t k, int *row, int *column)
{
    size_t n = (size_t)P->n;
    *column = (int)(k / n);
    *row = (int)(k % n);
    if (!P->pattern) return;
    for (*column = 0; (size_t)P->pattern->col[*column + 1] <= k;) *column += 1;
    *row = P->pattern->row[k];
}

/* x NULL: M, else W */
static int write_matrix(const costate_problem *P, const costate_point *x, double *A)
{
    return x ? P->jac(x, A, P->ctx) : P->mass(A, P->ctx);
}

static int judge_constant(const costate_problem *P, const char *name, const char *where, const guarded_maps *g,
                          costate_report *r)
{
    int row, column;
    if (overrun(&g[0])) return written_outside(P, g, name, r);
    for (size_t k = 0; k < g->count; k++) {
        double a = g[0].entry[k], b = g[1].entry[k];
        if (isfinite(a) && a == b) continue;
        place_of(P, k, &row, &column);
        if (!isfinite(a)) check_adds(r, "%s WRONG: row %d of column %d is %g. ", name, row, column, a);
        else check_adds(r, "%s WRONG: not constant: row %d of column %d is %.8g, %s %.8g. ", name, row, column, a,
                        where, b);
        return COSTATE_CHECK_FAILED;
    }
    return COSTATE_OK;
}

/* two calls must write the same: at x and at `other`, where W is; both NULL for M */
static int check_constant(const costate_problem *P, const costate_point *x, const costate_point *other,
                          costate_report *r)
{
    guarded_maps g[] = {guarded_new(P), guarded_new(P)};
    int status;
    if (!g[0].entry || !g[1].entry) status = check_no_memory(r);
    else {
        int code = write_matrix(P, x, g[0].entry);
        if (code == 0) code = write_matrix(P, other, g[1].entry);
        status = code != 0 ? check_says(r, COSTATE_CALLBACK, "The callback %s returned %d.", x ? "jac" : "mass", code)
                           : judge_constant(P, x ? "jac (W)" : "mass", x ? "at another t and y" : "in a second call", g,
                                            r);
    }
    free(g[0].entry);
    free(g[1].entry);
    return status;
}

/* W may depend on p, but not on t and y */
static int check_w(const costate_problem *P, const costate_point *x, costate_report *r)
{
    double *y = malloc((size_t)P->n * sizeof *y);
    if (!y) return check_no_memory(r);
    costate_point moved = *x;
    for (int i = 0; i < P->n; i++) y[i] = 1.25 * x->y[i] + 0.5;
    moved.y = y;
    moved.t = 1.25 * x->t + 0.5;
    int status = check_constant(P, x, &moved, r);
    if (status == COSTATE_OK) r->jac = 0;
    free(y);
    return status;
}

/* ---- jac against the map, all of it: entries outside the pattern count as zeros ---- */

typedef struct {
    const costate_problem *P;
    const char *name;
    int (*of)(const costate_point *, double *, void *);
    int part;                                   /* of the inputs: its columns */
    double *J;
} given_jac;

/* a sum of columns: NaN or Inf in a column that v does not have must not be seen */
static int jacobian_times(void *ctx, const double *v, double *out)
{
    const given_jac *s = ctx;
    const costate_pattern *a = s->P->pattern;
    int n = s->P->n;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int j = 0; j < n; j++) {
        if (v[j] == 0) continue;
        for (int k = a ? a->col[j] : 0; k < (a ? a->col[j + 1] : n); k++)
            out[a ? a->row[k] : k] += v[j] * (a ? s->J[k] : s->J[(size_t)j * (size_t)n + (size_t)k]);
    }
    return 0;
}

static int compare_jacobian(const probe *q, given_jac *s, costate_report *r)
{
    derivative D = {q, 0, q->start[s->part], (size_t)s->P->n};
    const check_operator F = check_derivative(&D, has_tangent(q->map));
    const check_operator J = {.ctx = s, .in = F.in, .rows = F.rows, .tangent = jacobian_times};
    worst w = {0};
    TRY(s->of(q->x, s->J, s->P->ctx));
    TRY(check_tangent(&J, &F, &w, q->work));
    int column = w.input;
    w.input += (int)D.first;
    check_judge(q, s->name, &w, &r->jac, r);
    if (!(check_relative(&w) <= CHECK_RIGHT) && s->P->pattern && !pattern_holds(s->P->pattern, w.row, column))
        check_adds(r, "The pattern leaves it out. ");
    return 0;
}

static int check_jacobian(probe *q, given_jac *s, costate_report *r)
{
    guarded_maps g = guarded_new(s->P);
    int status = g.entry ? check_begin(q, r) : check_no_memory(r);
    if (status == COSTATE_OK) {
        s->J = g.entry;
        int code = compare_jacobian(q, s, r);
        status = overrun(&g) ? written_outside(s->P, &g, s->name, r) : check_result(code, r);
        check_end(q);
    }
    free(g.entry);
    return status;
}

/* ---- all of it: if one part is wrong, the others are checked as well; a failed call ends the check ---- */

static int go_on(int status, int *wrong)
{
    if (status != COSTATE_CHECK_FAILED) return status;
    *wrong = 1;
    return COSTATE_OK;
}

/* F(t, y, y', p), or M y' = f */
static int check_equation(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    int residual = P->residual.value != NULL;
    const costate_map *f = residual ? &P->residual : &P->rhs;
    probe q = probe_of(P, f, P->n, x, 1, residual);
    given_jac jac = {P, "jac", P->jac, PART_Y, NULL}, jac_yp = {P, "jac_yp", P->jac_yp, PART_YP, NULL};
    TRY(go_on(check_map(&q, r), wrong));
    if (P->jac && !P->jac_is_w) TRY(go_on(check_jacobian(&q, &jac, r), wrong));
    if (P->jac_yp) TRY(go_on(check_jacobian(&q, &jac_yp, r), wrong));
    if (P->jac && P->jac_is_w) TRY(go_on(check_w(P, x, r), wrong));
    if (!residual && !P->jac && P->pattern) TRY(go_on(check_pattern(&q, P->pattern, r), wrong));
    return P->mass ? go_on(check_constant(P, NULL, NULL, r), wrong) : COSTATE_OK;
}

/* NaN of one of them: not given */
static void join_errors(costate_report *r, const costate_report *own)
{
    r->tangent = fmax(r->tangent, own->tangent);
    r->adjoint = fmax(r->adjoint, own->adjoint);
    r->tangent2 = fmax(r->tangent2, own->tangent2);
    r->adjoint_tangent = fmax(r->adjoint_tangent, own->adjoint_tangent);
    r->adjoint_tangent2 = fmax(r->adjoint_tangent2, own->adjoint_tangent2);
}

/* Errors are appended to the report of the problem, after the name of the map; the report keeps the largest errors.
   ctx: NULL: that of the problem */
static int check_further(probe q, void *ctx, const char *name, costate_report *r, int *wrong)
{
    costate_report own;
    if (!q.map->value || q.rows == 0) return COSTATE_OK;
    if (ctx) q.ctx = ctx;
    check_clear(&own);
    int status = check_map(&q, &own);
    join_errors(r, &own);
    if (status != COSTATE_OK) check_adds(r, "%s: %s", name, own.text);
    return go_on(status, wrong);
}

/* in a mode where the event is active: that of x, if it is active in all */
int check_event(const costate_problem *P, int k, const costate_point *x, costate_report *r, int *wrong)
{
    const costate_event *e = &P->event[k];
    /* sides: a transition sees the states before and after the event, and their slopes */
    const struct { const costate_map *of; const char *name; int rows, sides; } parts[] = {
        {&e->guard, "guard", 1, 1}, {&e->jump, "jump", P->n + P->nm, 1}, {&e->cost, "cost", P->nq, 1},
        {&e->transition, "transition", P->n, 2}};
    costate_point at = *x;
    if (e->from >= 0) at.mode = e->from;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[32];
        int slopes = e->slopes || parts[i].sides == 2;
        snprintf(name, sizeof name, "event[%d].%s", k, parts[i].name);
        at.yp = slopes ? x->yp : NULL;
        TRY(check_further(probe_of(P, parts[i].of, parts[i].rows, &at, parts[i].sides, slopes), e->ctx, name, r,
                          wrong));
    }
    return COSTATE_OK;
}

int check_problem_maps(const costate_problem *P, const costate_point *x, costate_report *rhs, costate_report *cost,
                       int *wrong)
{
    const costate_after_step *a = &P->after_step;
    TRY(check_equation(P, x, rhs, wrong));
    /* start is a map of (y+, y), checked at (y, y) */
    TRY(check_further(probe_of(P, &P->start, P->n, x, 2, 0), NULL, "start", rhs, wrong));
    for (int k = 0; k < P->nevents; k++) TRY(check_event(P, k, x, rhs, wrong));
    for (int k = 0; k < P->nrelations; k++) {
        char name[32];
        snprintf(name, sizeof name, "relation[%d].guard", k);
        TRY(check_further(probe_of(P, &P->relation[k].guard, 1, x, 1, 0), P->relation[k].ctx, name, rhs, wrong));
    }
    TRY(check_further(probe_of(P, &a->map, P->n + P->nm, x, 1, 0), a->ctx, "after_step.map", rhs, wrong));
    TRY(check_further(probe_of(P, &a->start, P->n + P->nm, x, 1, 0), a->ctx, "after_step.start", rhs, wrong));
    TRY(check_further(probe_of(P, &a->invariant, 1, x, 1, 0), a->ctx, "after_step.invariant", rhs, wrong));
    probe q = probe_of(P, &P->cost, P->nq, x, 1, 0);
    return P->nq > 0 && P->cost.value ? check_map(&q, cost) : COSTATE_OK;
}
