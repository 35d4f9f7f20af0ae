/* coupled.c (firk) - the exact matrix of coupled stages, factored: block*n rows, block (i, j) =
   (1/h) W_ij M(i) - delta_ij J(i), assembled with its pattern (mathematics, eq. 5.6). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "firk/firk.h"

/* Pattern of the coupled matrix.  cols, rows: the pattern of J with the diagonal; from: where an entry lies in J and M
   (-1: only the diagonal of the identity). */
typedef struct {
    int sparse;
    int *cols, *rows, *from;
    costate_pattern pattern;
    int *col, *row;
    double *value;
    iterated *by_iteration;          /* NULL: always factored */
} coupled_matrix;

void firk_free(void *own)
{
    coupled_matrix *k = own;
    if (!k) return;
    free(k->cols);
    free(k->rows);
    free(k->from);
    free(k->col);
    free(k->row);
    free(k->value);
    iterated_free(k->by_iteration);
    free(k);
}

static void add_diagonal(const costate_pattern *a, coupled_matrix *k)
{
    int used = 0;
    for (int j = 0; j < a->n; j++) {
        int seen = 0;
        k->cols[j] = used;
        for (int e = a->col[j]; e <= a->col[j + 1]; e++) {
            int row = e < a->col[j + 1] ? a->row[e] : a->n;
            if (!seen && row >= j) {
                seen = 1;
                if (row > j) { k->rows[used] = j; k->from[used++] = -1; }
            }
            if (row < a->n) { k->rows[used] = row; k->from[used++] = e; }
        }
    }
    k->cols[a->n] = used;
}

/* Block (i, j) holds all of the pattern if i = j or M is a matrix, else only the diagonal. */
static int full(const stepper *c, int i, int j) { return i == j || !equation_plain(c->maps); }

static void assemble_pattern(const stepper *c, coupled_matrix *k)
{
    int n = c->n, b = c->m->block, used = 0;
    for (int j = 0; j < b * n; j++) {
        k->col[j] = used;
        for (int i = 0; i < b; i++)
            for (int e = k->cols[j % n]; e < k->cols[j % n + 1]; e++)
                if (full(c, i, j / n) || k->rows[e] == j % n) k->row[used++] = i * n + k->rows[e];
    }
    k->col[b * n] = used;
    k->pattern = (costate_pattern){b * n, k->col, k->row};
}

static int make_sparse(stepper *c, coupled_matrix *k)
{
    size_t b = (size_t)c->m->block, n = (size_t)c->n, most = c->maps->entries + n;
    k->sparse = 1;
    k->cols = malloc((n + 1) * sizeof *k->cols);
    k->rows = malloc(most * sizeof *k->rows);
    k->from = malloc(most * sizeof *k->from);
    k->col = malloc((b * n + 1) * sizeof *k->col);
    k->row = malloc(b * b * most * sizeof *k->row);
    k->value = malloc(b * b * most * sizeof *k->value);
    if (!k->cols || !k->rows || !k->from || !k->col || !k->row || !k->value) return 0;
    add_diagonal(c->maps->pattern, k);
    assemble_pattern(c, k);
    return 1;
}

int coupled_fits(verdict *v, size_t block, size_t n, size_t entries)
{
    size_t all = block * n, most = block * block * entries;
    if (all <= INT_MAX && most <= INT_MAX) return 0;
    return fail(v, COSTATE_BACKEND, "The coupled stage matrix has %zu rows and up to %zu entries, more than 2^31 - 1, "
                "which solvers can count: set options.stage_solve = COSTATE_STAGE_ITERATIVE.", all, most);
}

static int coupled_make(stepper *c)
{
    irk_work *a = c->own;
    size_t block = (size_t)c->m->block, bn = block * (size_t)c->n;
    TRY(coupled_fits(c->v, block, (size_t)c->n, c->maps->pattern ? c->maps->entries + (size_t)c->n : 0));
    firk_free(a->algebra);                        /* of a call that found no memory for the rest */
    coupled_matrix *k = a->algebra = calloc(1, sizeof *k);
    int made = k && (c->maps->pattern ? make_sparse(c, k) : (k->value = malloc(bn * bn * sizeof *k->value)) != NULL);
    if (made && iterated_suits(c)) made = (k->by_iteration = iterated_new(c)) != NULL;
    return made ? 0 : fail(c->v, COSTATE_NO_MEMORY, "No memory for the coupled stage matrix (%zu rows).", bn);
}

static double mass(const stepper *c, int from, int diagonal)
{
    if (!work(c)->M) return diagonal;
    return from < 0 ? 0 : work(c)->M[from];
}

/* where block (i, j) begins in its column q */
static size_t place_of(const stepper *c, const coupled_matrix *k, int i, int j, int q)
{
    size_t n = (size_t)c->n, b = (size_t)c->m->block, at = (size_t)j * n + (size_t)q;
    if (!k->sparse) return at * b * n + (size_t)i * n;
    int whole = k->cols[q + 1] - k->cols[q], before = 0;
    for (int l = 0; l < i; l++) before += full(c, l, j) ? whole : 1;
    return (size_t)(k->col[at] + before);
}

