/* sparse.c - the backend "sparse": LU by columns from the left, for where neither UMFPACK nor KLU is linked.

   Column k of L and U is column q_k of A less the columns of L that it needs: those reached from its rows in the graph
   of L (J. R. Gilbert, T. Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862).  Rows are divided by their largest
   entries.  Columns are in an order of minimum degree (order.c).

   Pivots are those that were matched with the columns, once for the pattern; then the structure of L and U is known,
   and a factorisation only computes numbers.  It is checked for every matrix whether they are good enough (pivots.c);
   if not, it is factored with pivots of its own: the largest of a column, or the matched one if it is at least
   threshold times as large.  So a factor depends on A alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/verdict.h"
#include "linsol/backends.h"
#include "linsol/number.h"
#include "linsol/order.h"

/* Where L and U have numbers.  Rows of finished factors are places in the order of the pivots. */
typedef struct {
    int *L, *U;                 /* n + 1: where columns begin; of L without the diagonal, of U above it */
    int *below, *above;         /* rows: of U in the order in which columns of L are subtracted */
    int *row;                   /* row of A that is the k-th pivot */
    size_t room_L, room_U;
} structure;

typedef struct {                /* shared by the solvers of one pattern, written by the first one's init */
    int refs, status;           /* status: of the structure with matched pivots; COSTATE_LS_SINGULAR: there are none */
    int *order, *matched;       /* n each: columns; rows of the columns of A */
    structure fixed;
} analysis;

typedef struct {
    int n, parts;
    const costate_pattern *pattern;
    analysis *shared;
    structure own;              /* with pivots of its own */
    const structure *at;        /* the last factor: &shared->fixed or &own */
    double *x, *diagonal, *scale;       /* n numbers, n numbers, n */
    double *L, *U;              /* numbers, as many as there was room for */
    size_t size_L, size_U;
    int *place, *stack, *mark, *path;   /* n each: pivot of a row, or -1; of searches */
    LS_pivots check;
} sparse;

/* ---- memory ---- */

static int grow(int **list, size_t *room, size_t least)
{
    if (least <= *room) return COSTATE_LS_OK;
    size_t more = 2 * *room > least ? 2 * *room : least;
    int *moved = realloc(*list, more * sizeof *moved);
    if (!moved) return COSTATE_LS_NO_MEMORY;
    *list = moved;
    *room = more;
    return COSTATE_LS_OK;
}

static int grow_numbers(double **list, size_t *room, size_t least, int parts)
{
    if (least <= *room) return COSTATE_LS_OK;
    size_t more = 2 * *room > least ? 2 * *room : least;
    double *moved = realloc(*list, more * (size_t)parts * sizeof *moved);
    if (!moved) return COSTATE_LS_NO_MEMORY;
    *list = moved;
    *room = more;
    return COSTATE_LS_OK;
}

static int structure_new(structure *f, int n)
{
    f->L = malloc((3 * (size_t)n + 2) * sizeof *f->L);
    if (!f->L) return COSTATE_LS_NO_MEMORY;
    f->U = f->L + n + 1;
    f->row = f->U + n + 1;
    return COSTATE_LS_OK;
}

static void structure_free(structure *f)
{
    free(f->L);
    free(f->below);
    free(f->above);
    *f = (structure){0};
}

/* ---- a factor with pivots that are chosen on the way ---- */

/* The rows of column j and all that they reach, in stack[top], ..., stack[n - 1], each before those that it reaches */
static int reach(sparse *s, const structure *f, int j, int k)
{
    const costate_pattern *p = s->pattern;
    int top = s->n, *at = s->path + s->n;
    for (int e = p->col[j]; e < p->col[j + 1]; e++) {
        int depth = 0;
        if (s->mark[p->row[e]] == k) continue;
        s->path[0] = p->row[e];
        s->mark[p->row[e]] = k;
        at[0] = s->place[p->row[e]] < 0 ? -1 : f->L[s->place[p->row[e]]];
        while (depth >= 0) {
            int column = s->place[s->path[depth]], end = column < 0 ? -1 : f->L[column + 1], deeper = 0;
            for (; at[depth] < end && !deeper; at[depth]++) {
                int i = f->below[at[depth]];
                if (s->mark[i] == k) continue;
                s->mark[i] = k;
                s->path[depth + 1] = i;
                at[depth + 1] = s->place[i] < 0 ? -1 : f->L[s->place[i]];
                deeper = 1;
            }
            if (deeper) depth++;
            else s->stack[--top] = s->path[depth--];
        }
    }
    return top;
}

