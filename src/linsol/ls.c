/* ls.c - form (re + i im) M - J once for all backends, count, dispatch, distrust the result. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/verdict.h"
#include "linsol/layout.h"
#include "linsol/ls.h"

struct LS {
    const costate_backend *backend;
    void *self;                /* the backend's */
    int n, parts;              /* doubles a number: 1, or 2 when complex */
    int factored;
    layout *lay;
    double *A;
    costate_stats *count;
};

/* a code, or COSTATE_LS_OK: the backend may be asked */
static int refusal(const costate_backend *b, int n, const costate_pattern *p)
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
    if (like) {
        ls->lay = like->lay;
        ls->lay->refs++;
    } else {
        TRY(layout_new(&ls->lay, ls->n, pattern, b->dense));
    }
    ls->A = malloc(ls->lay->size * (size_t)ls->parts * sizeof *ls->A);
    if (!ls->A) return COSTATE_LS_NO_MEMORY;
    int status = b->init(&ls->self, ls->n, b->dense ? NULL : &ls->lay->pattern, is_complex, like ? like->self : NULL);
    return status > 0 ? COSTATE_LS_FAILED : status;
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

int LS_Decomp(LS *ls, double re, double im, const double *J, const double *M)
{
    size_t size = ls->lay->size * (size_t)ls->parts;
    int status;
    ls->factored = 0;
    if (ls->parts == 1 && im != 0.0) return COSTATE_LS_UNSUPPORTED;
    if (ls->lay->at) memset(ls->A, 0, size * sizeof *ls->A);  /* places that no entry is written to */
    if (ls->parts == 1) form_real(ls, re, J, M);
    else form_complex(ls, re, im, J, M);
    if (!all_finite(size, ls->A)) return COSTATE_LS_SINGULAR;     /* backends need not survive NaN */
    if (ls->count) {
        if (ls->parts == 1) ls->count->decompositions++;
        else ls->count->complex_decompositions++;
    }
    status = ls->backend->factor(ls->self, ls->A);
    ls->factored = status == COSTATE_LS_OK;
    return code_of(status);
}

int LS_Solve(LS *ls, int transpose, int nrhs, double *X)
{
    if (nrhs <= 0) return COSTATE_LS_OK;
    if (!ls->factored) return COSTATE_LS_FAILED;
    if (ls->count) {
        if (ls->parts == 1) ls->count->solves += nrhs;
        else ls->count->complex_solves += nrhs;
    }
    TRY(code_of(ls->backend->solve(ls->self, !!transpose, nrhs, X)));
    return all_finite((size_t)ls->n * (size_t)nrhs * (size_t)ls->parts, X) ? COSTATE_LS_OK : COSTATE_LS_SINGULAR;
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
