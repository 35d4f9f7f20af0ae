/* kinds.c - which components have an unknown value (algebraic) and which an unknown slope (differential), and which
   rows constrain only differential components. */
#include <string.h>
#include "base/vec.h"
#include "start/start.h"

/* without problem.index, from its column of M: a y' that appears in no row is not determined */
static int algebraic(const starter *s, const double *M, int j)
{
    const costate_pattern *a = s->maps->pattern;
    size_t n = (size_t)s->maps->n, from = a ? (size_t)a->col[j] : (size_t)j * n;
    if (s->index) return s->index[j] > 0;
    return sum_moduli(a ? (size_t)(a->col[j + 1] - a->col[j]) : n, M + from) == 0;
}

void start_rows(const starter *s, const start_values *f, const double *M, unsigned char *constraint)
{
    const costate_pattern *a = s->maps->pattern;
    size_t n = (size_t)s->maps->n;
    memset(constraint, 1, n);
    for (size_t j = 0; j < n; j++) {
        size_t from = a ? (size_t)a->col[j] : j * n, to = a ? (size_t)a->col[j + 1] : from + n;
        for (size_t k = from; k < to; k++)
            if (M[k] != 0 || (f->unknown[j] && s->J[k] != 0)) constraint[a ? (size_t)a->row[k] : k - from] = 0;
    }
}

static int refuse_counts(const starter *s, int unknowns, int rows, double t)
{
    return fail(s->maps->v, COSTATE_BAD_ARGUMENT, "problem.index names %d unknowns of index 2, but at t = %.10g %d "
                "rows are constraints that depend neither on y' nor on algebraic unknowns: there must be as many.",
                unknowns, t, rows);
}

int start_kinds(starter *s, start_values *f)
{
    const maps *a = s->maps;
    const double *M = a->residual ? s->M : a->M;
    int unknowns = 0, rows = 0;
    for (int j = 0; j < a->n; j++) {
        f->unknown[j] = (unsigned char)algebraic(s, M, j);
        unknowns += a->index && a->index[j] == 2;
    }
    memset(f->hidden, 0, (size_t)a->n);
    if (a->index) start_rows(s, f, M, f->hidden);
    for (int i = 0; i < a->n; i++) rows += f->hidden[i];
    return unknowns == rows ? 0 : refuse_counts(s, unknowns, rows, f->t);
}
