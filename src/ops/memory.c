/* memory.c - memory variables: constant between jumps, where they are parameters of the steps (mathematics, eq. 10.1).

   Their tangents are rows of V and, for the steps, part of pm.  Their adjoints are the sums of what the steps add to
   pm. */
#include <string.h>
#include "base/vec.h"
#include "ops/ops.h"

static size_t rows_of_pm(const stepper *c) { return (size_t)(c->np + c->nm); }

static size_t first_row(const stepper *c) { return (size_t)(c->n + c->nq); }

void memory_to_pm(const stepper *c, int m, const double *V, double *pm)
{
    size_t nm = (size_t)c->nm;
    for (size_t j = 0; nm > 0 && j < (size_t)m; j++)
        memcpy(pm + j * rows_of_pm(c) + c->np, V + j * (size_t)c->N + first_row(c), nm * sizeof *pm);
}

void memory_from_pm(const stepper *c, int m, double *lambda, double *pm)
{
    size_t nm = (size_t)c->nm;
    for (size_t j = 0; nm > 0 && j < (size_t)m; j++) {
        double *of = pm + j * rows_of_pm(c) + c->np;
        axpy(nm, 1, of, lambda + j * (size_t)c->N + first_row(c));
        memset(of, 0, nm * sizeof *of);
    }
}
