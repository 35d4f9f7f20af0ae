/* ls.c - form (re + i im) M - J once for all backends, count, dispatch, distrust the result. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linsol/ls.h"

/* Where the entries of J and M go.  It depends on the pattern and on the kind of backend alone, so solvers
   that are alike share it; it also keeps alive the pattern that the backends were given. */
typedef struct {
    int refs;
    size_t entries;            /* of J and M as given */
    size_t size;               /* of the matrix formed */
    size_t *at;                /* entry k goes to at[k]; NULL: to k, and nothing else is in the matrix */
    size_t *diagonal;          /* n places */
    int *col, *row;            /* of pattern */
    costate_pattern pattern;   /* with the diagonal; unused by dense backends */
} layout;

struct LS {
    const costate_backend *backend;
    void *self;                /* the backend's */
    int n, parts;              /* doubles a number: 1, or 2 when complex */
    int factored;
    layout *lay;
    double *A;
    costate_stats *count;
};

static void layout_free(layout *lay)
{
    if (!lay || --lay->refs > 0) return;
    free(lay->at);
    free(lay->diagonal);
    free(lay->col);
    free(lay->row);
    free(lay);
}

static int layout_alloc(layout *lay, int n, size_t entries, int scattered, int sparse)
{
    lay->entries = entries;
    lay->diagonal = malloc((size_t)n * sizeof *lay->diagonal);
    if (scattered) lay->at = malloc((entries + 1) * sizeof *lay->at);  /* + 1: an empty pattern is no failure */
    if (sparse) {
        lay->col = malloc(((size_t)n + 1) * sizeof *lay->col);
        lay->row = malloc(lay->size * sizeof *lay->row);
    }
    if (!lay->diagonal || (scattered && !lay->at) || (sparse && (!lay->col || !lay->row)))
        return COSTATE_LS_NO_MEMORY;
    return COSTATE_LS_OK;
}

/* n*n by columns: for a dense backend, or as the full pattern that a sparse one gets of a dense problem. */
static int layout_full(layout *lay, int n, int sparse)
{
    size_t m = (size_t)n;
    if (sparse && m * m > INT32_MAX) return COSTATE_LS_UNSUPPORTED;   /* patterns count with int */
    lay->size = m * m;
    if (layout_alloc(lay, n, lay->size, 0, sparse)) return COSTATE_LS_NO_MEMORY;
    for (size_t j = 0; j < m; j++) lay->diagonal[j] = j * m + j;
    if (!sparse) return COSTATE_LS_OK;
    for (size_t j = 0; j <= m; j++) lay->col[j] = (int)(j * m);
    for (size_t k = 0; k < m * m; k++) lay->row[k] = (int)(k % m);
    return COSTATE_LS_OK;
}

/* A pattern's entries inside n*n by columns. */
static int layout_scatter(layout *lay, int n, const costate_pattern *p)
{
    size_t m = (size_t)n;
    lay->size = m * m;
    if (layout_alloc(lay, n, (size_t)p->col[n], 1, 0)) return COSTATE_LS_NO_MEMORY;
    for (int j = 0; j < n; j++) {
        lay->diagonal[j] = (size_t)j * m + (size_t)j;
        for (int k = p->col[j]; k < p->col[j + 1]; k++) lay->at[k] = (size_t)j * m + (size_t)p->row[k];
    }
    return COSTATE_LS_OK;
}

static int has_diagonal(const costate_pattern *p, int j)
{
    for (int k = p->col[j]; k < p->col[j + 1]; k++)
        if (p->row[k] == j) return 1;
    return 0;
}

static int missing_diagonals(const costate_pattern *p, int n)
{
    int missing = 0;
    for (int j = 0; j < n; j++) missing += !has_diagonal(p, j);
    return missing;
}

/* Column j of the union of the pattern and the diagonal, rows increasing; returns where the next one begins. */
static int union_column(layout *lay, const costate_pattern *p, int j, int next)
{
    int pending = !has_diagonal(p, j);
    for (int k = p->col[j]; k < p->col[j + 1] || pending; k++) {
        if (pending && (k == p->col[j + 1] || p->row[k] > j)) {
            lay->diagonal[j] = (size_t)next;
            lay->row[next++] = j;
            pending = 0;
            k--;                       /* entry k is still to come */
            continue;
        }
        if (p->row[k] == j) lay->diagonal[j] = (size_t)next;
        lay->at[k] = (size_t)next;
        lay->row[next++] = p->row[k];
    }
    return next;
}

