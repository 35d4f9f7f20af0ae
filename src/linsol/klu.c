/* klu.c - the backend "klu": LU by columns after block triangular form, the fastest on circuits and kinetics. */
#include <stdlib.h>
#include <string.h>
#include <klu.h>

#include "base/arena.h"
#include "base/verdict.h"
#include "linsol/backends.h"

/* A factorisation must depend only on A: a replay from the middle of a run could not reproduce digits that depend on
   earlier matrices.  So the pivots of the last matrix are not used again.  Pivots are chosen once for the pattern, from
   a matrix with ones where klu_analyze has matched rows and columns, and zeros elsewhere.  With these pivots
   klu_refactor takes half the time of klu_factor on patterns with little fill-in, because the structure of L and U is
   known.  It is checked for every matrix whether they are good enough; if not, it is factored with pivots of its own.
   */

typedef struct {             /* shared by the solvers of one pattern and arithmetic; written by the first one's init */
    int refs, is_complex;
    klu_symbolic *symbolic;
    klu_numeric *chosen;     /* the factor of ones and zeros; NULL: it is singular for any pivots */
} klu_analysis;

typedef struct {
    int n, is_complex;
    const costate_pattern *pattern;
    klu_analysis *shared;
    klu_numeric *factor;     /* the last one: &fixed or own */
    klu_numeric fixed;       /* like chosen, except for what depends on A, which is in block */
    klu_numeric *own;
    double *block, *room;
    size_t size;             /* doubles in block */
    klu_common common;
    size_t before;           /* bytes held before the factor */
    LS_pivots check;
} klu;

/* ---- the real and the complex routines under one name (KLU takes no const, and changes nothing) ------- */

static klu_numeric *numeric(klu *s, const double *A)
{
    int *col = (int *)s->pattern->col, *row = (int *)s->pattern->row;
    return (s->is_complex ? klu_z_factor : klu_factor)(col, row, (double *)A, s->shared->symbolic, &s->common);
}

static int refactor(klu *s, const double *A)
{
    int *col = (int *)s->pattern->col, *row = (int *)s->pattern->row;
    return (s->is_complex ? klu_z_refactor : klu_refactor)(col, row, (double *)A, s->shared->symbolic, &s->fixed,
                                                           &s->common);
}

static void free_numeric(int is_complex, klu_numeric **f, klu_common *common)
{
    if (*f) (is_complex ? klu_z_free_numeric : klu_free_numeric)(f, common);
}

static void free_analysis(klu_analysis *a, klu_common *common)
{
    if (!a || --a->refs > 0) return;
    free_numeric(a->is_complex, &a->chosen, common);
    klu_free_symbolic(&a->symbolic, common);
    free(a);
}

static int ls_klu_solve(klu *s, int transpose, int nrhs, double *X)
{
    klu_symbolic *y = s->shared->symbolic;
    if (!transpose) return (s->is_complex ? klu_z_solve : klu_solve)(y, s->factor, s->n, nrhs, X, &s->common);
    if (s->is_complex) return klu_z_tsolve(y, s->factor, s->n, nrhs, X, 0, &s->common);  /* 0: not conjugated */
    return klu_tsolve(y, s->factor, s->n, nrhs, X, &s->common);
}

/* ---- pivots of the pattern --------------------------------------------------------------------------- */

/* the code of a routine without a result, whatever its own status is */
static int failure(const klu *s)
{
    switch (s->common.status) {
    case KLU_SINGULAR: return COSTATE_LS_SINGULAR;
    case KLU_OUT_OF_MEMORY: return COSTATE_LS_NO_MEMORY;
    case KLU_TOO_LARGE: return COSTATE_LS_UNSUPPORTED;
    default: return COSTATE_LS_FAILED;
    }
}

/* match: room for n; A: the pattern's entries, zero */
static int choose(klu *s, int *match, double *A)
{
    const costate_pattern *p = s->pattern;
    const klu_symbolic *y = s->shared->symbolic;
    for (int k = 0; k < s->n; k++) match[y->Q[k]] = y->P[k];
    for (int j = 0; j < s->n; j++)
        for (int e = p->col[j]; e < p->col[j + 1]; e++) A[s->is_complex ? 2 * e : e] = p->row[e] == match[j];
    s->shared->chosen = numeric(s, A);
    return s->shared->chosen || s->common.status == KLU_SINGULAR ? COSTATE_LS_OK : failure(s);
}

static int choose_pivots(klu *s)
{
    int *match = malloc((size_t)s->n * sizeof *match);
    double *A = calloc((size_t)s->pattern->col[s->n] + 1, (s->is_complex ? 2 : 1) * sizeof *A);
    int status = match && A ? choose(s, match, A) : COSTATE_LS_NO_MEMORY;
    free(match);
    free(A);
    return status;
}

