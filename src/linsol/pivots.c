/* pivots.c - distinguishes singular from badly scaled matrices, in the same way for every backend. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linsol/backends.h"
#include "base/larger.h"
#include "base/verdict.h"

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

/* The known solution: each entry times the largest entry of its column is between 0.3 and 1.7.  The factors are
   irregular, multiples of the golden ratio modulo 1 (D. Knuth, The Art of Computer Programming 3, 6.4), because null
   spaces of matrices from models often contain symmetric vectors. */
static double known(const LS_pivots *s, int j)
{
    return (0.3 + 1.4 * (2654435769u * (uint32_t)j) / 4294967296.0) / s->col[j];
}

/* probe = what the factor makes of A times the known solution, less the known solution */
static int error(LS_pivots *s, const double *A, void *self, int (*solve)(void *, int, int, double *))
{
    memset(s->probe, 0, (size_t)s->n * (size_t)s->parts * sizeof *s->probe);
    for (int j = 0; j < s->n; j++) {
        const int *rows;
        int count;
        const double *a = column(s, A, j, &rows, &count);
        double x = known(s, j);
        for (int k = 0; k < count; k++)
            for (int part = 0; part < s->parts; part++)
                s->probe[s->parts * (rows ? rows[k] : k) + part] += a[s->parts * k + part] * x;
    }
    TRY(solve(self, 0, 1, s->probe));
    for (int j = 0; j < s->n; j++) s->probe[s->parts * j] -= known(s, j);
    return COSTATE_LS_OK;
}

/* A nonsingular matrix with a suspect pivot reproduces the solution to some digits, a singular one adds an arbitrary
   multiple of its null vector.  Two digits distinguish them, and a factor that keeps fewer digits is useless. */
static int proof(LS_pivots *s, const double *A, void *self, int (*solve)(void *, int, int, double *))
{
    double worst = 0.0;
    if (error(s, A, self, solve)) return COSTATE_LS_SINGULAR;
    for (int j = 0; j < s->n; j++) worst = larger(worst, modulus(s->probe + s->parts * j, s->parts) * s->col[j]);
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

/* A growth of 1e4 leaves twelve digits and is rarely exceeded.  If it is, the matrix has an unfavourable structure, and
   the fill-in of a second factor is worth its cost. */
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
    int status = factor(self, A, 0.1);         /* UMFPACK's default threshold */
    if (status < 0 || (status == COSTATE_LS_OK && !grown(s, self, get))) return status;
    return factor(self, A, 1.0);
}

/* Is the matrix diagonally dominant, by rows or by columns, in the order of its pivots?  Then LU without pivoting is
   stable: numbers grow to twice their size at most (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002,
   theorem 9.9).  This holds for sigma M - J of diffusion, and checking it takes a tenth of the time of a solve.  Moduli
   of complex pivots are rounded down, of others up. */
static int dominant(const LS_pivots *s, const double *A, void *self, LS_pivot (*get)(void *self, int k), double *rest)
{
    int by_rows = 1, by_columns = 1;
    memset(rest, 0, (size_t)s->n * sizeof *rest);
    for (int k = 0; k < s->n; k++) {
        LS_pivot p = get(self, k);
        const int *rows;
        int count;
        const double *a = column(s, A, p.col, &rows, &count);
        double sum = 0.0;
        for (int e = 0; e < count; e++, a += s->parts) {
            int i = rows ? rows[e] : e;
            double v = i == p.row ? modulus(a, s->parts) : -fabs(a[0]) - (s->parts == 2 ? fabs(a[1]) : 0.0);
            sum += v;
            rest[i] += v;
        }
        by_columns &= sum >= 0.0;
    }
    for (int i = 0; i < s->n; i++) by_rows &= rest[i] >= 0.0;
    return by_rows || by_columns;
}

/* residual += a column's entries times x; size: of the sums of moduli */
static void add_column(const LS_pivots *s, const double *A, int j, const double *x, double *residual, double *size)
{
    const int *rows;
    int count, parts = s->parts;
    const double *a = column(s, A, j, &rows, &count);
    double weight = known(s, j);
    for (int k = 0; k < count; k++, a += parts) {
        int i = rows ? rows[k] : k;
        double *r = residual + parts * i;
        size[i] += modulus(a, parts) * weight;
        r[0] += a[0] * x[0];
        if (parts == 1) continue;
        r[0] -= a[1] * x[1];
        r[1] += a[0] * x[1] + a[1] * x[0];
    }
}

/* The backward error, row by row, of the known solution. */
static int accurate(LS_pivots *s, const double *A, void *self, int (*solve)(void *, int, int, double *),
                    double *residual)
{
    double *size = s->row;             /* which judge and grown have read */
    int good = 1;
    if (error(s, A, self, solve)) return 0;
    memset(size, 0, (size_t)s->n * sizeof *size);
    memset(residual, 0, (size_t)s->n * (size_t)s->parts * sizeof *residual);
    for (int j = 0; j < s->n; j++) add_column(s, A, j, s->probe + s->parts * j, residual, size);
    for (int i = 0; i < s->n; i++) good &= modulus(residual + s->parts * i, s->parts) <= 1e-14 * size[i];
    return good;
}

int LS_pivots_hold(LS_pivots *s, const double *A, void *self, LS_pivot (*get)(void *self, int k),
                   int (*solve)(void *self, int transpose, int nrhs, double *X), double *room)
{
    return !LS_pivots_judge(s, A, self, get, solve) &&
           (dominant(s, A, self, get, room) || (!grown(s, self, get) && accurate(s, A, self, solve, room)));
}
