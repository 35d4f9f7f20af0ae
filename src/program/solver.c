/* solver.c - the elimination of a model as a linear solver.

   Solvers and tapes hold factorisations, and may be freed after the program: its memory remains until then.  Matrices
   of other patterns, and those that need other pivots, go to a general solver of the library. */
#include <stdlib.h>
#include <string.h>
#include "program/program.h"

typedef struct {
    const elimination *of;
    int is_complex, mine;                   /* mine: the pattern is that of the model */
    int elsewhere;                          /* the last matrix went to `other` */
    const costate_pattern *pattern;
    const costate_backend *other;
    void *self;                             /* its object; NULL: it was not needed yet */
    double *full;                           /* n by n, if `other` is dense */
    number LU[];
} eliminated;

static void solver_free(void *self)
{
    eliminated *s = self;
    if (!s) return;
    if (s->self) s->other->free(s->self);
    program_release(s->of->program);
    free(s->full);
    free(s);
}

static int prepare_other(eliminated *s)
{
    const size_t n = (size_t)s->pattern->n;
    if (s->self) return COSTATE_LS_OK;
    if (!(s->other = costate_backend_find("klu")) && !(s->other = costate_backend_find("umfpack")))
        s->other = costate_backend_find("dense");
    if (s->other->dense && !s->full && !(s->full = calloc(n * n, sizeof(number)))) return COSTATE_LS_NO_MEMORY;
    return s->other->init(&s->self, s->pattern->n, s->other->dense ? NULL : s->pattern, s->is_complex, NULL);
}

static int is_mine(const elimination *of, const costate_pattern *p)
{
    return p->n == of->n && !memcmp(p->col, of->col, (size_t)(of->n + 1) * sizeof *of->col) &&
           !memcmp(p->row, of->row, (size_t)of->col[of->n] * sizeof *of->row);
}

static int solver_init(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like)
{
    const elimination *of = *self;
    *self = NULL;
    (void)n, (void)like;
    if (!pattern) return COSTATE_LS_UNSUPPORTED;
    eliminated *s = *self = calloc(1, sizeof *s + (size_t)of->entries * sizeof *s->LU);
    if (!s) return COSTATE_LS_NO_MEMORY;
    s->of = of;
    atomic_fetch_add(&of->program->uses, 1);
    s->is_complex = is_complex;
    s->pattern = pattern;
    s->mine = is_mine(of, pattern);
    return s->mine ? COSTATE_LS_OK : prepare_other(s);           /* coupled stages, for example */
}

static int factor_other(eliminated *s, const double *A)
{
    const int n = s->pattern->n, parts = s->is_complex ? 2 : 1;
    const int status = prepare_other(s);
    if (status || !s->other->dense) return status ? status : s->other->factor(s->self, A);
    memset(s->full, 0, (size_t)n * (size_t)n * sizeof(number));
    for (int j = 0; j < n; j++)
        for (int k = s->pattern->col[j]; k < s->pattern->col[j + 1]; k++)
            memcpy(s->full + parts * (s->pattern->row[k] + n * j), A + parts * k, (size_t)parts * sizeof *A);
    return s->other->factor(s->self, s->full);
}

static int solver_factor(void *self, const double *A)
{
    eliminated *s = self;
    s->elsewhere = !s->mine || !(s->is_complex ? factor_complex(s->of, (const number *)(const void *)A, s->LU)
                                               : factor_real(s->of, A, (double *)s->LU));
    return s->elsewhere ? factor_other(s, A) : COSTATE_LS_OK;
}

static int solver_solve(void *self, int transpose, int nrhs, double *X)
{
    const eliminated *s = self;
    if (s->elsewhere) return s->other->solve(s->self, transpose, nrhs, X);
    for (int j = 0; j < nrhs; j++, X += (s->is_complex ? 2 : 1) * s->of->n) {
        if (s->is_complex) solve_complex(s->of, transpose, s->LU, (number *)(void *)X);
        else solve_real(s->of, transpose, (const double *)s->LU, X);
    }
    return COSTATE_LS_OK;
}

static size_t solver_bytes(const void *self)
{
    const eliminated *s = self;
    return sizeof *s + (size_t)s->of->entries * sizeof *s->LU +
           (s->elsewhere && s->other->bytes ? s->other->bytes(s->self) : 0);
}

costate_backend elimination_backend(void)
{
    return (costate_backend){"program", 0, solver_init, solver_factor, solver_solve, solver_bytes, solver_free};
}
