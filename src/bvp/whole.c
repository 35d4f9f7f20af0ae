/* whole.c - the linear system of all stages and mesh points as one sparse matrix in the pattern of the problem, for a
   sparse solver.  For many states, for which elimination interval by interval would fill blocks of n*n. */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "bvp/bvp.h"
#include "linsol/backends.h"

typedef struct {
    int N;
    costate_pattern small;          /* the problem's, and the diagonal */
    int *small_col, *small_row;
    size_t *entry;                  /* of small: its place in J, M; SIZE_MAX: not there */
    costate_pattern all;
    int *col, *row;
    double *value;                  /* of all, negative: LS forms -J */
    double *J, *M;                  /* s times entries of small: of the stages of an interval; M NULL: one for all */
    LS *ls;
} sparse;

static void mesh_free(sparse *w)
{
    LS_Free(w->ls);
    free(w->col);
    free(w->row);
    free(w->value);
    w->ls = NULL;
    w->col = w->row = NULL;
    w->value = NULL;
    w->N = 0;
}

static void whole_free(bvp *b)
{
    sparse *w = b->linear.own;
    if (!w) return;
    mesh_free(w);
    free(w->small_col);
    free(w->small_row);
    free(w->entry);
    free(w->J);
    free(w);
    b->linear.own = NULL;
}

static int no_memory(bvp *b)
{
    return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the linear system of %d intervals.", b->now.N);
}

/* ---- the problem's pattern with the diagonal ---- */

static int put_small(sparse *w, int at, int row, size_t entry)
{
    w->small_row[at] = row;
    w->entry[at] = entry;
    return at + 1;
}

static void fill_small(const bvp *b, sparse *w)
{
    const costate_pattern *p = b->P.pattern;
    int n = b->n, at = 0;
    for (int c = 0; c < n; c++) {
        int from = p ? p->col[c] : 0, to = p ? p->col[c + 1] : n, there = 0;
        w->small_col[c] = at;
        for (int k = from; k < to; k++) {
            int r = p ? p->row[k] : k;
            if (r > c && !there) at = put_small(w, at, c, SIZE_MAX);
            there |= r >= c;
            at = put_small(w, at, r, p ? (size_t)k : (size_t)c * (size_t)n + (size_t)r);
        }
        if (!there) at = put_small(w, at, c, SIZE_MAX);
    }
    w->small_col[n] = at;
    w->small = (costate_pattern){n, w->small_col, w->small_row};
}

static int bvp_whole_begin(bvp *b)
{
    size_t most = b->maps.entries + (size_t)b->n, s = (size_t)b->s;
    sparse *w = calloc(1, sizeof *w);
    if (!(b->linear.own = w)) return no_memory(b);
    w->small_col = malloc(((size_t)b->n + 1) * sizeof *w->small_col);
    w->small_row = malloc(most * sizeof *w->small_row);
    w->entry = malloc(most * sizeof *w->entry);
    w->J = malloc(2 * s * most * sizeof *w->J);
    if (!w->small_col || !w->small_row || !w->entry || !w->J) { whole_free(b); return no_memory(b); }
    w->M = w->J + s * most;
    fill_small(b, w);
    return 0;
}

/* ---- all entries, column by column, rows increasing ---- */

typedef struct { int *row; double *value; size_t count; } writer;  /* row, value NULL: only counts */

static void put(writer *to, size_t row, double v)
{
    if (to->row) to->row[to->count] = (int)row;
    if (to->value) to->value[to->count] = -v;
    to->count++;
}

/* v: h a_jl J - M of column c of stage j, or h J where l < 0 */
static void put_stage(const bvp *b, const sparse *w, writer *to, size_t first, int j, int l, int c, double h)
{
    size_t entries = (size_t)w->small_col[b->n];
    const double *J = w->J + (size_t)j * entries, *M = w->M + (size_t)j * entries;
    double a = l < 0 ? 1 : b->rk.A[j * b->s + l];
    for (int k = w->small_col[c]; k < w->small_col[c + 1]; k++)
        put(to, first + (size_t)w->small_row[k], h * a * J[k] - (l == j ? M[k] : 0));
}

/* rows of the conditions, column c of (y(a), y(b)) */
static void put_conditions(const bvp *b, writer *to, int c)
{
    const costate_pattern *p = b->edge.user.pattern;
    size_t n = (size_t)b->n, first = (size_t)b->now.N * (size_t)b->L;
    const double *B = b->edge.B + (size_t)c * n;
    int from = p ? p->col[c] : 0, end = p ? p->col[c + 1] : b->n;
    for (int k = from; k < end; k++) {
        size_t r = (size_t)(p ? p->row[k] : k);
        put(to, first + r, B[r]);
    }
}

static void column_done(sparse *w, const writer *to, size_t column) { if (w->col) w->col[column + 1] = (int)to->count; }

/* the columns of y_i and its X */
static void put_interval(const bvp *b, sparse *w, writer *to, int i)
{
    size_t n = (size_t)b->n, L = (size_t)b->L, S = (size_t)b->s * n, first = (size_t)i * L;
    for (size_t c = 0; c < n; c++) {
        if (i > 0) put(to, first - n + c, 1);
        for (int j = 0; j < b->s; j++) put_stage(b, w, to, first + (size_t)j * n, j, -1, (int)c, b->now.h[i]);
        put(to, first + S + c, -1);
        if (i == 0) put_conditions(b, to, (int)c);
        column_done(w, to, first + c);
    }
    for (int l = 0; l < b->s; l++)
        for (size_t c = 0; c < n; c++) {
            for (int j = 0; j < b->s; j++)
                if (j == l || b->rk.A[j * b->s + l] != 0)
                    put_stage(b, w, to, first + (size_t)j * n, j, l, (int)c, b->now.h[i]);
            put(to, first + S + c, -b->rk.b[l]);
            column_done(w, to, first + n + (size_t)l * n + c);
        }
}

