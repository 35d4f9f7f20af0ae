/* few.c - LU of a few rows without the overhead of a LAPACK call, which costs more than the arithmetic of up to 24.

   The same arguments, pivots and factors as LAPACK's getrf and getrs (one right-hand side after the other, leading
   dimension n), so that the dense backend may take either; but the solves want the diagonal of U inverted
   (LS_few_invert): a division costs as much as a dozen products.  Complex numbers are pairs (re, im). */
#include <math.h>

#include "linsol/few.h"

static void exchange(double *a, double *b, int parts)
{
    for (int k = 0; k < parts; k++) { double swap = a[k]; a[k] = b[k]; b[k] = swap; }
}

/* ---- real ---- */

static int largest(int n, int k, const double *a)
{
    int p = k;
    for (int i = k + 1; i < n; i++) if (fabs(a[i]) > fabs(a[p])) p = i;
    return p;
}

void LS_few_dgetrf(const int *rows, const int *columns, double *A, const int *ld, int *pivot, int *info)
{
    int n = *rows;
    (void)columns;
    (void)ld;
    *info = 0;
    for (int k = 0; k < n; k++) {
        double *a = A + k * n;
        int p = largest(n, k, a);
        pivot[k] = p + 1;
        if (a[p] == 0) { *info = k + 1; return; }
        if (p != k) for (int j = 0; j < n; j++) exchange(A + j * n + k, A + j * n + p, 1);
        for (int i = k + 1; i < n; i++) a[i] /= a[k];
        for (int j = k + 1; j < n; j++) {
            double *b = A + j * n, u = b[k];
            for (int i = k + 1; i < n; i++) b[i] -= a[i] * u;
        }
    }
}

static void solve(int n, const double *restrict A, const int *restrict pivot, double *restrict x)
{
    for (int k = 0; k < n; k++) if (pivot[k] != k + 1) exchange(x + k, x + pivot[k] - 1, 1);
    for (int k = 0; k < n; k++) {
        double a = x[k];
        for (int i = k + 1; i < n; i++) x[i] -= A[k * n + i] * a;
    }
    for (int k = n - 1; k >= 0; k--) {
        double a = x[k] *= A[k * n + k];
        for (int i = 0; i < k; i++) x[i] -= A[k * n + i] * a;
    }
}

static void solve_transposed(int n, const double *restrict A, const int *restrict pivot, double *restrict x)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < k; i++) x[k] -= A[k * n + i] * x[i];
        x[k] *= A[k * n + k];
    }
    for (int k = n - 1; k >= 0; k--) for (int i = k + 1; i < n; i++) x[k] -= A[k * n + i] * x[i];
    for (int k = n - 1; k >= 0; k--) if (pivot[k] != k + 1) exchange(x + k, x + pivot[k] - 1, 1);
}

void LS_few_dgetrs(const char *how, const int *rows, const int *nrhs, const double *A, const int *lda, const int *pivot,
                   double *X, const int *ldx, int *info, size_t length)
{
    (void)lda;
    (void)ldx;
    (void)length;
    *info = 0;
    for (int j = 0; j < *nrhs; j++) (*how == 'N' ? solve : solve_transposed)(*rows, A, pivot, X + j * *rows);
}

/* ---- complex ---- */

static void subtract(double *x, const double *a, const double *b)       /* x -= a b */
{
    x[0] -= a[0] * b[0] - a[1] * b[1];
    x[1] -= a[0] * b[1] + a[1] * b[0];
}

static void divide(double *x, const double *a)                           /* x /= a (Smith, CACM 5 (1962) 435) */
{
    int wide = fabs(a[0]) >= fabs(a[1]);
    double r = wide ? a[1] / a[0] : a[0] / a[1], d = wide ? a[0] + a[1] * r : a[0] * r + a[1];
    double re = wide ? x[0] + x[1] * r : x[0] * r + x[1], im = wide ? x[1] - x[0] * r : x[1] * r - x[0];
    x[0] = re / d;
    x[1] = im / d;
}

static void multiply(double *x, const double *a)
{
    double re = x[0] * a[0] - x[1] * a[1];
    x[1] = x[0] * a[1] + x[1] * a[0];
    x[0] = re;
}

static double size(const double *a) { return fabs(a[0]) + fabs(a[1]); }

void LS_few_zgetrf(const int *rows, const int *columns, double *A, const int *ld, int *pivot, int *info)
{
    int n = *rows;
    (void)columns;
    (void)ld;
    *info = 0;
    for (int k = 0; k < n; k++) {
        double *a = A + 2 * k * n;
        int p = k;
        for (int i = k + 1; i < n; i++) if (size(a + 2 * i) > size(a + 2 * p)) p = i;
        pivot[k] = p + 1;
        if (size(a + 2 * p) == 0) { *info = k + 1; return; }
        if (p != k) for (int j = 0; j < n; j++) exchange(A + 2 * (j * n + k), A + 2 * (j * n + p), 2);
        for (int i = k + 1; i < n; i++) divide(a + 2 * i, a + 2 * k);
        for (int j = k + 1; j < n; j++) {
            double *b = A + 2 * j * n;
            for (int i = k + 1; i < n; i++) subtract(b + 2 * i, a + 2 * i, b + 2 * k);
        }
    }
}

static void solve_complex(int n, const double *restrict A, const int *restrict pivot, double *restrict x)
{
    for (int k = 0; k < n; k++) if (pivot[k] != k + 1) exchange(x + 2 * k, x + 2 * (pivot[k] - 1), 2);
    for (int k = 0; k < n; k++) {
        double a[2] = {x[2 * k], x[2 * k + 1]};
        for (int i = k + 1; i < n; i++) subtract(x + 2 * i, A + 2 * (k * n + i), a);
    }
    for (int k = n - 1; k >= 0; k--) {
        multiply(x + 2 * k, A + 2 * (k * n + k));
        double a[2] = {x[2 * k], x[2 * k + 1]};
        for (int i = 0; i < k; i++) subtract(x + 2 * i, A + 2 * (k * n + i), a);
    }
}

static void solve_complex_transposed(int n, const double *restrict A, const int *restrict pivot, double *restrict x)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < k; i++) subtract(x + 2 * k, A + 2 * (k * n + i), x + 2 * i);
        multiply(x + 2 * k, A + 2 * (k * n + k));
    }
    for (int k = n - 1; k >= 0; k--)
        for (int i = k + 1; i < n; i++) subtract(x + 2 * k, A + 2 * (k * n + i), x + 2 * i);
    for (int k = n - 1; k >= 0; k--) if (pivot[k] != k + 1) exchange(x + 2 * k, x + 2 * (pivot[k] - 1), 2);
}

void LS_few_zgetrs(const char *how, const int *rows, const int *nrhs, const double *A, const int *lda, const int *pivot,
                   double *X, const int *ldx, int *info, size_t length)
{
    (void)lda;
    (void)ldx;
    (void)length;
    *info = 0;
    for (int j = 0; j < *nrhs; j++)
        (*how == 'N' ? solve_complex : solve_complex_transposed)(*rows, A, pivot, X + 2 * j * *rows);
}

void LS_few_invert(int n, int is_complex, double *A)
{
    for (int k = 0; k < n; k++) {
        double one[2] = {1, 0}, *a = A + (is_complex ? 2 : 1) * k * (n + 1);
        if (is_complex) { divide(one, a); a[0] = one[0]; a[1] = one[1]; }
        else a[0] = 1 / a[0];
    }
}
