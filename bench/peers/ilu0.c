/* ilu0.c - ILU(0), point by point (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 10.3.2).

   The columns of A are taken as rows of A^T = L U, L with unit diagonal: A = U^T L^T. */
#include "ilu0.h"

#include <stdlib.h>
#include <string.h>

struct ilu0 {
    const costate_pattern *p;
    double *a, *inverse;         /* L and U in the pattern; 1/U_ii */
    int *diagonal, *at;          /* where U_ii is; at[j]: 1 + where column j of the row in work is, or 0 */
};

void ilu0_free(ilu0 *f)
{
    if (!f) return;
    free(f->a);
    free(f->diagonal);
    free(f);
}

ilu0 *ilu0_new(const costate_pattern *p)
{
    size_t n = (size_t)p->n;
    ilu0 *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->p = p;
    f->a = malloc(((size_t)p->col[n] + n) * sizeof *f->a);
    f->diagonal = calloc(2 * n, sizeof *f->diagonal);
    if (!f->a || !f->diagonal) return ilu0_free(f), NULL;
    f->inverse = f->a + p->col[n];
    f->at = f->diagonal + n;
    for (int i = 0; i < p->n; i++)
        for (int k = p->col[i]; k < p->col[i + 1]; k++) if (p->row[k] == i) f->diagonal[i] = k;
    return f;
}

static void eliminate(ilu0 *f, int i)
{
    const int *start = f->p->col, *col = f->p->row;
    double *a = f->a;
    for (int k = start[i]; k < start[i + 1]; k++) f->at[col[k]] = k + 1;
    for (int k = start[i]; k < f->diagonal[i]; k++) {
        int j = col[k];
        double l = a[k] *= f->inverse[j];
        for (int e = f->diagonal[j] + 1; e < start[j + 1]; e++) if (f->at[col[e]]) a[f->at[col[e]] - 1] -= l * a[e];
    }
    for (int k = start[i]; k < start[i + 1]; k++) f->at[col[k]] = 0;
}

static int factor(ilu0 *f)
{
    for (int i = 0; i < f->p->n; i++) {
        eliminate(f, i);
        if (f->a[f->diagonal[i]] == 0) return 1;
        f->inverse[i] = 1 / f->a[f->diagonal[i]];
    }
    return 0;
}

int ilu0_factor(ilu0 *f, const double *J, double gamma)
{
    int n = f->p->n;
    for (int k = 0; k < f->p->col[n]; k++) f->a[k] = -gamma * J[k];
    for (int i = 0; i < n; i++) f->a[f->diagonal[i]] += 1;
    return factor(f);
}

int ilu0_factor_sum(ilu0 *f, const double *A, double c, const double *B)
{
    for (int k = 0; k < f->p->col[f->p->n]; k++) f->a[k] = A[k] + c * B[k];
    return factor(f);
}

/* L U z = r */
static void solve_rows(const ilu0 *f, const double *r, double *z)
{
    const int *start = f->p->col, *col = f->p->row, n = f->p->n;
    for (int i = 0; i < n; i++) {
        double x = r[i];
        for (int k = start[i]; k < f->diagonal[i]; k++) x -= f->a[k] * z[col[k]];
        z[i] = x;
    }
    for (int i = n - 1; i >= 0; i--) {
        double x = z[i];
        for (int k = f->diagonal[i] + 1; k < start[i + 1]; k++) x -= f->a[k] * z[col[k]];
        z[i] = x * f->inverse[i];
    }
}

/* U^T L^T z = r */
static void solve_columns(const ilu0 *f, const double *r, double *z)
{
    const int *start = f->p->col, *col = f->p->row, n = f->p->n;
    memcpy(z, r, (size_t)n * sizeof *z);
    for (int i = 0; i < n; i++) {
        double x = z[i] *= f->inverse[i];
        for (int k = f->diagonal[i] + 1; k < start[i + 1]; k++) z[col[k]] -= f->a[k] * x;
    }
    for (int i = n - 1; i >= 0; i--)
        for (int k = start[i]; k < f->diagonal[i]; k++) z[col[k]] -= f->a[k] * z[i];
}

void ilu0_solve(const ilu0 *f, int transposed, const double *r, double *z)
{
    if (transposed) solve_rows(f, r, z);
    else solve_columns(f, r, z);
}
