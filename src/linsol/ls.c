/* ls.c - forms (re + i im) M - J for all backends, calls the backend, counts, and checks that results are finite. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/verdict.h"
#include "linsol/backends.h"
#include "linsol/layout.h"
#include "linsol/ls.h"

struct LS {
    LS_front front;
    const costate_backend *backend;
    void *self;                /* the backend's */
    int n, parts;              /* doubles a number: 1, or 2 when complex */
    int factored;
    const LS_few_factors *few; /* of the backend; NULL: the matrix is large, or the backend is another one */
    layout *lay;
    double *A;
    enum unscaled balance;     /* which matrices are scaled */
    int scaled;                /* A is rows (sigma M - J) columns */
    double *rows, *columns;    /* n each, powers of two; NULL: no matrix is scaled */
    costate_stats *count;      /* NULL: */
    long uncounted;            /* takes the number of solutions */
};

/* an error code, or COSTATE_LS_OK if the backend can be called */
static int refusal(const costate_backend *b, int n, const costate_pattern *p)
{
    if (!b || n <= 0 || !b->init || !b->factor || !b->solve || !b->free) return COSTATE_LS_UNSUPPORTED;
    if (p && pattern_fault(p, n)) return COSTATE_LS_UNSUPPORTED;
    if (!p || b->dense)                /* the bytes of two doubles per entry must not overflow */
        if ((size_t)n > SIZE_MAX / (2 * sizeof(double)) / (size_t)n) return COSTATE_LS_NO_MEMORY;
    return COSTATE_LS_OK;
}

static int fill(LS *ls, const costate_pattern *pattern, int is_complex, const LS *like)
{
    const costate_backend *b = ls->backend;
    if (like) {
        ls->lay = like->lay;
        ls->lay->refs++;
    } else {
        TRY(layout_new(&ls->lay, ls->n, pattern, b->dense));
    }
    ls->A = malloc(ls->lay->size * (size_t)ls->parts * sizeof *ls->A);
    if (!ls->A) return COSTATE_LS_NO_MEMORY;
    void *self = (void *)(uintptr_t)b;
    int status = b->init(&self, ls->n, b->dense ? NULL : &ls->lay->pattern, is_complex, like ? like->self : NULL);
    ls->self = self == b ? NULL : self;
    if (ls->self && b == &LS_dense) ls->few = LS_few_of(ls->self);
    return status > 0 ? COSTATE_LS_FAILED : status;
}

static int prepare_balance(LS *ls, enum unscaled which)
{
    if (which > ls->balance) ls->balance = which;
    if (ls->rows || ls->balance == NEVER_UNSCALED) return COSTATE_LS_OK;
    if (!(ls->rows = malloc(2 * (size_t)ls->n * sizeof *ls->rows))) return COSTATE_LS_NO_MEMORY;
    ls->columns = ls->rows + ls->n;
    return COSTATE_LS_OK;
}

