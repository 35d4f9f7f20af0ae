/* klu.c - the backend "klu": LU by columns after block triangular form, the best on circuits and kinetics. */
#include <stdlib.h>
#include <klu.h>

#include "base/verdict.h"
#include "linsol/backends.h"

typedef struct {             /* shared by the solvers of one pattern */
    int refs;
    klu_symbolic *symbolic;
} analysis;

typedef struct {
    int n, is_complex;
    const costate_pattern *pattern;
    analysis *shared;
    klu_numeric *numeric;
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

static void free_numeric(klu *s)
{
    if (s->numeric) (s->is_complex ? klu_z_free_numeric : klu_free_numeric)(&s->numeric, &s->common);
}

static void free_symbolic(analysis *a, klu_common *common)
{
    if (!a || --a->refs > 0) return;
    klu_free_symbolic(&a->symbolic, common);
    free(a);
}

static int solve(klu *s, int transpose, int nrhs, double *X)
{
    if (!transpose)
        return (s->is_complex ? klu_z_solve : klu_solve)(s->shared->symbolic, s->numeric, s->n, nrhs, X, &s->common);
    if (s->is_complex)       /* 0: not conjugated */
        return klu_z_tsolve(s->shared->symbolic, s->numeric, s->n, nrhs, X, 0, &s->common);
    return klu_tsolve(s->shared->symbolic, s->numeric, s->n, nrhs, X, &s->common);
}

/* ---- the backend ------------------------------------------------------------------------------------- */

/* of a routine that gave no result, whatever it says of itself */
static int failure(const klu *s)
{
    switch (s->common.status) {
    case KLU_SINGULAR: return COSTATE_LS_SINGULAR;
    case KLU_OUT_OF_MEMORY: return COSTATE_LS_NO_MEMORY;
    case KLU_TOO_LARGE: return COSTATE_LS_UNSUPPORTED;
    default: return COSTATE_LS_FAILED;
    }
}

static int analyse(klu *s)
{
    s->shared = calloc(1, sizeof *s->shared);
    if (!s->shared) return COSTATE_LS_NO_MEMORY;
    s->shared->refs = 1;
    s->shared->symbolic = klu_analyze(s->n, (int *)s->pattern->col, (int *)s->pattern->row, &s->common);
    return s->shared->symbolic ? COSTATE_LS_OK : failure(s);
}

static void klu_self_free(void *self)
{
    klu *s = self;
    if (!s) return;
    free_numeric(s);
    free_symbolic(s->shared, &s->common);
    LS_pivots_free(&s->check);
    free(s);
}

/* also of one that fails: it is freed as it is (linsol.h) */
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
    return LS_pivots_init(&s->check, n, pattern, is_complex);
}

static int klu_self_solve(void *self, int transpose, int nrhs, double *X)
{
    klu *s = self;
    return solve(s, transpose, nrhs, X) ? COSTATE_LS_OK : failure(s);
}

static LS_pivot get_pivot(void *self, int k)
{
    klu *s = self;                      /* KLU factors A with its rows divided by Rs, in the order of the pivots */
    const klu_numeric *f = s->numeric;
    LS_pivot p = { f->Pnum[k], s->shared->symbolic->Q[k], (double *)f->Udiag + (s->is_complex ? 2 * k : k),
                   f->Rs ? f->Rs[k] : 1.0 };
    return p;
}

/* Never klu_refactor: it keeps the last matrix's pivots, so the digits of a step would depend on the steps
   before it, and a replay from the middle of a run would not repeat them. */
static int factor_once(void *self, const double *A, double threshold)
{
    klu *s = self;
    free_numeric(s);
    s->common.tol = threshold;
    s->before = s->common.memusage;
    s->numeric = numeric(s, A);
    if (!s->numeric || s->common.status != KLU_OK) return failure(s);
    return LS_pivots_judge(&s->check, A, s, get_pivot, klu_self_solve);
}

static int klu_self_factor(void *self, const double *A)
{
    klu *s = self;
    return LS_pivots_factor(&s->check, A, s, get_pivot, factor_once);
}

static size_t klu_bytes(const void *self)
{
    const klu *s = self;
    return s->numeric ? s->common.memusage - s->before : 0;
}

const costate_backend LS_klu = { "klu", 0, klu_init, klu_self_factor, klu_self_solve, klu_bytes, klu_self_free };