static void put_last(const bvp *b, sparse *w, writer *to)
{
    size_t n = (size_t)b->n, first = (size_t)b->now.N * (size_t)b->L;
    for (size_t c = 0; c < n; c++) {
        put(to, first - n + c, 1);
        put_conditions(b, to, b->n + (int)c);
        column_done(w, to, first + c);
    }
}

/* ---- the system ---- */

/* The factors of this system have much fill-in for any pattern of f: with diffusion in a second dimension, UMFPACK with
   its dense kernels was up to forty times faster than KLU. */
static const costate_backend *chosen(const bvp *b, const sparse *w)
{
    const costate_backend *umfpack = costate_backend_find("umfpack");
    return b->o.solver == COSTATE_LS_AUTO && umfpack ? umfpack : LS_Choose(b->o.solver, w->all.n, &w->all);
}

static int solver(bvp *b, sparse *w)
{
    int status = 0, all = w->all.n;
    const costate_backend *backend = b->o.backend ? b->o.backend : chosen(b, w);
    if (!backend) return fail(&b->v, COSTATE_BACKEND, "options.solver = %d is not built in.", b->o.solver);
    if (backend->dense)
        return fail(&b->v, COSTATE_BACKEND, "The backend %s is dense: the whole system has %d unknowns; set "
                    "COSTATE_LS_DENSE for elimination by intervals.", backend->name, all);
    w->ls = LS_Init(backend, all, &w->all, 0, NULL, &b->count.calls, &status);
    if (w->ls && LS_Balance(w->ls) == 0) return 0;
    if (status == COSTATE_LS_UNSUPPORTED)
        return fail(&b->v, COSTATE_BACKEND, "The backend %s cannot do it.", backend->name);
    return no_memory(b);
}

int whole_fits(verdict *v, int N, size_t all, size_t entries)
{
    if (entries <= INT_MAX && all <= INT_MAX) return 0;
    return fail(v, COSTATE_BACKEND, "The system of all equations on %d intervals has %zu rows and %zu entries, more "
                "than 2^31 - 1, which sparse solvers can count: COSTATE_LS_DENSE eliminates by intervals.", N, all,
                entries);
}

static int whole_prepare(bvp *b, int N)
{
    if (!b->linear.own) TRY(bvp_whole_begin(b));
    sparse *w = b->linear.own;
    size_t all = solution_unknowns(b, N);
    writer to = {0};
    if (w->N == N) return 0;
    mesh_free(w);
    for (int i = 0; i < N; i++) put_interval(b, w, &to, i);
    put_last(b, w, &to);
    TRY(whole_fits(&b->v, N, all, to.count));
    w->row = malloc(to.count * sizeof *w->row);
    w->value = calloc(to.count, sizeof *w->value);
    w->col = calloc(all + 1, sizeof *w->col);
    if (!w->row || !w->value || !w->col) return no_memory(b);
    to = (writer){.row = w->row};
    for (int i = 0; i < N; i++) put_interval(b, w, &to, i);
    put_last(b, w, &to);
    w->all = (costate_pattern){(int)all, w->col, w->row};
    TRY(solver(b, w));
    w->N = N;
    return 0;
}

/* J and M of all stages of interval i, in the pattern with the diagonal */
static int take_stages(bvp *b, sparse *w, int i)
{
    size_t entries = (size_t)w->small_col[b->n];
    const double *y = y_of(b, b->now.z, i);
    weights_at(b, y, y + b->L, b->stage.w);
    for (int j = 0; j < b->s; j++) {
        double *J = w->J + (size_t)j * entries, *M = w->M + (size_t)j * entries;
        TRY(stage_matrix(b, &b->now, i, j));
        for (int c = 0; c < b->n; c++)
            for (int k = w->small_col[c]; k < w->small_col[c + 1]; k++) {
                size_t from = w->entry[k];
                J[k] = from == SIZE_MAX ? 0 : b->stage.J[from];
                M[k] = !b->stage.M ? w->small_row[k] == c : from == SIZE_MAX ? 0 : b->stage.M[from];
            }
    }
    return 0;
}

static int failed_with(bvp *b, int status)
{
    if (status == COSTATE_LS_NO_MEMORY) return no_memory(b);
    if (status < 0) return fail(&b->v, COSTATE_BACKEND, "The linear solver failed (%d).", status);
    return fail(&b->v, COSTATE_SINGULAR, "The system of all equations is singular on a mesh of %d intervals from "
                "a = %.10g to b = %.10g: the conditions do not determine the solution, or contradict each other.",
                b->now.N, b->now.t[0], b->now.t[b->now.N]);
}

static int whole_factor(bvp *b)
{
    sparse *w = b->linear.own;
    writer to = {.value = w->value};
    TRY(conditions_matrix(b, &b->now));
    for (int i = 0; i < w->N; i++) {
        TRY(take_stages(b, w, i));
        put_interval(b, w, &to, i);
    }
    put_last(b, w, &to);
    b->count.rcond = NAN;
    int status = LS_Decomp(w->ls, 0, 0, w->value, NULL);
    return status ? failed_with(b, status) : 0;
}

static int whole_solve(bvp *b, int transpose, int m, double *x)
{
    sparse *w = b->linear.own;
    int status = LS_Solve(w->ls, transpose, m, x);
    if (status == COSTATE_LS_SINGULAR) return retry(&b->v, WHY_NOT_FINITE);
    return status ? failed_with(b, status) : 0;
}

const linear_system whole = {"whole", whole_prepare, whole_factor, whole_solve, whole_free};
