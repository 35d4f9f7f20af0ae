/* umfpack.c - the backend "umfpack": multifrontal LU, the fastest on patterns of grids. */
#include <stdlib.h>
#include <string.h>
#include <umfpack.h>

#include "base/verdict.h"
#include "linsol/backends.h"
#include "linsol/triangles.h"

typedef struct {             /* shared by the solvers of one pattern and arithmetic */
    int refs, is_complex;
    void *symbolic;
} umfpack_analysis;

typedef struct {
    int n, is_complex;
    const costate_pattern *pattern;
    umfpack_analysis *shared;
    void *numeric;
    double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
    double *x, *work;        /* n numbers: a solution; n (complex: 4n) doubles for wsolve */
    int *iwork;
    int *p, *q;              /* the pivots: rows, columns, values, scales */
    double *u, *scale;
    int multiplied;          /* 1: rows times scale, 0: divided by scale */
    LS_pivots check;
    LS_triangles triangles;  /* a copy of the factor, for many right-hand sides; empty until first used */
} umf;

enum { MANY = 2 };           /* from so many right-hand sides on it pays to copy the factor */

/* ---- the real and the complex routines under one name ---------------------------------------------- */

/* order NULL: UMFPACK's own */
static int symbolic(umf *s, const int *order, void **out)
{
    const int *col = s->pattern->col, *row = s->pattern->row;
    if (s->is_complex)
        return umfpack_zi_qsymbolic(s->n, s->n, col, row, NULL, NULL, order, out, s->control, s->info);
    return umfpack_di_qsymbolic(s->n, s->n, col, row, NULL, order, out, s->control, s->info);
}

static int numeric(umf *s, const double *A)
{
    const int *col = s->pattern->col, *row = s->pattern->row;
    if (s->is_complex)
        return umfpack_zi_numeric(col, row, A, NULL, s->shared->symbolic, &s->numeric, s->control, s->info);
    return umfpack_di_numeric(col, row, A, s->shared->symbolic, &s->numeric, s->control, s->info);
}

static void free_numeric(umf *s)
{
    if (s->is_complex) umfpack_zi_free_numeric(&s->numeric);
    else umfpack_di_free_numeric(&s->numeric);
}

static void free_symbolic(umfpack_analysis *a)
{
    if (!a || --a->refs > 0) return;
    if (a->is_complex) umfpack_zi_free_symbolic(&a->symbolic);
    else umfpack_di_free_symbolic(&a->symbolic);
    free(a);
}

/* The matrix itself is needed for iterative refinement only, and that is off.  Aat is the array transpose;
   At would conjugate complex matrices. */
static int ls_umfpack_solve(umf *s, int transpose, const double *b)
{
    int sys = transpose ? UMFPACK_Aat : UMFPACK_A;
    if (s->is_complex)
        return umfpack_zi_wsolve(sys, NULL, NULL, NULL, NULL, s->x, NULL, b, NULL, s->numeric, s->control, s->info,
                                 s->iwork, s->work);
    return umfpack_di_wsolve(sys, NULL, NULL, NULL, s->x, b, s->numeric, s->control, s->info, s->iwork, s->work);
}

static int get_pivots(umf *s)
{
    if (s->is_complex)
        return umfpack_zi_get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, s->p, s->q, s->u, NULL,
                                      &s->multiplied, s->scale, s->numeric);
    return umfpack_di_get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, s->p, s->q, s->u, &s->multiplied, s->scale,
                                  s->numeric);
}

/* ---- the backend ------------------------------------------------------------------------------------- */

static int status_of(int status)
{
    if (status == UMFPACK_OK) return COSTATE_LS_OK;
    if (status == UMFPACK_ERROR_out_of_memory) return COSTATE_LS_NO_MEMORY;
    return status > 0 ? COSTATE_LS_SINGULAR : COSTATE_LS_FAILED;
}

static void set_control(umf *s)
{
    umfpack_di_defaults(s->control);    /* the same for zi; AMD or COLAMD where we give no ordering */
    s->control[UMFPACK_PRL] = 0;
    s->control[UMFPACK_IRSTEP] = 0;     /* a caller who needs more digits checks residuals */
}

/* order: room for n */
static int analyse_dissected(umf *s, int *order)
{
    TRY(LS_dissect(s->pattern, order));
    return status_of(symbolic(s, order, &s->shared->symbolic));
}

/* On a mostly symmetric pattern, like those of grids, the symmetric strategy with nested dissection halves the
   time of UMFPACK's defaults.  For other patterns UMFPACK's own choice is better. */
static int analyse(umf *s)
{
    s->shared = calloc(1, sizeof *s->shared);
    if (!s->shared) return COSTATE_LS_NO_MEMORY;
    s->shared->refs = 1;
    s->shared->is_complex = s->is_complex;
    if (pattern_symmetry(s->pattern) < 0.5) return status_of(symbolic(s, NULL, &s->shared->symbolic));
    s->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    int *order = malloc((size_t)s->n * sizeof *order);
    if (!order) return COSTATE_LS_NO_MEMORY;
    int status = analyse_dissected(s, order);
    free(order);
    return status;
}

