/* pattern.c - sparsity patterns: validation, symmetry, bandwidth, and products with a matrix stored in a pattern. */
#include "base/pattern.h"
#include "base/vec.h"

static const char *column_fault(const costate_pattern *p, int n, int j)
{
    for (int k = p->col[j]; k < p->col[j + 1]; k++) {
        if (p->row[k] < 0 || p->row[k] >= n) return "a row index of the pattern is outside 0 .. n-1";
        if (k > p->col[j] && p->row[k] == p->row[k - 1]) return "a row index of the pattern is repeated in its column";
        if (k > p->col[j] && p->row[k] < p->row[k - 1])
            return "the row indices of the pattern do not increase in a column";
    }
    return NULL;
}

const char *pattern_fault(const costate_pattern *p, int n)
{
    if (p->n != n) return "the pattern's n is not the problem's n";
    if (!p->col) return "the pattern's col is NULL";
    if (p->col[0] != 0) return "the pattern's col[0] is not 0";
    for (int j = 0; j < n; j++)        /* all of col first: it bounds what is read of row */
        if (p->col[j + 1] < p->col[j]) return "the pattern's col decreases";
    if (!p->row && p->col[n] > 0) return "the pattern's row is NULL";
    for (int j = 0; j < n; j++) {
        const char *fault = column_fault(p, n, j);
        if (fault) return fault;
    }
    return NULL;
}

int pattern_holds(const costate_pattern *p, int i, int j)
{
    int from = p->col[j], to = p->col[j + 1];
    while (from < to) {                /* rows increase: bisect */
        int k = from + (to - from) / 2;
        if (p->row[k] == i) return 1;
        if (p->row[k] < i) from = k + 1;
        else to = k;
    }
    return 0;
}

double pattern_symmetry(const costate_pattern *p)
{
    long off = 0, mirrored = 0;
    for (int j = 0; j < p->n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++) {
            if (p->row[k] == j) continue;
            off++;
            mirrored += pattern_holds(p, j, p->row[k]);
        }
    return off ? (double)mirrored / (double)off : 1.0;
}

void pattern_band(const costate_pattern *p, int *lower, int *upper)
{
    *lower = *upper = 0;
    for (int j = 0; j < p->n; j++) {
        if (p->col[j] == p->col[j + 1]) continue;
        int first = p->row[p->col[j]], last = p->row[p->col[j + 1] - 1];
        if (last - j > *lower) *lower = last - j;
        if (j - first > *upper) *upper = j - first;
    }
}

static void multiply_dense(int n, const double *A, int transpose, double a, const double *x, double *y)
{
    if (n <= KNOWN && !transpose) { combine((size_t)n, y, y, a, n, x, A, (size_t)n); return; }
    for (int j = 0; j < n; j++) {
        const double *c = A + (size_t)j * (size_t)n;
        double s = 0.0;
        if (transpose) {
            for (int i = 0; i < n; i++) s += c[i] * x[i];
            y[j] += a * s;
        } else {
            for (int i = 0; i < n; i++) y[i] += c[i] * (a * x[j]);
        }
    }
}

static void multiply_sparse(int n, const costate_pattern *p, const double *A, int transpose, double a,
                            const double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        double s = 0.0;
        if (transpose) {
            for (int k = p->col[j]; k < p->col[j + 1]; k++) s += A[k] * x[p->row[k]];
            y[j] += a * s;
        } else {
            for (int k = p->col[j]; k < p->col[j + 1]; k++) y[p->row[k]] += A[k] * (a * x[j]);
        }
    }
}

void pattern_multiply(int n, const costate_pattern *pattern, const double *A, int transpose, double a, int m,
                      const double *x, double *y)
{
    for (int k = 0; k < m; k++, x += n, y += n) {
        if (pattern) multiply_sparse(n, pattern, A, transpose, a, x, y);
        else multiply_dense(n, A, transpose, a, x, y);
    }
}