/* The row among stack[top], ... that becomes the pivot of a column whose matched row is `own`; -1: all are 0 */
static int choose(const sparse *s, int parts, int top, int own, double threshold)
{
    int best = -1;
    double most = 0;
    for (int l = top; l < s->n; l++) {
        int i = s->stack[l];
        double size = s->place[i] < 0 ? number_size(parts, s->x + parts * i) : 0;
        if (size > most) most = size, best = i;
    }
    return most > 0 && number_size(parts, s->x + parts * own) >= threshold * most && s->place[own] < 0 ? own : best;
}

/* x <- column j of A, less what the columns of L before it take away */
static inline void eliminate(sparse *s, int parts, const structure *f, const double *A, int j, int top)
{
    const costate_pattern *p = s->pattern;
    for (int e = p->col[j]; e < p->col[j + 1]; e++)
        for (int l = 0; l < parts; l++) s->x[parts * p->row[e] + l] = A[parts * e + l] / s->scale[p->row[e]];
    for (int l = top; l < s->n; l++) {
        const int i = s->stack[l], column = s->place[i];
        if (column < 0) continue;
        const double u[2] = {s->x[parts * i], parts == 2 ? s->x[parts * i + 1] : 0};
        for (int e = f->L[column]; e < f->L[column + 1]; e++)
            number_subtract(parts, s->x + parts * f->below[e], s->L + (size_t)parts * (size_t)e, u);
    }
}

static inline void put(int parts, double *to, size_t k, double *x)
{
    for (int l = 0; l < parts; l++) {
        to[(size_t)parts * k + (size_t)l] = x[l];
        x[l] = 0;
    }
}

static void clear(sparse *s, int parts, int top)
{
    for (int l = top; l < s->n; l++) put(parts, s->x, (size_t)s->stack[l], (double[2]){0});
}

/* Column k of L and U.  A NULL: only where their numbers are. */
static inline int next_column(sparse *s, int parts, structure *f, const double *A, int k, double threshold)
{
    int j = s->shared->order[k], own = s->shared->matched[j], top = reach(s, f, j, k), pivot = own;
    int l = f->L[k], u = f->U[k];
    TRY(grow(&f->below, &f->room_L, (size_t)l + (size_t)(s->n - top)));
    TRY(grow(&f->above, &f->room_U, (size_t)u + (size_t)(s->n - top)));
    if (A) {
        TRY(grow_numbers(&s->L, &s->size_L, f->room_L, parts));
        TRY(grow_numbers(&s->U, &s->size_U, f->room_U, parts));
        eliminate(s, parts, f, A, j, top);
        pivot = choose(s, parts, top, own, threshold);
        if (pivot < 0) {
            clear(s, parts, top);
            return COSTATE_LS_SINGULAR;
        }
        put(parts, s->diagonal, (size_t)k, s->x + parts * pivot);
    }
    s->place[pivot] = k;
    f->row[k] = pivot;
    for (int at = top; at < s->n; at++) {
        int i = s->stack[at], column = s->place[i];
        double *x = s->x + parts * i;
        if (i == pivot) continue;
        if (A && column < 0) number_divide(parts, x, s->diagonal + parts * k);
        if (A) put(parts, column < 0 ? s->L : s->U, (size_t)(column < 0 ? l : u), x);
        if (column < 0) f->below[l++] = i;
        else f->above[u++] = column;
    }
    f->L[k + 1] = l;
    f->U[k + 1] = u;
    return COSTATE_LS_OK;
}

static inline int all_columns(sparse *s, int parts, structure *f, const double *A, double threshold)
{
    for (int i = 0; i < s->n; i++) s->place[i] = s->mark[i] = -1;
    f->L[0] = f->U[0] = 0;
    for (int k = 0; k < s->n; k++) TRY(next_column(s, parts, f, A, k, threshold));
    for (int e = 0; e < f->L[s->n]; e++) f->below[e] = s->place[f->below[e]];
    return COSTATE_LS_OK;
}

/* ---- a factor whose pivots are known ---- */

