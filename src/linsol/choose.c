/* choose.c - the table of backends, and the one that suits a pattern. */
#include <string.h>

#include "linsol/backends.h"
#include "linsol/ls.h"

static const costate_backend *const table[] = {
    &LS_dense,
    &LS_band,
#ifdef COSTATE_HAVE_UMFPACK
    &LS_umfpack,
#endif
#ifdef COSTATE_HAVE_SUPERLU
    &LS_superlu,
    &LS_ilu,
#endif
#ifdef COSTATE_HAVE_KLU
    &LS_klu,
#endif
};

const costate_backend *costate_backend_find(const char *name)
{
    if (!name) return NULL;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (!strcmp(table[k]->name, name)) return table[k];
    return NULL;
}

static int longest_column(const costate_pattern *p)
{
    int longest = 0;
    for (int j = 0; j < p->n; j++)
        if (p->col[j + 1] - p->col[j] > longest) longest = p->col[j + 1] - p->col[j];
    return longest;
}

/* Discretised in space: couplings go both ways (upwind terms and boundaries leave some that do not), every unknown has
   about as many, and there are enough of them for the fill to be what costs: a little more than where KLU and UMFPACK
   are even, see automatic.  The other two only tell grids from networks, with a column of a species that all know. */
static int like_a_grid(const costate_pattern *p, double average)
{
    const int ENTRIES = 7000;
    const double MOST_COUPLED = 5.0, MUTUAL = 0.7;
    return p->col[p->n] >= ENTRIES && longest_column(p) <= MOST_COUPLED * average && pattern_symmetry(p) >= MUTUAL;
}

static const costate_backend *first_of(const char *const *names)
{
    const costate_backend *found = NULL;
    for (int k = 0; k < 4 && !found; k++) found = costate_backend_find(names[k]);
    return found;
}

/* small   LAPACK on 20 x 20 is done before a sparse code has looked up its permutations
   narrow  LAPACK in a band a few average columns wide: more arithmetic, but without indices (measured: twice as fast
           as KLU at a width of 8 columns; even in factoring at 16, but twice as slow in solving)
   grid    UMFPACK: much fill, which it does with dense kernels; KLU, an entry at a time, takes twice as long and more
           on three variables a grid point, and is even at some 6500 entries of a 2-D grid with two variables a point
   else    KLU: little fill, which it does without the overhead of dense kernels, and block triangular form
   SuperLU comes last: without memory it ends the process */
static const costate_backend *automatic(int n, const costate_pattern *p)
{
    static const char *const grid[] = { "umfpack", "klu", "superlu", "dense" };
    static const char *const other[] = { "klu", "umfpack", "superlu", "dense" };
    enum { SMALL = 20 };
    const double NARROW = 8.0;          /* columns; beyond n/2 a band is no less than the whole matrix */
    int lower, upper;
    if (!p || n <= SMALL) return &LS_dense;
    pattern_band(p, &lower, &upper);
    int width = lower + upper;
    double average = (double)p->col[n] / n;
    if (width <= NARROW * average && width <= n / 2) return &LS_band;
    return first_of(like_a_grid(p, average) ? grid : other);
}

const costate_backend *LS_Choose(int solver, int n, const costate_pattern *pattern)
{
    switch (solver) {
    case COSTATE_LS_AUTO: return automatic(n, pattern);
    case COSTATE_LS_DENSE: return &LS_dense;
    case COSTATE_LS_BAND: return &LS_band;
    case COSTATE_LS_UMFPACK: return costate_backend_find("umfpack");
    case COSTATE_LS_SUPERLU: return costate_backend_find("superlu");
    case COSTATE_LS_KLU: return costate_backend_find("klu");
    default: return NULL;
    }
}