static int layout_union(layout *lay, int n, const costate_pattern *p)
{
    int missing = missing_diagonals(p, n);
    int next = 0;
    if (p->col[n] > INT32_MAX - missing) return COSTATE_LS_UNSUPPORTED;
    lay->size = (size_t)p->col[n] + (size_t)missing;
    if (layout_alloc(lay, n, (size_t)p->col[n], 1, 1)) return COSTATE_LS_NO_MEMORY;
    for (int j = 0; j < n; j++) {
        lay->col[j] = next;
        next = union_column(lay, p, j, next);
    }
    lay->col[n] = next;
    if (missing == 0) {                /* then every entry stays where it is */
        free(lay->at);
        lay->at = NULL;
    }
    return COSTATE_LS_OK;
}

static int layout_new(layout **out, int n, const costate_pattern *p, int dense)
{
    layout *lay = calloc(1, sizeof *lay);
    int status;
    *out = lay;
    if (!lay) return COSTATE_LS_NO_MEMORY;
    lay->refs = 1;
    if (!p) status = layout_full(lay, n, !dense);
    else if (dense) status = layout_scatter(lay, n, p);
    else status = layout_union(lay, n, p);
    lay->pattern.n = n;
    lay->pattern.col = lay->col;
    lay->pattern.row = lay->row;
    return status;
}

static int check_arguments(const costate_backend *b, int n, const costate_pattern *p)
{
    if (!b || n <= 0 || !b->init || !b->factor || !b->solve || !b->free) return COSTATE_LS_UNSUPPORTED;
    if (p && pattern_fault(p, n)) return COSTATE_LS_UNSUPPORTED;
    if (!p || b->dense)                /* two doubles an entry must be countable in bytes */
        if ((size_t)n > SIZE_MAX / (2 * sizeof(double)) / (size_t)n) return COSTATE_LS_NO_MEMORY;
    return COSTATE_LS_OK;
}

static int fill(LS *ls, const costate_pattern *pattern, int is_complex, const LS *like)
{
    const costate_backend *b = ls->backend;
    int status;
    if (like) {
        ls->lay = like->lay;
        ls->lay->refs++;
    } else if ((status = layout_new(&ls->lay, ls->n, pattern, b->dense))) {
        return status;
    }
    ls->A = malloc(ls->lay->size * (size_t)ls->parts * sizeof *ls->A);
    if (!ls->A) return COSTATE_LS_NO_MEMORY;
    status = b->init(&ls->self, ls->n, b->dense ? NULL : &ls->lay->pattern, is_complex, like ? like->self : NULL);
    return status > 0 ? COSTATE_LS_FAILED : status;
}

LS *LS_Init(const costate_backend *backend, int n, const costate_pattern *pattern, int is_complex, const LS *like,
            costate_stats *count, int *status)
{
    LS *ls;
    if ((*status = check_arguments(backend, n, pattern))) return NULL;
    ls = calloc(1, sizeof *ls);
    if (!ls) {
        *status = COSTATE_LS_NO_MEMORY;
        return NULL;
    }
    ls->backend = backend;
    ls->n = n;
    ls->parts = is_complex ? 2 : 1;
    ls->count = count;
    if (like && (like->backend != backend || like->n != n || like->parts != ls->parts)) like = NULL;
    if ((*status = fill(ls, pattern, !!is_complex, like))) {
        LS_Free(ls);
        return NULL;
    }
    return ls;
}

void LS_Free(LS *ls)
{
    if (!ls) return;
    if (ls->self) ls->backend->free(ls->self);
    layout_free(ls->lay);
    free(ls->A);
    free(ls);
}

static int all_finite(const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k])) return 0;
    return 1;
}