LS *LS_Init(const costate_backend *backend, int n, const costate_pattern *pattern, int is_complex, const LS *like,
            costate_stats *count, int *status)
{
    LS *ls;
    if ((*status = refusal(backend, n, pattern))) return NULL;
    ls = calloc(1, sizeof *ls);
    if (!ls) {
        *status = COSTATE_LS_NO_MEMORY;
        return NULL;
    }
    ls->backend = backend;
    ls->n = n;
    ls->parts = is_complex ? 2 : 1;
    ls->count = count;
    ls->front.solves = !count ? &ls->uncounted : is_complex ? &count->complex_solves : &count->solves;
    if (like && (like->backend != backend || like->n != n || like->parts != ls->parts)) like = NULL;
    *status = fill(ls, pattern, !!is_complex, like);
    if (*status == COSTATE_LS_OK) *status = prepare_balance(ls, LS_Unscaled(backend));
    if (*status) {
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
    free(ls->rows);
    free(ls->A);
    free(ls);
}

int LS_Balance(LS *ls) { return prepare_balance(ls, ALWAYS_UNSCALED); }

static double modulus(const LS *ls, size_t k)
{
    return ls->parts == 1 ? fabs(ls->A[k]) : fabs(ls->A[2 * k]) + fabs(ls->A[2 * k + 1]);
}

/* entries of column j: at from .. to - 1, in these rows (NULL: all) */
typedef struct { size_t from, to; const int *row; } column;

static column column_of(const LS *ls, int j)
{
    const layout *lay = ls->lay;
    size_t n = (size_t)ls->n, first = (size_t)j * n;
    if (!lay->col) return (column){first, first + n, NULL};
    return (column){(size_t)lay->col[j], (size_t)lay->col[j + 1], lay->row};
}

static size_t row_of(const column *c, size_t k) { return c->row ? (size_t)c->row[k] : k - c->from; }

/* the power of two that brings x to [1/2, 1); 1 for zero */
static double to_one(double x)
{
    int e;
    if (x == 0) return 1;
    frexp(x, &e);
    return ldexp(1, -e);
}

/* Rows, then columns, are scaled so that their largest entries are about one.  Without this, sigma M - J of a problem
   of index 2 has a condition number of h^-2 (mathematics, section 11.2).  Powers of two: no entry is rounded. */
static void balance(LS *ls)
{
    double *r = ls->rows, *c = ls->columns;
    for (int i = 0; i < ls->n; i++) r[i] = 0;
    for (int j = 0; j < ls->n; j++) {
        column a = column_of(ls, j);
        for (size_t k = a.from; k < a.to; k++) r[row_of(&a, k)] = fmax(r[row_of(&a, k)], modulus(ls, k));
    }
    for (int i = 0; i < ls->n; i++) r[i] = to_one(r[i]);
    for (int j = 0; j < ls->n; j++) {
        column a = column_of(ls, j);
        double most = 0;
        for (size_t k = a.from; k < a.to; k++) most = fmax(most, r[row_of(&a, k)] * modulus(ls, k));
        c[j] = to_one(most);
        for (size_t k = a.from; k < a.to; k++)
            for (int part = 0; part < ls->parts; part++)
                ls->A[(size_t)ls->parts * k + (size_t)part] *= r[row_of(&a, k)] * c[j];
    }
}

static void form_real(const LS *ls, double re, const double *J, const double *M)
{
    const layout *lay = ls->lay;
    double *A = ls->A;
    size_t entries = lay->entries;
    if (!lay->at && !M && J) for (size_t k = 0; k < entries; k++) A[k] = 0.0 - J[k];      /* most matrices */
    else for (size_t k = 0; k < entries; k++) {
        size_t to = lay->at ? lay->at[k] : k;
        A[to] = (M ? re * M[k] : 0.0) - (J ? J[k] : 0.0);
    }
    if (!M)
        for (int j = 0; j < ls->n; j++) A[lay->diagonal[j]] += re;
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

/* a backend may call a singular matrix by any number > 0 */
static int code_of(int status) { return status > 0 ? COSTATE_LS_SINGULAR : status; }

static void count_decomposition(const LS *ls)
{
    if (!ls->count) return;
    if (ls->parts == 1) ls->count->decompositions++;
    else ls->count->complex_decompositions++;
}

static int factor(LS *ls)
{
    int status = ls->backend->factor(ls->self, ls->A);
    ls->factored = status == COSTATE_LS_OK;
    if (ls->factored && !ls->scaled) ls->front.few = ls->few;
    return code_of(status);
}

/* Most matrices of few rows, in one call, because all that is around the arithmetic costs more than it. */
static int decompose_few(LS *ls, double re, double im, const double *J)
{
    int is = ls->few->by->decompose(ls->n, ls->few, re, im, J, ls->A);
    if (is == FEW_NOT_FINITE) return COSTATE_LS_SINGULAR;
    count_decomposition(ls);
    ls->scaled = 0;
    if (is == FEW_DOUBTFUL) return factor(ls);
    ls->factored = 1;
    ls->front.few = ls->few;
    return COSTATE_LS_OK;
}

int LS_Decomp(LS *ls, double re, double im, const double *J, const double *M)
{
    size_t size = ls->lay->size * (size_t)ls->parts;
    ls->factored = 0;
    ls->front.few = NULL;
    if (ls->parts == 1 && im != 0.0) return COSTATE_LS_UNSUPPORTED;
    if (ls->few && !ls->lay->at && J && !M && ls->balance != ALWAYS_UNSCALED) return decompose_few(ls, re, im, J);
    if (ls->lay->at) memset(ls->A, 0, size * sizeof *ls->A);  /* places that no entry is written to */
    if (ls->parts == 1) form_real(ls, re, J, M);
    else form_complex(ls, re, im, J, M);
    if (!all_finite(size, ls->A)) return COSTATE_LS_SINGULAR;     /* backends need not survive NaN */
    ls->scaled = ls->balance == ALWAYS_UNSCALED || (ls->balance == UNSCALED_WITH_MASS && M);
    if (ls->scaled) balance(ls);
    count_decomposition(ls);
    return factor(ls);
}

/* nrhs columns of n numbers times s */
static void scale(const LS *ls, const double *s, int nrhs, double *X)
{
    for (int j = 0; j < nrhs; j++)
        for (int i = 0; i < ls->n; i++)
            for (int part = 0; part < ls->parts; part++) *X++ *= s[i];
}

int LS_solve_by_backend(LS *ls, int transpose, int nrhs, double *X)
{
    if (nrhs <= 0) return COSTATE_LS_OK;
    if (!ls->factored) return COSTATE_LS_FAILED;
    if (ls->count) {
        if (ls->parts == 1) ls->count->solves += nrhs;
        else ls->count->complex_solves += nrhs;
    }
    if (ls->scaled) scale(ls, transpose ? ls->columns : ls->rows, nrhs, X);
    TRY(code_of(ls->backend->solve(ls->self, !!transpose, nrhs, X)));
    if (ls->scaled) scale(ls, transpose ? ls->rows : ls->columns, nrhs, X);
    return all_finite((size_t)ls->n * (size_t)nrhs * (size_t)ls->parts, X) ? COSTATE_LS_OK : COSTATE_LS_SINGULAR;
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
    if (!ls->lay->col && ls->parts == 1 && !ls->scaled) { add_moduli_dense(ls->n, ls->A, transpose, x, out); return; }
    for (int j = 0; j < ls->n; j++) {
        column a = column_of(ls, j);
        double sum = 0, xj = fabs(x[j]), c = ls->scaled ? ls->columns[j] : 1;
        for (size_t k = a.from; k < a.to; k++) {
            size_t i = row_of(&a, k);
            double size = ls->scaled ? modulus(ls, k) / (ls->rows[i] * c) : modulus(ls, k);
            if (transpose) sum += size * fabs(x[i]);
            else out[i] += size * xj;
        }
        out[j] += sum;
    }
}

size_t LS_Bytes(const LS *ls)
{
    return ls->factored && ls->backend->bytes ? ls->backend->bytes(ls->self) : 0;
}
