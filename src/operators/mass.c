/* mass.c - reads the mass matrix of a problem. */
#include <stdlib.h>
#include "base/vec.h"
#include "operators/mass.h"

size_t matrix_entries(int n, const costate_pattern *p) { return p ? (size_t)p->col[n] : (size_t)n * (size_t)n; }

int mass_read(verdict *v, const costate_problem *P, double **M)
{
    size_t entries = matrix_entries(P->n, P->pattern);
    *M = NULL;
    if (!P->mass) return 0;
    if (!(*M = calloc(entries + 1, sizeof **M)))
        return fail(v, COSTATE_NO_MEMORY, "No memory for the mass matrix (%zu entries).", entries);
    int r = P->mass(*M, P->ctx);
    if (r) return fail(v, COSTATE_CALLBACK, "The callback mass returned %d.", r);
    return all_finite(entries, *M) ? 0 : fail(v, COSTATE_BAD_ARGUMENT, "The mass matrix holds a NaN or Inf.");
}

static int diagonal_of(verdict *v, const costate_problem *P, const double *M, double *d)
{
    const costate_pattern *in = P->pattern;
    size_t n = (size_t)P->n;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = in ? (size_t)in->col[j] : j * n; k < (in ? (size_t)in->col[j + 1] : (j + 1) * n); k++) {
            size_t row = in ? (size_t)in->row[k] : k - j * n;
            if (row == j) d[j] = M[k];
            else if (M[k] != 0)
                return fail(v, COSTATE_BAD_ARGUMENT, "A splitting needs a diagonal mass matrix: row %zu of column %zu "
                            "is %g.", row, j, M[k]);
        }
        if (d[j] == 0)
            return fail(v, COSTATE_BAD_ARGUMENT, "A splitting needs a regular mass matrix: its diagonal is 0 in row "
                        "%zu.", j);
    }
    return 0;
}

int mass_read_diagonal(verdict *v, const costate_problem *P, double **d)
{
    double *M = NULL;
    int status = mass_read(v, P, &M);
    *d = NULL;
    if (!status && M) {
        *d = calloc((size_t)P->n, sizeof **d);
        status = *d ? diagonal_of(v, P, M, *d) : fail(v, COSTATE_NO_MEMORY, "No memory for the mass matrix (%d "
                                                      "entries).", P->n);
    }
    free(M);
    return status;
}