/* A pivot of 0 leaves numbers that are infinite or NaN, and is found by those who judge the pivots. */
static inline void all_numbers(sparse *s, int parts, const structure *f, const double *A)
{
    const costate_pattern *p = s->pattern;
    double *x = s->x;
    for (int k = 0; k < s->n; k++) s->place[f->row[k]] = k;
    for (int k = 0; k < s->n; k++) {
        int j = s->shared->order[k];
        double *pivot = s->diagonal + parts * k;
        for (int e = p->col[j]; e < p->col[j + 1]; e++)
            for (int l = 0; l < parts; l++) x[parts * s->place[p->row[e]] + l] = A[parts * e + l] / s->scale[p->row[e]];
        for (int e = f->U[k]; e < f->U[k + 1]; e++) {
            const int column = f->above[e];
            const double *u = s->U + (size_t)parts * (size_t)e;
            put(parts, s->U, (size_t)e, x + parts * column);
            for (int i = f->L[column]; i < f->L[column + 1]; i++)
                number_subtract(parts, x + parts * f->below[i], s->L + (size_t)parts * (size_t)i, u);
        }
        put(parts, s->diagonal, (size_t)k, x + parts * k);
        for (int e = f->L[k]; e < f->L[k + 1]; e++) {
            number_divide(parts, x + parts * f->below[e], pivot);
            put(parts, s->L, (size_t)e, x + parts * f->below[e]);
        }
    }
}

/* ---- solving ---- */

static inline void solve_one(sparse *s, int parts, double *b)
{
    const structure *f = s->at;
    double *y = s->x + (size_t)parts * (size_t)s->n;
    for (int k = 0; k < s->n; k++)
        for (int l = 0; l < parts; l++) y[parts * k + l] = b[parts * f->row[k] + l] / s->scale[f->row[k]];
    for (int k = 0; k < s->n; k++)
        for (int e = f->L[k]; e < f->L[k + 1]; e++)
            number_subtract(parts, y + parts * f->below[e], s->L + (size_t)parts * (size_t)e, y + parts * k);
    for (int k = s->n - 1; k >= 0; k--) {
        number_divide(parts, y + parts * k, s->diagonal + parts * k);
        for (int e = f->U[k]; e < f->U[k + 1]; e++)
            number_subtract(parts, y + parts * f->above[e], s->U + (size_t)parts * (size_t)e, y + parts * k);
        for (int l = 0; l < parts; l++) b[parts * s->shared->order[k] + l] = y[parts * k + l];
    }
}

static inline void solve_one_transposed(sparse *s, int parts, double *b)
{
    const structure *f = s->at;
    double *y = s->x + (size_t)parts * (size_t)s->n;
    for (int k = 0; k < s->n; k++) {
        double *v = y + parts * k;
        for (int l = 0; l < parts; l++) v[l] = b[parts * s->shared->order[k] + l];
        for (int e = f->U[k]; e < f->U[k + 1]; e++)
            number_subtract(parts, v, s->U + (size_t)parts * (size_t)e, y + parts * f->above[e]);
        number_divide(parts, v, s->diagonal + parts * k);
    }
    for (int k = s->n - 1; k >= 0; k--) {
        double *v = y + parts * k;
        for (int e = f->L[k]; e < f->L[k + 1]; e++)
            number_subtract(parts, v, s->L + (size_t)parts * (size_t)e, y + parts * f->below[e]);
        for (int l = 0; l < parts; l++) b[parts * f->row[k] + l] = v[l] / s->scale[f->row[k]];
    }
}

static int sparse_solve(void *self, int transpose, int nrhs, double *X)
{
    sparse *s = self;
    for (int j = 0; j < nrhs; j++, X += (size_t)s->parts * (size_t)s->n) {
        if (s->parts == 1) (transpose ? solve_one_transposed : solve_one)(s, 1, X);
        else (transpose ? solve_one_transposed : solve_one)(s, 2, X);
    }
    return COSTATE_LS_OK;
}

/* ---- the backend ---- */

static void analysis_free(analysis *a)
{
    if (!a || --a->refs > 0) return;
    structure_free(&a->fixed);
    free(a->order);
    free(a);
}

static void sparse_free(void *self)
{
    sparse *s = self;
    if (!s) return;
    analysis_free(s->shared);
    structure_free(&s->own);
    LS_pivots_free(&s->check);
    free(s->x);
    free(s->L);
    free(s->U);
    free(s->place);
    free(s);
}

