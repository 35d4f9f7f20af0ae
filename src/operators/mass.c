/* mass.c - the diagonal mass matrix of a splitting. */
#include <stdlib.h>
#include "base/pattern.h"
#include "maps/maps.h"
#include "operators/mass.h"

static int regular_diagonal(verdict *v, const costate_problem *P, const double *M, double *d)
{
    TRY(diagonal_of(v, "A splitting", (size_t)P->n, P->pattern, M, d));
    for (int j = 0; j < P->n; j++)
        if (d[j] == 0)
            return fail(v, COSTATE_BAD_ARGUMENT, "A splitting needs a regular mass matrix: its diagonal is 0 in row "
                        "%d.", j);
    return 0;
}

int mass_read_diagonal(verdict *v, const costate_problem *P, double **d)
{
    double *M = NULL;
    int status = mass_read(v, P->mass, P->ctx, pattern_entries(P->pattern, P->n), &M);
    *d = NULL;
    if (!status && M) {
        *d = calloc((size_t)P->n, sizeof **d);
        status = *d ? regular_diagonal(v, P, M, *d) : fail(v, COSTATE_NO_MEMORY, "No memory for the mass matrix (%d "
                                                           "entries).", P->n);
    }
    free(M);
    return status;
}
