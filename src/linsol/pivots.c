/* pivots.c - tell a singular matrix from a badly scaled one, in the same way for every backend. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linsol/backends.h"
#include "base/larger.h"

int LS_pivots_init(LS_pivots *s, int n, const costate_pattern *pattern, int is_complex)
{
    s->n = n;
    s->parts = is_complex ? 2 : 1;
    s->pattern = pattern;
    s->row = malloc((2 + (size_t)s->parts) * (size_t)n * sizeof *s->row);
    if (!s->row) return COSTATE_LS_NO_MEMORY;
    s->col = s->row + n;
    s->probe = s->col + n;
    return COSTATE_LS_OK;
}

void LS_pivots_free(LS_pivots *s)
{
    free(s->row);
    s->row = s->col = s->probe = NULL;
}

static double modulus(const double *u, int parts)   /* within sqrt(2), and never overflows too early */
{
    return parts == 1 ? fabs(u[0]) : fmax(fabs(u[0]), fabs(u[1]));
}

/* Column j of A: its entries, their rows (NULL: all rows) and their number. */
static const double *column(const LS_pivots *s, const double *A, int j, const int **rows, int *count)
{
    size_t from = s->pattern ? (size_t)s->pattern->col[j] : (size_t)j * (size_t)s->n;
    *rows = s->pattern ? s->pattern->row + from : NULL;
    *count = s->pattern ? s->pattern->col[j + 1] - s->pattern->col[j] : s->n;
    return A + (size_t)s->parts * from;
}

static void scan(LS_pivots *s, const double *A)
{
    memset(s->row, 0, (size_t)s->n * sizeof *s->row);
    for (int j = 0; j < s->n; j++) {
        const int *rows;
        int count;
        const double *a = column(s, A, j, &rows, &count);
        double top = 0.0;
        for (int k = 0; k < count; k++, a += s->parts) {
            int i = rows ? rows[k] : k;
            double v = modulus(a, s->parts);
            if (v > top) top = v;
            if (v > s->row[i]) s->row[i] = v;
        }
        s->col[j] = top;
    }
}

/* The known solution, of entries that weigh the same in every column; irregular, so as not to be one of the
   symmetric vectors that matrices of models like to have in their null spaces.  0.7: they are 0.3 to 1.7. */
static double known(const LS_pivots *s, int j)
{
    return (1.0 + 0.7 * sin(1.0 + j)) / s->col[j];
}

/* A regular matrix with a suspect pivot gives the solution to some digits, a singular one an arbitrary multiple of its
   null vector: two digits tell them apart, and what keeps fewer is of no use to anybody. */
static int proof(LS_pivots *s, const double *A, void *self, int (*solve)(void *, int, int, double *))
{
    double worst = 0.0;
    memset(s->probe, 0, (size_t)s->n * (size_t)s->parts * sizeof *s->probe);
    for (int j = 0; j < s->n; j++) {
        const int *rows;
        int count;
        const double *a = column(s, A, j, &rows, &count);
        for (int k = 0; k < count; k++)
            for (int part = 0; part < s->parts; part++)
                s->probe[s->parts * (rows ? rows[k] : k) + part] += a[s->parts * k + part] * known(s, j);
    }
    if (solve(self, 0, 1, s->probe)) return COSTATE_LS_SINGULAR;
    for (int j = 0; j < s->n; j++) {
        double *x = s->probe + s->parts * j, gap;
        x[0] -= known(s, j);
        gap = modulus(x, s->parts) * s->col[j];
        worst = larger(worst, gap);
    }
    return worst <= 1e-2 ? COSTATE_LS_OK : COSTATE_LS_SINGULAR;
}

int LS_pivots_judge(LS_pivots *s, const double *A, void *self, LS_pivot (*get)(void *self, int k),
                    int (*solve)(void *self, int transpose, int nrhs, double *X))
{
    int suspect = 0;
    scan(s, A);
    for (int k = 0; k < s->n; k++) {
        LS_pivot p = get(self, k);
        double v = modulus(p.u, s->parts);
        if (!(v > 0.0 && v <= DBL_MAX)) return COSTATE_LS_SINGULAR;    /* NaN, too */
        suspect |= v * p.scale <= DBL_EPSILON * fmin(s->row[p.row], s->col[p.col]);
    }
    return suspect ? proof(s, A, self, solve) : COSTATE_LS_OK;
}

/* A growth of 1e4 leaves twelve digits, and is seldom exceeded: pivots that grow more are a matrix of an unhappy
   structure, for which the second factor's fill is the price. */
static int grown(const LS_pivots *s, void *self, LS_pivot (*get)(void *self, int k))
{
    for (int k = 0; k < s->n; k++) {
        LS_pivot p = get(self, k);
        if (modulus(p.u, s->parts) * p.scale > 1e4 * s->row[p.row]) return 1;
    }
    return 0;
}

int LS_pivots_factor(LS_pivots *s, const double *A, void *self, LS_pivot (*get)(void *self, int k),
                     int (*factor)(void *self, const double *A, double threshold))
{
    int status = factor(self, A, 0.1);         /* UMFPACK's threshold of its own accord */
    if (status < 0 || (status == COSTATE_LS_OK && !grown(s, self, get))) return status;
    return factor(self, A, 1.0);
}