static int analyse(klu *s)
{
    s->shared = calloc(1, sizeof *s->shared);
    if (!s->shared) return COSTATE_LS_NO_MEMORY;
    s->shared->refs = 1;
    s->shared->is_complex = s->is_complex;
    s->shared->symbolic = klu_analyze(s->n, (int *)s->pattern->col, (int *)s->pattern->row, &s->common);
    return s->shared->symbolic ? choose_pivots(s) : failure(s);
}

/* The memory to which klu_refactor and klu_solve write belongs to s; the structure is the shared one.  KLU stores
   indices between the numbers of L and U, so these are copied.  A block of one row has no L and U, and no LUsize. */
static void lay_out(klu *s, cursor *at)
{
    const klu_numeric *f = s->shared->chosen;
    size_t parts = s->is_complex ? 2 : 1, n = (size_t)s->n;
    void **LU = (void **)take(at, (size_t)f->nblocks);
    for (int b = 0; b < f->nblocks; b++) {
        if (!f->LUbx[b]) continue;
        double *x = take(at, parts * f->LUsize[b]);
        if (at->base) LU[b] = memcpy(x, f->LUbx[b], parts * f->LUsize[b] * sizeof *x);
    }
    s->fixed.LUbx = LU;
    s->fixed.Udiag = take(at, parts * n);
    s->fixed.Offx = take(at, parts * ((size_t)f->nzoff + 1));
    s->fixed.Rs = take(at, n);
    s->fixed.Work = s->fixed.Xwork = take(at, f->worksize / sizeof(double) + 1);
    s->fixed.Iwork = NULL;             /* klu_factor's */
    s->room = take(at, parts * n);
}

static int copy_chosen(klu *s)
{
    cursor at = { NULL, 0 };
    if (!s->shared->chosen) return COSTATE_LS_OK;
    s->fixed = *s->shared->chosen;
    lay_out(s, &at);
    s->size = at.used;
    at = (cursor){ malloc(s->size * sizeof *s->block), 0 };
    if (!(s->block = at.base)) return COSTATE_LS_NO_MEMORY;
    lay_out(s, &at);
    return COSTATE_LS_OK;
}

/* ---- the backend ------------------------------------------------------------------------------------- */

static void klu_self_free(void *self)
{
    klu *s = self;
    if (!s) return;
    free_numeric(s->is_complex, &s->own, &s->common);
    free_analysis(s->shared, &s->common);
    LS_pivots_free(&s->check);
    free(s->block);
    free(s);
}

/* after a failure, too, the caller frees self (linsol.h) */
static int klu_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    klu *s = *self = calloc(1, sizeof *s);
    if (!s) return COSTATE_LS_NO_MEMORY;
    s->n = n;
    s->is_complex = is_complex;
    s->pattern = pattern;
    klu_defaults(&s->common);
    if (like) {
        s->shared = ((const klu *)like)->shared;
        s->shared->refs++;
    } else {
        TRY(analyse(s));
    }
    TRY(copy_chosen(s));
    return LS_pivots_init(&s->check, n, pattern, is_complex);
}

static int klu_self_solve(void *self, int transpose, int nrhs, double *X)
{
    klu *s = self;
    return ls_klu_solve(s, transpose, nrhs, X) ? COSTATE_LS_OK : failure(s);
}

static LS_pivot get_pivot(void *self, int k)
{
    klu *s = self;                      /* KLU factors A with its rows divided by Rs, in the order of the pivots */
    const klu_numeric *f = s->factor;
    LS_pivot p = { f->Pnum[k], s->shared->symbolic->Q[k], (double *)f->Udiag + (s->is_complex ? 2 * k : k),
                   f->Rs ? f->Rs[k] : 1.0 };
    return p;
}

/* 1: the pivots of the pattern are good enough for A */
static int factor_fixed(klu *s, const double *A)
{
    s->factor = &s->fixed;
    return s->block && refactor(s, A) && s->common.status == KLU_OK &&
           LS_pivots_hold(&s->check, A, s, get_pivot, klu_self_solve, s->room);
}

static int factor_once(void *self, const double *A, double threshold)
{
    klu *s = self;
    free_numeric(s->is_complex, &s->own, &s->common);
    s->common.tol = threshold;
    s->before = s->common.memusage;
    s->factor = s->own = numeric(s, A);
    if (!s->own || s->common.status != KLU_OK) return failure(s);
    return LS_pivots_judge(&s->check, A, s, get_pivot, klu_self_solve);
}

static int klu_self_factor(void *self, const double *A)
{
    klu *s = self;
    free_numeric(s->is_complex, &s->own, &s->common);
    if (factor_fixed(s, A)) return COSTATE_LS_OK;
    return LS_pivots_factor(&s->check, A, s, get_pivot, factor_once);
}

static size_t klu_bytes(const void *self)
{
    const klu *s = self;
    return s->size * sizeof *s->block + (s->own ? s->common.memusage - s->before : 0);
}

const costate_backend LS_klu = { "klu", 0, klu_init, klu_self_factor, klu_self_solve, klu_bytes, klu_self_free };
