/* superlu.c - the backends "superlu", sequential SuperLU, supernodal LU by columns, and "ilu", its incomplete LU, which
   is not a solver but a preconditioner of any quality (Li, Shao, ACM TOMS 37 (2011) 43).

   SuperLU breaks one promise of costate (read in version 5.3.0, and tested in tests/robust/test_memory.c): when one of
   its calls of malloc fails, it usually prints and ends the process, in superlu_abort_and_exit.  These calls are

       StatInit, get_perm_c, sp_preorder       all
       gstrf      all of n entries (xsup, supno, xlsub, xlusup, xusub, iwork, iperm_c, relax_end, heap_relax_snode),
                  the heads of L, U and of the list of large arrays
       gsitrf     the same, but amax and dwork2: unchecked, a segmentation fault
       gstrs      all: work space at every call

   Only a lack of memory for the large arrays of the factor (and dwork) is reported; then a line is printed, and the
   arrays of n entries leak.  Work space from the caller (lwork > 0) would replace these and xsup .. iwork, but no
   others.  Symbols that replace superlu_malloc and superlu_abort_and_exit would affect the whole program or have no
   effect, depending on how it is linked.  So costate.h documents this, and COSTATE_LS_AUTO takes SuperLU last. */
#include <stdlib.h>
#include <string.h>
#include <slu_ddefs.h>
#include <slu_zdefs.h>

#include "linsol/backends.h"

typedef struct {
    int n, is_complex, incomplete;
    const costate_pattern *pattern;
    superlu_options_t options;
    SuperLUStat_t stat;
    int *perm_c, *perm_r, *etree;    /* perm_c, etree: the analysis */
    int *from_r, *from_c;            /* inverse permutations */
    NCformat store;                  /* A as SuperLU sees it */
    SuperMatrix A, AC;               /* and with its columns permuted */
    SuperMatrix L, U;
    int factored;                    /* L and U are there */
    LS_pivots check;
} slu;

/* ---- the real and the complex routines under one name ---------------------------------------------- */

static int numeric(slu *s)
{
    int panel = sp_ienv(1), relax = sp_ienv(2), info = 0;
    GlobalLU_t global;               /* scratch: only used again with SamePattern_SameRowPerm */
    if (s->incomplete) {
        dgsitrf(&s->options, &s->AC, relax, panel, s->etree, NULL, 0, s->perm_c, s->perm_r, &s->L, &s->U, &global,
                &s->stat, &info);
        return info > 0 && info <= s->n ? 0 : info;    /* so many zero pivots were replaced */
    }
    (s->is_complex ? zgstrf : dgstrf)(&s->options, &s->AC, relax, panel, s->etree, NULL, 0, s->perm_c, s->perm_r,
                                      &s->L, &s->U, &global, &s->stat, &info);
    return info;
}

static int superlu_solve(slu *s, int transpose, int nrhs, double *X)
{
    DNformat store = { s->n, X };
    SuperMatrix B = { SLU_DN, s->is_complex ? SLU_Z : SLU_D, SLU_GE, s->n, nrhs, &store };
    int info = 0;
    (s->is_complex ? zgstrs : dgstrs)(transpose ? TRANS : NOTRANS, &s->L, &s->U, s->perm_c, s->perm_r, &B, &s->stat,
                                      &info);
    return info;
}

static float factor_bytes(slu *s)
{
    mem_usage_t usage;
    (s->is_complex ? zQuerySpace : dQuerySpace)(&s->L, &s->U, &usage);
    return usage.for_lu;
}

/* ---- the backend ------------------------------------------------------------------------------------- */

static void set_matrix(slu *s)
{
    s->store.nnz = s->pattern->col[s->n];
    s->store.rowind = (int *)s->pattern->row;      /* read only */
    s->store.colptr = (int *)s->pattern->col;
    s->A.Stype = SLU_NC;
    s->A.Dtype = s->is_complex ? SLU_Z : SLU_D;
    s->A.Mtype = SLU_GE;
    s->A.nrow = s->A.ncol = s->n;
    s->A.Store = &s->store;
}

/* A mostly symmetric pattern: minimum degree on A + A^T, and pivots preferably on the diagonal, which keeps the
   fill that the ordering foresaw.  Else COLAMD, which foresees any pivots. */