/* minus column q of block (i, j); J, M: those of stage i */
static void column(stepper *c, double h, int i, int j, int q, const double *J)
{
    coupled_matrix *k = work(c)->algebra;
    int n = c->n;
    double w = c->m->W[i * c->s + j] / h, *to = k->value + place_of(c, k, i, j, q);
    if (!k->sparse && !work(c)->M) {
        for (int l = 0; l < n; l++) to[l] = i == j ? J[q * n + l] : 0;
        to[q] -= w;
    } else if (!k->sparse)
        for (int l = 0; l < n; l++) *to++ = (i == j ? J[q * n + l] : 0) - w * mass(c, q * n + l, l == q);
    else
        for (int e = k->cols[q]; e < k->cols[q + 1]; e++)
            if (full(c, i, j) || k->rows[e] == q) {
                int from = k->from[e];
                *to++ = (i == j && from >= 0 ? J[from] : 0) - w * mass(c, from, k->rows[e] == q);
            }
}

/* The coupled matrix of a band is no band: as one it would be full.  A solver that was asked for is used. */
static const costate_backend *backend_for(const stepper *c, const costate_pattern *pattern)
{
    int chosen = c->o->solver == COSTATE_LS_AUTO && !c->o->backend;
    return chosen && c->sh->banded ? LS_Choose(COSTATE_LS_AUTO, pattern->n, pattern) : c->sh->backend;
}

static int prepare(const stage_system *s)
{
    stepper *c = s->c;
    irk_work *a = c->own;
    int code = 0;
    if (a->systems.exact) return 0;
    TRY(coupled_make(c));
    const coupled_matrix *k = a->algebra;
    const costate_pattern *pattern = k->sparse ? &k->pattern : NULL;
    const costate_backend *backend = backend_for(c, pattern);
    a->systems.exact = LS_Init(backend, c->n * c->m->block, pattern, 0, NULL, c->maps->count, &code);
    if (a->systems.exact && c->maps->index) code = LS_Balance(a->systems.exact);
    if (code) {
        LS_Free(a->systems.exact);
        a->systems.exact = NULL;
    }
    return code ? irk_exact_status(s, code) : 0;
}

static int factor(const stage_system *s)
{
    stepper *c = s->c;
    irk_work *a = c->own;
    const coupled_matrix *k = a->algebra;
    for (int i = 0; i < c->m->block; i++) {
        costate_point x = irk_stage_point(c, s->r, i);
        TRY(jacobian(c->maps, &x, c->w, a->J, a->M));
        for (int j = 0; j < c->m->block; j++)
            for (int q = 0; q < c->n; q++) column(c, s->r->h, i, j, q, a->J);
    }
    a->systems.iterates = 0;
    return irk_exact_status(s, LS_Decomp(a->systems.exact, 0, 0, k->value, NULL));
}

int firk_exact_factor(const stage_system *s)
{
    TRY(prepare(s));
    irk_work *a = work(s->c);
    const coupled_matrix *k = a->algebra;
    int status = RETRY;
    if (k->by_iteration && !iterated_skips(k->by_iteration)) status = iterated_factor(s, k->by_iteration);
    a->systems.iterates = status == 0;
    return status == RETRY ? factor(s) : status;
}

int firk_exact_instead(const stage_system *s, int *changed)
{
    const coupled_matrix *k = work(s->c)->algebra;
    *changed = work(s->c)->systems.iterates;
    if (!*changed) return 0;
    iterated_fails(k->by_iteration);
    return factor(s);
}

/* of refinement */
int firk_exact_column(const stage_system *s, double *x)
{
    const coupled_matrix *k = work(s->c)->algebra;
    return work(s->c)->systems.iterates ? iterated_again(s, k->by_iteration, x) : irk_exact_columns(s, 1, x);
}

static int solve_column(const stage_system *s, double *x)
{
    const coupled_matrix *k = work(s->c)->algebra;
    int done = 0, changed;
    if (work(s->c)->systems.iterates) TRY(iterated_solve(s, k->by_iteration, x, &done));
    if (done) return 0;
    TRY(firk_exact_instead(s, &changed));
    return irk_exact_columns(s, 1, x);
}

int firk_exact_solve(const stage_system *s, int m, int from, int to, double *X)
{
    double *x = work(s->c)->systems.column;
    for (int j = from; j < to; j++) {
        irk_gather(s, m, j, X, x);
        TRY(solve_column(s, x));
        irk_scatter(s, m, j, x, X);
    }
    return 0;
}

void firk_exact_moduli(const stage_system *s, const double *x, double *size)
{
    const coupled_matrix *k = work(s->c)->algebra;
    if (work(s->c)->systems.iterates) iterated_moduli(s, k->by_iteration, x, size);
    else LS_AddModuli(work(s->c)->systems.exact, s->transpose, x, size);
}

void firk_restart(void *own)
{
    const coupled_matrix *k = own;
    iterated_restart(k->by_iteration);
}
