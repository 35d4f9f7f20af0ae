/* choose.c - the table of backends, and the choice of one for a sparsity pattern. */
#include <string.h>

#include "base/verdict.h"
#include "linsol/backends.h"
#include "linsol/ls.h"
#include "linsol/order.h"

/* The rows of a matrix have the units of its equations, and elimination with a pivot that is large only because of its
   unit loses digits: eleven of them with [1e12 -2; 1e-6 1e-6].  UMFPACK, KLU and sparse.c scale rows themselves.
   LAPACK takes the largest pivots, in the order of the columns: that is as good as scaling while M is the identity,
   because every row then has sigma on its diagonal.  SuperLU prefers pivots on the diagonal to others up to ten times
   as large, in an order of its own. */
static const struct { const costate_backend *backend; enum unscaled which; int banded; } table[] = {
    {&LS_dense, UNSCALED_WITH_MASS, 0},
    {&LS_band, UNSCALED_WITH_MASS, 1},
    {&LS_sparse, NEVER_UNSCALED, 0},
#ifdef COSTATE_HAVE_UMFPACK
    {&LS_umfpack, NEVER_UNSCALED, 0},
#endif
#ifdef COSTATE_HAVE_SUPERLU
    {&LS_superlu, ALWAYS_UNSCALED, 0},
    {&LS_ilu, NEVER_UNSCALED, 0},
#endif
#ifdef COSTATE_HAVE_KLU
    {&LS_klu, NEVER_UNSCALED, 0},
#endif
};
enum { BACKENDS = sizeof table / sizeof *table };

/* the row of a backend; BACKENDS: a backend of the user */
static int row_of(const costate_backend *b)
{
    int k = 0;
    while (k < BACKENDS && table[k].backend != b) k++;
    return k;
}

enum unscaled LS_Unscaled(const costate_backend *b)
{
    int k = row_of(b);
    return k < BACKENDS ? table[k].which : NEVER_UNSCALED;
}

int LS_Banded(const costate_backend *b)
{
    int k = row_of(b);
    return k < BACKENDS && table[k].banded;
}

const costate_backend *costate_backend_find(const char *name)
{
    if (!name) return NULL;
    for (int k = 0; k < BACKENDS; k++)
        if (!strcmp(table[k].backend->name, name)) return table[k].backend;
    return NULL;
}

/* Whether UMFPACK with its dense kernels is faster than KLU: from about 65 multiplications per entry of L on.  If
   couplings have one direction only, the count, which is made for A + A^T, is too large for KLU, because KLU finds
   blocks and pivots off the diagonal: then from about 190 on.
   Measured: time of KLU over time of UMFPACK for a factorisation and ten solves, real and complex, for this count: heat
   64 x 64 35: 0.6, 0.7, 100 x 100 57: 1.0, 1.0, 140 x 140 80: 1.2, 1.7, 200 x 200 102: 1.7, 1.8; Brusselator 16 x 16
   45: 0.5, 0.7, 22 x 22 61: 0.7, 0.9, 28 x 28 80: 1.1, 1.1, 40 x 40 119: 1.5, 1.9; random graphs, symmetric 35: 0.3,
   0.5, 60: 0.5, 0.6, 80: 1.0, 0.7, not symmetric 110: 0.4, 0.5, 146: 0.6, 0.8, 246: 1.3, 1.4, 319: 1.6, 1.6.
   If memory is too short for counting, UMFPACK, which needs the most, is chosen, so that it reports this. */
static int dense_enough(const costate_pattern *p)
{
#ifdef COSTATE_HAVE_UMFPACK
    const double SYMMETRIC = 65, ONE_WAY = 190;
    double symmetry = pattern_symmetry(p), work, entries;
    return LS_fill(p, &work, &entries) || work >= entries * (symmetry * SYMMETRIC + (1 - symmetry) * ONE_WAY);
#else
    return (void)p, 0;
#endif
}

int LS_Counts(const costate_backend *b, int n, const costate_pattern *p, double *work, double *entries)
{
    int lower, upper;
    if (b->dense || !p) {               /* a backend of the user's may take full matrices, too */
        *entries = (double)n * n;
        *work = *entries * n / 3;
    } else if (LS_Banded(b)) {
        pattern_band(p, &lower, &upper);
        *entries = n * (2.0 * lower + upper + 1);
        *work = (double)n * lower * (lower + upper);
    } else {
        TRY(LS_fill(p, work, entries));
        *entries = 2 * *entries - n;
    }
    return COSTATE_LS_OK;
}

static const costate_backend *first_of(const char *const *names)
{
    const costate_backend *found = NULL;
    for (int k = 0; k < 3 && !found; k++) found = costate_backend_find(names[k]);
    return found;
}

/* small   LAPACK has factored 20 x 20 before a sparse code has read its permutations
   narrow  LAPACK in a band a few average columns wide: more arithmetic, but without indices (measured: twice as fast
           as KLU at a width of 8 columns; even in factoring at 16, but twice as slow in solving)
   fill    UMFPACK, which computes fill-in with dense kernels; KLU treats single entries and takes up to eight times as
           long
   else    KLU: little fill-in, without the overhead of dense kernels, and block triangular form
   then    our own: as KLU without block triangular form
   SuperLU is never chosen: it ends the process when memory is short */
static const costate_backend *automatic(int n, const costate_pattern *p)
{
    static const char *const filled[] = { "umfpack", "klu", "sparse" };
    static const char *const other[] = { "klu", "umfpack", "sparse" };
    enum { SMALL = 20 };
    const double NARROW = 8.0;          /* columns; wider than n/2, a band is no smaller than the whole matrix */
    int lower, upper;
    if (!p || n <= SMALL) return &LS_dense;
    pattern_band(p, &lower, &upper);
    int width = lower + upper;
    double average = (double)p->col[n] / n;
    if (width <= NARROW * average && width <= n / 2) return &LS_band;
    return first_of(dense_enough(p) ? filled : other);
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
    case COSTATE_LS_SPARSE: return &LS_sparse;
    default: return NULL;
    }
}