static void form_real(const LS *ls, double re, const double *J, const double *M)
{
    const layout *lay = ls->lay;
    for (size_t k = 0; k < lay->entries; k++) {
        size_t to = lay->at ? lay->at[k] : k;
        ls->A[to] = (M ? re * M[k] : 0.0) - (J ? J[k] : 0.0);
    }
    if (!M)
        for (int j = 0; j < ls->n; j++) ls->A[lay->diagonal[j]] += re;
}

static void form_complex(const LS *ls, double re, double im, const double *J, const double *M)
{
    const layout *lay = ls->lay;
    for (size_t k = 0; k < lay->entries; k++) {
        double *a = ls->A + 2 * (lay->at ? lay->at[k] : k);
        a[0] = (M ? re * M[k] : 0.0) - (J ? J[k] : 0.0);
        a[1] = M ? im * M[k] : 0.0;
    }
    if (M) return;
    for (int j = 0; j < ls->n; j++) {
        double *a = ls->A + 2 * lay->diagonal[j];
        a[0] += re;
        a[1] += im;
    }
}

int LS_Decomp(LS *ls, double re, double im, const double *J, const double *M)
{
    size_t size = ls->lay->size * (size_t)ls->parts;
    int status;
    ls->factored = 0;
    if (ls->parts == 1 && im != 0.0) return COSTATE_LS_UNSUPPORTED;
    if (ls->lay->at) memset(ls->A, 0, size * sizeof *ls->A);  /* places that no entry is written to */
    if (ls->parts == 1) form_real(ls, re, J, M);
    else form_complex(ls, re, im, J, M);
    if (!all_finite(ls->A, size)) return COSTATE_LS_SINGULAR;     /* backends need not survive NaN */
    if (ls->count) {
        if (ls->parts == 1) ls->count->decompositions++;
        else ls->count->complex_decompositions++;
    }
    status = ls->backend->factor(ls->self, ls->A);
    ls->factored = status == COSTATE_LS_OK;
    return status > 0 ? COSTATE_LS_SINGULAR : status;
}

int LS_Solve(LS *ls, int transpose, int nrhs, double *X)
{
    int status;
    if (nrhs <= 0) return COSTATE_LS_OK;
    if (!ls->factored) return COSTATE_LS_FAILED;
    if (ls->count) {
        if (ls->parts == 1) ls->count->solves += nrhs;
        else ls->count->complex_solves += nrhs;
    }
    status = ls->backend->solve(ls->self, !!transpose, nrhs, X);
    if (status) return status > 0 ? COSTATE_LS_SINGULAR : status;
    return all_finite(X, (size_t)ls->n * (size_t)nrhs * (size_t)ls->parts) ? COSTATE_LS_OK : COSTATE_LS_SINGULAR;
}

static double modulus(const LS *ls, size_t k)
{
    return ls->parts == 1 ? fabs(ls->A[k]) : fabs(ls->A[2 * k]) + fabs(ls->A[2 * k + 1]);
}

static void add_moduli_dense(int n, const double *A, int transpose, const double *x, double *out)
{
    for (int j = 0; j < n; j++, A += n) {
        double sum = 0, xj = fabs(x[j]);
        if (transpose) for (int i = 0; i < n; i++) sum += fabs(A[i]) * fabs(x[i]);
        else for (int i = 0; i < n; i++) out[i] += fabs(A[i]) * xj;
        out[j] += sum;
    }
}

void LS_AddModuli(const LS *ls, int transpose, const double *x, double *out)
{
    const layout *lay = ls->lay;
    int n = ls->n;
    if (!lay->col && ls->parts == 1) { add_moduli_dense(n, ls->A, transpose, x, out); return; }
    for (int j = 0; j < n; j++) {
        size_t first = (size_t)j * (size_t)n, from = lay->col ? (size_t)lay->col[j] : first,
               to = lay->col ? (size_t)lay->col[j + 1] : first + (size_t)n;
        double sum = 0, xj = fabs(x[j]);
        for (size_t k = from; k < to; k++) {
            size_t i = lay->row ? (size_t)lay->row[k] : k - from;
            if (transpose) sum += modulus(ls, k) * fabs(x[i]);
            else out[i] += modulus(ls, k) * xj;
        }
        out[j] += sum;
    }
}

size_t LS_Bytes(const LS *ls)
{
    return ls->factored && ls->backend->bytes ? ls->backend->bytes(ls->self) : 0;
}