/* order, matched rows and, if the pattern allows it, the structure with these as pivots */
static int analyse(sparse *s)
{
    int n = s->n;
    double work, entries;
    analysis *a = s->shared = calloc(1, sizeof *a);
    if (!a) return COSTATE_LS_NO_MEMORY;
    a->refs = 1;
    a->order = malloc(2 * (size_t)n * sizeof *a->order);
    if (!a->order) return COSTATE_LS_NO_MEMORY;
    a->matched = a->order + n;
    TRY(LS_match(n, s->pattern, a->matched));
    for (int j = 0; j < n; j++) if (a->matched[j] < 0) a->status = COSTATE_LS_SINGULAR;
    if (a->status) return COSTATE_LS_OK;
    TRY(LS_minimum_degree(n, s->pattern, a->matched, a->order, &work, &entries));
    TRY(structure_new(&a->fixed, n));
    return all_columns(s, 1, &a->fixed, NULL, 0);
}

/* for the numbers of f, and for a structure of as many with other pivots, which is usually enough */
static int make_room(sparse *s, const structure *f)
{
    size_t L = (size_t)f->L[s->n] + 2 * (size_t)s->n, U = (size_t)f->U[s->n] + 2 * (size_t)s->n;
    TRY(structure_new(&s->own, s->n));
    TRY(grow(&s->own.below, &s->own.room_L, L));
    TRY(grow(&s->own.above, &s->own.room_U, U));
    TRY(grow_numbers(&s->L, &s->size_L, L, s->parts));
    return grow_numbers(&s->U, &s->size_U, U, s->parts);
}

/* after a failure, too, the caller frees self (linsol.h) */
static int sparse_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    sparse *s = *self = calloc(1, sizeof *s);
    size_t N = (size_t)n;
    if (!s) return COSTATE_LS_NO_MEMORY;
    s->n = n;
    s->parts = is_complex ? 2 : 1;
    s->pattern = pattern;
    s->x = calloc(N * (4 * (size_t)s->parts + 1), sizeof *s->x);
    s->place = malloc(5 * N * sizeof *s->place);
    if (!s->x || !s->place) return COSTATE_LS_NO_MEMORY;
    s->diagonal = s->x + 3 * (size_t)s->parts * N;
    s->scale = s->diagonal + (size_t)s->parts * N;
    s->stack = s->place + n, s->mark = s->stack + n, s->path = s->mark + n;
    if (like) {
        s->shared = ((const sparse *)like)->shared;
        s->shared->refs++;
    } else {
        TRY(analyse(s));
    }
    if (!s->shared->status) TRY(make_room(s, &s->shared->fixed));
    return LS_pivots_init(&s->check, n, pattern, is_complex);
}

static LS_pivot get_pivot(void *self, int k)
{
    sparse *s = self;
    LS_pivot p = { s->at->row[k], s->shared->order[k], s->diagonal + s->parts * k, s->scale[s->at->row[k]] };
    return p;
}

static int factor_once(void *self, const double *A, double threshold)
{
    sparse *s = self;
    s->at = &s->own;
    TRY(s->parts == 1 ? all_columns(s, 1, &s->own, A, threshold) : all_columns(s, 2, &s->own, A, threshold));
    return LS_pivots_judge(&s->check, A, s, get_pivot, sparse_solve);
}

static void scale_rows(sparse *s, const double *A)
{
    const costate_pattern *p = s->pattern;
    memset(s->scale, 0, (size_t)s->n * sizeof *s->scale);
    for (int e = 0; e < p->col[s->n]; e++) {
        double size = number_size(s->parts, A + s->parts * e);
        if (size > s->scale[p->row[e]]) s->scale[p->row[e]] = size;
    }
    for (int i = 0; i < s->n; i++) if (s->scale[i] == 0) s->scale[i] = 1;
}

static int sparse_factor(void *self, const double *A)
{
    sparse *s = self;
    if (s->shared->status) return s->shared->status;
    scale_rows(s, A);
    s->at = &s->shared->fixed;
    if (s->parts == 1) all_numbers(s, 1, s->at, A);
    else all_numbers(s, 2, s->at, A);
    if (LS_pivots_hold(&s->check, A, s, get_pivot, sparse_solve, s->x + 2 * (size_t)s->parts * (size_t)s->n))
        return COSTATE_LS_OK;
    return LS_pivots_factor(&s->check, A, s, get_pivot, factor_once);
}

static size_t sparse_bytes(const void *self)
{
    const sparse *s = self;
    if (!s->at) return 0;
    size_t entries = (size_t)s->at->L[s->n] + (size_t)s->at->U[s->n];
    return entries * ((size_t)s->parts * sizeof *s->L + sizeof *s->at->below);
}

const costate_backend LS_sparse = { "sparse", 0, sparse_init, sparse_factor, sparse_solve, sparse_bytes, sparse_free };