static void analyse(slu *s, const slu *like)
{
    if (s->incomplete) {
        ilu_set_default_options(&s->options);
        s->options.ILU_DropTol = 1e-3;
    } else {
        set_default_options(&s->options);
    }
    s->options.PrintStat = NO;
    s->options.Equil = NO;
    s->options.ColPerm = COLAMD;
    if (pattern_symmetry(s->pattern) >= 0.5) {
        s->options.ColPerm = MMD_AT_PLUS_A;
        s->options.SymmetricMode = YES;
    }
    if (like) {
        memcpy(s->perm_c, like->perm_c, (size_t)s->n * sizeof *s->perm_c);
        memcpy(s->etree, like->etree, (size_t)s->n * sizeof *s->etree);
        s->options.Fact = SamePattern;
    } else {
        get_perm_c(s->options.ColPerm, &s->A, s->perm_c);
    }
    sp_preorder(&s->options, &s->A, s->perm_c, s->etree, &s->AC);
    for (int j = 0; j < s->n; j++) s->from_c[s->perm_c[j]] = j;
}

static void free_factor(slu *s)
{
    if (!s->factored) return;
    Destroy_SuperNode_Matrix(&s->L);
    Destroy_CompCol_Matrix(&s->U);
    s->factored = 0;
}

static void slu_free(void *self)
{
    slu *s = self;
    if (!s) return;
    free_factor(s);
    if (s->AC.Store) Destroy_CompCol_Permuted(&s->AC);
    if (s->stat.utime) StatFree(&s->stat);
    LS_pivots_free(&s->check);
    free(s->perm_c);
    free(s);
}

static int init(void **self, int n, const costate_pattern *pattern, int is_complex, int incomplete, const void *like)
{
    slu *s = calloc(1, sizeof *s);
    if (!s) return COSTATE_LS_NO_MEMORY;
    s->n = n;
    s->is_complex = is_complex;
    s->incomplete = incomplete;
    s->pattern = pattern;
    s->perm_c = malloc(5 * (size_t)n * sizeof *s->perm_c);
    if (!s->perm_c || LS_pivots_init(&s->check, n, pattern, is_complex)) {
        slu_free(s);
        return COSTATE_LS_NO_MEMORY;
    }
    s->perm_r = s->perm_c + n;
    s->etree = s->perm_r + n;
    s->from_r = s->etree + n;
    s->from_c = s->from_r + n;
    set_matrix(s);
    StatInit(&s->stat);
    analyse(s, like);
    *self = s;
    return COSTATE_LS_OK;
}

static int slu_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    return init(self, n, pattern, is_complex, 0, like);
}

static int ilu_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    return is_complex ? COSTATE_LS_UNSUPPORTED : init(self, n, pattern, 0, 1, like);
}

static int slu_solve(void *self, int transpose, int nrhs, double *X)
{
    return superlu_solve(self, transpose, nrhs, X) ? COSTATE_LS_FAILED : COSTATE_LS_OK;
}

static LS_pivot get_pivot(void *self, int k)
{
    slu *s = self;
    const SCformat *L = s->L.Store;                  /* its blocks hold the diagonal of U */
    size_t at = (size_t)L->nzval_colptr[k] + (size_t)(k - L->sup_to_col[L->col_to_sup[k]]);
    LS_pivot p = { s->from_r[k], s->from_c[k], (double *)L->nzval + at * (s->is_complex ? 2 : 1), 1.0 };
    return p;
}

static int factor_once(void *self, const double *A, double threshold)
{
    slu *s = self;
    int info;
    free_factor(s);
    s->options.DiagPivotThresh = s->options.SymmetricMode == YES ? threshold : 1.0;
    ((NCPformat *)s->AC.Store)->nzval = (double *)A;  /* read only */
    info = numeric(s);
    if (info < 0) return COSTATE_LS_FAILED;
    if (info > s->n) return COSTATE_LS_NO_MEMORY;
    s->factored = 1;                                 /* also with a zero pivot */
    if (info > 0) return COSTATE_LS_SINGULAR;
    if (s->incomplete) return COSTATE_LS_OK;
    for (int i = 0; i < s->n; i++) s->from_r[s->perm_r[i]] = i;
    return LS_pivots_judge(&s->check, A, s, get_pivot, slu_solve);
}

static int slu_factor(void *self, const double *A)
{
    slu *s = self;
    if (s->incomplete) return factor_once(s, A, 0.1);
    return LS_pivots_factor(&s->check, A, s, get_pivot, factor_once);
}

static size_t slu_bytes(const void *self)
{
    slu *s = (slu *)self;                            /* QuerySpace takes no const */
    return s->factored ? (size_t)factor_bytes(s) : 0;
}

const costate_backend LS_superlu = { "superlu", 0, slu_init, slu_factor, slu_solve, slu_bytes, slu_free };
const costate_backend LS_ilu = { "ilu", 0, ilu_init, slu_factor, slu_solve, slu_bytes, slu_free };