static int allocate(umf *s)
{
    size_t n = (size_t)s->n, parts = s->is_complex ? 2 : 1;
    s->x = malloc((parts + (s->is_complex ? 4 : 1) + parts + 1) * n * sizeof *s->x);
    s->iwork = malloc(3 * n * sizeof *s->iwork);
    if (!s->x || !s->iwork) return COSTATE_LS_NO_MEMORY;
    s->u = s->x + parts * n;
    s->scale = s->u + parts * n;
    s->work = s->scale + n;
    s->p = s->iwork + n;
    s->q = s->p + n;
    return LS_pivots_init(&s->check, s->n, s->pattern, s->is_complex);
}

static void umf_free(void *self)
{
    umf *s = self;
    if (!s) return;
    free_numeric(s);
    free_symbolic(s->shared);
    LS_triangles_free(&s->triangles);
    LS_pivots_free(&s->check);
    free(s->x);
    free(s->iwork);
    free(s);
}

/* after a failure, too, the caller frees self (linsol.h) */
static int umf_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    umf *s = *self = calloc(1, sizeof *s);
    if (!s) return COSTATE_LS_NO_MEMORY;
    s->n = n;
    s->is_complex = is_complex;
    s->pattern = pattern;
    if (like) {
        memcpy(s->control, ((const umf *)like)->control, sizeof s->control);
        s->shared = ((const umf *)like)->shared;
        s->shared->refs++;
    } else {
        set_control(s);
        TRY(analyse(s));
    }
    return allocate(s);
}

static int get_factors(umf *s, LS_triangles *t, int *multiplied)
{
    if (s->is_complex)
        return umfpack_zi_get_numeric(t->Lp, t->Lj, t->Lx, NULL, t->Up, t->Ui, t->Ux, NULL, t->P, t->Q, NULL, NULL,
                                      multiplied, t->R, s->numeric);
    return umfpack_di_get_numeric(t->Lp, t->Lj, t->Lx, t->Up, t->Ui, t->Ux, t->P, t->Q, NULL, multiplied, t->R,
                                  s->numeric);
}

static int copy_triangles(umf *s, LS_triangles *t)
{
    int multiplied;
    TRY(status_of(get_factors(s, t, &multiplied)));
    for (int i = 0; !multiplied && i < s->n; i++) t->R[i] = 1 / t->R[i];
    LS_triangles_ready(t);
    return COSTATE_LS_OK;
}

/* Copies the factor, once.  If memory is short this is an error: single solves would be possible, but with different
   round-off. */
static int take_out(umf *s)
{
    LS_triangles *t = &s->triangles;
    int l, u, rows, columns, diagonal;
    if (t->Lx) return COSTATE_LS_OK;
    TRY(status_of(s->is_complex ? umfpack_zi_get_lunz(&l, &u, &rows, &columns, &diagonal, s->numeric)
                                : umfpack_di_get_lunz(&l, &u, &rows, &columns, &diagonal, s->numeric)));
    TRY(LS_triangles_init(t, s->n, s->is_complex, l, u));
    int status = copy_triangles(s, t);
    if (status) LS_triangles_free(t);
    return status;
}

static int solve_many(umf *s, int transpose, int nrhs, double *X)
{
    TRY(take_out(s));
    LS_triangles_solve(&s->triangles, transpose, nrhs, X);
    return COSTATE_LS_OK;
}

static int umf_solve(void *self, int transpose, int nrhs, double *X)
{
    umf *s = self;
    size_t length = (size_t)s->n * (s->is_complex ? 2 : 1);
    if (nrhs >= MANY) return solve_many(s, transpose, nrhs, X);
    for (int k = 0; k < nrhs; k++, X += length) {
        TRY(status_of(ls_umfpack_solve(s, transpose, X)));
        memcpy(X, s->x, length * sizeof *X);
    }
    return COSTATE_LS_OK;
}

static LS_pivot get_pivot(void *self, int k)
{
    umf *s = self;                      /* UMFPACK factors A with its rows scaled */
    double scale = s->scale[s->p[k]];
    LS_pivot p = { s->p[k], s->q[k], s->u + (s->is_complex ? 2 * k : k), s->multiplied ? 1.0 / scale : scale };
    return p;
}

/* By default UMFPACK takes diagonal pivots down to a thousandth of the largest entry of their column.  A threshold of a
   tenth costs nothing where the diagonal dominates, as with small steps, and a quarter more time elsewhere, and saves
   two digits. */
static int factor_once(void *self, const double *A, double threshold)
{
    umf *s = self;
    free_numeric(s);
    LS_triangles_free(&s->triangles);
    s->control[UMFPACK_PIVOT_TOLERANCE] = s->control[UMFPACK_SYM_PIVOT_TOLERANCE] = threshold;
    TRY(status_of(numeric(s, A)));
    TRY(status_of(get_pivots(s)));
    return LS_pivots_judge(&s->check, A, s, get_pivot, umf_solve);
}

static int umf_factor(void *self, const double *A)
{
    umf *s = self;
    return LS_pivots_factor(&s->check, A, s, get_pivot, factor_once);
}

static size_t umf_bytes(const void *self)
{
    const umf *s = self;                 /* solve changes only entries of its own in info */
    return LS_triangles_bytes(&s->triangles) +
           (s->numeric ? (size_t)(s->info[UMFPACK_NUMERIC_SIZE] * s->info[UMFPACK_SIZE_OF_UNIT]) : 0);
}

const costate_backend LS_umfpack = { "umfpack", 0, umf_init, umf_factor, umf_solve, umf_bytes, umf_free };
